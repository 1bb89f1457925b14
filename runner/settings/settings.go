// Package settings knows every value that a user may change: its default, its range, and where the value in force
// came from.
//
// One table (rows.go) drives all of it: parsing, defaults, ranges, `config show` and the documentation. A value comes
// from a flag, an environment variable, the file config.json or the table, in that order of strength. The compatibility
// files and variables of the existing client are read by ResolveRun, which also fixes what one `run` is about.
//
// Nothing here is global and nothing is written but what WriteFile is asked to write. The package starts no goroutines.
package settings

import "time"

// Settings are the values in force. Zero durations, sizes and counts mean what the comment says.
type Settings struct {
	APIURL        string   // where tickets come from, without a trailing slash; "" is none
	Base          string   // absolute folder below which project folders are made; "" is none
	Roots         []string // absolute folders below which a project root must lie
	AllowHomeRoot bool     // the home folder may be a project root
	Proxy         string   // URL of a proxy; "" is what the environment says
	CAFile        string   // absolute path of more certificates to trust; "" is the system's alone

	Pairing   Pairing
	Connect   Connect
	Commands  Commands
	Output    Output
	Container Container
	Terminals Terminals
	Browse    Browse
	Workspace Workspace
	Drain     Drain
	Journal   Journal
	Log       Log
	Confirm   Confirm
	Git       Git
	Hub       Hub

	origins map[string]Origin
}

// Pairing is how this machine keeps its key.
type Pairing struct {
	Keychain bool // in the system's keychain instead of a file
}

// Connect is when and how the daemon connects.
type Connect struct {
	BackoffMax  time.Duration // ceiling of the backoff
	StableAfter time.Duration // a connection that lived this long resets the backoff
	Heartbeat   time.Duration // between two heartbeats
	Attempts    int           // a minute, all projects of one daemon together
	ReadLimit   int64         // bytes of one message
}

// Commands is how commands run.
type Commands struct {
	Shell            []string          // words of the shell; none: bash from the fixed system paths
	Deadline         time.Duration     // where the server sends none
	GitDeadline      time.Duration     // the same for git
	Grace            time.Duration     // between TERM and KILL
	Parallel         int               // commands at once in one daemon
	Queue            int               // waiting actions a project
	Umask            *uint32           // of children; nil is the user's own
	Environment      map[string]string // added to every child; values are never logged
	BareRepositories bool              // git may use a folder that merely looks like a bare repository
	Limits           Limits
}

// Limits bound what one command may take. Zero is no limit.
type Limits struct {
	CPU       float64 // seconds of processor time of one process
	Memory    int64   // bytes of all processes of a command
	PIDs      int64   // processes of a command
	OpenFiles int64   // open files of one process
	FileSize  int64   // bytes of one file
}

// Output is what is kept of a command's output, in bytes.
type Output struct {
	Result     int64 // in a result, marker included
	Spool      int64 // of one action, locally
	SpoolTotal int64 // of all actions, locally
}

// Container is how project containers run.
type Container struct {
	Engine string        // URL of the engine's socket; "" is found
	User   string        // `uid:gid`, `image`, or "" for the folder's owner
	Drift  string        // `report` or `refuse`
	Pull   time.Duration // how long a start waits for a pull; 0 is what the deadline leaves
}

// Terminals is whether and how many terminals may be open.
type Terminals struct {
	Enabled bool
	Max     int // a project
}

// Browse bounds one listing of a folder.
type Browse struct {
	MaxEntries int
}

// Workspace is how project folders are made.
type Workspace struct {
	CloneDeadline time.Duration
}

// Drain is how the daemon stops.
type Drain struct {
	Grace time.Duration // for running actions to finish
}

// Journal is how much the journal remembers.
type Journal struct {
	Keep    time.Duration
	Size    int64 // bytes
	Reserve int64 // bytes kept free for the last words
}

// Log is what is logged.
type Log struct {
	Level string // `debug`, `info`, `warn` or `error`
	Total int64  // bytes of all log files
}

// Confirm is how long a held action waits for the person at this machine.
type Confirm struct {
	Deadline time.Duration
}

// Git is how typed git actions run.
type Git struct {
	Hooks     string   // `skip` or `run`
	Protocols []string // git's names
}

// Hub is the local control plane.
type Hub struct {
	Listen          string // host:port
	TLSCert, TLSKey string // absolute paths; both or none
	Hosts           []string
	Rate            int // proposals of one agent a second; bursts of four times as many
	Body            int64
	WorkspacesRoot  string
	ProjectsBase    string
	ActionDeadline  time.Duration
	OutcomeDeadline time.Duration
	EventsKeep      time.Duration // 0 is for ever
}

// Load reads every setting from src. It fails with SettingsInvalid for a file that is not wholly understood, and with
// SettingInvalid for the value of a flag or a variable.
func Load(src Sources) (Settings, error) {
	s := Settings{origins: map[string]Origin{}}
	table := rows(src)
	for _, r := range table {
		if err := r.init(&s); err != nil {
			return Settings{}, err
		}
		s.origins[r.Name] = Origin{Kind: FromDefault}
	}
	if err := s.loadFile(src, table); err != nil {
		return Settings{}, err
	}
	env := src.env()
	for _, r := range table {
		if text := env.get(r.Variable); text != "" {
			if err := r.setText(&s, text, Origin{FromEnvironment, r.Variable}); err != nil {
				return Settings{}, err
			}
		}
		if text, given := src.Flags[r.Name]; given {
			if err := r.setText(&s, text, Origin{FromFlag, flagName(r.Name)}); err != nil {
				return Settings{}, err
			}
		}
	}
	return s, s.fitTogether()
}
