package containerctl

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"
)

// The names of the engines that are told apart.
const (
	docker = "Docker"
	podman = "Podman"
)

// Facts is what an engine says about itself.
type Facts struct {
	Name     string // "Docker", "Podman"
	Version  string
	API      string // the negotiated version
	Rootless bool
	VM       bool // it runs under another kernel than this process: Docker Desktop, Colima, another machine
	// NoCPULimit, NoMemoryLimit and NoPidsLimit say that containers run without that limit, whatever was asked: on a
	// rootless engine, where the system has not delegated the cgroup controller to its user.
	NoCPULimit, NoMemoryLimit, NoPidsLimit bool
}

// String is the facts on one line.
func (f Facts) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, API %s", f.Name, f.Version, f.API)
	if f.Rootless {
		b.WriteString(", rootless")
	}
	if f.VM {
		b.WriteString(", in a virtual machine")
	}
	if note := f.limitsNote(); note != "" {
		b.WriteString(", " + note)
	}
	return b.String()
}

// limitsNote says which limits the engine can't hold, "" where it holds all.
func (f Facts) limitsNote() string {
	var none []string
	for _, l := range []struct {
		no   bool
		name string
	}{{f.NoCPULimit, "CPUs"}, {f.NoMemoryLimit, "memory"}, {f.NoPidsLimit, "processes"}} {
		if l.no {
			none = append(none, l.name)
		}
	}
	if len(none) == 0 {
		return ""
	}
	return "this engine can't limit " + strings.Join(none, ", ")
}

func readFacts(ctx context.Context, api *client.Client) (Facts, error) {
	got, err := api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return Facts{}, err
	}
	version, err := api.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return Facts{}, err
	}
	info := got.Info
	f := Facts{
		Name:    docker,
		Version: version.Version,
		API:     api.ClientVersion(),
		Rootless: slices.ContainsFunc(info.SecurityOptions, func(o string) bool {
			return strings.Contains(o, "rootless")
		}),
		VM:            info.KernelVersion != localKernel(),
		NoCPULimit:    !info.CPUCfsQuota,
		NoMemoryLimit: !info.MemoryLimit,
		NoPidsLimit:   !info.PidsLimit,
	}
	if slices.ContainsFunc(version.Components, func(c system.ComponentVersion) bool { return strings.HasPrefix(c.Name, podman) }) {
		f.Name = podman
		err = askPodman(ctx, api, &f)
	}
	return f, err
}

// askPodman asks Podman's own API, since in the one that it shares with Docker Podman 4 neither says that it is
// rootless nor which limits it can't hold.
func askPodman(ctx context.Context, api *client.Client, f *Facts) error {
	dial := api.Dialer()
	transport := &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableKeepAlives: true,
	}
	major, _, _ := strings.Cut(f.Version, ".")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://podman/v"+major+".0.0/libpod/info", nil)
	if err != nil {
		return err
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("asking Podman what it is: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("asking Podman what it is: %s", resp.Status)
	}
	var info struct {
		Host struct {
			CgroupControllers []string
			Security          struct{ Rootless bool }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&info); err != nil {
		return fmt.Errorf("reading what Podman says it is: %w", err)
	}
	has := func(controller string) bool { return slices.Contains(info.Host.CgroupControllers, controller) }
	f.Rootless = info.Host.Security.Rootless
	f.NoCPULimit, f.NoMemoryLimit, f.NoPidsLimit = !has("cpu"), !has("memory"), !has("pids")
	return nil
}
