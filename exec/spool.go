package exec

import (
	"errors"
	"os"
	"path/filepath"

	"brabo.dev/runner/runner/failure"
)

// spool keeps the full output of one command in a file, up to a limit. The file is made when the output outgrows what
// the result can hold, so that most commands have none. The first failure ends it and is kept.
type spool struct {
	dir, name string
	room      int64 // bytes that the file may still grow by
	early     []byte
	hold      int // bytes held in early before the file is made
	file      *os.File
	failed    *failure.Failure
}

// newSpool gives nil, which takes everything and keeps nothing, where c asks for no file.
func newSpool(c *Command) *spool {
	if c.SpoolDir == "" || c.SpoolLimit <= 0 {
		return nil
	}
	return &spool{dir: c.SpoolDir, name: c.SpoolName, room: c.SpoolLimit, hold: c.ResultLimit}
}

func (s *spool) write(p []byte) {
	if s == nil || s.failed != nil || s.room <= 0 {
		return
	}
	if s.file == nil {
		if len(s.early)+len(p) <= s.hold {
			s.early = append(s.early, p...)
			return
		}
		if err := s.open(); err != nil {
			s.fail(err)
			return
		}
		s.append(s.early)
		s.early = nil
	}
	s.append(p)
}

func (s *spool) append(p []byte) {
	n := min(int64(len(p)), s.room)
	if s.failed != nil || n == 0 {
		return
	}
	written, err := s.file.Write(p[:n])
	s.room -= int64(written)
	if err != nil {
		s.fail(err)
	}
}

// open makes the file. Its name comes from a server, so it must be a plain one, and no link leads out of the folder.
func (s *spool) open() error {
	if s.name != filepath.Base(s.name) || !filepath.IsLocal(s.name) || s.name == "." {
		return errors.New("the name is not a plain file name")
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	s.file, err = root.OpenFile(s.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	return err
}

func (s *spool) fail(err error) {
	s.early = nil
	s.failed = failure.New(failure.SpoolFailed, filepath.Join(s.dir, s.name)).Wrap(err)
}

// close ends the file and gives its path, "" where there is none, and what went wrong, or nil. Truncated tells that
// the result does not hold everything: replacement can make a text outgrow it that came in under its limit.
func (s *spool) close(truncated bool) (path string, failed *failure.Failure) {
	if s == nil {
		return "", nil
	}
	if truncated && s.file == nil {
		s.hold = -1
		s.write(nil)
	}
	if s.file != nil {
		path = filepath.Join(s.dir, s.name)
		if err := s.file.Close(); err != nil && s.failed == nil {
			s.fail(err)
		}
	}
	return path, s.failed
}
