package failure

// Names that concern the daemon as a process: its log, its local socket, its readiness, its drain.
const (
	LogUnwritable    Name = "log_unwritable"
	LogUnreadable    Name = "log_unreadable"
	DaemonNotRunning Name = "daemon_not_running"
	ControlRefused   Name = "control_refused"
	ControlFailed    Name = "control_failed"
	PathPoor         Name = "path_poor"
	DuplicateInstall Name = "duplicate_install"
	BundleNotWritten Name = "bundle_not_written"
	SessionStuck     Name = "session_stuck"
	ResultsWaiting   Name = "results_not_delivered"

	ProfilesNotLoopback  Name = "profiles_not_loopback"
	ProfilesNotListening Name = "profiles_not_listening"
)

var daemonArea = map[Name]texts{
	LogUnwritable: {
		`the folder for the log can't be made or written to`,
		`look at its owner and at the room on the disk; all else goes on without a log file`},
	PathPoor: {
		`the PATH that commands get lacks what they usually need`,
		"set it by `commands.environment`, or capture it again with `runner service refresh-env`"},
	DuplicateInstall: {
		`there is more than one runner on this machine`,
		`remove the one that should not run`},
	BundleNotWritten: {
		`the archive can't be written there, or a file of that name is there already`,
		`name a file that is not there yet, in a folder of your own`},
	LogUnreadable: {
		`the log can't be read`,
		"run the command as the user whose daemon it is; `runner config path` names the folders"},
	DaemonNotRunning: {
		`no daemon has this state folder`,
		"start one with `runner up`, `runner service start` or `runner run`"},
	ControlRefused: {
		`it was started by one of the daemon's own actions, and those may not steer what decides about them`,
		`ask from a shell of your own, outside of what the daemon runs`},
	ControlFailed: {
		`the daemon's local socket can't be used`,
		`look at its folder's owner and mode, and at the daemon's log`},
	SessionStuck: {
		`one of the session's loops does not go on, because the disk, the log or a folder does not answer`,
		`look at the disks below the project folder and the state folder; restart the daemon if it stays`},
	ResultsWaiting: {
		`the server did not take them before the daemon stopped`,
		`start the daemon again: they are kept and sent after its next join`},
	ProfilesNotLoopback: {
		`profiles show what the process holds, so they are served on loopback only, at an address like 127.0.0.1:6060`,
		`give --pprof such an address, and reach it from elsewhere through ssh`},
	ProfilesNotListening: {
		`the address for profiles can't be used`,
		`choose another port for --pprof`},
}
