package containerctl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// dockerConfigDir is where the docker command line keeps its configuration.
func (d Discovery) dockerConfigDir() string {
	if dir := d.lookup("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	if d.Home == "" {
		return ""
	}
	return filepath.Join(d.Home, ".docker")
}

// contexts lists the docker contexts: only the one in use where one is chosen, else all of them by name. The
// context "default" is no file but the system's own socket, and comes from known.
func (d Discovery) contexts() ([]candidate, error) {
	dir := d.dockerConfigDir()
	if dir == "" {
		return nil, nil
	}
	name, origin := d.lookup("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
	if name == "" {
		file := filepath.Join(dir, "config.json")
		name, origin = currentContext(file), file
	}
	if name != "" && name != "default" {
		c, err := readContext(dir, contextID(name))
		if err != nil {
			return nil, failure.New(failure.EngineUnsupported, "docker context "+name).
				Because("%s names this context, but its description can't be read: %v", origin, err).
				Then("run `docker context use default`, or name the engine's socket in `container.engine`").
				Wrap(err)
		}
		c.chosen = true
		c.origin += ", chosen by " + origin
		return []candidate{c}, nil
	}
	entries, err := os.ReadDir(filepath.Join(dir, "contexts", "meta"))
	if err != nil {
		return nil, nil // no contexts is the usual case
	}
	var all []candidate
	for _, e := range entries {
		// A broken description among those that nobody chose is no reason to stop looking.
		if c, err := readContext(dir, e.Name()); err == nil {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.origin, b.origin) })
	return all, nil
}

// currentContext reads the context in use from the docker command line's config.json, "" where there is none. A
// file that can't be read chooses nothing: it is not ours to complain about.
func currentContext(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	var config struct {
		CurrentContext string `json:"currentContext"`
	}
	if json.Unmarshal(b, &config) != nil {
		return ""
	}
	return config.CurrentContext
}

// contextID is the folder in which docker keeps a context.
func contextID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

func readContext(dir, id string) (candidate, error) {
	b, err := os.ReadFile(filepath.Join(dir, "contexts", "meta", id, "meta.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return candidate{}, errors.New("there is no such context")
	}
	if err != nil {
		return candidate{}, err
	}
	var meta struct {
		Name      string
		Endpoints map[string]struct{ Host string }
	}
	if err := json.Unmarshal(b, &meta); err != nil {
		return candidate{}, fmt.Errorf("reading meta.json: %w", err)
	}
	endpoint := meta.Endpoints["docker"]
	if endpoint.Host == "" {
		return candidate{}, errors.New("it has no docker endpoint")
	}
	c := candidate{address: endpoint.Host, origin: "docker context " + meta.Name, programs: engines}
	tls := filepath.Join(dir, "contexts", "tls", id, "docker")
	if _, err := os.Stat(tls); err == nil {
		c.tls = tls
	}
	return c, nil
}
