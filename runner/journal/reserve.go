package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"brabo.dev/runner/runner/failure"
)

// restoreEvery is how long a full disk is left alone between two attempts to fill the reserve again.
const restoreEvery = time.Second

// reserve is a file that keeps room free on the disk by filling it. The journal's mutex guards it.
type reserve struct {
	path  string
	size  int64 // zero: there is none
	held  bool
	tried time.Time
}

// restore makes the file where it is not there in its full size.
func (r *reserve) restore(now time.Time) error {
	r.tried = now
	if info, err := os.Stat(r.path); err == nil && info.Size() == r.size {
		r.held = true
		return nil
	}
	err := r.fill()
	r.held = err == nil
	if err != nil {
		_ = os.Remove(r.path) // a part of a reserve would only take room away
		return named(fmt.Errorf("making the journal's reserve: %w", err), r.path)
	}
	return nil
}

// fill writes the file. Its content is noise, because file systems that compress would keep no room for zeros.
func (r *reserve) fill() error {
	if r.size == 0 {
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	noise := rand.NewChaCha8([32]byte{})
	block := make([]byte, 64<<10)
	for left := r.size; left > 0 && err == nil; left -= int64(len(block)) {
		block = block[:min(left, int64(len(block)))]
		_, _ = noise.Read(block) // never fails
		_, err = f.Write(block)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// release gives the room away and tells whether there was any.
func (r *reserve) release() bool {
	if !r.held || r.size == 0 {
		return false
	}
	r.held = false
	return os.Remove(r.path) == nil
}

// ready says nothing where new work may come in: where the reserve is there, or can be filled again.
func (r *reserve) ready(now time.Time) error {
	if r.held {
		return nil
	}
	if since := now.Sub(r.tried); since >= 0 && since < restoreEvery {
		return r.missing()
	}
	return r.restore(now)
}

func (r *reserve) missing() *failure.Failure {
	return failure.New(failure.DiskFull, r.path).
		Because("the room that is set aside for the results of running actions is in use or could not be filled")
}
