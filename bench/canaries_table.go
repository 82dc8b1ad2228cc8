package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// canaryTable is a table or a figure, with published figures where they are known.
type canaryTable struct {
	ID        string           `json:"table"`
	Title     string           `json:"title"`
	Published string           `json:"published"` // where the figures beside ours come from
	Columns   []string         `json:"columns"`
	Rows      []canaryTableRow `json:"rows"`
	Notes     []string         `json:"notes,omitempty"`
	Checks    []check          `json:"checks,omitempty"`
}

type canaryTableRow struct {
	Name    string         `json:"name"`
	Figures []canaryFigure `json:"figures"` // one a column
}

// canaryFigure is a mean with its standard error; the zero value is an empty cell.
type canaryFigure struct {
	Mean      *float64 `json:"mean,omitempty"`
	Error     *float64 `json:"standardError,omitempty"`
	Published *float64 `json:"published,omitempty"`
}

func meanFigure(values []float64) canaryFigure {
	if len(values) == 0 {
		return canaryFigure{}
	}
	mean, se := meanError(values)
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		return canaryFigure{}
	}
	f := canaryFigure{Mean: &mean}
	if len(values) > 1 {
		f.Error = &se
	}
	return f
}

// beside adds the published figure; NaN where there is none.
func (f canaryFigure) beside(published float64) canaryFigure {
	if !math.IsNaN(published) {
		f.Published = &published
	}
	return f
}

func meanError(values []float64) (mean, se float64) {
	n := float64(len(values))
	for _, x := range values {
		mean += x / n
	}
	for _, x := range values {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se / math.Max(1, n-1) / n)
}

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
	printChecks(w, t.Checks)
}
