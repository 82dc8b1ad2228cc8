package main

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/try"
)

// mlAuditPaper prints no number of its figures, which are curves.
var mlAuditPaper = paper{"ML-Audit", []paperPart{
	fixed("Table 1", learnersTable1),
	{"Figure 1, algorithm 1", true, learnersAlgorithm},
	fixed("Corollary 4.0.1", func() pairs {
		return audit.Each([]int{10_000, figure8Samples}, func(n int) [2]string {
			return two("%.3f", learnersCorollary(n), bounds.MaxCertifiable(n, n, 0, learnersBeta))
		})
	}),
	fixed("Lemma A.3", learnersKatz),
	{"Lemma 3.4, copies", false, learnersRun{only: "copies", seeds: 1, claims: []float64{0.5, 2, 8}}.rows},
	{"Figure 2", false, learnersRun{only: "figure 2", quick: true, seeds: 3, claims: []float64{0.5, 1, 2}}.rows},
	{"Figure 3", true, learnersSphericity},
	{"Figure 4a", false, learnersRun{only: "figure 4a", seeds: 1, claims: []float64{0.5, 1, 2}}.rows},
	{"Figure 4b", false, learnersRun{only: "figure 4b", seeds: 5, claims: []float64{1, 2, 8}}.rows},
	{"Section 5, violations", true, learnersViolations},
	{"Figure 5", false, learnersRun{only: "(neighbours=add-remove)", seeds: 1, claims: []float64{0.5, 1, 2}}.rows},
	{"Figure 8", false, learnersRun{only: "figure 8", quick: true, seeds: 1}.rows},
}}

// of is the study as a part has it, which is at the small size.
func (r learnersRun) of(p *papersRun) learnersRun {
	r.lab, r.samples, r.cat = p.lab, 10_000, catalogue
	if p.full {
		r.seeds, r.quick, r.claims = max(3, r.seeds), false, learnersClaims
	}
	return r
}

// rows are one a learner and table, of the bounds by attack and claim.
func (r learnersRun) rows(p *papersRun) []paperRow {
	r = r.of(p)
	lines := r.lines()
	r.measureAll(lines)
	var rows []paperRow
	last := ""
	for _, l := range lines {
		exact := ""
		what := fmt.Sprintf("%s, %s, claims", l[0].learner, l[0].table)
		for _, c := range l {
			what += fmt.Sprintf(" %g", c.claim)
			exact += fmt.Sprintf(" %.3f", c.exact)
		}
		if what != last {
			rows, last = append(rows, paperRow{what: what}), what
		}
		row := &rows[len(rows)-1]
		row.ours += audit.Pick(row.ours == "", "", "; ") + l[0].shown + exact
	}
	return rows
}

func learnersTable1() pairs {
	predictions := audit.Params{"summary": {Text: "predictions"}}
	width := func(learner string, params audit.Params) int {
		spec := try.Get(catalogue.Mechanism(learner))
		return audit.Width(try.Get(spec.New(try.Get(audit.ResolveParams(spec.Params, params, audit.Claim{})))).Columns())
	}
	return pairs{
		{"", fmt.Sprintf("rows clipped to norm 1; %d coefficients", width("logistic-output", nil))},
		{"", fmt.Sprintf("declared ranges; %d means, variances and shares", width("naive-bayes", nil))},
		{"", fmt.Sprintf("declared ranges; votes of %d trees at x*", width("random-forest", nil))},
		{"", fmt.Sprintf("clipped gradients; %d log odds, at x*, zero and rows", width("sgd-linear", predictions))},
	}
}

func learnersAlgorithm(r *papersRun) []paperRow {
	run := learnersRun{seeds: 1}.of(r)
	found := run.measure(r.ctx, learnerCell{table: "iris-petals", attack: "corner-flip", claim: 1, spec: run.spec("naive-bayes")})
	return beside([2]string{"", fmt.Sprintf("%.3f; Katz on the same counts %.3f", found.exact, found.katz)})
}

// learnersKatz is how often bounds exceed the truth, summed over all counts.
func learnersKatz() pairs {
	const n, beta = 1000, learnersBeta / 2
	return audit.Each([]float64{0.002, 0.02, 0.2}, func(p float64) [2]string {
		first, second := distuv.Binomial{N: n, P: p * math.E}, distuv.Binomial{N: n, P: p}
		var katz, clopper float64
		for x := range n {
			if first.Prob(float64(x)) < 1e-9 {
				continue
			}
			for y := range n {
				c, weight := bounds.Counts{X: x, N1: n, Y: y, N0: n}, first.Prob(float64(x))*second.Prob(float64(y))
				if weight < 1e-12 {
					continue
				}
				katz += audit.Pick(published.Katz(c, 0, beta) > 1, weight, 0)
				clopper += audit.Pick(bounds.ClopperPearson(c, 0, beta, 0.5) > 1, weight, 0)
			}
		}
		return [2]string{"", fmt.Sprintf("Katz %.4f, Clopper-Pearson %.4f", katz, clopper)}
	})
}

// learnersSphericity is what ClipBKD moves on clouds, and influence beside it on all tables.
func learnersSphericity(r *papersRun) []paperRow {
	var clouds []string
	least, most := math.Inf(1), 0.0
	for _, s := range (learnersRun{}).of(r).sphericity() {
		if strings.HasPrefix(s.table, "clouds") {
			clouds = append(clouds, fmt.Sprintf("%.2f (%.0f)", s.clipbkd, s.ratio))
		}
		least, most = min(least, s.influence/s.clipbkd), max(most, s.influence/s.clipbkd)
	}
	return beside([2]string{"", strings.Join(clouds, ", ")}, [2]string{"", fmt.Sprintf("%.3f to %.3f times", least, most)})
}

// learnersViolations is the second case study: epsilon for one relation, claimed for another.
func learnersViolations(r *papersRun) []paperRow {
	report := audited(r.ctx, pair.Plan{Mechanism: "random-forest-wrong-neighbours", Mode: pair.UntilRefuted, Samples: 300_000, Trials: 4, Seed: 1}, catalogue)
	verdict := audit.Pick(report.Verdict == audit.Violation, "refuted", "not refuted")
	return beside([2]string{"", fmt.Sprintf("claim of %g %s by %d outputs", report.Claim.Epsilon, verdict, report.Termination.Outputs)})
}
