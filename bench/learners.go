package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// The measurements of Lu et al., A general framework for auditing differentially private
// machine learning (2022). Its figures are curves; the only number that it prints of them
// is the highest detectable epsilon (corollary 4.0.1).

// learnersGroup is the largest group of poisoned rows, as in section 5 of the paper.
const learnersGroup = 8

// learnersTrials is enough for all pairs of every attack.
const learnersTrials = 20

// learnersBeta is the error of every bound.
const learnersBeta = 0.05

// learnerCell is one learner under one attack at one claim.
type learnerCell struct {
	Part    string  `json:"part"`
	Learner string  `json:"learner"`
	Table   string  `json:"table"`
	Attack  string  `json:"attack"`
	Claim   float64 `json:"claim"`
	// Exact is the median bound of all seeds, Katz that of the paper's form on the same
	// counts, Group how many rows differed in the run of the median.
	learnerBounds
	params  string  // further ones, name=value with spaces between
	sees    string  // what the auditor sees of a model, where that is not what the learner gives
	group   int     // rows that may differ; 0: learnersGroup
	only    int     // rows that have to differ; 0: any
	samples int     // trainings a side; 0: those of the run
	delta   float64 // of the claim
	spec    audit.MechanismSpec
}

// learnerBounds are what a cell comes to.
type learnerBounds struct {
	Exact float64 `json:"exact"`
	Katz  float64 `json:"katz"`
	Group int     `json:"group"`
}

var learnersClaims = []float64{0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 50}

// learnersPlan is what is measured.
type learnersPlan struct {
	Samples int    `json:"samples"`
	Seeds   int    `json:"seeds"`
	Quick   bool   `json:"quick"`
	Only    string `json:"only"`
	Table   string `json:"table,omitempty"` // file of the user's
}

// learnersRun is what all cells have in common.
type learnersRun struct {
	learnersPlan
	cat     audit.Catalogue
	claims  []float64
	ctx     context.Context
	workers int
	say     func(format string, a ...any)
}

// learnersResult is all that the bench measures.
type learnersResult struct {
	Samples    int             `json:"samples"`
	Seeds      int             `json:"seeds"`
	Detectable float64         `json:"detectable"`          // by the exact bound
	Corollary  float64         `json:"publishedDetectable"` // by the paper's, corollary 4.0.1
	Cells      []learnerCell   `json:"cells"`
	Sphericity []sphericityRow `json:"sphericity"`
	Twins      []twinRow       `json:"twins"`
}

// benchLearners prints what attacks on private learners show, by learner, table and claim.
func benchLearners(c *call) (int, error) {
	r := learnersRun{ctx: c.ctx, say: c.say, claims: learnersClaims, cat: catalogue}
	var reading audit.LabelledReading
	c.IntVar(&r.Samples, "samples", 10_000, "trainings a side that certify")
	c.IntVar(&r.Seeds, "seeds", 3, "runs a cell, of which the median is shown; 1 with -quick")
	c.BoolVar(&r.Quick, "quick", false, "claims 0.5, 1 and 2, and fewer tables: three minutes on two cores")
	c.StringVar(&r.Only, "only", "", "only figures and learners whose name contains this")
	c.StringVar(&r.Table, "table", "", "figure 2 and 3 on the labelled examples of this CSV `file`, in place of all else")
	c.StringVar(&reading.Label, "label", "", "`column` of the label in -table; the last")
	c.StringVar(&reading.Bounds, "bounds", "", "declared `ranges` of the features in -table, as age=0:120,0:1")
	workers := c.workersFlag()
	c.outputFlags()
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	for _, err := range []error{within("-samples", r.Samples, 1000, 1_000_000, ""), within("-seeds", r.Seeds, 1, 100, "")} {
		if err != nil {
			return 0, err
		}
	}
	if r.Quick {
		c.unlessGiven("seeds", &r.Seeds, 1)
		r.claims = []float64{0.5, 1, 2}
	}
	if r.Table == "" && (reading.Label != "" || reading.Bounds != "") {
		return 0, &audit.InputError{Field: "-table", Found: audit.Absent, Want: "the file that -label and -bounds are of"}
	}
	if r.Table != "" {
		text, err := os.ReadFile(r.Table)
		if err == nil {
			r.cat, _, err = learners.In(catalogue, filepath.Base(r.Table), text, reading, nil)
		}
		if err != nil {
			return 0, err
		}
	}
	r.workers = *workers
	out := learnersResult{Samples: r.Samples, Seeds: r.Seeds, Cells: r.cells(),
		Detectable: bounds.MaxCertifiable(r.Samples, r.Samples, 0, learnersBeta), Corollary: learnersCorollary(r.Samples)}
	if len(out.Cells) == 0 && !strings.Contains("figure 3", r.Only) && !slices.ContainsFunc(learners.All(), func(m audit.MechanismSpec) bool { return strings.Contains(m.Name, r.Only) }) {
		return 0, &audit.InputError{Field: "-only", Found: fmt.Sprintf("%q", r.Only), Want: "part of a learner's name, or of a figure's, as figure 8"}
	}
	if err := r.measureAll(out.Cells); err != nil {
		return 0, err
	}
	var err error
	if out.Twins, err = r.twins(); err != nil {
		return 0, err
	}
	if out.Sphericity, err = r.sphericity(); err != nil {
		return 0, err
	}
	return cli.ExitOK, c.emit(out, out.print)
}

// learnersCorollary is the highest epsilon that Katz's form detects with n outputs a side:
// corollary 4.0.1 of the paper.
func learnersCorollary(n int) float64 {
	return math.Log(float64(n)) - distuv.UnitNormal.Quantile(1-learnersBeta/2)*math.Sqrt(1-1/float64(n))
}

// measureAll fills in what the cells come to.
func (r learnersRun) measureAll(cells []learnerCell) error {
	var progress sync.Mutex
	done := 0
	found, err := results(r.ctx, r.workers, len(cells), func(ctx context.Context, job int) (learnerBounds, error) {
		x := cells[job]
		found, err := r.measure(ctx, x)
		progress.Lock()
		defer progress.Unlock()
		done++
		r.say("%d of %d: %s, %s, %s at %g: %.3f", done, len(cells), x.Learner, x.Table, x.Attack, x.Claim, found.Exact)
		return found, err
	})
	if err != nil {
		return err
	}
	for i, x := range found {
		cells[i].learnerBounds = x
	}
	return nil
}

// measure is what a cell comes to.
func (r learnersRun) measure(ctx context.Context, x learnerCell) (out learnerBounds, err error) {
	cat := r.cat
	cat.Mechanisms = []audit.MechanismSpec{x.spec}
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: x.spec.Name, Parameters: audit.Params{"table": {Text: x.Table}}, Claim: new(audit.DPClaim(x.Claim, x.delta)),
		Finder: x.Attack, Group: cmp.Or(x.group, learnersGroup), Trials: learnersTrials, Samples: r.Samples, Explore: 4 * r.Samples, Mode: pair.Fixed, Beta: learnersBeta}
	if x.samples > 0 { // of slow trainings: so many for each number of copies
		plan.Trials, plan.Samples, plan.Explore = 2, x.samples, 2*x.samples
	}
	for _, p := range strings.Fields(x.params) {
		name, value, _ := strings.Cut(p, "=")
		v := audit.ParamValue{Text: value}
		if _, err := fmt.Sscan(value, &v.Number); err == nil {
			v.Text = ""
		}
		plan.Parameters[name] = v
	}
	if x.Claim*float64(plan.Group) > 400 { // an epsilon that no group's claim can have
		plan.Group = max(1, int(400/x.Claim))
	}
	if x.only > 0 {
		f, err := cat.Finder(x.Attack)
		if err != nil {
			return out, err
		}
		cat.Finders = append(slices.Clone(cat.Finders), exactly(f, x.only))
		plan.Finder = cat.Finders[len(cat.Finders)-1].Name
		if plan.Group < x.only {
			plan.Group = x.only
		}
	}
	pool := engine.LocalPool(1)
	type found struct {
		exact, katz float64
		group       int
	}
	var all []found
	for seed := range r.Seeds {
		plan.Seed = uint64(seed + 1)
		report, err := audited(ctx, plan, cat, pool)
		if err != nil {
			return out, fmt.Errorf("%s, %s at %g: %w", x.Learner, x.Attack, x.Claim, err)
		}
		row := report.Deciding()
		k := max(1, row.Group)
		// As published: the two-sided 1 - alpha interval's lower end.
		katz := published.Katz(*row.Counts, 0, learnersBeta/2) / float64(k)
		all = append(all, found{*row.LowerBound, max(0, katz), k})
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(a.exact, b.exact) })
	m := all[(len(all)-1)/2]
	out.Exact, out.Katz, out.Group = m.exact, m.katz, m.group
	return out, nil
}

// twinRow is a learner that is known to be broken, or has a claim that it breaks.
type twinRow struct {
	Learner string  `json:"learner"`
	Claim   float64 `json:"claim"`
	Bound   float64 `json:"bound"`
	Stopped bool    `json:"stopped"` // at the refutation: the bound is then the claim
	Outputs int     `json:"outputs"` // of both sides
	Refuted bool    `json:"refuted"`
}

// twins audits every broken learner until it is refuted, at its own claim, and that which
// exposes its counts at every claim.
func (r learnersRun) twins() ([]twinRow, error) {
	type job struct {
		spec  audit.MechanismSpec
		claim *audit.Claim
	}
	var jobs []job
	for _, m := range learners.All() {
		if m.Fault == "" || r.Table != "" || !strings.Contains(m.Name, r.Only) {
			continue
		}
		jobs = append(jobs, job{m, nil})
		if m.Name == "naive-bayes-counts" {
			for _, e := range []float64{0.1, 0.5, 2, 4, 6, 8} {
				jobs = append(jobs, job{m, new(audit.DPClaim(e, 0))})
			}
		}
	}
	return results(r.ctx, r.workers, len(jobs), func(ctx context.Context, i int) (row twinRow, err error) {
		cat := catalogue
		cat.Mechanisms = []audit.MechanismSpec{jobs[i].spec}
		plan := pair.Plan{Version: pair.PlanVersion, Mechanism: jobs[i].spec.Name, Claim: jobs[i].claim, Mode: pair.UntilRefuted, Samples: 30 * r.Samples, Trials: 4, Seed: 1}
		if plan.Mechanism == "logistic-objective-any-lambda" {
			plan.Parameters = audit.Params{"table": {Text: "iris-petals"}} // in fewer dimensions the noise hides less
		}
		if jobs[i].claim != nil { // what all of the trainings of the figures show
			plan.Mode, plan.Samples = pair.Fixed, r.Samples
		}
		report, err := pair.Run{Plan: plan, Catalogue: cat, Pool: engine.LocalPool(1)}.Do(ctx)
		if err != nil {
			return row, fmt.Errorf("%s: %w", jobs[i].spec.Name, err)
		}
		return twinRow{Learner: jobs[i].spec.Name, Claim: report.Claim.Epsilon, Bound: *report.LowerBound, Stopped: plan.Mode == pair.UntilRefuted, Outputs: report.Termination.Outputs, Refuted: report.Verdict == audit.Violation}, nil
	})
}

// learnerLines are the cells that differ in their claims alone, in order.
func learnerLines(cells []learnerCell) (lines [][]learnerCell) {
	for _, c := range cells {
		at := slices.IndexFunc(lines, func(l []learnerCell) bool {
			return l[0].Part == c.Part && l[0].Learner == c.Learner && l[0].Table == c.Table && l[0].attack() == c.attack()
		})
		if at < 0 {
			at, lines = len(lines), append(lines, nil)
		}
		lines[at] = append(lines[at], c)
	}
	return lines
}

// attack is the cell's attack with its copies.
func (c learnerCell) attack() string {
	if c.only > 0 {
		return fmt.Sprintf("%s, k = %d", c.Attack, c.only)
	}
	return c.Attack
}

func (x learnersResult) print(w io.Writer) {
	fmt.Fprintf(w, "Bounds on epsilon of private learners, of %d trainings a side, with 95 %% confidence; medians of %d.\n", x.Samples, x.Seeds)
	fmt.Fprintf(w, "exact: valid at this size, delta = 0. Katz: the same counts by the form of Lu et al. (2022), lemma A.3; it certifies nothing, and is 0 where the second side was never seen.\n")
	fmt.Fprintf(w, "Highest detectable epsilon: exact %.3f; by the paper's corollary 4.0.1 %.3f, the one number that the paper prints of its figures, which are curves.\n", x.Detectable, x.Corollary)
	fmt.Fprintf(w, "Up to %d copies of the poisoned row, as exploration chooses; k: copies in the run of the median.\n", learnersGroup)
	titles := map[string]string{
		"figure 2":  "Figure 2: bound by claim, learner, table and attack",
		"figure 4a": "Figure 4a: naive Bayes, its class attacked or its means, and with exposed counts under add-remove",
		"figure 4b": "Figure 4b: from ClipBKD and one prediction to influence and all coefficients",
		"figure 5":  "Figure 5: as figure 2, on a table of the user's",
		"figure 8":  fmt.Sprintf("Figure 8: DP-SGD, of %d trainings a side, delta = 1e-5 (Katz: 0)", figure8Samples),
		"copies":    "Copies of the poisoned row (appendix)",
	}
	for _, part := range []string{"figure 2", "figure 5", "figure 4a", "figure 4b", "figure 8", "copies"} {
		lines := learnerLines(slices.DeleteFunc(slices.Clone(x.Cells), func(c learnerCell) bool { return c.Part != part }))
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n\n", titles[part])
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprint(t, "learner\ttable\tattack\tform")
		for _, c := range lines[0] {
			fmt.Fprintf(t, "\t%g", c.Claim)
		}
		fmt.Fprintln(t)
		for _, l := range lines {
			exact, katz := fmt.Sprintf("%s\t%s\t%s\texact (k)", l[0].Learner, l[0].Table, l[0].attack()), "\t\t\tKatz"
			for _, c := range l {
				exact += fmt.Sprintf("\t%.3f (%d)", c.Exact, c.Group)
				katz += fmt.Sprintf("\t%.3f", c.Katz)
			}
			fmt.Fprintf(t, "%s\n%s\n", exact, katz)
		}
		t.Flush()
	}
	fmt.Fprintf(w, "\nFigure 3: how far one poisoned row moves the coefficients of a logistic regression without noise, at lambda = %g, by how spherical the table is\n\n", sphericityLambda)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "table\tlargest over smallest singular value\tClipBKD\tinfluence")
	for _, s := range x.Sphericity {
		fmt.Fprintf(t, "%s\t%.2f\t%.4f\t%.4f\n", s.Table, s.Ratio, s.ClipBKD, s.Influence)
	}
	t.Flush()
	if len(x.Twins) > 0 {
		fmt.Fprintf(w, "\nBroken learners\n\n")
		fmt.Fprintln(t, "learner\tclaim\trefuted\tbound\toutputs of both sides")
		for _, b := range x.Twins {
			bound := fmt.Sprintf("%.3f", b.Bound)
			if b.Stopped {
				bound = "stopped" // as soon as the claim was refuted
			}
			fmt.Fprintf(t, "%s\t%g\t%s\t%s\t%d\n", b.Learner, b.Claim, map[bool]string{true: "yes", false: "no"}[b.Refuted], bound, b.Outputs)
		}
		t.Flush()
	}
}
