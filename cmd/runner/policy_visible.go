package main

import "brabo.dev/runner/runner/shown"

// visible shows what a terminal would hide or obey.
func visible(s string) string { return shown.Text(s) }

// visibleLines shows a text of several lines as such.
func visibleLines(s string) []string { return shown.Lines(s) }
