package main

import (
	"fmt"
	"io"
	"strings"

	"brabo.dev/runner/runner/policy"
)

// checkAnswer is what check prints with --json: the decision first, as --batch answers, then what led to it.
type checkAnswer struct {
	policy.Decision
	Scope      policy.ScopeResult          `json:"scope"`
	Outside    string                      `json:"outside,omitempty"`
	Unresolved []string                    `json:"unresolved,omitempty"`
	Segments   []policy.SegmentExplanation `json:"segments"`
}

func answerOf(e policy.Explanation) checkAnswer {
	return checkAnswer{e.Decision, e.Scope, e.Outside, e.Unresolved, append([]policy.SegmentExplanation{}, e.Segments...)}
}

// printCheck writes the verdict, and a paragraph for each segment.
func printCheck(w io.Writer, e policy.Explanation) error {
	var b strings.Builder
	d := e.Decision
	fmt.Fprintf(&b, "verdict  %s\nrule     %s\nreason   %s\nscope    %s\n", d.Policy, d.Rule, visible(d.Reason), scopeText(e))
	for _, why := range e.Unresolved {
		fmt.Fprintf(&b, "         unresolved: %s\n", visible(why))
	}
	for i, s := range e.Segments {
		fmt.Fprintf(&b, "\n%d  %s\n", i+1, segmentText(s))
		for _, line := range segmentFacts(s) {
			fmt.Fprintf(&b, "   %s\n", line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printTree draws the command, its segments below it, and what becomes of it.
func printTree(w io.Writer, command string, e policy.Explanation) error {
	var b strings.Builder
	for _, line := range visibleLines(command) {
		fmt.Fprintln(&b, line)
	}
	for _, s := range e.Segments {
		fmt.Fprintf(&b, "├─ %s\n", segmentText(s))
		facts := segmentFacts(s)
		for j, line := range facts {
			branch := "├─"
			if j == len(facts)-1 {
				branch = "└─"
			}
			fmt.Fprintf(&b, "│  %s %s\n", branch, line)
		}
	}
	fmt.Fprintf(&b, "└─ %s by %s: %s\n", e.Decision.Policy, e.Decision.Rule, visible(e.Decision.Reason))
	for _, why := range e.Unresolved {
		fmt.Fprintf(&b, "   └─ unresolved: %s\n", visible(why))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func scopeText(e policy.Explanation) string {
	if e.Outside == "" {
		return string(e.Scope)
	}
	return string(e.Scope) + ": " + visible(e.Outside)
}

// segmentText is the segment's words, with nothing hidden.
func segmentText(s policy.SegmentExplanation) string {
	if len(s.Words) == 0 {
		return "(a redirection alone)"
	}
	words := make([]string, len(s.Words))
	for i, w := range s.Words {
		words[i] = shownWord(w)
	}
	return strings.Join(words, " ")
}

// shownWord tells one word from several. A parameter or a glob stands as it was written, so nothing else is quoted.
func shownWord(word string) string {
	if word == "" || strings.ContainsAny(word, " \t\n'\"") {
		return visible("'" + strings.ReplaceAll(word, "'", `'\''`) + "'")
	}
	return visible(word)
}

// segmentFacts are what is known about the segment, one a line.
func segmentFacts(s policy.SegmentExplanation) []string {
	found := "written"
	if !s.Written {
		found = "hidden in a wrapper or a program text"
	}
	if s.Readings > 1 {
		found += fmt.Sprintf(", read %d times: once for each word of its loops", s.Readings)
	}
	opinion := s.Opinion + " by " + visible(s.Entry)
	switch s.Opinion {
	case "scope":
		opinion = "allowed, since it stays inside"
	case "structure":
		opinion = "needs no entry of its own"
	case "none":
		opinion = "no entry speaks about it"
	}
	facts := []string{found, opinion}
	for _, word := range s.Effects {
		facts = append(facts, "an allow must name "+visible(word))
	}
	for _, why := range s.Issues {
		facts = append(facts, "unresolved: "+visible(why))
	}
	return facts
}
