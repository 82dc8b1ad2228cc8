package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/try"
)

type tablesPlan struct {
	paper, only string
	quick       bool
	runs        int    // of a row; 0: each table's own number
	seed        uint64 // of the first run; the next has the next
}

// tablesBeta is not the papers' 1/3, at which an exact test flags a third of all that just keep their claim.
const tablesBeta = 0.05

var tablePapers = map[string][]func(tablesPlan) paperTable{
	"auditorium":  {auditoriumTable1, auditoriumTable2, auditoriumFigure1, auditoriumFigure2, auditoriumFigure3, auditoriumFigure3Trials},
	"renyitester": {renyiTable1, renyiTable2, renyiTable3, renyiTable4, renyiTable5, renyiTable7, renyiFigure1, renyiFigure2, renyiFigure3},
}

type paperTable struct {
	id, title, published string // published: what the published figures are
	notes                []string
	rows                 []*auditRow
}

// auditRow is a line of a table. A run of it is one audit of the plan. Without a pair it is a search,
// which explores pair after pair: one whose value exceeds the claim is audited on outputs of its own,
// the k-th time with an error of beta/(k(k+1)), until that refutes the claim. So the whole search
// refutes a private mechanism with probability beta at most. With a ladder it repeats the audit on
// more and more outputs, each time with an error of its own: it says how many an audit needs, and is no test.
type auditRow struct {
	name, setting, truth string // name: as the paper has it
	plan                 pair.Plan
	ladder               []int // rungs: certification outputs a side
	runs                 int
	figures              []printed
	testers              []*auditRow // the same by single learners

	claim, finder string
	found         []auditRun
}

type printed struct{ of, value string }

// printing is the row for which a paper printed values, spaces between, by names, commas between.
func (r *auditRow) printing(names, values string) *auditRow {
	of, list := strings.Split(names, ","), strings.Fields(values)
	r.figures = audit.Listed(len(of), func(i int) printed { return printed{of[i], list[i]} })
	return r
}

type auditRun struct {
	refuted bool
	bound   float64 // certified; of a search, the last one
	trials  int     // explored
	outputs int
	needed  int     // of a ladder: outputs a side, exploration among them
	own     bool    // the learner's published tester says that the claim is false
	witness float64 // divergence that a kernel's model holds
	seconds float64
}

func benchTables(c *call) {
	var plan tablesPlan
	c.StringVar(&plan.paper, "paper", "", "auditorium or renyitester")
	c.StringVar(&plan.only, "only", "", "only tables whose name contains this, table-1 for example")
	c.count(&plan.runs, "runs", 0, 0, 10_000, "runs of each row; 0: each table's own number")
	c.Seed(&plan.seed, 1, "seed of the first run; the next run has the next")
	c.BoolVar(&plan.quick, "quick", false, "some minutes on two processors: fewer rows, runs and outputs")
	c.parse()
	made := plan.tables()
	c.rows(slices.Concat(audit.Each(made, func(t paperTable) []*auditRow { return t.rows })...), plan.seed)
	tables := audit.Each(made, func(p paperTable) *table {
		t := &table{title: p.id + "  " + p.title, columns: []string{"ours", "published", "truth", "outputs", "seconds"},
			notes: append([]string{"published: " + p.published}, p.notes...)}
		for _, r := range p.rows {
			outputs := fmt.Sprintf("%.3g", r.mean(func(x auditRun) float64 { return float64(x.outputs) }))
			seconds := fmt.Sprintf("%.1f", r.mean(func(x auditRun) float64 { return x.seconds }))
			t.add(r.what(), r.ours(), r.printed(), cmp.Or(r.truth, "-"), outputs, seconds)
		}
		return t
	})
	c.print(fmt.Sprintf("Tables of %s, ours beside the published figures; beta = %g, seeds from %d\noutputs: drawn in a run, both sides, exploration among them; bound: median of the runs; its own: runs in which the published tester of the learner says that the claim is false, at this beta, which certifies nothing", plan.paper, tablesBeta, plan.seed), tables...)
}

// maxTablesSeed leaves room for the seeds of certifications within a search.
const maxTablesSeed = 1 << 40

func (p tablesPlan) tables() []paperTable {
	made, ok := tablePapers[p.paper]
	if !ok {
		try.Do(audit.UnknownName("-paper", p.paper, slices.Sorted(maps.Keys(tablePapers))))
	}
	try.Do(audit.Within("-seed", int(p.seed), 0, maxTablesSeed))
	all := audit.Each(made, func(table func(tablesPlan) paperTable) paperTable { return table(p) })
	names := strings.Join(audit.Each(all, func(t paperTable) string { return t.id }), ", ")
	tables := slices.DeleteFunc(all, func(t paperTable) bool { return !strings.Contains(t.id, p.only) })
	refuse(len(tables) == 0, "-only", p.only, "part of one of "+names)
	for _, t := range tables {
		for _, r := range t.rows {
			in(t.id+", "+r.name, func() { try.Do(r.resolve()) })
			r.testers = slices.DeleteFunc(r.testers, func(x *auditRow) bool { return x.resolve() != nil }) // one does not apply to these outputs
		}
	}
	return tables
}

func (r *auditRow) resolve() error {
	r.plan.Version, r.plan.Mode, r.plan.Beta = pair.PlanVersion, pair.Fixed, tablesBeta
	if len(r.ladder) > 0 {
		r.plan.Samples = slices.Max(r.ladder)
	}
	a, err := r.plan.Resolve(catalogue)
	if err == nil {
		r.claim, r.finder, r.plan.Samples, r.plan.Trials = a.Claim.String(), a.Plan.Finder, a.Plan.Samples, a.Plan.Trials
		r.truth = cmp.Or(r.truth, a.Spec.Truth(a.Plan.Parameters))
	}
	return err
}

// rows does the runs of these and of their testers.
func (l lab) rows(list []*auditRow, seed uint64) {
	rows := slices.Concat(audit.Each(list, func(r *auditRow) []*auditRow { return append([]*auditRow{r}, r.testers...) })...)
	now := cli.Clock()
	runs := audit.Each(rows, func(r *auditRow) int { return r.runs })
	found := repeated(l, runs, func(ctx context.Context, row, run int) (out auditRun) {
		r, plan, start := rows[row], rows[row].plan, now()
		plan.Seed = seed + uint64(run)
		place := fmt.Sprintf("%s, seed %d", r.what(), plan.Seed)
		in(place, func() {
			switch {
			case plan.Pair == nil:
				search(ctx, plan, &out)
			case len(r.ladder) == 0:
				out.audit(ctx, plan)
			}
			for _, n := range r.ladder {
				plan.Samples, plan.Explore = n, 0
				if out.audit(ctx, plan); out.refuted {
					out.needed = 2 * n
					break
				}
			}
		})
		out.seconds = now() - start
		l.say("%s: row %d of %d", place, row+1, len(rows))
		return out
	})
	for i, r := range rows {
		r.found = found[i]
	}
}

func (out *auditRun) audit(ctx context.Context, plan pair.Plan) {
	report := audited(ctx, plan, catalogue)
	out.refuted = report.Verdict == audit.Violation
	out.bound = *report.LowerBound
	for _, row := range report.Rows("published") {
		out.own = out.own || row.Claimed != nil && row.Value != nil && *row.Value > *row.Claimed && strings.HasPrefix(string(row.Method), "published")
	}
	var kernel struct{ Divergence float64 }
	if json.Unmarshal(report.Evidence.Witness.Model, &kernel) == nil {
		out.witness = kernel.Divergence
	}
	out.trials += len(report.Trials)
	out.outputs += report.Termination.Outputs
}

// search explores pairs of the plan's finder, which is told none, until one refutes the claim.
func search(ctx context.Context, plan pair.Plan, out *auditRun) {
	a := try.Get(plan.Resolve(catalogue))
	spec := try.Get(catalogue.Finder(a.Plan.Finder))
	find, err := spec.New(audit.FinderProblem{Relation: a.Plan.Relation, Domain: a.Domain, Trials: a.Plan.Trials,
		Stream: stream.New(stream.Key{Seed: plan.Seed, Purpose: "find"})})
	if err != nil {
		try.Do(fmt.Errorf("finder %s: %w", a.Plan.Finder, err))
	}
	tries := 0
	var history []audit.Trial
	for len(history) < a.Plan.Trials {
		pairs := find.Propose(history, a.Plan.Trials-len(history))
		if len(pairs) == 0 {
			return
		}
		for _, neighbours := range pairs {
			task := a.Explore(len(history), neighbours, a.Plan.Explore)
			value := try.Get(engine.Result[pair.Explored](task, func(int) error { return ctx.Err() })).Value
			history = append(history, audit.Trial{Index: len(history), Pair: neighbours, Value: value})
			out.outputs += 2 * a.Plan.Explore
			if value > a.Claim.Limit() {
				tries++
				p := a.Plan
				p.Pair, p.Beta, p.Seed = &neighbours, p.Beta/float64(tries*(tries+1)), confirmSeed(plan.Seed, tries)
				out.audit(ctx, p)
			}
			if out.trials = len(history); out.refuted {
				return
			}
		}
	}
}

// confirmSeed is above every seed of a run; neighbouring runs have room for as many as a search has trials.
func confirmSeed(seed uint64, k int) uint64 { return (seed+1)*4096 + uint64(k) }

func (r *auditRow) mean(of func(auditRun) float64) float64 {
	return stat.Mean(audit.Each(r.found, of), nil)
}

func (r *auditRow) count(is func(auditRun) bool) int { return audit.Count(r.found, is) }

func refuted(x auditRun) bool { return x.refuted }
func own(x auditRun) bool     { return x.own }

// trials of a search in the mean; one that found nothing counts as all, as in the papers.
func (r *auditRow) trials() float64 {
	return r.mean(func(x auditRun) float64 { return float64(audit.Pick(x.refuted, x.trials, r.plan.Trials)) })
}

// needed are the outputs a side of a ladder at the median; 0: half the runs refuted nothing.
func (r *auditRow) needed() int {
	all := sorted(r.found, func(x auditRun) int { return audit.Pick(x.refuted, x.needed, math.MaxInt) })
	if all[len(all)/2] == math.MaxInt {
		return 0
	}
	return all[(len(all)-1)/2]
}

func (r *auditRow) what() string {
	return strings.Join(slices.DeleteFunc([]string{r.name, r.claim, r.setting, r.plan.Learner}, func(s string) bool { return s == "" }), ", ")
}

// oursOnly begins the names of figures that are ours, beside the printed ones.
const oursOnly = "ours: "

func (r *auditRow) printed() string {
	var all []string
	for _, f := range r.figures {
		if !strings.HasPrefix(f.of, oursOnly) && f.value != "-" {
			all = append(all, f.of+" "+f.value)
		}
	}
	return cmp.Or(strings.Join(all, ", "), "no number printed")
}

func (r *auditRow) ours() string {
	text := "refuted " + of(r.count(refuted), len(r.found))
	switch {
	case r.plan.Pair == nil:
		text = fmt.Sprintf("%s: %s, %.1f trials", r.finder, text, r.trials())
	case len(r.ladder) > 0:
		text = "not enough outputs"
		if n := r.needed(); n > 0 {
			text = fmt.Sprintf("%d outputs a side", n)
		}
	default:
		bounds := audit.Each(r.found, func(x auditRun) float64 { return x.bound })
		text += fmt.Sprintf(", bound %.4f", median(bounds))
		if len(bounds) > 1 {
			text += fmt.Sprintf(" (%.4f..%.4f)", slices.Min(bounds), slices.Max(bounds))
		}
	}
	for _, f := range r.figures {
		if of, ours := strings.CutPrefix(f.of, oursOnly); ours && f.value != "-" {
			text += "; " + of + " " + f.value
		}
	}
	for _, t := range r.testers {
		learner, _, _ := strings.Cut(t.plan.Learner, ":")
		text += fmt.Sprintf("; %s %s, its own %d", learner, of(t.count(refuted), len(t.found)), t.count(own))
	}
	if r.found[0].witness != 0 {
		text = fmt.Sprintf("estimate %.3f; %s", r.mean(func(x auditRun) float64 { return x.witness }), text)
	}
	return text
}
