package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
)

// tablesPlan is what the bench tables is asked for.
type tablesPlan struct {
	Paper string  `json:"paper"`
	Quick bool    `json:"quick"`
	Only  string  `json:"only,omitempty"`
	Runs  int     `json:"runs,omitempty"` // of a row; 0: each table's own number
	Seed  uint64  `json:"seed"`           // of the first run; the next has the next
	Beta  float64 `json:"beta"`
}

// tablesBeta is the error of every bound of the tables. The papers have 1/3, at
// which an exact test flags a third of all mechanisms that just keep their claim.
const tablesBeta = 0.05

// tablePapers are the papers by name: their tables under a plan.
var tablePapers = map[string]func(tablesPlan) []paperTable{
	"auditorium":  auditoriumTables,
	"renyitester": renyiTesterTables,
}

var tablePaperNames = []string{"auditorium", "renyitester"}

// paperTable is a table or a figure of a paper, with our figures beside it.
type paperTable struct {
	ID        string      `json:"table"`
	Title     string      `json:"title"`
	Published string      `json:"published"` // what the published figures are
	Notes     []string    `json:"notes,omitempty"`
	Rows      []*tableRow `json:"rows"`
}

// tableKind is how a row's figures come about.
type tableKind string

const (
	// tableAudit: one audit a run.
	tableAudit tableKind = "audit"
	// tableSearch: a run explores pair after pair. Where a pair's value exceeds
	// the claim, that pair is audited on outputs of its own, the k-th time with
	// an error of beta/(k(k+1)); the search ends when that refutes the claim. So
	// a private mechanism is refuted with probability beta at most in the whole
	// search.
	tableSearch tableKind = "search"
	// tableLadder: a run repeats the audit on more and more outputs until it
	// refutes the claim, each time with an error of its own: it says how many
	// outputs an audit needs, and is no test.
	tableLadder tableKind = "ladder"
)

// tableRow is a line of a table.
type tableRow struct {
	Name       string       `json:"name"` // as the paper has it
	Mechanism  string       `json:"mechanism"`
	Parameters audit.Params `json:"parameters,omitempty"`
	Claim      string       `json:"claim"`
	Quantity   string       `json:"quantity"` // that bounds are of
	Setting    string       `json:"setting,omitempty"`
	Kind       tableKind    `json:"kind"`
	Finder     string       `json:"finder,omitempty"`
	Learner    string       `json:"learner,omitempty"` // absent: the portfolio
	Relation   string       `json:"relation"`
	Pair       *audit.Pair  `json:"pair,omitempty"`
	Samples    int          `json:"samples"` // certification outputs a side; of a ladder, its last rung
	Explore    int          `json:"explore"` // exploration outputs a side: of an audit of all pairs, of a search of each
	Most       int          `json:"trials"`  // at most

	Runs    []tableRun  `json:"runs"`
	Refuted int         `json:"refuted"`              // runs
	Own     int         `json:"own,omitempty"`        // runs in which the learner's published tester says so, too
	Median  *float64    `json:"medianBound"`          // of audits
	Mean    *float64    `json:"meanTrials,omitempty"` // of searches; one that found nothing counts as all its trials, as in the papers
	Needed  *float64    `json:"outputsNeeded"`        // of ladders: median of outputs a side, exploration among them; absent where half the runs did not refute the claim
	Outputs float64     `json:"outputs"`              // drawn in a run, both sides, mean
	Truth   string      `json:"truth,omitempty"`
	Figures []figure    `json:"published"`
	Testers []*tableRow `json:"testers,omitempty"` // the same by single learners, of which each has a column
	seconds float64     // seconds, of all runs

	plan   pair.Plan
	ladder []int // rungs: certification outputs a side
}

// figure is what a paper printed.
type figure struct {
	Of    string `json:"of"`
	Value string `json:"value"`
}

// tableRun is one run of a row.
type tableRun struct {
	Seed    uint64  `json:"seed"`
	Refuted bool    `json:"refuted"`
	Bound   float64 `json:"bound"`  // certified; of a search, the last one
	Trials  int     `json:"trials"` // explored
	Outputs int     `json:"outputs"`
	Needed  int     `json:"needed,omitempty"` // of a ladder: outputs a side
	Learner string  `json:"learner,omitempty"`
	Own     bool    `json:"own,omitempty"`     // the learner's published tester says that the claim is false
	Witness float64 `json:"witness,omitempty"` // divergence that a kernel's model holds
	Pair    string  `json:"pair,omitempty"`    // of a search that found one
}

// tableTiming is kept apart: it is the only part of the output that differs
// from one time to the next.
type tableTiming struct {
	Table   string  `json:"table"`
	Row     int     `json:"row"`
	Seconds float64 `json:"seconds"` // of all runs of the row, added up over workers
}

// tablesResult is all tables of a paper.
type tablesResult struct {
	Bench  string        `json:"bench"`
	Plan   tablesPlan    `json:"plan"`
	Tables []paperTable  `json:"tables"`
	Timing []tableTiming `json:"timing,omitempty"`
}

// benchTables prints the tables of a paper with our figures beside the
// published ones.
func benchTables(c *call) (int, error) {
	plan := tablesPlan{Beta: tablesBeta}
	c.StringVar(&plan.Paper, "paper", "", "auditorium or renyitester")
	c.StringVar(&plan.Only, "only", "", "only tables whose name contains this, table-1 for example")
	c.Count(&plan.Runs, "runs", 0, "runs of each row; 0: each table's own number")
	c.Seed(&plan.Seed, 1, "seed of the first run; the next run has the next")
	c.BoolVar(&plan.Quick, "quick", false, "some minutes on two processors: fewer rows, runs and outputs")
	workers := c.workersFlag()
	c.outputFlags()
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	tables, err := plan.tables()
	if err != nil {
		return 0, err
	}
	b := &tablesBench{catalogue: catalogue, workers: *workers, now: cli.Clock(), say: c.say}
	result, err := b.measure(c.ctx, plan, tables)
	if err != nil {
		return 0, err
	}
	return cli.ExitOK, c.emit(result, result.print)
}

// maxTablesSeed leaves room for the seeds of certifications within a search.
const maxTablesSeed = 1 << 40

// tables are those that the plan asks for, resolved.
func (p tablesPlan) tables() ([]paperTable, error) {
	make, ok := tablePapers[p.Paper]
	if !ok {
		if p.Paper == "" {
			return nil, &audit.InputError{Field: "-paper", Found: audit.Absent, Want: fmt.Sprintf("one of %v", tablePaperNames)}
		}
		return nil, audit.UnknownName("-paper", p.Paper, tablePaperNames)
	}
	if err := cmp.Or(within("-runs", p.Runs, 0, 10_000, "0 means each table's own number"), within("-seed", p.Seed, 0, maxTablesSeed, "")); err != nil {
		return nil, err
	}
	all := make(p)
	var names []string
	for _, t := range all {
		names = append(names, t.ID)
	}
	tables := slices.DeleteFunc(all, func(t paperTable) bool { return !strings.Contains(t.ID, p.Only) })
	if len(tables) == 0 {
		return nil, &audit.InputError{Field: "-only", Found: fmt.Sprintf("%q", p.Only), Want: "part of one of " + strings.Join(names, ", ")}
	}
	for _, t := range tables {
		for _, r := range t.Rows {
			if err := r.resolve(catalogue); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", t.ID, r.Name, err)
			}
			r.Testers = slices.DeleteFunc(r.Testers, func(x *tableRow) bool { return x.resolve(catalogue) != nil }) // one does not apply to these outputs
		}
	}
	return tables, nil
}

// resolve checks the row's plan and writes down what it means.
func (r *tableRow) resolve(cat audit.Catalogue) error {
	r.plan.Version, r.plan.Mode, r.plan.Beta = pair.PlanVersion, pair.Fixed, tablesBeta
	if r.Kind == tableLadder {
		r.plan.Samples = slices.Max(r.ladder)
	}
	a, err := r.plan.Resolve(cat)
	if err != nil {
		return err
	}
	r.Mechanism, r.Parameters, r.Claim, r.Relation = a.Plan.Mechanism, r.plan.Parameters, a.Claim.String(), string(a.Plan.Relation)
	r.Samples, r.Explore, r.Most, r.Pair, r.Quantity = a.Plan.Samples, a.Plan.Explore, a.Plan.Trials, a.Plan.Pair, goalWords(a.Plan)
	r.Truth, r.Learner = cmp.Or(r.Truth, a.Spec.Truth(a.Plan.Parameters)), r.plan.Learner
	if r.Pair != nil {
		r.Most = 1
	} else {
		r.Finder = a.Plan.Finder
	}
	if r.plan.ThroughRenyi > 0 {
		r.Quantity += fmt.Sprintf(", through the Rényi divergence of order %g", r.plan.ThroughRenyi)
	}
	return nil
}

// goalWords is what the first bound of a report bounds.
func goalWords(p pair.Plan) string {
	switch p.Claim.Kind {
	case audit.Renyi:
		return fmt.Sprintf("Rényi divergence at alpha = %g", p.Claim.Alpha)
	case audit.ZCDP:
		return "rho"
	case audit.GaussianDP:
		return "mu"
	}
	return fmt.Sprintf("epsilon at delta = %g", p.Claim.Delta)
}

// tablesBench is a bench of tables under way.
type tablesBench struct {
	catalogue audit.Catalogue
	workers   int
	now       func() float64
	say       func(format string, a ...any) // progress, one call at a time
}

// tableJob is one run of a row.
type tableJob struct {
	table   string
	row     *tableRow
	run     int
	out     tableRun
	seconds float64
}

// measure fills in the tables.
func (b *tablesBench) measure(ctx context.Context, plan tablesPlan, tables []paperTable) (tablesResult, error) {
	var jobs []*tableJob
	left := map[*tableRow]int{}
	for _, t := range tables {
		rows := slices.Clone(t.Rows)
		for _, r := range t.Rows {
			rows = append(rows, r.Testers...)
		}
		for _, r := range rows {
			left[r] = len(r.Runs)
			for run := range r.Runs {
				jobs = append(jobs, &tableJob{table: t.ID, row: r, run: run, out: tableRun{Seed: plan.Seed + uint64(run)}})
			}
		}
	}
	done, total := 0, len(left)
	var mu sync.Mutex
	err := each(ctx, b.workers, len(jobs), func(ctx context.Context, i int) error {
		j := jobs[i]
		if err := b.do(ctx, j); err != nil {
			return fmt.Errorf("%s, %s, seed %d: %w", j.table, j.row.Name, j.out.Seed, err)
		}
		mu.Lock()
		defer mu.Unlock()
		j.row.Runs[j.run] = j.out
		j.row.seconds += j.seconds
		if left[j.row]--; left[j.row] == 0 {
			done++
			j.row.sum()
			b.say("%s, %s, %s: %d of %d rows, %.0f s", j.table, j.row.Name, j.row.ours(), done, total, b.now())
		}
		return nil
	})
	if err != nil {
		return tablesResult{}, err
	}
	result := tablesResult{Bench: "tables", Plan: plan, Tables: tables}
	for _, t := range tables {
		for k, r := range t.Rows {
			result.Timing = append(result.Timing, tableTiming{Table: t.ID, Row: k, Seconds: r.seconds})
		}
	}
	return result, nil
}

// do is one run.
func (b *tablesBench) do(ctx context.Context, j *tableJob) error {
	start := b.now()
	defer func() { j.seconds = b.now() - start }()
	pool := engine.LocalPool(1)
	plan := j.row.plan
	plan.Seed = j.out.Seed
	switch j.row.Kind {
	case tableSearch:
		return b.search(ctx, plan, pool, &j.out)
	case tableLadder:
		for _, n := range j.row.ladder {
			plan.Samples, plan.Explore = n, 0
			if err := b.audit(ctx, plan, pool, &j.out); err != nil {
				return err
			}
			if j.out.Refuted {
				j.out.Needed = 2 * n
				break
			}
		}
		return nil
	}
	return b.audit(ctx, plan, pool, &j.out)
}

// audit is one audit, added to out.
func (b *tablesBench) audit(ctx context.Context, plan pair.Plan, pool *engine.Pool, out *tableRun) error {
	report, err := audited(ctx, plan, b.catalogue, pool)
	if err != nil {
		return err
	}
	out.Refuted = report.Verdict == audit.Violation
	out.Bound = *report.LowerBound
	out.Learner = report.Evidence.Witness.Learner
	for _, row := range report.Rows("published") {
		out.Own = out.Own || row.Claimed != nil && row.Value != nil && *row.Value > *row.Claimed && strings.HasPrefix(string(row.Method), "published")
	}
	var kernel struct{ Divergence float64 }
	if json.Unmarshal(report.Evidence.Witness.Model, &kernel) == nil {
		out.Witness = kernel.Divergence
	}
	out.Trials += len(report.Trials)
	out.Outputs += report.Termination.Outputs
	return nil
}

// sum fills in what follows from the runs.
func (r *tableRow) sum() {
	r.Refuted, r.Own, r.Outputs, r.Median, r.Mean, r.Needed = 0, 0, 0, nil, nil, nil
	var bounds, needed []float64
	trials := 0.0
	for _, run := range r.Runs {
		if run.Own {
			r.Own++
		}
		if run.Refuted {
			r.Refuted++
			trials += float64(run.Trials)
			needed = append(needed, float64(run.Needed))
		} else {
			trials += float64(r.Most)
		}
		bounds = append(bounds, run.Bound)
		r.Outputs += float64(run.Outputs)
	}
	n := float64(len(r.Runs))
	r.Outputs /= n
	switch r.Kind {
	case tableAudit:
		r.Median = new(median(bounds))
	case tableSearch:
		r.Mean = new(trials / n)
	case tableLadder:
		if 2*len(needed) > len(r.Runs) {
			slices.Sort(needed)
			// The runs that needed more than the last rung come last.
			r.Needed = new(needed[(len(r.Runs)-1)/2])
		}
	}
}

// ours is the row's figure in a few words.
func (r *tableRow) ours() string {
	switch {
	case r.Median != nil:
		return fmt.Sprintf("refuted %d/%d, bound %.4f", r.Refuted, len(r.Runs), *r.Median)
	case r.Mean != nil:
		return fmt.Sprintf("%s: refuted %d/%d, %.1f trials", r.Finder, r.Refuted, len(r.Runs), *r.Mean)
	case r.Needed != nil:
		return fmt.Sprintf("%.0f outputs a side", *r.Needed)
	}
	return "not enough outputs"
}

// search explores the pairs of the plan's finder, none of which the mechanism
// told it, until one of them refutes the claim. A pair is tried, in the way that
// tableSearch says, only where its value exceeds the claim.
func (b *tablesBench) search(ctx context.Context, plan pair.Plan, pool *engine.Pool, out *tableRun) error {
	a, err := plan.Resolve(b.catalogue)
	if err != nil {
		return err
	}
	spec, err := b.catalogue.Finder(a.Plan.Finder)
	if err != nil {
		return err
	}
	find, err := spec.New(audit.FinderProblem{Relation: a.Plan.Relation, Domain: a.Domain, Trials: a.Plan.Trials,
		Stream: stream.New(stream.Key{Seed: plan.Seed, Purpose: "find"})})
	if err != nil {
		return fmt.Errorf("finder %s: %w", a.Plan.Finder, err)
	}
	tries := 0
	var history []audit.Trial
	for len(history) < a.Plan.Trials {
		pairs := find.Propose(history, a.Plan.Trials-len(history))
		if len(pairs) == 0 {
			break
		}
		for _, neighbours := range pairs {
			value, err := exploreOne(ctx, a, pool, neighbours, len(history))
			if err != nil {
				return err
			}
			history = append(history, audit.Trial{Index: len(history), Pair: neighbours, Value: value})
			out.Trials = len(history)
			out.Outputs += 2 * a.Plan.Explore
			if value <= a.Claim.Limit() {
				continue
			}
			tries++
			if err := b.confirm(ctx, a.Plan, pool, neighbours, tries, out); err != nil || out.Refuted {
				return err
			}
		}
	}
	return nil
}

// exploreOne is the value of a pair.
func exploreOne(ctx context.Context, a *pair.Audit, pool *engine.Pool, neighbours audit.Pair, trial int) (float64, error) {
	task := a.Explore(trial, neighbours, a.Plan.Explore)
	results, err := engine.Do(ctx, pool, []pair.Explore{task}, engine.Events[pair.Explored]{})
	if ctx.Err() != nil {
		return 0, context.Canceled
	}
	if err != nil {
		return 0, err
	}
	return results[0].Value, nil
}

// confirm audits a pair on outputs that nothing before has seen, for the k-th
// time in the search with an error of beta/(k(k+1)): over all k they add up to
// beta.
func (b *tablesBench) confirm(ctx context.Context, plan pair.Plan, pool *engine.Pool, neighbours audit.Pair, k int, out *tableRun) error {
	plan.Pair = &neighbours
	plan.Beta /= float64(k * (k + 1))
	plan.Seed = confirmSeed(plan.Seed, k)
	trials := out.Trials
	err := b.audit(ctx, plan, pool, out)
	out.Trials = trials // the same pair again
	if err == nil && out.Refuted {
		out.Pair = neighbours.Label
	}
	return err
}

// mostConfirmed is how many trials a search may have, each of which may be
// confirmed. Seeds of confirmations are multiples of it, and a little: those of
// neighbouring runs are far apart.
const mostConfirmed = 4096

// confirmSeed is above every seed of a run.
func confirmSeed(seed uint64, k int) uint64 { return (seed+1)*mostConfirmed + uint64(k) }
