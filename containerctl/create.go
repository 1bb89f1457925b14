package containerctl

import (
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"
)

const mebibyte = 1 << 20

// createOptions is the container of protocol.md 4.4: one mount, no privilege, no capability, an init that reaps,
// and a process that sleeps, since work happens by exec.
func createOptions(s Spec, root, user string) client.ContainerCreateOptions {
	yes := true
	pids := s.Pids
	config := &container.Config{
		Image: s.Image,
		// As entrypoint and not as command, so that the image's own entrypoint does not wrap it.
		Entrypoint: []string{"sleep", "infinity"},
		WorkingDir: MountPoint,
		User:       user,
		Labels: map[string]string{
			labelManaged:      "true",
			labelProject:      s.ProjectID,
			labelSlug:         s.ProjectSlug,
			labelWorkspace:    s.WorkspaceID,
			labelImageVersion: s.ImageVersion,
		},
	}
	if user != "" {
		config.Env = []string{"HOME=/tmp"} // a user the image does not know has no home folder
	}
	host := &container.HostConfig{
		Mounts:      []mount.Mount{{Type: mount.TypeBind, Source: root, Target: MountPoint}},
		NetworkMode: networkMode(s.Network),
		CapDrop:     []string{"ALL"},
		SecurityOpt: []string{"no-new-privileges"},
		Init:        &yes,
		Resources: container.Resources{
			NanoCPUs:  nanoCPUs(s),
			Memory:    memoryBytes(s),
			PidsLimit: &pids,
		},
	}
	return client.ContainerCreateOptions{Name: Name(s.WorkspaceDirName), Config: config, HostConfig: host}
}

// networkMode never gives anything but none for a posture that it does not know.
func networkMode(n Network) container.NetworkMode {
	if n == NetworkEgress {
		return "bridge"
	}
	return "none"
}

func nanoCPUs(s Spec) int64    { return int64(s.CPUs * 1e9) }
func memoryBytes(s Spec) int64 { return int64(s.MemoryMiB * mebibyte) }
