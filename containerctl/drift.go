package containerctl

import (
	"context"
	"fmt"

	"github.com/moby/moby/api/types/container"
)

// drift lists in what a container differs from its Spec: image, mount, limits, network. Limits that the engine can't
// hold are left out.
func (e *Engine) drift(ctx context.Context, c container.InspectResponse, s Spec, root string) []string {
	var lines []string
	differs := func(what string, has, wants any) {
		lines = append(lines, fmt.Sprintf("%s is %v, not %v", what, has, wants))
	}
	if c.Config != nil && !sameImage(c.Config.Image, s.Image) && !e.sameImageID(ctx, c.Image, s.Image) {
		differs("image", c.Config.Image, s.Image)
	}
	if source := mountSource(c); source != root {
		differs("mounted folder", source, root)
	}
	h := c.HostConfig
	if h == nil {
		return lines
	}
	if has, wants := cpusOf(h.Resources), nanoCPUs(s); has != wants && !e.facts.NoCPULimit {
		differs("CPUs", float64(has)/1e9, s.CPUs)
	}
	if h.Memory != memoryBytes(s) && !e.facts.NoMemoryLimit {
		differs("memory in MiB", h.Memory/mebibyte, s.MemoryMiB)
	}
	pids := int64(0)
	if h.PidsLimit != nil {
		pids = *h.PidsLimit
	}
	if pids != s.Pids && !e.facts.NoPidsLimit {
		differs("pids limit", pids, s.Pids)
	}
	if has := networkOf(h.NetworkMode); has != string(s.Network) {
		differs("network", has, s.Network)
	}
	return lines
}

// sameImageID reports whether the image called name is the one with this id. An image that is not here is another.
func (e *Engine) sameImageID(ctx context.Context, id, name string) bool {
	got, err := e.api.ImageInspect(ctx, name)
	return err == nil && got.ID == id
}

// cpusOf gives the CPU limit in billionths; some engines keep it as a quota.
func cpusOf(r container.Resources) int64 {
	if r.NanoCPUs == 0 && r.CPUPeriod > 0 {
		return int64(float64(r.CPUQuota) / float64(r.CPUPeriod) * 1e9)
	}
	return r.NanoCPUs
}

func networkOf(m container.NetworkMode) string {
	switch m {
	case "none":
		return string(NetworkNone)
	case "bridge", "default", "slirp4netns", "pasta":
		return string(NetworkEgress)
	}
	return string(m)
}
