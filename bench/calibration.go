package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/try"
)

var calibrationQuick = calibration.Plan{Runs: 6, Samples: 1000, Explore: 1000}

func benchCalibration(c *call) {
	var plan calibration.Plan
	asked := cli.Settings(c.Flags, calibration.Keys())
	sharpOnly := c.Bool("sharp", false, fmt.Sprintf("only the sharp cells: bounds at their exact claims with a fixed event, %d runs each, tested against sizes that are known", sharpRuns))
	quick := c.Bool("quick", false, fmt.Sprintf("a minute: -runs %d -samples %d -explore %d where they are not given, without slow learners that -learners does not name",
		calibrationQuick.Runs, calibrationQuick.Samples, calibrationQuick.Explore))
	c.parse()
	try.Do(asked.Read(&plan))
	if plan.Cheap = *quick; *quick {
		size := func(flag string, p *int, quick int) { *p = audit.Pick(c.Given(flag), *p, quick) }
		size("runs", &plan.Runs, calibrationQuick.Runs)
		size("samples", &plan.Samples, calibrationQuick.Samples)
		size("explore", &plan.Explore, calibrationQuick.Explore)
	}
	cells, left, err := plan.Cells(seeded)
	try.Do(err)
	some := len(plan.Mechanisms)+len(plan.Learners)+len(plan.Finders) > 0
	if *sharpOnly && some {
		try.Do(&audit.InputError{Field: "-sharp", Found: "beside -mechanisms, -learners or -finders", Want: "one of them",
			Remedy: "sharp cells are of bounds, not of mechanisms or learners: leave the other flags out"})
	}
	var tables []*table
	var accused []string
	if !*sharpOnly {
		tables, accused = c.calibrate(plan, cells, left)
	}
	if !some {
		t, more := c.sharp(plan.Seed, plan.Beta)
		tables, accused = append(tables, t), append(accused, more...)
	}
	head := fmt.Sprintf("False alarms of audits of claims that hold: %d certification and %d exploration outputs a side, %d trials, beta = %g, %d runs of a cell that is cheap, seed %d",
		plan.Samples, plan.Explore, plan.Trials, plan.Beta, plan.Runs, plan.Seed)
	c.print(audit.Pick(*sharpOnly, fmt.Sprintf("False alarms of bounds, beta = %g", plan.Beta), head), tables...)
	fmt.Fprintf(c.stdout, "\n%s\n", audit.Pick(len(accused) == 0, "No cell is accused.", "Accused: "+strings.Join(accused, "; ")))
	c.exit = audit.Pick(len(accused) == 0, cli.ExitOK, cli.ExitViolation)
}

func (l lab) calibrate(plan calibration.Plan, cells []calibration.Cell, left []string) ([]*table, []string) {
	runs := audit.Each(cells, func(c calibration.Cell) int { return c.Runs })
	outcomes := repeated(l, runs, func(ctx context.Context, cell, run int) (o calibration.Outcome) {
		c := cells[cell]
		if run == 0 {
			l.say("%s: cell %d of %d", c.Name, cell+1, len(cells))
		}
		in(fmt.Sprintf("%s, run %d", c.Name, run), func() { o = try.Get(c.Audit(ctx, catalogue, engine.LocalPool(1), plan.Seed, run)) })
		return o
	})
	rows := audit.Listed(len(cells), func(i int) calibration.Row { return calibration.Tally(cells[i], outcomes[i]) })
	r := plan.Judge(rows, left)
	settings := &table{title: "Mechanisms as learners audit them", columns: []string{"claim", "met on", "by"}}
	for _, s := range r.Settings {
		met := audit.Pick(s.Pair > 0, fmt.Sprintf("pair %d", s.Pair), "-")
		settings.add(s.Mechanism, s.Claim, met+audit.Pick(s.Alone, " alone", ""), s.Why)
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
	block := func(block calibration.Block, title string) {
		t := &table{title: title, columns: append(columns[:len(columns):len(columns)], "median", "marks")}
		for _, row := range r.Rows {
			if row.Block == block {
				t.add(row.Name, append(count(row.Count), row.Median, marks(row))...)
			}
		}
		if len(t.rows) > 0 {
			tables = append(tables, t)
		}
	}
	block(calibration.Guarantees, "Kinds of guarantees, each claim exact on the pair, with histograms")
	block(calibration.Learners, "Learners, with the default finder")
	block(calibration.Finders, "Finders, with the default learner")
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
	return tables, r.Above
}

func marks(r calibration.Row) string {
	i, f := fmt.Sprintf("i%d", r.Inconclusive), fmt.Sprintf("f%d", r.Failed)
	marks := []string{audit.Pick(r.Met, "", "~"), audit.Pick(r.Inconclusive > 0, i, ""), audit.Pick(r.Failed > 0, f, ""),
		audit.Pick(r.Unjudged != "", "n", ""), audit.Pick(r.Above, "ABOVE BETA", "")}
	return strings.Join(strings.Fields(strings.Join(marks, " ")), " ")
}
