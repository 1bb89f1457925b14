package runner

import (
	"context"
	"strings"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/workspace"
)

const (
	// mirrorParallel is how many projects' mirrors are brought up to date at once; a project's rounds follow each other.
	mirrorParallel = 4
	mirrorQueue    = 16 // waiting rounds a project
	// listTimeout bounds git's list of the files (protocol.md 7.5).
	listTimeout = 30 * time.Second
)

// receiveMirror takes a mirror_sync (protocol.md 4.7).
func (s *session) receiveMirror(l link, in incoming) {
	m, fail := action.DecodeMirrorSync(in.payload)
	in.ref = m.Ref
	s.receive(l, in, fail, func() *failure.Failure { return s.acceptMirror(l, m, in) })
}

// acceptMirror compares the destination with the one of this join's grant, and queues the round.
func (s *session) acceptMirror(l link, m action.MirrorSync, in incoming) *failure.Failure {
	s.log.Info("received", "ref", m.Ref, "action", in.event, "destination", m.Destino, "moment", m.Momento)
	if s.m.o.Git == nil {
		return failure.New(failure.GitMissing, "git")
	}
	judge := func(granted string) *failure.Failure {
		switch {
		case granted == "":
			return failure.New(failure.MirrorNotGranted, m.Destino)
		case clean(m.Destino) != clean(granted):
			return failure.New(failure.MirrorNotGranted, m.Destino).Because("the server granted %s at the join", granted)
		}
		return s.guardFolder(machinepolicy.TypeMirror, m.Ref, m.Destino)
	}
	if fail := judge(l.mirror); fail != nil {
		return fail
	}
	// A grant ends with its connection (protocol.md 3.5): a round that waited needs one of the present connection.
	w := way{again: func() (plan, *failure.Failure) { return plan{}, judge(s.grantedMirror()) }}
	return s.queue(w, s.m.mirrors, in, func(ctx context.Context, _ plan) { s.sync(ctx, m, in) })
}

// grantedMirror is the destination that the present connection's join granted; empty for none.
func (s *session) grantedMirror() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return ""
	}
	return s.live.mirror
}

// clean is a destination without the slash at its end, which counts for nothing. What else is odd about it is refused
// by the mirror.
func clean(path string) string {
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" {
		return trimmed
	}
	return path
}

// sync is one round. The memory of the last one is kept for as long as the destination is the same.
func (s *session) sync(ctx context.Context, m action.MirrorSync, in incoming) {
	destination := clean(m.Destino)
	if s.mirror == nil || s.mirror.Destination != destination {
		s.mirror = &workspace.Mirror{Root: s.folder.Path, Destination: destination, Options: s.m.o.Folder}
	}
	own := s.own()
	s.mirror.Withheld = func(file string) bool { return own.SteersPath(s.folder.Path + "/" + file) }
	tell := s.progress(m.Ref)
	s.mirror.Files = func(ctx context.Context) ([]string, error) { return s.gitFiles(ctx, in) }
	s.mirror.Apart = s.m.roots()
	s.mirror.Progress = func(done, total int) { tell("mirror", "files", int64(done), int64(total)) }
	done, err := s.mirror.Sync(ctx)
	result := action.MirrorSyncResult{
		Ref: m.Ref, Sucesso: err == nil, Destino: done.Destination, Copiados: &done.Copied, Pulados: &done.Skipped, Recusados: &done.Refused,
	}
	if err != nil {
		fail := cutShort(ctx, err, "action "+m.Ref)
		result.Erro, result.Failure = fail.Error(), fail
		switch {
		case refusedDestination(fail.Name): // nothing is said of a destination that was refused
			result.Destino, result.Copiados, result.Pulados, result.Recusados = "", nil, nil, nil
		case done.Destination == "":
			result.Destino = destination
		}
		s.log.Warn("the mirror is not up to date", "ref", m.Ref, "failure", withoutSecrets(s.secrets(in), fail))
	}
	if s.finish(in, result) {
		s.log.Info("finished", "ref", m.Ref, "action", in.event, "copied", done.Copied, "skipped", done.Skipped, "refused", done.Refused,
			"duration", time.Since(in.received).Round(time.Millisecond))
	}
}

// roots are those of every project of this machine.
func (m *Machine) roots() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, s := range m.sessions {
		all = append(all, s.project.Root)
	}
	return all
}

// refusedDestination reports whether the failure is about where the mirror would lie.
func refusedDestination(name failure.Name) bool {
	switch name {
	case failure.MirrorInvalid, failure.MirrorInside, failure.MirrorAround, failure.MirrorNotAllowed:
		return true
	}
	return false
}

// gitFiles lists the project's files, as git sees them.
func (s *session) gitFiles(ctx context.Context, in incoming) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	env, err := s.m.environment(nil)
	if err != nil {
		return nil, err
	}
	return s.git(in, env).Files(ctx, s.folder.Path)
}
