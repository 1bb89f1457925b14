package runner

import (
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"syscall"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/runner/policy"
)

// proposed is an action as the second lock judges it.
type proposed struct {
	policy.Action // Cwd with its links followed
	ref           string
	decision      *action.Decision // nil where the server does not know how to say who decided
	fileBinds     bool             // the project's permissions.json does
	files         []string         // what it reads or writes without a shell, absolute
	writes        bool             // it writes them
	spec          json.RawMessage  // of a container to start
}

// lock is what policy.json says now about this project.
func (s *session) lock() (machinepolicy.Lock, *failure.Failure) {
	if s.m.o.Lock == nil {
		return machinepolicy.Lock{}, nil
	}
	lock, err := s.m.o.Lock(s.project.ID)
	if err != nil {
		return lock, failure.From(err, machinepolicy.FileName)
	}
	return lock, nil
}

// judge is the second lock: what this machine refuses, whatever the server says. It answers with p, and in it whether
// the person at this machine has to allow the action first.
func (s *session) judge(p plan, a proposed) (plan, *failure.Failure) {
	lock, fail := s.lock()
	if fail != nil {
		return plan{}, fail
	}
	if p.confine = lock.Confine(); p.confine.On {
		p.beside = s.besides(lock)
	}
	refused := failure.New(failure.MachinePolicyRefused, "action "+a.ref)
	switch {
	case !lock.Allows(a.Type):
		return plan{}, refused.Because("`policy.json` on this machine allows no %s here", a.Type)
	case !lock.AllowsFolder(s.folder.Path, s.folder.Real):
		return plan{}, refused.Because("`policy.json` on this machine allows no project in %s", s.folder.Path)
	}
	var file policy.Permissions
	if a.fileBinds {
		read, err := policy.Load(filepath.Join(s.folder.Path, policy.FileName))
		if err != nil && !errors.Is(err, syscall.ENOTDIR) { // then there is no folder that could have one
			return plan{}, failure.From(err, policy.FileName)
		}
		file = read.Permissions
	}
	if a.Type == "terminal" {
		p.ask, fail = s.judgeCommand(lock, p.dir, a, file)
	} else {
		p.ask, fail = s.judgeTyped(lock, a, file)
	}
	return p, fail
}

// judgeCommand reads a command once, and asks the denies, what belongs to the judge, and the ceilings.
func (s *session) judgeCommand(lock machinepolicy.Lock, dir string, a proposed, file policy.Permissions) (string, *failure.Failure) {
	read := policy.NewRecheck(a.Action, file, policy.Context{ScopeRoot: s.folder.Path})
	if d, denied := read.Denied(lock.Denies()...); denied {
		return "", failure.New(failure.PolicyDenied, "action "+a.ref).Because("%s (%s)", d.Reason, d.Rule)
	}
	what := read.Steers(s.own())
	if what == "" && s.m.o.Protected.SteersPath(dir) { // by a link
		what = "it works in " + dir + ", which decides about it"
	}
	if what != "" {
		return "", failure.New(failure.SteersTheJudge, "action "+a.ref).Because("%s", what)
	}
	met := read.Ceilings()
	if a.decision == nil && !read.Parses() {
		// An engine's own git work has such text, so that alone holds nothing (protocol.md section 12, last paragraph).
		// The shell runs the whole lines in front of the break, and what those meet counts.
		met = slices.DeleteFunc(met, func(d policy.Decision) bool { return d.Rule == policy.CeilingUnresolved })
	}
	return atCeilings(lock, a, met)
}

func (s *session) judgeTyped(lock machinepolicy.Lock, a proposed, file policy.Permissions) (string, *failure.Failure) {
	for _, rules := range append(lock.Denies(), policy.Compile(policy.Permissions{Deny: file.Deny})) {
		if entry, denied := rules.DeniesType(a.Type); denied {
			return "", failure.New(failure.PolicyDenied, "action "+a.ref).Because("The deny entry %s matches. (%s)", entry, policy.FileDeny)
		}
	}
	protected := s.m.o.Protected
	if a.writes {
		protected = s.own()
	}
	for _, path := range a.files {
		if protected.SteersPath(path) {
			return "", failure.New(failure.SteersTheJudge, path)
		}
	}
	if a.spec != nil {
		if fail := allowsContainer(lock, a.spec, s.project.ID); fail != nil {
			return "", fail
		}
	}
	var met []policy.Decision
	if d, meets := policy.TypedCeiling(a.Action, policy.Context{ScopeRoot: s.folder.Path}); meets {
		met = append(met, d)
	}
	return atCeilings(lock, a, met)
}

// own is what belongs to this daemon, with the rules of the whole machine, and with the files of the existing client that
// may lie in the project's folder: what takes the one away or changes the other has the daemon ask another server, with
// this machine's key.
func (s *session) own() policy.Protected {
	p := s.m.o.Protected
	p.Files = append(slices.Clone(p.Files), steeringFile)
	if s.m.o.Managed != "" {
		p.Folders = append(slices.Clone(p.Folders), s.m.o.Managed)
	}
	return p
}

// steeringFile is that of the existing client which names the server and the project that it serves (protocol.md 2.1).
const steeringFile = "brabo-runner.config.json"

// allowsContainer looks at what a container would be. A spec that is wrong is refused by who starts containers.
func allowsContainer(lock machinepolicy.Lock, raw json.RawMessage, projectID string) *failure.Failure {
	spec, err := containerctl.ParseSpec(raw, projectID)
	switch {
	case err != nil:
		return failure.From(err, "spec")
	case !lock.AllowsImage(spec.Image):
		return failure.New(failure.MachinePolicyRefused, spec.Image).Because("`policy.json` on this machine allows no container of that image")
	case spec.Network == containerctl.NetworkEgress && !lock.AllowsEgress():
		return failure.New(failure.MachinePolicyRefused, "spec.rede").Because("`policy.json` on this machine allows no container with a network")
	}
	return nil
}

// atCeilings is what becomes of an action that meets ceilings: nothing, a refusal, or why a person at this machine has
// to allow it.
func atCeilings(lock machinepolicy.Lock, a proposed, met []policy.Decision) (ask string, _ *failure.Failure) {
	human := a.decision != nil && a.decision.Kind == "human"
	for _, d := range met {
		switch response := lock.At(machinepolicy.CeilingOf(d.Rule)); {
		case response == machinepolicy.Refuse:
			return "", failure.New(failure.MachinePolicyRefused, "action "+a.ref).
				Because("`policy.json` on this machine refuses it, whoever decided: %s (%s)", d.Reason, d.Rule)
		case response == machinepolicy.Trust, human, response == machinepolicy.Usual && a.decision == nil:
		default:
			ask = cmp.Or(ask, d.Reason)
		}
	}
	return ask, nil
}
