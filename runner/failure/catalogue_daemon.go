package failure

// Names that concern the daemon as a process: its local socket, its readiness, its drain.
const (
	LogUnwritable Name = "log_unwritable"
	LogUnreadable Name = "log_unreadable"
)

var daemonArea = map[Name]texts{
	LogUnwritable: {
		`the folder for the log can't be made or written to`,
		`look at its owner and at the room on the disk; the daemon goes on without a log file`},
	LogUnreadable: {
		`the log can't be read`,
		"run the command as the user whose daemon it is; `runner config path` names the folders"},
}
