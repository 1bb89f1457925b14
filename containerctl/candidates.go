package containerctl

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// candidate is one address at which an engine may answer.
type candidate struct {
	address string
	origin  string
	tls     string // folder with ca.pem, cert.pem and key.pem, or ""
	chosen  bool   // somebody chose it: nothing takes its place
	// programs tell "not installed" from "not running" where there is no socket: one of them is in PATH when the
	// engine is installed.
	programs []string
}

// socket makes a unix socket's path an address.
func socket(base, path string) string { return "unix://" + filepath.ToSlash(filepath.Join(base, path)) }

// candidates lists where to look, in order; a single one where somebody has chosen.
func (d Discovery) candidates() ([]candidate, error) {
	if s := strings.TrimSpace(d.Setting); s != "" {
		if u, err := url.Parse(s); err != nil || u.Scheme == "" {
			return nil, failure.New(failure.SettingInvalid, "container.engine").
				Because("%q is not the URL of a socket", s).
				Then("write it like unix:///run/docker.sock")
		}
		return []candidate{d.chosen(s, "container.engine")}, nil
	}
	if host := d.lookup("DOCKER_HOST"); host != "" {
		return []candidate{d.chosen(host, "DOCKER_HOST")}, nil
	}
	contexts, err := d.contexts()
	if err != nil {
		return nil, err
	}
	if len(contexts) == 1 && contexts[0].chosen {
		return contexts, nil
	}
	// The system's own socket is what docker calls its context "default", so it goes before the others.
	return distinct(slices.Concat(d.system(), contexts, d.personal())), nil
}

func (d Discovery) chosen(address, origin string) candidate {
	return candidate{address: address, origin: origin, tls: d.lookup("DOCKER_CERT_PATH"), chosen: true, programs: engines}
}

// engines are the programs of any engine.
var engines = []string{"dockerd", "docker", "podman", "colima", "docker-desktop"}

func (d Discovery) system() []candidate {
	addresses := d.System
	if addresses == nil {
		addresses = systemSockets
	}
	all := make([]candidate, len(addresses))
	for i, address := range addresses {
		all[i] = candidate{address: address, origin: "Docker, system-wide", programs: []string{"dockerd", "docker"}}
		if strings.Contains(address, "podman") {
			all[i].origin, all[i].programs = "Podman, system-wide", []string{"podman"}
		}
	}
	return all
}

// personal lists the sockets that engines open below a person's runtime and home folders. Windows has none: its
// engines open named pipes.
func (d Discovery) personal() []candidate {
	if runtime.GOOS == "windows" {
		return nil
	}
	var all []candidate
	add := func(base, path, origin string, programs ...string) {
		if base != "" {
			all = append(all, candidate{address: socket(base, path), origin: origin, programs: programs})
		}
	}
	add(d.Home, ".docker/desktop/docker.sock", "Docker Desktop", "docker-desktop")
	add(d.Home, ".docker/run/docker.sock", "Docker Desktop", "docker-desktop")
	add(d.RuntimeDir, "docker.sock", "Docker, rootless", "dockerd-rootless.sh", "rootlesskit")
	add(d.Home, ".colima/default/docker.sock", "Colima", "colima")
	add(d.Home, ".config/colima/default/docker.sock", "Colima", "colima")
	add(d.Home, ".orbstack/run/docker.sock", "OrbStack", "orb")
	add(d.Home, ".rd/docker.sock", "Rancher Desktop", "rdctl")
	add(d.RuntimeDir, "podman/podman.sock", "Podman, rootless", "podman")
	add(d.Home, ".local/share/containers/podman/machine/podman.sock", "Podman machine", "podman")
	return all
}

// distinct keeps the first candidate of each address.
func distinct(all []candidate) []candidate {
	seen := make(map[string]bool, len(all))
	kept := all[:0]
	for _, c := range all {
		if !seen[c.address] {
			seen[c.address] = true
			kept = append(kept, c)
		}
	}
	return kept
}

// installed reports whether one of programs lies in the PATH of Environ.
func (d Discovery) installed(programs []string) bool {
	return slices.ContainsFunc(programs, func(p string) bool { return programIn(d.Environ, p) != "" })
}

// programIn finds a program in the PATH of an environment that is not the process's own, "" where it is not.
func programIn(environ []string, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(variable(environ, "PATH")) {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && filepath.IsAbs(p) {
			return p
		}
	}
	return ""
}

// variable gives a variable of an environment; the last entry counts, as for a process.
func variable(environ []string, name string) string {
	for _, kv := range slices.Backward(environ) {
		k, v, ok := strings.Cut(kv, "=")
		if ok && (k == name || runtime.GOOS == "windows" && strings.EqualFold(k, name)) {
			return v
		}
	}
	return ""
}
