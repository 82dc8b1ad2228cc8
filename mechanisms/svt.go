package mechanisms

import (
	"maps"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// svtVariant is one of the six sparse-vector algorithms that Lyu, Su and Li (2017) compare, or
// numeric-svt. It answers m queries in turn, each of sensitivity Δ: is query + ν at or above
// T + ρ? Scales, with epsilon1 = share * epsilon and epsilon2 = epsilon - epsilon1:
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
type svtVariant struct {
	mechanism

	share   float64 // a power of 2
	rho, nu float64 // factors
	more    float64 // factor, times c, of ρ when it is drawn again, or of the noise of a released value; 0: none
	fixed   bool    // the factor nu is not multiplied by c
	redraws bool    // ρ, with rho times c, is drawn again after each ⊤
	values  bool    // ⊤ carries query + ν, or query + more
	endless bool    // it never stops
}

const svtSource = "Lyu, Su and Li, Understanding the Sparse Vector Technique for Differential Privacy, PVLDB 10(6) (2017), algorithm "

// loneQuery is how svt1 and svt2 meet their claim.
var loneQuery = &audit.Tight{Params: audit.Params{"epsilon": {Number: 1}, "m": {Number: 1}}, Pair: 1, Exact: loneLoss(4, 2),
	Why: "a single query that crosses the threshold: exact"}

var (
	svt1 = svtVariant{share: 0.5, rho: 1, nu: 2, mechanism: mechanism{
		Name: "svt1", Title: "Sparse vector technique, standard", Source: svtSource + "1", Tight: loneQuery,
	}}
	svt2 = svtVariant{share: 0.5, rho: 1, nu: 2, more: 1, redraws: true, mechanism: mechanism{
		Name: "svt2", Title: "Sparse vector technique, threshold drawn again after each positive answer",
		Source: svtSource + "2 (Dwork and Roth 2014, algorithm 2)", Tight: loneQuery,
	}}
	svt3 = svtVariant{share: 0.5, rho: 1, nu: 1, values: true, mechanism: mechanism{
		Name: "svt3", Title: "Sparse vector technique that releases the noisy answers",
		Source: svtSource + "3 (Roth's lecture notes, 2011)",
		Fault:  "releases the noisy answer that was compared with the threshold: it bounds the noisy threshold from above, so negative answers are no longer free", Mended: "numeric-svt",
		Truth: neverPrivate(""),
	}}
	svt4 = svtVariant{share: 0.25, rho: 1, nu: 1, fixed: true, mechanism: mechanism{
		Name: "svt4", Title: "Sparse vector technique with query noise that ignores the cut-off",
		Source: svtSource + "4 (Lee and Clifton 2014)",
		Fault:  "the noise on the queries does not grow with the cut-off c, and is half of what even c = 1 needs", Mended: "svt1",
		// epsilon/4 for the threshold, and 2 * 3/4 epsilon for each of c queries at or above it.
		// No more of them can be at or above it than there are.
		Truth: func(p audit.Params) string {
			c := min(p.Num("c"), p.Num("m"))
			return "at most epsilon = (1+6c)/4 times the claimed = " + audit.Number((1+float64(6*c))/4*p.Num("epsilon"))
		},
	}}
	svt5 = svtVariant{share: 0.5, rho: 1, endless: true, mechanism: mechanism{
		Name: "svt5", Title: "Sparse vector technique without noise on the queries",
		Source: svtSource + "5 (Stoddard, Chen and Machanavajjhala 2014)",
		Fault:  "adds no noise to the queries: two queries whose order differs between neighbouring datasets distinguish them with certainty", Mended: "svt1",
		Truth: neverPrivate(""),
	}}
	svt6 = svtVariant{share: 0.5, rho: 1, nu: 1, fixed: true, endless: true, mechanism: mechanism{
		Name: "svt6", Title: "Sparse vector technique without a limit on positive answers",
		Source: svtSource + "6 (Chen, Xiao, Zhang and Xu 2015)",
		Fault:  "answers any number of positive queries with the noise for one", Mended: "svt1",
		Truth: neverPrivate("; the loss grows with the number of queries"),
	}}

	// numericSVT spends a third of epsilon on each of T, the comparison and the released value:
	// scales 3Δ/epsilon, 6cΔ/epsilon and 3cΔ/epsilon.
	numericSVT = svtVariant{share: 0.5, rho: 1.5, nu: 3, more: 1.5, values: true, mechanism: mechanism{
		Name: "numeric-svt", Title: "Numeric sparse vector technique: positive answers with fresh noise",
		Source: shadowExecution + ": NumSVT; Dwork and Roth (2014), algorithm 3",
		Tight: &audit.Tight{Params: loneQuery.Params, Pair: 1, Exact: loneLoss(6, 3) + 1.0/3, Floats: true,
			Why: "a single query that crosses the threshold, and a value beyond both answers: exact"},
	}}
)

// besides completes a mechanism of two variants beside each other, each with this share of epsilon.
func besides(m mechanism, first, second svtVariant, share float64) mechanism {
	both := first
	both.mechanism = m
	all := both.complete()
	all.Truth, all.Params[0].Default = m.Truth, 2 // of c
	all.Output = func(p audit.Params) []audit.Column {
		columns := append(first.output(p), second.output(p)...)
		for i := range columns {
			columns[i].Name = audit.Pick(i < p.Int("m"), first.Name, second.Name) + " " + columns[i].Name
		}
		return columns
	}
	all.Release = func(p audit.Params, d audit.Dataset) sampler {
		p = maps.Clone(p)
		p["epsilon"] = audit.ParamValue{Number: share * p.Num("epsilon")}
		return sideBySide(first.release(p, d), 2*p.Int("m"), second.release(p, d), p.Int("m"))
	}
	return all
}

var svtParallel = besides(mechanism{
	Name: "svt-parallel", Title: "numeric-svt and svt1 side by side on the same queries, with half of epsilon each",
	Source: svtSource + "1; Dwork and Roth (2014), algorithm 3 and theorem 3.16",
	Tight: &audit.Tight{Params: audit.Params{"epsilon": {Number: 2}, "c": {Number: 1}, "m": {Number: 1}}, Pair: 1, Exact: loneLoss(6, 3) + 1.0/3 + loneLoss(4, 2), Floats: true,
		Why: "a single query that crosses both thresholds, and a value beyond both answers: exact"},
}, numericSVT, svt1, 0.5)

var svt34Parallel = besides(mechanism{
	Name: "svt34-parallel", Title: "svt3 and svt4 side by side on the same queries",
	Source: dpSniper + ": SVT34Parallel; " + svtSource + "3 and 4",
	Fault:  "svt3 releases the noisy answers that it compared, svt4 adds too little noise, and each of the two spends all of epsilon", Mended: "svt-parallel",
	Truth: func(p audit.Params) string {
		if p.Int("m") == 1 {
			return "at most epsilon = twice the claimed = " + audit.Number(2*p.Num("epsilon")) + " on a single query, but not private on more"
		}
		return neverPrivate("")(p)
	},
}, svt3, svt4, 1)

// loneLoss is the loss on one query that is half a sensitivity above the threshold or below
// it, with noise of scales nu and rho, not equal: by symmetry that of randomised response.
// The sum of two Laplace variables is beyond t > 0 with probability
// (nu² e^(-t/nu) - rho² e^(-t/rho)) / (2 (nu² - rho²)).
func loneLoss(nu, rho float64) float64 {
	const t = 0.5
	p := (float64(nu*nu*stream.Exp(-t/nu)) - float64(rho*rho*stream.Exp(-t/rho))) / (2 * (float64(nu*nu) - float64(rho*rho)))
	return stream.Log((1 - p) / p)
}

func (v svtVariant) complete() mechanism {
	m := v.mechanism
	m.Epsilon = 1
	m.Params = []audit.ParamSpec{
		{Name: "c", Doc: "cut-off: positive answers before it stops (svt5 and svt6 never stop)", Default: 1, Min: 1, Max: 64, Integer: true, Fault: m.Fault != "" && !v.endless},
		{Name: "m", Doc: "number of queries", Default: 10, Min: 1, Max: 64, Integer: true, Fault: v.endless},
		{Name: "threshold", Doc: "threshold T", Default: 0.5, Min: -1000, Max: 1000},
		{Name: "sensitivity", Doc: "sensitivity of one query; at least 1 unless the queries are direct", Default: 1, Min: 1e-3, Max: 1000},
		{Name: "queries", Doc: "source of the answers: direct (the dataset is the list of answers), or a query family over records in [0, 1]",
			Choices: queryFamilyNames()},
	}
	m.Check = func(p audit.Params) error {
		return demand(direct(p) || !(p.Num("sensitivity") < 1), p, "sensitivity", "use queries=direct for smaller ones",
			"at least 1 for queries=%s, whose answers change by up to 1", p.Word("queries"))
	}
	m.Relations = func(p audit.Params) []audit.Relation {
		return audit.Pick(direct(p), []audit.Relation{audit.LInfinity}, []audit.Relation{audit.AddRemove, audit.Replace})
	}
	if m.Fault != "" {
		// A single query cannot show the fault. Nor can copies of one, which move alike, where
		// no value is released: the answers tell of the threshold's noise only.
		m.Truth = func(p audit.Params) string {
			if p.Int("m") == 1 || p.Word("queries") == "sum" && !v.values {
				return "keeps its claim on these queries, but not on others"
			}
			return v.Truth(p)
		}
	}
	m.Domain = func(p audit.Params) audit.Domain {
		if direct(p) {
			t, reach := p.Num("threshold"), p.Num("sensitivity")
			wide := float64(5 * reach) // beyond, an answer is hardly ever in doubt
			return answers(p.Int("m"), t-wide, t+wide, reach)
		}
		return records(0, 1)
	}
	m.Pairs = func(p audit.Params, r audit.Relation) pairs {
		if direct(p) {
			return v.directPairs(p.Int("m"), p.Num("threshold"), p.Num("sensitivity"))
		}
		added, replaced := family(p).pairs(int(min(max(math.Ceil(p.Num("threshold"))-1, 0), proposedRows-1)))
		return audit.Pick(r == audit.Replace, replaced, added)
	}
	m.Output, m.Release = v.output, v.release
	return m
}

const (
	above   = 1  // ⊤
	below   = 0  // ⊥
	aborted = -1 // it had stopped before
)

type svtRun struct {
	queries       int     // m
	threshold     float64 // T
	cutoff        int     // positive answers before it stops
	rho, nu, more float64 // scales
}

func (v svtVariant) run(p audit.Params) svtRun {
	m, e1, delta, c := p.Int("m"), float64(v.share*p.Num("epsilon")), p.Num("sensitivity"), p.Num("c")
	e2 := p.Num("epsilon") - e1
	return svtRun{
		queries: m, threshold: p.Num("threshold"), cutoff: audit.Pick(v.endless, m+1, p.Int("c")), // m+1 is out of reach
		rho:  v.rho * audit.Pick(v.redraws, c, 1) * delta / e1,
		nu:   v.nu * audit.Pick(v.fixed, 1, c) * delta / e2,
		more: v.more * c * delta / e2,
	}
}

func (v svtVariant) output(p audit.Params) []audit.Column {
	r := v.run(p)
	labels := []audit.Label{{Value: above, Text: "⊤"}, {Value: below, Text: "⊥"}, {Value: aborted, Text: "–"}}
	return columnsOf(r.queries, audit.Pick(v.values, audit.Mixed, audit.Symbol), "query %d", 1,
		labels[:audit.Pick(r.cutoff < r.queries, 3, 2)]...)
}

// release draws ρ for all rows of a block, then ν for all their queries (none where its scale
// is zero), then the noise of all values, or as many further ρ for each row as it can use.
func (v svtVariant) release(p audit.Params, d audit.Dataset) sampler {
	r, q := v.run(p), d.Values
	if !direct(p) {
		q = family(p).answers(d.Values, r.queries)
	}
	further := audit.Pick(v.more != 0, r.queries, 0)
	if v.redraws {
		further = min(r.cutoff, r.queries) - 1 // none after the last ⊤
	}
	return func(b *block) {
		rho, nu := b.laplace(1, r.rho), b.out
		if v.values {
			nu = b.room(r.queries)
		}
		if r.nu == 0 {
			clear(nu)
		} else {
			b.Laplace(nu, r.nu)
		}
		switch {
		case further > 0:
			compareMore(b.out, rho, nu, b.laplace(further, r.more), q, r.threshold, r.cutoff)
		case v.values:
			compareMore(b.out, rho, nu, nu, q, r.threshold, r.cutoff)
		default:
			compare(b.out, rho, q, r.threshold, r.cutoff)
		}
	}
}

// compare turns the noise of the queries, a row of len(q) for each ρ, into
// symbols. It does not branch on answers, which are as good as coin flips.
func compare(rows, rho, q []float64, threshold float64, cutoff int) {
	for _, z := range rho {
		row := rows[:len(q)]
		rows = rows[len(q):]
		z += threshold
		left := int32(cutoff)
		for i, nu := range row {
			var hit, live int32
			if q[i]+nu >= z {
				hit = above
			}
			if left != 0 {
				live = 1
			}
			hit &= live
			left -= hit
			row[i] = float64(hit + live - 1) // aborted = -1 once live is 0
		}
	}
}

// compareMore is compare for an out of two numbers a query, where query + its number of more
// stands beside ⊤ and 0 beside others; or where the k-th ⊤ of a row replaces the threshold by
// T plus the row's k-th number of more.
func compareMore(out, rho, noise, more, q []float64, threshold float64, cutoff int) {
	values, further := len(out) > len(noise), len(more)/len(rho)
	for r, z := range rho {
		fresh := more[r*further : (r+1)*further]
		z += threshold
		left := cutoff
		for i, nu := range noise[r*len(q) : (r+1)*len(q)] {
			symbol, value := below, 0.0
			switch {
			case left == 0:
				symbol = aborted
			case q[i]+nu >= z:
				symbol = above
				left--
				if values {
					value = q[i] + fresh[i]
				} else if len(fresh) > 0 {
					z, fresh = threshold+fresh[0], fresh[1:]
				}
			}
			if at := r*len(q) + i; values {
				out[2*at], out[2*at+1] = float64(symbol), value
			} else {
				out[at] = float64(symbol)
			}
		}
	}
}
