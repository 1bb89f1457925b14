package store

import (
	"errors"
	"io/fs"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"brabo.dev/runner/runner/failure"
)

// damage is what a check of the file found.
type damage string

func (d damage) Error() string { return "the hub's store is damaged: " + string(d) }

// named gives an error of the database the name under which a person meets it, about the file path. Other errors,
// ErrNone and what the caller's function returned among them, stay as they are.
func named(err error, path string) error {
	if err == nil || failure.As(err) != nil {
		return err
	}
	_, found := errors.AsType[damage](err)
	code := 0
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		code = e.Code() & 0xff
	}
	_, onPath := errors.AsType[*fs.PathError](err)
	switch {
	case found, code == lib.SQLITE_CORRUPT, code == lib.SQLITE_NOTADB:
		return failure.New(failure.HubStoreDamaged, path).Wrap(err)
	case code == lib.SQLITE_FULL, diskFull(err):
		return failure.New(failure.DiskFull, path).Wrap(err)
	case code == lib.SQLITE_BUSY, code == lib.SQLITE_LOCKED:
		return failure.New(failure.StateLocked, path).Because("another hub uses this file").
			Then("stop the other one, or give this one a data folder of its own (XDG_DATA_HOME)").Wrap(err)
	case code == lib.SQLITE_READONLY, code == lib.SQLITE_IOERR, code == lib.SQLITE_CANTOPEN, code == lib.SQLITE_PERM, onPath:
		return failure.New(failure.HubStoreUnwritable, path).Wrap(err)
	}
	return err
}
