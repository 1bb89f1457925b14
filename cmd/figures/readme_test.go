package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadmeHasEveryFigure holds the README's tables against the rows and the parts of the story, in their order.
func TestReadmeHasEveryFigure(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "\n## Figures\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var shown [][2]string // the first cell, and the goal or its like
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) == 4 && strings.HasPrefix(line, "| ") {
			shown = append(shown, [2]string{strings.TrimPrefix(cells[0], "| "), cells[2]})
		}
	}
	want := [][2]string{{"figure", "goal"}}
	for _, f := range figures() {
		want = append(want, [2]string{f.text, f.bound()})
	}
	var parts []string
	for _, p := range story(1, 1) {
		parts = append(parts, p.text)
	}
	if len(shown) < len(want) || !slices.Equal(shown[:len(want)], want) {
		t.Errorf("the README shows\n%q, and the figures are\n%q", shown, want)
		return
	}
	var told []string
	for _, row := range shown[len(want)+1:] { // behind the head of the second table
		told = append(told, row[0])
	}
	if !slices.Equal(told, parts) {
		t.Errorf("the README tells %q, and the story is %q", told, parts)
	}
}
