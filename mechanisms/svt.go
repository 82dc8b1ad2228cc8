package mechanisms

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
)

// svtVariant is one of the six sparse-vector algorithms that Lyu, Su and Li
// (2017) compare. It answers m queries in turn, each of sensitivity Δ: is
// query + ν at or above T + ρ? Scales, with epsilon1 = share * epsilon and
// epsilon2 = epsilon - epsilon1:
//
//	       epsilon1   ρ              ν               at or above   stops
//	svt1   epsilon/2  Δ/epsilon1     2cΔ/epsilon2    ⊤             after c ⊤
//	svt2   epsilon/2  cΔ/epsilon1 *  2cΔ/epsilon1    ⊤             after c ⊤
//	svt3   epsilon/2  Δ/epsilon1     cΔ/epsilon2     query + ν     after c ⊤
//	svt4   epsilon/4  Δ/epsilon1     Δ/epsilon2      ⊤             after c ⊤
//	svt5   epsilon/2  Δ/epsilon1     none            ⊤             never
//	svt6   epsilon/2  Δ/epsilon1     Δ/epsilon2      ⊤             never
//
//	* drawn again with scale cΔ/epsilon2 after each ⊤
//
// numeric-svt is a seventh: it releases the query with noise of its own.
type svtVariant struct {
	name, title, source, fault string

	share   float64 // epsilon1/epsilon, a power of 2
	rho, nu func(svtBudget) float64
	redraws bool                    // ρ is drawn again after each ⊤
	values  bool                    // ⊤ carries query + ν
	endless bool                    // c is ignored
	fresh   func(svtBudget) float64 // where values: scale of new noise for the released value; nil releases query + ν

	truth func(audit.Params) string
}

// svtBudget is what the scales of an SVT's noise are made of.
type svtBudget struct {
	first, second float64 // epsilon1, epsilon2
	sensitivity   float64 // Δ of one query
	cutoff        float64 // c
}

// perFirst is the ρ of most variants.
func perFirst(b svtBudget) float64 { return b.sensitivity / b.first }

func noNoise(svtBudget) float64 { return 0 }

const svtSource = "Lyu, Su and Li, Understanding the Sparse Vector Technique for Differential Privacy, PVLDB 10(6) (2017), algorithm "

var (
	svt1 = svtVariant{
		name: "svt1", title: "Sparse vector technique, standard", source: svtSource + "1",
		share: 0.5, rho: perFirst,
		nu:    func(b svtBudget) float64 { return 2 * b.cutoff * b.sensitivity / b.second },
		truth: epsilonTruth,
	}
	svt2 = svtVariant{
		name: "svt2", title: "Sparse vector technique, threshold drawn again after each positive answer",
		source: svtSource + "2 (Dwork and Roth 2014, algorithm 2)",
		share:  0.5, redraws: true,
		rho:   func(b svtBudget) float64 { return b.cutoff * b.sensitivity / b.first },
		nu:    func(b svtBudget) float64 { return 2 * b.cutoff * b.sensitivity / b.first },
		truth: epsilonTruth,
	}
	svt3 = svtVariant{
		name: "svt3", title: "Sparse vector technique that releases the noisy answers",
		source: svtSource + "3 (Roth's lecture notes, 2011)",
		fault:  "releases the noisy answer that was compared with the threshold: it tells how high the threshold is at most, so the negative answers are no longer free",
		share:  0.5, rho: perFirst, values: true,
		nu:    func(b svtBudget) float64 { return b.cutoff * b.sensitivity / b.second },
		truth: neverPrivate(""),
	}
	svt4 = svtVariant{
		name: "svt4", title: "Sparse vector technique with query noise that forgets the cut-off",
		source: svtSource + "4 (Lee and Clifton 2014)",
		fault:  "the noise on the queries does not grow with the cut-off c, and is half of what even c = 1 needs",
		share:  0.25, rho: perFirst,
		nu:    func(b svtBudget) float64 { return b.sensitivity / b.second },
		truth: svt4Truth,
	}
	svt5 = svtVariant{
		name: "svt5", title: "Sparse vector technique without noise on the queries",
		source: svtSource + "5 (Stoddard, Chen and Machanavajjhala 2014)",
		fault:  "adds no noise to the queries: two that stand in one order in one dataset and in the other order in its neighbour tell them apart for certain",
		share:  0.5, rho: perFirst, nu: noNoise, endless: true,
		truth: neverPrivate(""),
	}
	svt6 = svtVariant{
		name: "svt6", title: "Sparse vector technique without a limit on positive answers",
		source: svtSource + "6 (Chen, Xiao, Zhang and Xu 2015)",
		fault:  "answers any number of positive queries with the noise for one",
		share:  0.5, rho: perFirst, endless: true,
		nu:    func(b svtBudget) float64 { return b.sensitivity / b.second },
		truth: neverPrivate("; the loss grows with the number of queries"),
	}
)

// numericSVT has noise 3Δ/epsilon on T, 6cΔ/epsilon in the comparison and 3cΔ/epsilon
// on the released value, written with epsilon1 = epsilon2 = epsilon/2: a third of
// epsilon each.
var numericSVT = svtVariant{
	name: "numeric-svt", title: "Numeric sparse vector technique: positive answers with noise of their own",
	source: "Wang, Ding, Wang, Kifer and Zhang, Proving Differential Privacy with Shadow Execution, PLDI 2019: NumSVT; Dwork and Roth (2014), algorithm 3",
	share:  0.5, values: true,
	rho:   func(b svtBudget) float64 { return 1.5 * b.sensitivity / b.first },
	nu:    func(b svtBudget) float64 { return 3 * b.cutoff * b.sensitivity / b.second },
	fresh: func(b svtBudget) float64 { return 1.5 * b.cutoff * b.sensitivity / b.second },
	truth: epsilonTruth,
}

// svt34ParallelSpec is svt3 and svt4 beside each other, with epsilon each.
func svt34ParallelSpec() audit.MechanismSpec {
	spec := svt3.spec()
	spec.Name, spec.Title = "svt34-parallel", "svt3 and svt4 side by side on the same queries"
	spec.Source = "Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, S&P 2021: SVT34Parallel; " + svtSource + "3 and 4"
	spec.Fault = "svt3 releases the noisy answers that it compared, svt4 has too little noise; and each of the two has all of epsilon"
	for i := range spec.Params {
		if spec.Params[i].Name == "c" {
			spec.Params[i].Default = 2
		}
	}
	spec.Truth = func(p audit.Params) string {
		if p.Int("m") == 1 {
			return "at most epsilon = twice the claimed = " + show(2*p.Num("epsilon")) + " on a single query, but not private on more"
		}
		return neverPrivate("")(p)
	}
	spec.New = func(p audit.Params) (audit.Mechanism, error) {
		third, err := svt3.build(p)
		if err != nil {
			return nil, err
		}
		fourth, err := svt4.build(p)
		return &sideBySide{parts: []audit.Mechanism{third, fourth}, prefixes: []string{"svt3 ", "svt4 "}}, err
	}
	return spec
}

func neverPrivate(more string) func(audit.Params) string {
	return func(audit.Params) string { return "not private for any epsilon" + more }
}

// svt4Truth is (1+6c)/4 epsilon: epsilon/4 for the threshold, and 2 * 3/4
// epsilon for each of c queries at or above it.
// No more of them can be at or above it than there are.
func svt4Truth(p audit.Params) string {
	c := min(p.Num("c"), p.Num("m"))
	return "at most epsilon = (1+6c)/4 times the claimed = " + show((1+float64(6*c))/4*p.Num("epsilon"))
}

// truthOf is the variant's truth, except where the queries cannot show its
// fault: a single one, or copies of one that all move alike and release no
// value, so that the answers tell of the threshold's noise only.
func (v svtVariant) truthOf(p audit.Params) string {
	if v.fault != "" && (p.Int("m") == 1 || p.Word("queries") == "sum" && !v.values) {
		return "keeps its claim on these queries, but not on others"
	}
	return v.truth(p)
}

func (v svtVariant) spec() audit.MechanismSpec {
	return audit.MechanismSpec{
		Name: v.name, Title: v.title, Source: v.source, Fault: v.fault,
		Params: []audit.ParamSpec{
			epsilonParam(1),
			{Name: "c", Doc: "cut-off: positive answers before it stops (svt5 and svt6 never do)", Default: 1, Min: 1, Max: 64, Integer: true},
			{Name: "m", Doc: "number of queries", Default: 10, Min: 1, Max: 64, Integer: true},
			{Name: "threshold", Doc: "threshold T", Default: 0.5, Min: -1000, Max: 1000},
			{Name: "sensitivity", Doc: "sensitivity of one query; at least 1 unless the queries are direct", Default: 1, Min: 1e-3, Max: 1000},
			{Name: "queries", Doc: "where the answers come from: direct (the dataset is the answers), or a query family over records in [0, 1]",
				Choices: queryFamilyNames()},
		},
		Relations: func(p audit.Params) []audit.Relation { return family(p).relations() },
		Claim:     pureClaim,
		Truth:     v.truthOf,
		Domain:    func(p audit.Params, r audit.Relation) audit.Domain { return family(p).domain(p, r) },
		Pairs: func(p audit.Params, r audit.Relation) []audit.Pair {
			return family(p).pairs(p, r, v)
		},
		New: v.build,
	}
}

func (v svtVariant) build(p audit.Params) (audit.Mechanism, error) {
	f, sensitivity, m := family(p), p.Num("sensitivity"), p.Int("m")
	if f.leastSensitivity > sensitivity {
		return nil, &audit.InputError{Field: "parameter sensitivity", Found: show(sensitivity),
			Want:   fmt.Sprintf("at least %s for queries=%s, whose answers move by as much", show(f.leastSensitivity), f.name),
			Remedy: "use queries=direct for smaller ones"}
	}
	first := float64(v.share * p.Num("epsilon"))
	b := svtBudget{first: first, second: p.Num("epsilon") - first, sensitivity: sensitivity, cutoff: p.Num("c")}
	cutoff := p.Int("c")
	if v.endless {
		cutoff = m + 1 // out of reach
	}
	run := svtRun{queries: m, answers: f.answers, threshold: p.Num("threshold"), cutoff: cutoff, rho: v.rho(b), nu: v.nu(b)}
	switch {
	case v.values:
		m := &svtValues{svtRun: run}
		if v.fresh != nil {
			m.fresh = v.fresh(b)
		}
		return m, nil
	case v.redraws:
		return &svtRedrawing{run, b.cutoff * b.sensitivity / b.second}, nil
	}
	return &svtSymbols{run}, nil
}
