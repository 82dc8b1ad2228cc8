package mechanisms

import (
	"fmt"
	"math"
	"slices"

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
		return nil, &audit.InputError{Field: "parameter sensitivity", Path: "p.sensitivity", Found: show(sensitivity),
			Want:   fmt.Sprintf("at least %s for queries=%s, whose answers move by as much", show(f.leastSensitivity), f.name),
			Remedy: "use queries=direct for smaller ones"}
	}
	first := float64(v.share * p.Num("epsilon"))
	b := svtBudget{first: first, second: p.Num("epsilon") - first, sensitivity: sensitivity, cutoff: p.Num("c")}
	cutoff := pick(v.endless, m+1, p.Int("c")) // out of reach
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

// queryFamily is where the answers to an SVT's m queries come from.
type queryFamily struct {
	name string
	// leastSensitivity is by how much an answer can move between neighbours;
	// 0 where the relation itself keeps the moves within the sensitivity.
	leastSensitivity float64
	// answers are the m true answers on a dataset of one column.
	answers func(values []float64, m int) ([]float64, error)
	// recordPairs are the family's pairs for T = threshold; nil for direct.
	recordPairs func(r audit.Relation, threshold float64) []audit.Pair
}

const svtRows = 20 // most records that a finder proposes

// queryFamilies of an SVT; the first is the default.
var queryFamilies = []queryFamily{
	{name: "direct", answers: directAnswers},
	{name: "sum", leastSensitivity: 1, answers: sumAnswers, recordPairs: sumPairs},
	{name: "reveal-records", leastSensitivity: 1, answers: revealRecordsAnswers, recordPairs: revealRecordsPairs},
	{name: "count-above", leastSensitivity: 1, answers: countAboveAnswers, recordPairs: countAbovePairs},
}

func queryFamilyNames() []string {
	names := make([]string, len(queryFamilies))
	for i, f := range queryFamilies {
		names[i] = f.name
	}
	return names
}

// family is the query family that resolved parameters name.
func family(p audit.Params) queryFamily {
	for _, f := range queryFamilies {
		if f.name == p.Word("queries") {
			return f
		}
	}
	panic("mechanisms: parameter queries was not resolved")
}

func (f queryFamily) relations() []audit.Relation {
	if f.recordPairs == nil {
		return []audit.Relation{audit.LInfinity}
	}
	return []audit.Relation{audit.AddRemove, audit.Replace}
}

// domain of direct is the cube of half-width 5 sensitivities around the
// threshold, beyond which an answer is hardly ever in doubt.
func (f queryFamily) domain(p audit.Params, r audit.Relation) audit.Domain {
	if f.recordPairs == nil {
		m, t, reach := p.Int("m"), p.Num("threshold"), p.Num("sensitivity")
		wide := float64(5 * reach)
		return audit.Domain{Columns: 1, MinRows: m, MaxRows: m, Lower: []float64{t - wide}, Upper: []float64{t + wide}, Reach: reach}
	}
	return audit.Domain{Columns: 1, MinRows: fewest(r), MaxRows: svtRows, Lower: []float64{0}, Upper: []float64{1}}
}

func (f queryFamily) pairs(p audit.Params, r audit.Relation, v svtVariant) []audit.Pair {
	if f.recordPairs == nil {
		return v.directPairs(p.Int("m"), p.Num("threshold"), p.Num("sensitivity"))
	}
	return f.recordPairs(r, p.Num("threshold"))
}

// directAnswers takes the dataset for the answers.
func directAnswers(values []float64, m int) ([]float64, error) {
	if len(values) != m {
		return nil, &audit.InputError{Field: "dataset", Found: fmt.Sprintf("%d rows", len(values)),
			Want: fmt.Sprintf("%d rows, the answer of one query each", m)}
	}
	return values, nil
}

// sumAnswers answers every query with the sum of the records clipped to [0, 1].
func sumAnswers(values []float64, m int) ([]float64, error) {
	return vector(m, clippedSum(values)), nil
}

// revealRecordsAnswers answers m-1 queries with the last record and one with
// the record before it, clipped to [0, 1]; a record that is not there counts 0.
func revealRecordsAnswers(values []float64, m int) ([]float64, error) {
	n := len(values)
	q := vector(m, clippedSum(values[max(n-1, 0):]))
	q[m-1] = clippedSum(values[max(n-2, 0):max(n-1, 0)])
	return q, nil
}

// countAboveAnswers answers query i = 1..m with the number of records above
// the cut point (i-1/2)/m.
func countAboveAnswers(values []float64, m int) ([]float64, error) {
	q := make([]float64, m)
	for i := range q {
		cut := (float64(i) + 0.5) / float64(m)
		for _, v := range values {
			if v > cut {
				q[i]++
			}
		}
	}
	return q, nil
}

// onesBelow is how many records of 1 bring a sum just below the threshold.
func onesBelow(threshold float64) int { return int(min(max(math.Ceil(threshold)-1, 0), svtRows-1)) }

// beside is rows of 1, then others.
func beside(ones int, others ...float64) audit.Dataset {
	return audit.Records(append(vector(ones, 1), others...)...)
}

func sumPairs(r audit.Relation, threshold float64) []audit.Pair {
	k := onesBelow(threshold)
	if r == audit.Replace {
		return []audit.Pair{
			{Label: "a 0 replaced by 1, the sum below and above the threshold", First: beside(k, 0), Second: beside(k, 1)},
			{Label: "{0} against {1}", First: audit.Records(0), Second: audit.Records(1)},
		}
	}
	return []audit.Pair{
		{Label: "a record of 1 more, the sum below and above the threshold", First: beside(k), Second: beside(k, 1)},
		{Label: "none against {1}", First: audit.Records(), Second: audit.Records(1)},
	}
}

// revealRecordsPairs swap the last record and the one before it, so that m-1
// queries fall as one rises. The order of rows carries no meaning, so datasets
// that are permuted and differ in one row are neighbours.
func revealRecordsPairs(r audit.Relation, _ float64) []audit.Pair {
	if r == audit.Replace {
		return []audit.Pair{
			{Label: "last two records 0, 1 against 1, 0", First: audit.Records(0, 0, 1), Second: audit.Records(1, 1, 0)},
			{Label: "{0} against {1}", First: audit.Records(0), Second: audit.Records(1)},
		}
	}
	return []audit.Pair{
		{Label: "{0, 1} against {0, 1, 0}: the last two records swap", First: audit.Records(0, 1), Second: audit.Records(0, 1, 0)},
		{Label: "none against {1}", First: audit.Records(), Second: audit.Records(1)},
	}
}

// countAbovePairs move half of the queries, or all, across the threshold.
func countAbovePairs(r audit.Relation, threshold float64) []audit.Pair {
	k := onesBelow(threshold)
	if r == audit.Replace {
		return []audit.Pair{
			{Label: "a 0 replaced by 0.5: the first half of the counts rises", First: beside(k, 0), Second: beside(k, 0.5)},
			{Label: "a 0.5 replaced by 1: the second half of the counts rises", First: beside(k, 0.5), Second: beside(k, 1)},
			{Label: "a 0 replaced by 1: all counts rise", First: beside(k, 0), Second: beside(k, 1)},
		}
	}
	return []audit.Pair{
		{Label: "a record of 0.5 more: the first half of the counts rises", First: beside(k), Second: beside(k, 0.5)},
		{Label: "a record of 1 more: all counts rise", First: beside(k), Second: beside(k, 1)},
	}
}

// flip is the pair 1^falls 0^rises against 0^falls 1^rises of answers half a
// sensitivity above (1) and below (0) the threshold; queries beyond are below
// it in both.
type flip struct{ falls, rises int }

// manyQueries is how many queries the flips of a variant that stops spread
// over: later ones are hardly reached.
const manyQueries = 10

// flips are the variant's pairs of m direct answers, the best first. Exact
// distributions at m = 10, c = 1 and epsilon = 1 put the balanced flip first:
// the hockey-stick divergence at the claim is 0.029 for svt3, 0.030 for svt4
// and 0.123 for svt6, against 0.025, 0.019 and 0.038 for 5+1, and 0.221 for
// svt5 with every flip. Where a variant stops after one positive answer, 9+1
// has the rarer event with the larger ratio; 3+2 and 3+1 have the more frequent
// one.
func (v svtVariant) flips(m int) []flip {
	spread := m
	if !v.endless {
		spread = min(m, manyQueries)
	}
	var flips []flip
	for _, f := range []flip{
		{spread - spread/2, spread / 2}, {min(m, manyQueries) - 1, 1},
		{3, 2}, {3, 1}, {5, 1}, {2, 1}, {1, 1},
	} {
		if f.falls > 0 && f.rises > 0 && f.falls+f.rises <= m && !slices.Contains(flips, f) {
			flips = append(flips, f)
		}
	}
	return flips
}

// directPairs are the flips, then a move of one answer and of all in one
// direction.
func (v svtVariant) directPairs(m int, threshold, sensitivity float64) []audit.Pair {
	half := float64(sensitivity / 2)
	low, high := threshold-half, threshold+half
	var pairs []audit.Pair
	for _, f := range v.flips(m) {
		pairs = append(pairs, f.pair(m, low, high))
	}
	pairs = append(pairs, flip{falls: 1}.pair(m, low, high))
	if m > 1 {
		pairs = append(pairs, flip{falls: m}.pair(m, low, high))
	}
	return pairs
}

func (f flip) pair(m int, low, high float64) audit.Pair {
	first, second := vector(m, low), vector(m, low)
	for i := range f.falls + f.rises {
		if i < f.falls {
			first[i] = high
		} else {
			second[i] = high
		}
	}
	label := fmt.Sprintf("%d+%d: the first %d answers fall below the threshold, the next %d rise above it", f.falls, f.rises, f.falls, f.rises)
	switch {
	case f.rises == 0 && f.falls == m:
		label = "all answers fall below the threshold"
	case f.rises == 0:
		label = "the first answer falls below the threshold"
	}
	return audit.Pair{Label: label, First: audit.Records(first...), Second: audit.Records(second...)}
}
