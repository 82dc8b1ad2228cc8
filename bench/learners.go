package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// Lu et al., A general framework for auditing differentially private machine learning (2022).
const (
	learnersGroup  = 8  // poisoned rows at most, as in section 5 of the paper
	learnersTrials = 20 // enough for all pairs of every attack
	learnersBeta   = 0.05
)

type learnerCell struct {
	part, learner, table, attack string
	claim                        float64
	params                       audit.Params // further ones
	sees                         string       // what the auditor sees of a model, where that is not what the learner gives
	shown                        string       // the attack in tables
	group                        int          // rows that may differ; 0: learnersGroup
	only                         int          // rows that have to differ; 0: any
	samples                      int          // trainings a side; 0: those of the run
	delta                        float64      // of the claim
	spec                         audit.MechanismSpec

	learnerBounds
}

// learnerBounds are the median bound of all seeds, the paper's of the same counts, and rows that differed.
type learnerBounds struct {
	exact, katz float64
	copies      int
}

var learnersClaims = []float64{0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 50}

type learnersRun struct {
	lab
	samples, seeds int
	quick          bool
	only           string // part of the names of figures and learners
	table          string // file of the user's
	cat            audit.Catalogue
	claims         []float64
}

func benchLearners(c *call) {
	r := learnersRun{claims: learnersClaims, cat: catalogue}
	var reading audit.LabelledReading
	c.count(&r.samples, "samples", 10_000, 1000, 1_000_000, "trainings a side that certify")
	c.count(&r.seeds, "seeds", 3, 1, 100, "runs a cell, of which the median is shown; 1 with -quick")
	c.BoolVar(&r.quick, "quick", false, "claims 0.5, 1 and 2, and fewer tables: three minutes on two cores")
	c.StringVar(&r.only, "only", "", "only figures and learners whose name contains this")
	c.StringVar(&r.table, "table", "", "figure 2 and 3 on the labelled examples of this CSV `file`, in place of all else")
	c.StringVar(&reading.Label, "label", "", "`column` of the label in -table; the last")
	c.StringVar(&reading.Bounds, "bounds", "", "declared `ranges` of the features in -table, as age=0:120,0:1")
	c.parse()
	if r.lab = c.lab; r.quick {
		r.claims, r.seeds = []float64{0.5, 1, 2}, audit.Pick(c.Given("seeds"), r.seeds, 1)
	}
	given := r.table != "" || reading.Label+reading.Bounds == ""
	try.Do(audit.Require(given, "-table", audit.Absent, "the file that -label and -bounds are of"))
	if r.table != "" {
		r.cat, _ = try.Get2(learners.In(catalogue, filepath.Base(r.table), try.Get(os.ReadFile(r.table)), reading, nil))
	}
	lines := r.lines()
	refuse(len(lines) == 0 && !strings.Contains("figure 3", r.only), "-only", r.only, "part of a learner's name, or of a figure's, as figure 8")
	tables := r.tables(lines)
	c.print(fmt.Sprintf("Bounds on epsilon of private learners, of %d trainings a side, with 95 %% confidence; medians of %d.\n", r.samples, r.seeds)+
		"exact: valid at this size, delta = 0. Katz: the same counts by the form of Lu et al. (2022), lemma A.3; it certifies nothing, and is 0 where the second side was never seen.\n"+
		fmt.Sprintf("Highest detectable epsilon: exact %.3f; by the paper's corollary 4.0.1 %.3f, the one number that the paper prints of its figures, which are curves.\n", bounds.MaxCertifiable(r.samples, r.samples, 0, learnersBeta), learnersCorollary(r.samples))+
		fmt.Sprintf("Up to %d copies of the poisoned row, as exploration chooses; k: copies in the run of the median.", learnersGroup), tables...)
}

var learnersTitles = [][2]string{
	{"figure 2", "Figure 2: bound by claim, learner, table and attack"},
	{"figure 5", "Figure 5: as figure 2, on a table of the user's"},
	{"figure 4a", "Figure 4a: naive Bayes, its class attacked or its means, and with exposed counts under add-remove"},
	{"figure 4b", "Figure 4b: from ClipBKD and one prediction to influence and all coefficients"},
	{"figure 8", fmt.Sprintf("Figure 8: DP-SGD, of %d trainings a side, delta = 1e-5 (Katz: 0)", figure8Samples)},
	{"copies", "Copies of the poisoned row (appendix)"},
}

func (r learnersRun) tables(lines [][]*learnerCell) (tables []*table) {
	r.measureAll(lines)
	for _, part := range learnersTitles {
		t := &table{title: part[1]}
		for _, l := range lines {
			if l[0].part == part[0] {
				t.columns = audit.Each(l, func(c *learnerCell) string { return fmt.Sprintf("%g", c.claim) })
				t.add(fmt.Sprintf("%s, %s, %s: exact (k)", l[0].learner, l[0].table, l[0].shown),
					audit.Each(l, func(c *learnerCell) any { return fmt.Sprintf("%.3f (%d)", c.exact, c.copies) })...)
				t.add("    Katz", audit.Each(l, func(c *learnerCell) any { return fmt.Sprintf("%.3f", c.katz) })...)
			}
		}
		if len(t.rows) > 0 {
			tables = append(tables, t)
		}
	}
	t := &table{title: fmt.Sprintf("Figure 3: how far one poisoned row moves the coefficients of a logistic regression without noise, at lambda = %g, by how spherical the table is", sphericityLambda),
		columns: []string{"largest over smallest singular value", "ClipBKD", "influence"}}
	for _, s := range r.sphericity() {
		t.add(s.table, s.ratio, s.clipbkd, s.influence)
	}
	return append(tables, t)
}

// learnersCorollary is the highest epsilon that Katz's form detects (corollary 4.0.1), n a side.
func learnersCorollary(n int) float64 {
	return math.Log(float64(n)) - distuv.UnitNormal.Quantile(1-learnersBeta/2)*math.Sqrt(1-1/float64(n))
}

func (r learnersRun) measureAll(lines [][]*learnerCell) {
	cells := slices.Concat(lines...)
	results(r.lab, len(cells), func(ctx context.Context, i int) struct{} {
		x := cells[i]
		x.learnerBounds = r.measure(ctx, *x)
		r.say("%d of %d: %s, %s, %s at %g: %.3f", i+1, len(cells), x.learner, x.table, x.attack, x.claim, x.exact)
		return struct{}{}
	})
}

func (r learnersRun) measure(ctx context.Context, x learnerCell) learnerBounds {
	cat := r.cat
	cat.Mechanisms = []audit.MechanismSpec{x.spec}
	plan := pair.Plan{Mechanism: x.spec.Name, Parameters: audit.Params{"table": {Text: x.table}}, Claim: new(audit.DPClaim(x.claim, x.delta)),
		Finder: x.attack, Group: cmp.Or(x.group, learnersGroup), Trials: learnersTrials, Samples: r.samples, Explore: 4 * r.samples, Mode: pair.Fixed, Beta: learnersBeta}
	if x.samples > 0 { // of slow trainings: so many for each number of copies
		plan.Trials, plan.Samples, plan.Explore = 2, x.samples, 2*x.samples
	}
	maps.Copy(plan.Parameters, x.params)
	if x.claim*float64(plan.Group) > 400 { // an epsilon that no group's claim can have
		plan.Group = max(1, int(400/x.claim))
	}
	if x.only > 0 {
		f := exactly(try.Get(cat.Finder(x.attack)), x.only)
		cat.Finders = append(slices.Clone(cat.Finders), f)
		plan.Finder, plan.Group = f.Name, max(plan.Group, x.only)
	}
	all := make([]learnerBounds, r.seeds)
	in(fmt.Sprintf("%s, %s at %g", x.learner, x.attack, x.claim), func() {
		for i := range all {
			plan.Seed = uint64(i + 1)
			row := audited(ctx, plan, cat).Deciding()
			k := max(1, row.Group)
			// As published: the two-sided 1 - alpha interval's lower end.
			katz := published.Katz(*row.Counts, 0, learnersBeta/2) / float64(k)
			all[i] = learnerBounds{*row.LowerBound, max(0, katz), k}
		}
	})
	slices.SortFunc(all, func(a, b learnerBounds) int { return cmp.Compare(a.exact, b.exact) })
	return all[(len(all)-1)/2]
}
