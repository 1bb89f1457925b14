package containerctl

import (
	"bytes"
	"encoding/json"
	"regexp"

	"brabo.dev/runner/runner/failure"
)

// The ceilings of protocol.md 4.4. A value above one is refused, never lowered.
const (
	MaxCPUs      = 8
	MaxMemoryMiB = 16384
	MaxPids      = 4096
)

// Network is a container's network posture.
type Network string

// The two postures there are; the host's network is not one of them.
const (
	NetworkNone   Network = "none"   // no interface but loopback
	NetworkEgress Network = "egress" // the engine's own bridge
)

// User is the identity inside a container, 1 to 2147483647 each.
type User struct{ UID, GID int64 }

// Spec is what a server may ask of a project's container (protocol.md 4.4). The folder that is mounted is not part
// of it: a host path never comes from a server.
type Spec struct {
	WorkspaceDirName string // ^[A-Za-z0-9_-]{1,64}$; the container is called brabo-<WorkspaceDirName>
	ProjectID        string
	ProjectSlug      string
	WorkspaceID      string
	Image            string // with a tag other than latest, or a digest
	ImageVersion     string
	Network          Network
	CPUs             float64 // > 0, at most MaxCPUs
	MemoryMiB        float64 // > 0, at most MaxMemoryMiB
	Pids             int64   // > 0, at most MaxPids
	User             *User   // nil: container.user decides
}

var dirName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ParseSpec reads the field spec of a container_start and applies every rule of protocol.md 4.4: strings are
// trimmed, numbers may come as text, fields that are not listed are ignored. topicProjectID stands in for a
// projectId that is absent; one that names another project is refused. The error is spec_invalid or
// spec_over_ceiling with the field as its subject.
func ParseSpec(raw json.RawMessage, topicProjectID string) (Spec, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return Spec{}, failure.New(failure.SpecInvalid, "spec").Because("it is not a JSON object").Wrap(err)
	}
	r := fieldReader{fields: fields}
	s := Spec{
		WorkspaceDirName: r.workspaceDirName(),
		ProjectID:        r.projectID(topicProjectID),
		ProjectSlug:      r.text("projectSlug"),
		WorkspaceID:      r.text("workspaceId"),
		Image:            r.image("imagem"),
		ImageVersion:     r.version("imagemVersao"),
		Network:          r.network("rede"),
		CPUs:             r.amount("cpus", MaxCPUs),
		MemoryMiB:        r.amount("memoriaMb", MaxMemoryMiB),
		Pids:             r.count("pidsLimit", MaxPids),
		User:             r.user("usuario"),
	}
	if r.err != nil {
		return Spec{}, r.err
	}
	return s, nil
}

// ParseWorkspaceDirName checks the workspaceDirName of a container_stop or container_remove by the rule of
// container_start.
func ParseWorkspaceDirName(raw json.RawMessage) (string, error) {
	r := fieldReader{fields: map[string]json.RawMessage{"workspaceDirName": raw}}
	name := r.workspaceDirName()
	if r.err != nil {
		return "", r.err
	}
	return name, nil
}

// fieldReader reads fields until the first one that breaks its rule; err then says which and how.
type fieldReader struct {
	fields map[string]json.RawMessage
	err    error
}

func (r *fieldReader) refuse(field, format string, args ...any) {
	if r.err == nil {
		r.err = failure.New(failure.SpecInvalid, "spec."+field).Because(format, args...)
	}
}

// present reports whether field is there and not null.
func (r *fieldReader) present(field string) bool {
	raw, ok := r.fields[field]
	return ok && len(raw) > 0 && !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

func (r *fieldReader) workspaceDirName() string {
	const field = "workspaceDirName"
	s := r.text(field)
	if r.err == nil && !dirName.MatchString(s) {
		r.refuse(field, "%q is not 1 to 64 of the characters A-Z a-z 0-9 _ -", s)
	}
	return s
}

func (r *fieldReader) projectID(topic string) string {
	const field = "projectId"
	if !r.present(field) && topic != "" {
		return topic
	}
	s := r.text(field)
	if r.err == nil && topic != "" && s != topic {
		r.refuse(field, "%q is not the project %q whose channel it came through", s, topic)
	}
	return s
}

func (r *fieldReader) network(field string) Network {
	s := Network(r.text(field))
	if r.err == nil && s != NetworkNone && s != NetworkEgress {
		r.refuse(field, "%q is neither none nor egress", s)
	}
	return s
}

func (r *fieldReader) image(field string) string {
	s := r.text(field)
	if r.err == nil {
		if why := imageFault(s); why != "" {
			r.refuse(field, "%s", why)
		}
	}
	return s
}
