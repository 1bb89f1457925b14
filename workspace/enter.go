package workspace

import (
	"os"

	"brabo.dev/runner/runner/failure"
)

// Enter opens the folder dir for a command to stand in, and vouches that what was opened lies in one of the folders real,
// which are real paths: between Confine and the command's start a link may have been put in dir's place. On Linux what
// was opened is what was looked at; elsewhere the system can't say so, and the path is looked at once more.
//
// It fails with CwdOutside, and with CwdMissing where there is no folder.
func Enter(dir string, real ...string) (*os.File, error) {
	opened, err := openFolder(dir)
	if err != nil {
		return nil, failure.New(failure.CwdMissing, dir).Wrap(err)
	}
	led, err := whereIs(opened)
	if err == nil && insideAny(real, led, exactlyWithin) {
		return opened, nil
	}
	opened.Close()
	if err != nil {
		return nil, failure.New(failure.CwdOutside, dir).Because("where it leads can't be seen").Wrap(err)
	}
	return nil, failure.New(failure.CwdOutside, dir).
		Because("a link was put in its place after it was checked, and leads to %s, outside the project folder", shown(led))
}
