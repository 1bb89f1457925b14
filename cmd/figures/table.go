package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// printTable writes one row a figure. Each ends with its verdict, in words that stand nowhere else in the output.
func printTable(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tmeasured\tgoal\t")
	for _, r := range rows {
		measured := "nothing (" + r.why + ")"
		if r.found {
			measured = number(r.value) + " " + r.unit
			if r.aside != "" {
				measured += " (" + r.aside + ")"
			}
		}
		verdict := "not met"
		if r.reached() {
			verdict = "met"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.text, measured, r.bound(), verdict)
	}
	return w.Flush()
}

// bound is the goal in words.
func (f figure) bound() string {
	words := "at most "
	if f.atLeast {
		words = "at least "
	}
	return words + number(f.goal) + " " + f.unit
}

// number gives three digits that count.
func number(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
