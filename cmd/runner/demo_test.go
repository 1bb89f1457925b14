package main

import (
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestDemonstrationWithoutAPlaceForItsFolderIsNamed(t *testing.T) {
	// A file where a folder should be refuses everybody, root too.
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "TMPDIR", "LocalAppData", "TMP", "TEMP"} {
		t.Setenv(name, "/dev/null/nowhere")
	}
	_, err := demoFolder()
	failuretest.Produced(t, err, failure.NoDemoFolder)
}
