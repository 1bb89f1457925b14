package journal

import (
	"errors"
	"io/fs"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"brabo.dev/runner/runner/failure"
)

// damage is what a check of the file found.
type damage string

func (d damage) Error() string { return "the journal is damaged: " + string(d) }

// primary is SQLite's primary result code in err, or 0.
func primary(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// damaged tells whether err means that the file's content makes no sense.
func damaged(err error) bool {
	_, found := errors.AsType[damage](err)
	code := primary(err)
	return found || code == lib.SQLITE_CORRUPT || code == lib.SQLITE_NOTADB
}

// foreign tells whether err, met while opening, means that the file holds tables other than ours: statements that are
// known to be right don't fit them.
func foreign(err error) bool { return primary(err) == lib.SQLITE_ERROR }

// full tells whether err means that the disk is.
func full(err error) bool { return primary(err) == lib.SQLITE_FULL || diskFull(err) }

// named gives err the name under which a person meets it, about the file or folder path.
func named(err error, path string) error {
	var name failure.Name
	switch code := primary(err); {
	case err == nil:
		return nil
	case failure.As(err) != nil:
		return err
	case full(err):
		name = failure.DiskFull
	case damaged(err):
		name = failure.JournalCorrupt
	case code == lib.SQLITE_READONLY, code == lib.SQLITE_IOERR, code == lib.SQLITE_CANTOPEN, code == lib.SQLITE_PERM,
		unwritable(err):
		name = failure.JournalUnwritable
	default:
		return failure.From(err, path)
	}
	return failure.New(name, path).Wrap(err)
}

func unwritable(err error) bool {
	_, onPath := errors.AsType[*fs.PathError](err)
	return onPath || errors.Is(err, fs.ErrPermission)
}
