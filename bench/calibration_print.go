package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dpscope/dpscope/core/calibration"
)

func printCalibration(w io.Writer, r calibrationResult) {
	p := r.Plan
	kind := ""
	if p.Anytime {
		kind = " anytime-valid"
	}
	if len(r.Rows) > 0 {
		fmt.Fprintf(w, "False alarms of%s audits of claims that hold: %d certification and %d exploration outputs a side, %d trials, beta = %g, %d runs of a cell that is cheap, seed %d\n",
			kind, p.Samples, p.Explore, p.Trials, p.Beta, p.Runs, p.Seed)
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	if len(r.Settings) > 0 {
		fmt.Fprintf(w, "\nMechanisms as learners audit them\n\n")
		fmt.Fprintln(t, "mechanism\tclaim\tmet on\tby")
		for _, s := range r.Settings {
			met := "-"
			if s.Pair > 0 {
				met = fmt.Sprintf("pair %d", s.Pair)
			}
			if s.Alone {
				met += " alone"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", s.Mechanism, s.Claim, met, s.Why)
		}
		t.Flush()
	}
	if len(r.Groups) > 0 {
		fmt.Fprintf(w, "\nCells together whose claims are met\n\n")
		fmt.Fprintln(t, "cells\tnumber\tfalse alarms\trate\t99 % interval\taccused above")
		for _, g := range r.Groups {
			fmt.Fprintf(t, "%s\t%d\t%s\n", g.Name, g.Cells, countText(g.Count))
		}
		t.Flush()
	}
	for _, b := range []struct {
		block calibration.Block
		title string
	}{
		{calibration.Guarantees, "Kinds of guarantees, each claim exact on the pair, with histograms"},
		{calibration.Learners, "Learners, with the default finder"},
		{calibration.Finders, "Finders, with the default learner"},
	} {
		titled := false
		for _, row := range r.Rows {
			if row.Block != b.block {
				continue
			}
			if !titled {
				titled = true
				fmt.Fprintf(w, "\n%s\n\n", b.title)
				fmt.Fprintln(t, "cell\tfalse alarms\trate\t99 % interval\taccused above\tmedian\tmarks")
			}
			fmt.Fprintf(t, "%s\t%s\t%.3f\t%s\n", row.Name, countText(row.Count), row.Median, marks(row))
		}
		t.Flush()
	}
	if len(r.Sharp) > 0 {
		fmt.Fprintf(w, "\nSharp cells: bounds at their exact claims with a fixed event and without a search\n\n")
		fmt.Fprintln(t, "cell\tsize\tfalse alarms\trate\taccused outside\tmarks")
		for _, row := range r.Sharp {
			mark := ""
			if row.TooLarge {
				mark += "SIZE ABOVE BETA "
			}
			if row.Off {
				mark += "RATE IS NOT THE SIZE"
			}
			fmt.Fprintf(t, "%s\t%.5f\t%d/%d\t%.5f\t%d..%d\t%s\n", row.Name, row.Size, row.Alarms, row.Of, row.Rate, row.Least, row.Most, mark)
		}
		t.Flush()
		fmt.Fprintf(w, `
size: the probability that the bound refutes the claim, by enumeration of all counts; above beta it is accused whatever the runs say.
accused outside: the exact two-sided binomial test of the size accuses a bound that refutes as often as that with probability %g at
  most, in each cell.
`, sharpLevel)
	}
	if len(r.Rows) == 0 {
		printSharpVerdict(w, r)
		return
	}
	fmt.Fprintf(w, `
accused above: more false alarms than this are significantly above beta.
median: of certified bound over claim; far below 1 there is little to be wrong about.
~ the claim is not known to be met on a pair in reach. i, f: so many runs were inconclusive, failed. n: not judged (float-bits reads
  that noise was added in floating point; the claims hold for real numbers).
Where a mechanism's claim is that of its first pair alone, finders audit its own claim and default parameters instead.
Runs are independent: each has a seed of its own, of the seed, the cell's name and the run's number.
Slow learners have fewer runs; networks with a hundred units a layer explore one pair only.
A cell of few runs is blind to small errors: one of 600 runs whose true rate is 0.1 is accused with probability about .6, one of 150 with
  .03. All cells are not added up: most have slack, and would hide one that errs.
`)
	for _, l := range r.Left {
		fmt.Fprintf(w, "Left out: %s\n", l)
	}
	verdict := "No cell's false-alarm rate is significantly above " + fmt.Sprint(p.Beta)
	if len(r.Above) > 0 {
		verdict = fmt.Sprintf("Significantly above %g: %s", p.Beta, strings.Join(r.Above, "; "))
	}
	fmt.Fprintf(w, "\n%s (exact binomial tests of %d cells and groups, which accuse audits that keep their error with probability %g at most)\n", verdict, r.Tests, r.Error)
}

func countText(c calibration.Count) string {
	return fmt.Sprintf("%d/%d\t%.4f\t%.4f..%.4f\t%d", c.Alarms, c.Of, c.Rate, c.Lower, c.Upper, c.Most)
}

// printSharpVerdict is the last line where sharp cells alone were asked for.
func printSharpVerdict(w io.Writer, r calibrationResult) {
	if len(r.Above) > 0 {
		fmt.Fprintf(w, "\nAccused: %s\n", strings.Join(r.Above, "; "))
		return
	}
	fmt.Fprintf(w, "\nNo sharp cell is accused.\n")
}

// marks are the row's, explained below the tables.
func marks(r calibration.Row) string {
	var m []string
	if !r.Met {
		m = append(m, "~")
	}
	if r.Inconclusive > 0 {
		m = append(m, fmt.Sprintf("i%d", r.Inconclusive))
	}
	if r.Failed > 0 {
		m = append(m, fmt.Sprintf("f%d", r.Failed))
	}
	if r.Unjudged != "" {
		m = append(m, "n")
	}
	if r.Above {
		m = append(m, "ABOVE BETA")
	}
	return strings.Join(m, " ")
}
