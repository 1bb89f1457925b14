package failure

import (
	"cmp"
	"maps"
	"slices"
)

// Entry is what the catalogue knows about a name before anything has happened.
type Entry struct {
	Name  Name
	Cause string // the usual cause, in plain words
	Next  string // the usual next step
}

// Catalogue lists every entry, by name.
func Catalogue() []Entry {
	all := make([]Entry, 0, len(catalogue))
	for name, e := range catalogue {
		all = append(all, Entry{name, e.cause, e.next})
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// texts are the usual cause and the usual next step.
type texts struct{ cause, next string }

// catalogue gives each name its texts. An area with many names has them in a file of its own, catalogue_AREA.go.
var catalogue = together(core, folderArea, gitArea, terminalArea, daemonArea, pairingArea, serviceArea, hubArea, doorArea, machineArea)

func together(areas ...map[Name]texts) map[Name]texts {
	all := map[Name]texts{}
	for _, area := range areas {
		maps.Copy(all, area)
	}
	return all
}

var core = map[Name]texts{
	// General.
	Internal: {
		`something the daemon did not expect`,
		"look at the log around this time (`runner logs`), and report it as a bug; `runner doctor --bundle FILE` gathers what helps"},
	Usage: {
		`the command line is not complete or does not fit together`,
		"see `runner help COMMAND`"},
	SettingsInvalid: {
		`the settings file can't be read as it stands`,
		`correct the named line; nothing starts on a half-understood file`},
	SettingInvalid: {
		`the value is outside what this setting accepts`,
		`correct the value where it was set`},
	HomeAsRoot: {
		`the project folder is the home folder itself, so a command could reach everything in it`,
		"move the project into a folder of its own below home, or set `allow_home_root`"},

	// Connection.
	TicketRefused: {
		`the server does not accept this credential for this project`,
		`check that the credential is current and belongs to this project, then pair again`},
	NotMember: {
		`the credential belongs to another project, or its owner has no sufficient role here`,
		"ask a maintainer of the project for the role `developer`"},
	ProjectNotFound: {
		`the server knows no project with this id`,
		`check the project id`},
	ProjectMode: {
		`the project is not in an execution mode that a runner may serve`,
		`change the project's execution mode on the server`},
	RateLimited: {
		`the server limits how often this account may ask`,
		`wait; the daemon slows down by itself`},
	ServerUnavailable: {
		`the server answers with an error of its own`,
		`wait; the daemon tries again by itself`},
	ServerUnreachable: {
		`nothing answers at the address, or the network is down`,
		`check the address, the network and the proxy`},
	BadServerAnswer: {
		`what answered does not speak this protocol`,
		`check that the address is the server's and that no portal or proxy stands in between`},
	ClockSkew: {
		`this machine's clock differs from the server's by more than a signature lives`,
		`set the clock, or switch on time synchronisation`},
	UpgradeRefused: {
		`the server refused the WebSocket connection`,
		`check the address; the next attempt brings a new ticket`},
	JoinRefused: {
		`the server refused to let this runner join the project's channel`,
		`read the reason; it comes from the server`},
	SecondRunner: {
		`another runner holds this project, or the server has not yet noticed that our last connection ended`,
		`stop the other runner; the daemon tries again slowly`},
	CapabilityMissing: {
		`the server requires a capability that this runner did not declare`,
		"update the runner, or switch on here what is missing: git, `terminals.enabled` or `base`"},
	JoinTimeout: {
		`the server accepted the connection but did not answer the join`,
		`wait; the daemon tries again by itself`},
	ServerDraining: {
		`the server is being restarted, and said so before it closed the connection`,
		`nothing: the runner connects again, and what runs goes on meanwhile`},
	ConnectionLost: {
		`the connection to the server ended`,
		`wait; the daemon connects again by itself`},
	HeartbeatLost: {
		`the server did not answer a heartbeat in time`,
		`wait; the daemon connects again by itself`},
	ProtocolError: {
		`the server sent a frame that can't be understood`,
		`report it with the log line; the daemon connects again by itself`},
	ReadLimit: {
		"the server sent a message larger than `connect.read_limit`",
		`raise the limit if such messages are expected`},
	CredentialMissing: {
		`there is no token and no device key in the folders that are searched`,
		"pair this machine with `runner login`, put the device key into the working folder, or a token into BRABO_ACCOUNT_TOKEN"},
	CredentialInvalid: {
		`the credential does not have the form that the server issues`,
		`copy it again, whole`},
	KeyFileInvalid: {
		"the key file is not a private Ed25519 JWK with a `kid`",
		`restore it, or make a new pairing`},
	CAFileInvalid: {
		"the file named by `ca_file` holds no certificate that can be read",
		`give a file with PEM certificates`},
	ProxyInvalid: {
		"the `proxy` setting is not a URL with http, https or socks5",
		`correct the setting`},
	ProxyRefused: {
		`the proxy refuses to connect to the server, which was not reached`,
		"have the proxy's owner allow the server, or correct `proxy` or the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY"},

	// Messages.
	MalformedAction: {
		`the message does not have the form of the contract`,
		`the server or a client of it has to be corrected; nothing was run`},
	UnknownEvent: {
		`the server sent an event that this runner does not know`,
		`update the runner if the server is newer; the event was ignored`},
	CommandEmpty: {
		`the action carries no command text`,
		`propose the action again with a command`},
	CommandNUL: {
		`the command text holds a NUL character, which no shell can take`,
		`remove it and propose the action again`},
	InvalidEnv: {
		"`env` is not an object of strings",
		`correct the sender; nothing was run`},
	EnvNotAllowed: {
		`the name decides what a command means or loads code into it`,
		"remove it from the action's `env`; `commands.environment` on this machine may set it"},
	InvalidDeadline: {
		"`deadlineMs` is not an integer from 1000 to 86400000",
		`correct the sender; nothing was run`},
	RefReused: {
		`an action with this ref and another content was received before`,
		`the sender has to use a new ref for each action`},
	QueueFull: {
		"more actions wait in this project than `commands.queue` allows",
		`wait until some have finished, or raise the limit`},
	Draining: {
		`the daemon is stopping and takes no new actions`,
		`send the action again when it is back`},
	ExpiredBeforeStart: {
		`the deadline passed while the action waited`,
		"propose it again; raise `commands.parallel` if this happens often"},
	ResultDropped: {
		"the server is not known to have read this result, and `journal.keep` or `journal.size` demanded its place",
		`look at what the action did; where servers stay away for long, raise these settings`},

	// Commands.
	Cancelled: {
		`the action was cancelled before it ended`,
		`propose it again if it is still wanted`},
	Interrupted: {
		`the daemon ended while the action ran; what it had started was ended, and it is not run again by itself`,
		`look at what it has done, and propose it again if it is still wanted`},
	TimedOut: {
		`the command ran past its deadline and was ended with its children`,
		`raise the deadline, or split the work`},
	KilledBySignal: {
		`the command was ended by a signal that the runner did not send`,
		`look for a crash or for the system's out-of-memory killer`},
	CouldNotStart: {
		`the shell could not be started`,
		`check that the shell and the folder exist and may be used by this user`},
	BashMissing: {
		`the text uses Bash, and there is no bash at the usual system paths`,
		"install bash, or name one in `commands.shell`"},
	ShellInvalid: {
		"`commands.shell` names nothing that can be run",
		"correct `commands.shell`"},
	ShellMissing: {
		`no shell was found at the usual system paths`,
		"install one, or name one in `commands.shell` (on Windows, Git's bash)"},
	CommandTooLong: {
		`the command and its environment are larger than this system can start`,
		`put the text into a file and run that`},
	SpoolFailed: {
		`the full output could not be kept on this machine`,
		`free space in the state folder; the result itself is complete up to its limit`},

	// Folders.
	CwdNotAbsolute: {
		`the working directory is not an absolute path`,
		`send an absolute path inside the project`},
	CwdInvalid: {
		"the working directory holds a NUL character or a `..` component",
		`send a plain absolute path inside the project`},
	CwdOutside: {
		`the working directory is not inside the project folder, as written or after following links`,
		`run the command inside the project`},
	CwdMissing: {
		`the working directory does not exist or is no folder`,
		`make the folder first`},
	RootNotAbsolute: {
		"the project folder is not an absolute path without `.` and `..`",
		`give an absolute path`},
	RootSystemFolder: {
		`the project folder is a system folder or lies in one`,
		`choose a folder below your home`},
	RootNotAllowed: {
		"the project folder lies outside what `roots` allows",
		"choose a folder below one of them, or add it to `roots`"},
	RootHoldsOurs: {
		`the project folder is, holds or lies in a folder of the runner itself`,
		`choose a folder of its own for the project`},
	RootNotFolder: {
		`there is something of that name that is no folder`,
		`move it away, or choose another folder`},
	RootNotCreated: {
		`the folder could not be made`,
		`look at owner and mode of the nearest existing folder above it`},
	RootNotWritable: {
		`a file could not be written into the folder`,
		`look at owner and mode of the folder, and at free space`},
	RootNotConfirmable: {
		`the server's own test refuses this path, so that it can't be confirmed there`,
		`move the project to a folder that the server accepts, below /home for instance`},
	DiskFull: {
		`there is no space left on the disk`,
		`free some space`},

	// Journal.
	StateLocked: {
		`another runner uses this state folder`,
		`stop the other one, or give this one a state folder of its own (XDG_STATE_HOME)`},
	JournalCorrupt: {
		`the journal's file can't be read, after a fault of the disk perhaps`,
		`check the disk; the damaged file was kept beside the new one and may be deleted`},
	JournalNewer: {
		`the journal was written by a newer runner`,
		`use that version or a later one; the file was left as it is`},
	JournalUnwritable: {
		`the journal can't be written, and nothing may run that is not in it`,
		`look at owner and mode of the state folder, and whether its disk is mounted read-only`},

	// Containers.
	EngineNotInstalled: {
		`no container engine was found on this machine`,
		"install Docker or Podman, or name the engine's socket in `container.engine`"},
	EngineNotRunning: {
		`the container engine is installed but does not answer`,
		`start it and send the action again`},
	EngineNoPermission: {
		`the engine's socket may not be used by this user`,
		"join the group that owns the socket (usually `docker`) and log in again, or use a rootless engine"},
	EngineTooOld: {
		`the engine speaks only an API older than 1.40`,
		`update it: Docker 19.03 and Podman 3.0 are the oldest that will do`},
	EngineUnsupported: {
		`the engine's address is of a kind that can't be used from here`,
		"give the address of a local socket in `container.engine`"},
	EngineRefused: {
		`the engine refused this container`,
		`read the engine's own words; nothing was left behind`},
	SpecInvalid: {
		`a field of the container's description breaks its rule`,
		`correct the field and propose the action again; nothing was touched`},
	SpecOverCeiling: {
		`a field of the container's description is above its ceiling`,
		`ask for less; a value is never lowered silently`},
	ContainerRoot: {
		`the project folder can't be mounted into a container`,
		`move the project to a folder of its own below your home`},
	CredentialInContainer: {
		`the command carries a credential, and a container takes no environment`,
		`use a server that marks the authenticated git operation, or stop the container`},
	ContainerForeign: {
		`a container of this name exists that the runner did not make`,
		`rename or remove it by hand; the runner does not touch it`},
	ContainerDrift: {
		`the container that is there differs from what was asked for`,
		"remove the container so that it is made anew, or set `container.drift` to `report`"},
	ContainerGone: {
		`the project's container died or was stopped, removed or restarted by somebody else`,
		`start the container again`},
	ImageUnusable: {
		`the image lacks a program without which it can't serve as a project's container`,
		"use an image that has `sleep` and `/bin/sh`"},
	ImageNotFound: {
		`the registry has no image of this name and tag`,
		`check the name and the tag`},
	ImageDenied: {
		`the registry does not give this image to this user, or it does not exist there`,
		"check the name; if the image is private, run `docker login` for its registry"},
	ImageRateLimited: {
		`the registry limits how much may be pulled`,
		"wait, or run `docker login` for a higher limit"},
	ImagePullFailed: {
		`the engine could not pull the image`,
		`read the engine's own words, then send the action again`},
	ImagePullStalled: {
		`nothing more of the image arrived for a long time`,
		`check the network and send the action again`},
	ImagePullInProgress: {
		`pulling the image takes longer than the action may`,
		`the pull goes on; send the action again in a while, it joins this pull`},
	RegistryUnreachable: {
		`nothing answers at the registry's address`,
		`check the name of the registry, the network and the engine's proxy`},

	// Policy.
	PermissionsFileInvalid: {
		`permissions.json can't be read as three lists of patterns`,
		`correct the named line; nothing is decided on a half-understood file`},
	PermissionsFileNotWritten: {
		`the entry could not be written into permissions.json, which is still as it was`,
		`look at owner and mode of the project folder; the action still waits`},
	PolicyDenied: {
		`a rule denies this action`,
		`read the rule; a person may change it`},
	VectorFileInvalid: {
		`the line is not a test vector`,
		`correct the named line`},

	// Hub.
	BadRequest: {
		`the request does not have the form that the hub takes`,
		`compare it with what the hub itself serves as /openapi.json`},
	UnknownActionType: {
		`there is no such action type`,
		"use one of those that `runner propose other --help` lists"},
	ActionNotFound: {
		`there is no action with this id`,
		"see which there are: `runner pending --all`"},
	InvalidTransition: {
		`the action has left the state in which this can be done`,
		`look at its outcome`},
	ActionDenied: {
		`the action was refused before, by a person or by a rule`,
		`propose it again if it is wanted after all`},
	AlreadyMerged: {
		`this pull request was merged before`,
		`look at the earlier merge; there is nothing left to do`},
	MergeAlreadyProposed: {
		`a merge of this pull request waits already, or is under way`,
		`decide about that one`},
	NoRunner: {
		`no runner is connected to this project`,
		"start the daemon on the machine that has the project, with `runner up`, `runner service start` or `runner run`"},
	HostRefused: {
		`the request names a host or an origin that is not the hub's own`,
		"open the hub by its own address, or add the name to `hub.hosts`"},
	Unauthorized: {
		`the request carries no valid token`,
		"use the one that `runner agent add` or `runner member add` printed; the owner's lies in `hub/owner-token` of the hub's data folder"},
	RunnerGone: {
		`the runner's connection ended and it did not come back in time`,
		`start the runner again; the result is delivered when it rejoins`},
	ModulesFileInvalid: {
		`modules.json can't be read as a list of modules`,
		`correct the file; each module has a name, and numbers above 0 or none`},
	ResourcesBelowMinimum: {
		`the container would get less than the project's modules need`,
		`ask for more, or leave the value out to get the minimum`},
	NoDemoFolder: {
		`no folder for the demonstration could be made`,
		`check the cache folder and the temporary folder`},
}
