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

func TestDemonstrationFitsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		name, text    string
		width, indent int
		want          string
	}{
		{"no terminal", "one two three", 0, 2, "one two three"},
		{"a terminal that is too narrow to indent", "one two", 2, 2, "one two"},
		{"words that just fit", "one two", 9, 2, "one two"},
		{"a word too many", "one two three", 9, 2, "one two\n  three"},
		{"a word longer than the line", "one seventeen two", 9, 2, "one\n  seventeen\n  two"},
		{"what is counted are characters", "ééé ééé", 9, 2, "ééé ééé"},
	} {
		if got := hang(c.text, c.width, c.indent); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
