package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"

	"github.com/dpscope/dpscope/internal/cli"
)

// detectionCell is one cell of the table of known violations: a claim on a
// broken mechanism at delta = 0, what an oracle could see there, and what was
// published.
type detectionCell struct {
	epsilon   float64
	mechanism string
	ceiling   string // power of the oracle's exact test at 50k a side, beta 0.05
	hockey    string // hockey-stick divergence at the claim, on the best known pair
	published int    // detections in ten runs of the best published tester at 500k, beta 1/3
}

// detectionCells: DP-Auditorium, Tables 1 and 2, and the exact ceiling of the
// oracle's likelihood-ratio event.
var detectionCells = []detectionCell{
	{0.01, "laplace-mean-raw-count", "1", ".25", 10},
	{0.01, "laplace-mean-raw-denominator", "1", ".10", 10},
	{0.01, "gaussian-mean-raw-count", "1", ".32", 10},
	{0.01, "gaussian-mean-raw-denominator", "1", ".03", 10},
	{0.01, "svt3", ".07", ".0002", 0},
	{0.01, "svt4", ".07", ".0002", 0},
	{0.01, "svt5", "1", ".0025", 0},
	{0.01, "svt6", ".11", ".0009", 0},
	{1, "laplace-mean-raw-count", "1", ".10", 10},
	{1, "laplace-mean-raw-denominator", "1", ".019", 0},
	{1, "gaussian-mean-raw-count", "1", ".20", 10},
	{1, "gaussian-mean-raw-denominator", "0", "0", 0},
	{1, "svt3", ".99", ".022", 0},
	{1, "svt4", "1", ".027", 10},
	{1, "svt5", "1", ".22", 10},
	{1, "svt6", "1", ".12", 10},
}

// detectionPrivate are mechanisms that keep the claim, audited at the same
// claims: what they are flagged for is a false alarm.
var detectionPrivate = []string{"randomised-response", "laplace-mean", "gaussian-mean", "svt1", "svt2",
	"noisy-max-laplace", "noisy-max-exponential", "noisy-histogram"}

// detectionRow is one line of the table.
type detectionRow struct {
	Mechanism string    `json:"mechanism"`
	Epsilon   float64   `json:"epsilon"`
	Delta     float64   `json:"delta"`
	Broken    bool      `json:"broken"`
	Runs      int       `json:"runs"`
	Flagged   int       `json:"flagged"`
	Bounds    []float64 `json:"bounds"` // one a seed
	Seconds   float64   `json:"seconds"`
	Ceiling   string    `json:"oraclePowerAt50k,omitempty"`
	Hockey    string    `json:"hockeyStick,omitempty"`
	Published *int      `json:"publishedOfTenAt500k,omitempty"`
}

// benchDetection prints how often known violations are caught, and how often
// private mechanisms are flagged.
func benchDetection(c *call) (int, error) {
	plan := pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed, Finder: "candidates"}
	c.IntVar(&plan.Samples, "samples", 50_000, "certification outputs a side")
	c.IntVar(&plan.Explore, "explore", 0, "exploration outputs a side, of all pairs; 0: one and a half times -samples")
	c.IntVar(&plan.Trials, "trials", 10, "pairs to explore, at most")
	c.Float64Var(&plan.Beta, "beta", 0.05, "allowed error of the bound")
	c.StringVar(&plan.Finder, "finder", plan.Finder, "how pairs are found")
	seeds := c.Int("seeds", 10, "runs a cell, with seeds 1, 2, ...")
	workers := c.workersFlag()
	c.outputFlags()
	only := c.String("only", "", "audit only mechanisms whose name contains this")
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if *seeds < 1 {
		return 0, &audit.InputError{Field: "-seeds", Found: fmt.Sprint(*seeds), Want: "at least 1"}
	}
	var rows []detectionRow
	for _, c := range detectionCells {
		rows = append(rows, detectionRow{Mechanism: c.mechanism, Epsilon: c.epsilon, Broken: true, Ceiling: c.ceiling, Hockey: c.hockey, Published: new(c.published)})
	}
	for _, eps := range []float64{0.01, 1} {
		for _, m := range detectionPrivate {
			row := detectionRow{Mechanism: m, Epsilon: eps}
			if m == "gaussian-mean" {
				row.Delta = 0.01 // it claims no pure DP
			}
			rows = append(rows, row)
		}
	}
	rows = slices.DeleteFunc(rows, func(r detectionRow) bool { return !strings.Contains(r.Mechanism, *only) })
	pool, now := core.LocalPool(catalogue, *workers), cli.Clock()
	for i := range rows {
		if err := rows[i].measure(c.ctx, plan, *seeds, pool, now); err != nil {
			return 0, err
		}
		c.say("%s at %g: %d of %d", rows[i].Mechanism, rows[i].Epsilon, rows[i].Flagged, rows[i].Runs)
	}
	return cli.ExitOK, c.emit(map[string]any{"plan": plan, "seeds": *seeds, "rows": rows}, func(w io.Writer) { printDetection(w, plan, rows, *seeds) })
}

// measure runs the cell once a seed.
func (r *detectionRow) measure(ctx context.Context, plan pair.Plan, seeds int, pool *engine.Pool, now func() float64) error {
	start := now()
	plan.Mechanism, plan.Claim = r.Mechanism, new(audit.DPClaim(r.Epsilon, r.Delta))
	for seed := 1; seed <= seeds; seed++ {
		plan.Seed = uint64(seed)
		report, err := audited(ctx, plan, catalogue, pool)
		if err != nil {
			return fmt.Errorf("%s at epsilon %g, seed %d: %w", r.Mechanism, r.Epsilon, seed, err)
		}
		r.Runs++
		r.Bounds = append(r.Bounds, *report.LowerBound)
		if report.Verdict == audit.Violation {
			r.Flagged++
		}
	}
	r.Seconds = now() - start
	return nil
}

func printDetection(w io.Writer, plan pair.Plan, rows []detectionRow, seeds int) {
	fmt.Fprintf(w, "Detection at %d certification outputs a side, beta = %g, seeds 1 to %d, delta = 0 unless said\n", plan.Samples, plan.Beta, seeds)
	fmt.Fprintf(w, "Published: detections in ten runs of the best tester of DP-Auditorium, 500 000 samples, beta = 1/3\n\n")
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "claim\tmechanism\tcaught\tbound (median)\tbound (min..max)\toracle H\toracle power 50k\tpublished of 10\tseconds")
	caught, cells, false1, runs := 0, 0, 0, 0
	for _, r := range rows {
		if !r.Broken {
			continue
		}
		cells++
		if r.Flagged*10 >= r.Runs*9 {
			caught++
		}
		fmt.Fprintf(t, "%g\t%s\t%d/%d\t%.4f\t%s\t%s\t%s\t%d\t%.1f\n", r.Epsilon, r.Mechanism, r.Flagged, r.Runs, median(r.Bounds), span(r.Bounds), r.Hockey, r.Ceiling, *r.Published, r.Seconds)
	}
	t.Flush()
	fmt.Fprintf(w, "\nCaught in nine of ten runs or more: %d of %d cells (published: 9 of 16; the oracle: 12)\n\nMechanisms that keep the claim\n\n", caught, cells)
	fmt.Fprintln(t, "claim\tmechanism\tflagged\tbound (median)\tbound (min..max)\tseconds")
	for _, r := range rows {
		if r.Broken {
			continue
		}
		false1, runs = false1+r.Flagged, runs+r.Runs
		name := r.Mechanism
		if r.Delta > 0 {
			name += fmt.Sprintf(" (delta = %g)", r.Delta)
		}
		fmt.Fprintf(t, "%g\t%s\t%d/%d\t%.4f\t%s\t%.1f\n", r.Epsilon, name, r.Flagged, r.Runs, median(r.Bounds), span(r.Bounds), r.Seconds)
	}
	t.Flush()
	fmt.Fprintf(w, "\nFalse alarms: %d of %d runs\n", false1, runs)
}

func median(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	if len(s)%2 == 1 {
		return s[len(s)/2]
	}
	return (s[len(s)/2-1] + s[len(s)/2]) / 2
}

func span(xs []float64) string { return fmt.Sprintf("%.4f..%.4f", slices.Min(xs), slices.Max(xs)) }
