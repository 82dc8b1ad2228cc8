package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

func (f canaryFigure) text() string {
	if f.Mean == nil {
		return "-"
	}
	show := func(x float64) string {
		if x != 0 && math.Abs(x) < 0.01 {
			return fmt.Sprintf("%.2e", x)
		}
		return fmt.Sprintf("%.3f", x)
	}
	s := show(*f.Mean)
	if f.Error != nil {
		s += " ± " + show(*f.Error)
	}
	if f.Published != nil {
		s += fmt.Sprintf(" [%.3g]", *f.Published)
	}
	return s
}

func printCanaryTables(w io.Writer, r canaryResult) {
	p := r.Plan
	fmt.Fprintf(w, "Canary audits, means ± standard errors, [published]; beta = %g, delta = %g, first seed %d\n", canaryBeta, canaryDelta, p.Seed)
	for _, t := range r.Tables {
		printCanaryTable(w, t)
	}
	if len(r.Missed) > 0 {
		fmt.Fprintf(w, "\nMissed: %d\n", len(r.Missed))
	}
}

func printCanaryTable(w io.Writer, t *canaryTable) {
	fmt.Fprintf(w, "\n%s: %s\nPublished: %s\n\n", t.ID, t.Title, t.Published)
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, c := range t.Columns {
		fmt.Fprintf(tw, "\t%s", c)
	}
	fmt.Fprintln(tw)
	for _, row := range t.Rows {
		fmt.Fprint(tw, row.Name)
		for _, f := range row.Figures {
			fmt.Fprintf(tw, "\t%s", f.text())
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	for _, n := range t.Notes {
		fmt.Fprintf(w, "Note: %s.\n", n)
	}
	for _, c := range t.Checks {
		mark := "reached"
		if !c.Reached {
			mark = "MISSED"
		}
		want := ""
		if c.Least != nil {
			want += fmt.Sprintf(", at least %.3g", *c.Least)
		}
		if c.Most != nil {
			want += fmt.Sprintf(", at most %.3g", *c.Most)
		}
		fmt.Fprintf(w, "%s: %s %.3f%s\n", mark, c.What, c.Got, want)
	}
}
