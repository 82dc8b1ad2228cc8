package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/internal/cli"
)

// calibrationResult is all of it.
type calibrationResult struct {
	calibration.Result
	// Sharp is absent where only some learners, finders or mechanisms were
	// asked for.
	Sharp []sharpRow `json:"sharp,omitempty"`
}

// addSharp adds sharp cells to the judgement. Their tests, at sharpLevel each,
// are beside the others.
func (r *calibrationResult) addSharp(rows []sharpRow) {
	r.Sharp = append(r.Sharp, rows...)
	for _, row := range rows {
		if row.accused() {
			r.Above = append(r.Above, row.Name)
		}
	}
}

// calibrationQuick is the plan under -quick.
var calibrationQuick = calibration.Plan{Runs: 6, Samples: 1000, Explore: 1000}

// benchCalibration runs audits of claims that hold under many seeds and counts
// their false alarms.
func benchCalibration(c *call) (int, error) {
	var plan calibration.Plan
	asked := cli.Settings(c.Flags, calibration.Keys())
	sharpOnly := c.Bool("sharp", false, fmt.Sprintf("only the sharp cells: bounds at their exact claims with a fixed event, %d runs each, tested against sizes that are known", sharpRuns))
	workers := c.workersFlag()
	c.outputFlags()
	quick := c.Bool("quick", false, fmt.Sprintf("a minute: -runs %d -samples %d -explore %d where they are not given, without slow learners that -learners does not name",
		calibrationQuick.Runs, calibrationQuick.Samples, calibrationQuick.Explore))
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if err := asked.Read(&plan); err != nil {
		return 0, err
	}
	if *quick {
		plan.Cheap = true
		c.unlessGiven("runs", &plan.Runs, calibrationQuick.Runs)
		c.unlessGiven("samples", &plan.Samples, calibrationQuick.Samples)
		c.unlessGiven("explore", &plan.Explore, calibrationQuick.Explore)
	}
	cells, left, err := plan.Cells(seeded)
	if err != nil {
		return 0, err
	}
	some := len(plan.Mechanisms)+len(plan.Learners)+len(plan.Finders) > 0
	if *sharpOnly {
		if some {
			return 0, &audit.InputError{Field: "-sharp", Found: "beside -mechanisms, -learners or -finders", Want: "one of them",
				Remedy: "sharp cells are of bounds, not of mechanisms or learners: leave the other flags out"}
		}
		cells, left = nil, nil
	}
	rows, err := calibrate(c.ctx, catalogue, plan.Seed, cells, *workers, c.say)
	if err != nil {
		return 0, err
	}
	result := calibrationResult{Result: plan.Judge(rows, left)}
	if !some {
		sharp, err := calibrateSharp(c.ctx, catalogue, plan.Seed, plan.Beta, *workers)
		if err != nil {
			return 0, err
		}
		result.addSharp(sharp)
	}
	return c.showCalibration(result)
}

// calibrateSharp does the runs of all sharp cells.
func calibrateSharp(ctx context.Context, cat audit.Catalogue, seed uint64, beta float64, workers int) ([]sharpRow, error) {
	cells, err := sharpCells(cat, beta)
	if err != nil {
		return nil, err
	}
	batches := sharpBatches(sharpRuns)
	alarms := make([]atomic.Int64, len(cells))
	err = each(ctx, workers, len(cells)*batches, func(_ context.Context, job int) error {
		alarms[job/batches].Add(int64(cells[job/batches].batch(seed, job%batches)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	rows := make([]sharpRow, len(cells))
	for i, c := range cells {
		rows[i] = c.row(int(alarms[i].Load()), batches, beta)
	}
	return rows, nil
}

// namesOf are the names of a list with commas.
func namesOf(list string) (names []string) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// showCalibration prints the result; the exit code says whether a cell is
// accused.
func (c *call) showCalibration(r calibrationResult) (int, error) {
	return code(len(r.Above) == 0), c.emit(r, func(w io.Writer) { printCalibration(w, r) })
}

// calibrate does all runs of all cells, each on one worker.
func calibrate(ctx context.Context, cat audit.Catalogue, seed uint64, cells []calibration.Cell, workers int, say func(string, ...any)) ([]calibration.Row, error) {
	type job struct{ cell, run int }
	var jobs []job
	outcomes := make([][]calibration.Outcome, len(cells))
	undone := make([]int, len(cells))
	for i, c := range cells {
		outcomes[i], undone[i] = make([]calibration.Outcome, c.Runs), c.Runs
		for run := range c.Runs {
			jobs = append(jobs, job{i, run})
		}
	}
	rows := make([]calibration.Row, len(cells))
	finished := 0
	var mu sync.Mutex
	err := each(ctx, workers, len(jobs), func(ctx context.Context, i int) error {
		j := jobs[i]
		c := cells[j.cell]
		o, err := c.Audit(ctx, cat, seed, j.run)
		if err != nil {
			return fmt.Errorf("%s, run %d: %w", c.Name, j.run, err)
		}
		mu.Lock()
		defer mu.Unlock()
		outcomes[j.cell][j.run] = o
		if undone[j.cell]--; undone[j.cell] == 0 {
			rows[j.cell] = calibration.Tally(c, outcomes[j.cell])
			finished++
			say("%s: %d false alarms in %d runs; %d of %d cells", c.Name, rows[j.cell].Alarms, rows[j.cell].Of, finished, len(cells))
		}
		return nil
	})
	return rows, err
}

func printCalibration(w io.Writer, r calibrationResult) {
	p := r.Plan
	if len(r.Rows) > 0 {
		fmt.Fprintf(w, "False alarms of audits of claims that hold: %d certification and %d exploration outputs a side, %d trials, beta = %g, %d runs of a cell that is cheap, seed %d\n",
			p.Samples, p.Explore, p.Trials, p.Beta, p.Runs, p.Seed)
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
