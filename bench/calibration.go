package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/internal/cli"
)

// calibrationQuick is the plan under -quick.
var calibrationQuick = calibration.Plan{Runs: 6, Samples: 1000, Explore: 1000}

// benchCalibration runs audits of claims that hold under many seeds and counts their false
// alarms; the exit code says whether a cell is accused.
func benchCalibration(c *call) (int, error) {
	var plan calibration.Plan
	asked := cli.Settings(c.Flags, calibration.Keys())
	sharpOnly := c.Bool("sharp", false, fmt.Sprintf("only the sharp cells: bounds at their exact claims with a fixed event, %d runs each, tested against sizes that are known", sharpRuns))
	quick := c.Bool("quick", false, fmt.Sprintf("a minute: -runs %d -samples %d -explore %d where they are not given, without slow learners that -learners does not name",
		calibrationQuick.Runs, calibrationQuick.Samples, calibrationQuick.Explore))
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if err := asked.Read(&plan); err != nil {
		return 0, err
	}
	if plan.Cheap = *quick; *quick {
		for name, size := range map[string][2]*int{"runs": {&plan.Runs, &calibrationQuick.Runs}, "samples": {&plan.Samples, &calibrationQuick.Samples}, "explore": {&plan.Explore, &calibrationQuick.Explore}} {
			if !c.Given(name) {
				*size[0] = *size[1]
			}
		}
	}
	cells, left, err := plan.Cells(seeded)
	if err != nil {
		return 0, err
	}
	some := len(plan.Mechanisms)+len(plan.Learners)+len(plan.Finders)+len(plan.Only) > 0
	if *sharpOnly && some {
		return 0, &audit.InputError{Field: "-sharp", Found: "beside -only, -mechanisms, -learners or -finders", Want: "one of them",
			Remedy: "sharp cells are of bounds, not of mechanisms or learners: leave the other flags out"}
	}
	var tables []*table
	var accused []string
	if !*sharpOnly {
		if tables, accused, err = c.calibrate(plan, cells, left); err != nil {
			return 0, err
		}
	}
	if !some {
		t, more, err := c.sharp(plan.Seed, plan.Beta)
		if err != nil {
			return 0, err
		}
		tables, accused = append(tables, t), append(accused, more...)
	}
	head := fmt.Sprintf("False alarms of audits of claims that hold: %d certification and %d exploration outputs a side, %d trials, beta = %g, %d runs of a cell that is cheap, seed %d",
		plan.Samples, plan.Explore, plan.Trials, plan.Beta, plan.Runs, plan.Seed)
	c.print(choose(*sharpOnly, fmt.Sprintf("False alarms of bounds, beta = %g", plan.Beta), head), tables...)
	fmt.Fprintf(c.stdout, "\n%s\n", choose(len(accused) == 0, "No cell is accused.", "Accused: "+strings.Join(accused, "; ")))
	return code(len(accused) == 0), nil
}

// calibrate does all runs of all cells, each on one worker.
func (l lab) calibrate(plan calibration.Plan, cells []calibration.Cell, left []string) ([]*table, []string, error) {
	type job struct{ cell, run int }
	var jobs []job
	for i, c := range cells {
		for run := range c.Runs {
			jobs = append(jobs, job{i, run})
		}
	}
	outcomes, err := results(l, len(jobs), func(ctx context.Context, i int) (calibration.Outcome, error) {
		c, run := cells[jobs[i].cell], jobs[i].run
		if run == 0 {
			l.say("%s: cell %d of %d", c.Name, jobs[i].cell+1, len(cells))
		}
		o, err := c.Audit(ctx, catalogue, plan.Seed, run)
		if err != nil {
			err = fmt.Errorf("%s, run %d: %w", c.Name, run, err)
		}
		return o, err
	})
	if err != nil {
		return nil, nil, err
	}
	rows := make([]calibration.Row, len(cells))
	for i, c := range cells {
		rows[i], outcomes = calibration.Tally(c, outcomes[:c.Runs]), outcomes[c.Runs:]
	}
	r := plan.Judge(rows, left)
	return calibrationTables(r), r.Above, nil
}

func calibrationTables(r calibration.Result) []*table {
	settings := &table{title: "Mechanisms as learners audit them", columns: []string{"claim", "met on", "by"}}
	for _, s := range r.Settings {
		met := "-"
		if s.Pair > 0 {
			met = fmt.Sprintf("pair %d", s.Pair)
		}
		settings.add(s.Mechanism, s.Claim, met+choose(s.Alone, " alone", ""), s.Why)
	}
	columns := []string{"false alarms", "rate", "99 % interval", "accused above"}
	count := func(c calibration.Count) []any {
		return []any{of(c.Alarms, c.Of), fmt.Sprintf("%.4f", c.Rate), fmt.Sprintf("%.4f..%.4f", c.Lower, c.Upper), c.Most}
	}
	groups := &table{title: "Cells together whose claims are met", columns: append([]string{"number"}, columns...)}
	for _, g := range r.Groups {
		groups.add(g.Name, append([]any{g.Cells}, count(g.Count)...)...)
	}
	tables := []*table{settings, groups}
	for _, b := range []struct {
		block calibration.Block
		title string
	}{
		{calibration.Guarantees, "Kinds of guarantees, each claim exact on the pair, with histograms"},
		{calibration.Learners, "Learners, with the default finder"},
		{calibration.Finders, "Finders, with the default learner"},
	} {
		t := &table{title: b.title, columns: append(columns[:len(columns):len(columns)], "median", "marks")}
		for _, row := range r.Rows {
			if row.Block == b.block {
				t.add(row.Name, append(count(row.Count), row.Median, marks(row))...)
			}
		}
		if len(t.rows) > 0 {
			tables = append(tables, t)
		}
	}
	last := tables[len(tables)-1]
	last.notes = []string{
		"accused above: more false alarms than this are significantly above beta, by exact binomial tests " + fmt.Sprintf("of %d cells and groups, which accuse audits that keep their error with probability %g at most", r.Tests, r.Error),
		"median: of certified bound over claim; far below 1 there is little to be wrong about",
		"~: the claim is not known to be met on a pair in reach. i, f: so many runs were inconclusive, failed. n: not judged (float-bits reads that noise was added in floating point; the claims hold for real numbers)",
		"where a mechanism's claim is that of its first pair alone, finders audit its own claim and default parameters instead",
		"a cell of few runs is blind to small errors: one of 600 runs whose true rate is 0.1 is accused with probability about .6, one of 150 with .03. All cells are not added up: most have slack, and would hide one that errs"}
	for _, l := range r.Left {
		last.notes = append(last.notes, "left out: "+l)
	}
	return tables
}

// marks are the row's, explained below the tables.
func marks(r calibration.Row) string {
	var m []string
	add := func(so bool, mark string) {
		if so {
			m = append(m, mark)
		}
	}
	add(!r.Met, "~")
	add(r.Inconclusive > 0, fmt.Sprintf("i%d", r.Inconclusive))
	add(r.Failed > 0, fmt.Sprintf("f%d", r.Failed))
	add(r.Unjudged != "", "n")
	add(r.Above, "ABOVE BETA")
	return strings.Join(m, " ")
}
