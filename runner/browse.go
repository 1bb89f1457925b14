package runner

import (
	"cmp"
	"context"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/workspace"
)

// Bounds of folder browsing: it reads for a person who clicks, not for a program that walks the disk.
const (
	browseParallel = 4
	browseQueue    = 64 // waiting questions a project
)

// receiveList answers a folder picker (protocol.md 4.6). Nothing of it is kept: who still wants an answer asks again.
func (s *session) receiveList(l link, msg channel.Message) {
	list, fail := action.DecodeFsListDir(msg.Payload)
	if list.Ref == "" {
		s.log.Warn("ignored: there is no ref to answer to", "failure", fail)
		return
	}
	failed := func(fail *failure.Failure) {
		s.log.Warn("refused", "ref", list.Ref, "failure", fail)
		s.reply(l, action.EventFsListDirReply, action.FsListDirReply{
			Ref: list.Ref, Path: list.Path, Entradas: []action.Entrada{}, Erro: fail.Error(), Failure: fail,
		})
	}
	if fail != nil {
		failed(fail)
		return
	}
	s.browse(jobKey{msg.Event, list.Ref}, failed, func(ctx context.Context) {
		if fail := s.guardFolder(machinepolicy.TypeBrowse, list.Ref, list.Path); fail != nil {
			failed(fail)
			return
		}
		listing, err := workspace.List(ctx, list.Path, s.m.o.Browse)
		if err != nil {
			failed(failure.From(err, list.Path))
			return
		}
		if len(listing.Skipped) > 0 {
			s.log.Info("entries without a name that a message can carry were left out", "path", listing.Path, "names", listing.Skipped)
		}
		answer := action.FsListDirReply{Ref: list.Ref, Path: listing.Path, Entradas: make([]action.Entrada, 0, len(listing.Entries))}
		for _, e := range listing.Entries {
			answer.Entradas = append(answer.Entradas, action.Entrada{Nome: e.Name, IsDir: e.IsDir})
		}
		if listing.Cut != nil {
			answer.Erro, answer.Failure = listing.Cut.Error(), listing.Cut
		}
		s.reply(l, action.EventFsListDirReply, answer)
	})
}

// receiveHome answers where a folder picker begins.
func (s *session) receiveHome(l link, msg channel.Message) {
	ref, fail := action.DecodeFsHomeDir(msg.Payload)
	if ref == "" {
		s.log.Warn("ignored: there is no ref to answer to", "failure", fail)
		return
	}
	failed := func(fail *failure.Failure) {
		s.log.Warn("refused", "ref", ref, "failure", fail)
		s.reply(l, action.EventFsHomeDirReply, action.FsHomeDirReply{Ref: ref, Erro: fail.Error(), Failure: fail})
	}
	if fail != nil {
		failed(fail)
		return
	}
	s.browse(jobKey{msg.Event, ref}, failed, func(context.Context) {
		if lock, fail := s.lock(); fail != nil || !lock.Allows(machinepolicy.TypeBrowse) {
			failed(cmp.Or(fail, failure.New(failure.MachinePolicyRefused, "home folder")))
			return
		}
		home, err := s.m.o.Browse.HomeDir()
		if err != nil {
			failed(failure.From(err, "home folder"))
			return
		}
		s.reply(l, action.EventFsHomeDirReply, action.FsHomeDirReply{Ref: ref, Path: home})
	})
}

// browse has look run in its turn, away from the session's loop.
func (s *session) browse(key jobKey, failed func(*failure.Failure), look func(context.Context)) {
	j := s.m.browses.job(s.work, s.project.ID, key, time.Time{})
	j.run, j.refuse = look, failed
	s.m.browses.submit(j)
}

// reply pushes an answer on the connection that the question came on. One that is gone needs none.
func (s *session) reply(l link, event string, answer any) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.work), leaveTimeout)
	defer cancel()
	if err := l.ch.Push(ctx, event, answer); err != nil {
		s.log.Debug("an answer was not sent", "event", event, "error", err)
	}
}
