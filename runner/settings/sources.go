package settings

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/adrg/xdg"
)

// Sources is everything that settings are read from, so that a test can say all of it.
type Sources struct {
	// Flags are the values given on the command line, by the name of the setting.
	Flags map[string]string
	// Environ is the environment, as os.Environ gives it.
	Environ []string
	// ConfigFile is the settings file. Empty is config.json in the config folder, which need not exist; one that is
	// named must.
	ConfigFile string
	// WorkDir is the process's working directory, absolute.
	WorkDir string
	// Systemd tells that systemd runs this machine: what a shell checks here is what its services read.
	Systemd bool
	// Paired is what `runner login` recorded, if anything.
	Paired Paired
}

// Paired is what pairing knows about the server: weaker than every setting, stronger than a default. What the key in
// KeyFile is worth is for the package that signs with it.
type Paired struct {
	APIURL  string
	KeyFile string
}

// FromProcess gives the sources of this process, without flags.
func FromProcess() (Sources, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Sources{}, err
	}
	_, err = os.Stat("/run/systemd/system")
	return Sources{Environ: os.Environ(), WorkDir: dir, Systemd: err == nil}, nil
}

// environment looks up variables in a list like os.Environ's.
type environment map[string]string

func (s Sources) env() environment {
	env := environment{}
	for _, entry := range s.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[envKey(name)] = value
		}
	}
	return env
}

// get gives the value of name; a variable that is set to nothing counts as not set.
func (e environment) get(name string) string { return e[envKey(name)] }

// envKey is name as this system compares it.
func envKey(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// Folders are the user's folders and our own in them. None of them need exist.
type Folders struct {
	Home    string // the user's home folder
	Config  string // our configuration, pairing and policy
	State   string // our journal, logs and spooled output
	Data    string // our databases
	Cache   string // what may be lost
	Runtime string // our sockets
}

// Ours are the folders whose content a project must never reach.
func (f Folders) Ours() []string { return []string{f.Config, f.State, f.Data} }

// Folders gives the folders of the XDG rules, on macOS and Windows those systems' own. The variables in Environ count,
// not those that the process was started with: the library has read the latter once and for all.
func (s Sources) Folders() Folders {
	env := s.env()
	home := env.get("HOME")
	if runtime.GOOS == "windows" {
		home = env.get("USERPROFILE")
	}
	if !filepath.IsAbs(home) {
		home = xdg.Home
	}
	folder := func(variable, usual string) string {
		dir := env.get(variable)
		if !filepath.IsAbs(dir) {
			dir = moved(usual, xdg.Home, home)
		}
		return filepath.Join(dir, "runner")
	}
	return Folders{
		Home:    filepath.Clean(home),
		Config:  folder("XDG_CONFIG_HOME", xdg.ConfigHome),
		State:   folder("XDG_STATE_HOME", xdg.StateHome),
		Data:    folder("XDG_DATA_HOME", xdg.DataHome),
		Cache:   folder("XDG_CACHE_HOME", xdg.CacheHome),
		Runtime: folder("XDG_RUNTIME_DIR", xdg.RuntimeDir),
	}
}

// moved gives the counterpart below to of a folder below from; any other folder stays as it is.
func moved(dir, from, to string) string {
	if rel, err := filepath.Rel(from, dir); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(to, rel)
	}
	return dir
}

// configFile gives the path of the settings file, and whether it was named.
func (s Sources) configFile() (path string, named bool) {
	if s.ConfigFile != "" {
		return s.ConfigFile, true
	}
	return filepath.Join(s.Folders().Config, "config.json"), false
}
