package pair

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// The largest bound of the main event and of its hedges exceeds the truth with probability
// at most beta, and so does the p-value fall below it under the claim, where the bound is
// above it: by enumeration of all tables of three bins.
func TestHedgedBoundCoverage(t *testing.T) {
	const n, beta, delta = 9, 0.2, 0.02
	prepared := Prepared{Event: threshold.Event{Edge: 0, Above: true}, Alternatives: []threshold.Alternative{
		{Event: threshold.Event{Edge: 0, Reversed: true}, Share: threshold.AlternativeShare}, {Event: threshold.Event{Edge: 1, Above: true}, Share: threshold.AlternativeShare}, {Event: threshold.Event{Edge: 1, Reversed: true}, Share: threshold.AlternativeShare}}}
	var all [][3]int
	for a := 0; a <= n; a++ {
		for b := 0; a+b <= n; b++ {
			all = append(all, [3]int{a, b, n - a - b})
		}
	}
	// table has the marginals of two samples.
	table := func(first, second [3]int) bounds.Table {
		t := bounds.NewTable(3)
		for a, b := 0, 0; a < 3 && b < 3; {
			k := min(first[a], second[b])
			t.N[a*3+b] += k
			if first[a], second[b] = first[a]-k, second[b]-k; first[a] == 0 {
				a++
			} else {
				b++
			}
		}
		return t
	}
	type held struct{ eps, share float64 }
	found := map[[2][3]int]held{}
	claim := audit.DPClaim(0.5, delta)
	c, refuted := certificate{&Audit{Claim: claim, Plan: Plan{Mode: Fixed, Beta: beta, Claim: &claim, Samples: n}}, &Evidence{Prepared: prepared}}, 0
	for _, x := range all {
		for _, y := range all {
			eps, at := prepared.bound(table(x, y), delta, beta)
			found[[2][3]int{x, y}] = held{eps, at.Share}
			counted, row := table(x, y), report.Row{Delta: delta}
			c.Table, c.Explored = &counted, counted
			if c.epsilon(&row); (*row.PValue <= beta) != (eps > claim.Epsilon) {
				t.Fatalf("%v, %v: the bound is %v, the p-value of a claim of %v is %v", x, y, eps, claim.Epsilon, *row.PValue)
			} else if eps > claim.Epsilon {
				refuted++
			}
			if eps > 0 && at.Share != 0.05 && math.Abs(at.Share-0.85) > 1e-12 {
				t.Fatalf("a share of %v", at.Share)
			}
		}
	}
	law := func(p [3]float64) []float64 {
		out := make([]float64, len(all))
		for i, k := range all {
			v, _ := math.Lgamma(n + 1)
			for j, c := range k {
				l, _ := math.Lgamma(float64(c + 1))
				if v -= l; c > 0 {
					v += float64(c) * math.Log(p[j])
				}
			}
			out[i] = math.Exp(v)
		}
		return out
	}
	largest := 0.0
	for _, p := range [][2][3]float64{{{0.3, 0.3, 0.4}, {0.5, 0.3, 0.2}}, {{0.02, 0.9, 0.08}, {0.5, 0.49, 0.01}}, {{0.2, 0.2, 0.6}, {0.45, 0.45, 0.1}}, {{0.001, 0.009, 0.99}, {0.3, 0.3, 0.4}}} {
		truth := math.Inf(-1)
		for _, h := range prepared.events() {
			rate := [2]float64{}
			for side := range rate {
				for k, in := range h.Bins(3) {
					if in {
						rate[side] += p[side][k]
					}
				}
			}
			if h.Reversed {
				rate[0], rate[1] = rate[1], rate[0]
			}
			truth = math.Max(truth, math.Log((rate[0]-delta)/rate[1]))
		}
		first, second := law(p[0]), law(p[1])
		failed := 0.0
		for i, x := range all {
			for j, y := range all {
				if found[[2][3]int{x, y}].eps > truth {
					failed += first[i] * second[j]
				}
			}
		}
		if largest = max(largest, failed); failed > beta {
			t.Errorf("%v: failure %v", p, failed)
		}
	}
	t.Logf("failure at most %.4f of %v; %d of %d tables refute the claim", largest, beta, refuted, len(found))
}

// TestOrdersShareTheError: bounds of several orders hold together.
func TestOrdersShareTheError(t *testing.T) {
	table, plan := bounds.NewTable(2), bounds.RenyiPlan{Alpha: 2, Method: bounds.MethodRenyiBetting, H: []float64{-1, 0.3}, Lambda: 0.5}
	copy(table.N, []int{5, 5, 300, 90})
	higher := plan
	higher.Alpha, higher.Lambda = 3, 0.3
	prepared := Prepared{Renyi: []DirectedPlan{{RenyiPlan: plan}, {RenyiPlan: higher}}}
	rows := certificate{&Audit{Plan: Plan{Beta: 0.05}}, &Evidence{Table: &table, Prepared: prepared}}.renyi()
	if want := bounds.Renyi(table, plan, 0.025); want <= 0 || *rows[0].LowerBound != want || rows[0].Beta != 0.025 {
		t.Errorf("the first of two is %v, at an error of %v, want %v", *rows[0].LowerBound, rows[0].Beta, want)
	}
}
