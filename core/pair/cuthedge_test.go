package pair

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
)

// The largest bound of the main event and of its hedges exceeds the truth with probability
// at most beta, and so does the p-value fall below it under the claim: by enumeration of
// all tables of three bins.
func TestHedgedBoundCoverage(t *testing.T) {
	const n, beta, delta = 9, 0.2, 0.02
	prepared := Prepared{Event: Cut{Edge: 0, Above: true}, Hedges: []Hedge{
		{Cut: Cut{Edge: 0, Reversed: true}, Share: hedgeShare}, {Cut: Cut{Edge: 1, Above: true}, Share: hedgeShare}, {Cut: Cut{Edge: 1, Reversed: true}, Share: hedgeShare}}}
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
	for _, x := range all {
		for _, y := range all {
			eps, at := prepared.bound(table(x, y), delta, beta)
			found[[2][3]int{x, y}] = held{eps, at.Share}
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
				for k, in := range h.bins(3) {
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
	t.Logf("failure at most %.4f of %v", largest, beta)
}

// What is certified from events that exploration chose, as a share of what the best event
// would give, which is known beforehand: more than by the event of the largest lower
// limit alone, and enough.
func TestEventsAreChosenWell(t *testing.T) {
	laplace := func(r *rand.Rand) float64 {
		if r.IntN(2) == 0 {
			return -r.ExpFloat64()
		}
		return r.ExpFloat64()
	}
	for _, c := range []struct {
		what  string
		n     int
		draw  func(r *rand.Rand, side int) float64
		delta float64
		best  float64 // threshold
		share float64
	}{
		{"normal, mu = 1", 1000, func(r *rand.Rand, side int) float64 { return r.NormFloat64() + float64(1-side) }, 1e-5, 2.6, 0.93},
		{"normal, mu = 1", 10_000, func(r *rand.Rand, side int) float64 { return r.NormFloat64() + float64(1-side) }, 1e-5, 3.2, 0.93},
		// What pure DP looks like: the log odds do not go on.
		{"Laplace", 1000, func(r *rand.Rand, side int) float64 { return laplace(r) + float64(1-side) }, 0, 1, 0.96},
		// A rare bad event.
		{"spike", 1000, func(r *rand.Rand, side int) float64 {
			if r.Float64() < []float64{0.02, 0.001}[side] {
				return 1 + r.Float64()
			}
			return r.Float64()
		}, 0, 1, 0.4},
	} {
		r := rand.New(rand.NewPCG(3, uint64(c.n)))
		draw := func(n int) (s [2][]float64) {
			for side := range s {
				s[side] = make([]float64, n)
				for i := range s[side] {
					s[side][i] = c.draw(r, side)
				}
				slices.Sort(s[side])
			}
			return s
		}
		var known, plain, now float64
		for range 60 {
			explored, fresh := draw(c.n/2), draw(c.n)
			bound := func(k cut, beta float64) float64 {
				return max(0, bounds.Exact(k.countsOf(fresh[0], fresh[1]), c.delta, beta))
			}
			known += bound(cut{threshold: c.best, above: true}, 0.05)
			plain += bound(bestCut(explored[0], explored[1], c.delta), 0.05)
			main, hedges := chooseEvents(explored[0], explored[1], c.delta, 0.05, c.n)
			most := bound(main, 0.05*(1-float64(len(hedges))*hedgeShare))
			for _, h := range hedges {
				most = max(most, bound(h, 0.05*hedgeShare))
			}
			now += most
		}
		t.Logf("%s, n %d: %.3f of the best event's bound, %.3f by one event", c.what, c.n, now/known, plain/known)
		if now < c.share*known || now < plain {
			t.Errorf("%s, n %d: %v of the best event's bound, want %v and more than %v", c.what, c.n, now/known, c.share, plain/known)
		}
	}
}

// Ties, single values and next to nothing leave events that can be counted.
func TestChooseEventsOfLittle(t *testing.T) {
	for _, s := range [][2][]float64{{{3, 3, 3}, {3, 3}}, {{1}, {2}}, {{0, 0, 0, 0, 1}, {0, 1, 1, 1, 1}}, {{1, 2, 3}, {1, 2, 3}}, {{-1e300, 1e300}, {0, 0}}} {
		main, hedges := chooseEvents(s[0], s[1], 0, 0.05, 1000)
		if len(hedges) > mostHedges {
			t.Errorf("%d hedges", len(hedges))
		}
		for _, c := range append([]cut{main}, hedges...) {
			edges := scoreEdges(s[0], s[1], c.threshold)
			if c.threshold-c.threshold != 0 || c.in(edges).check(len(edges)) != nil {
				t.Errorf("%v: event %+v", s, c)
			}
		}
	}
}

// The fit finds both ends of log odds that are a line between them.
func TestBend(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var s [2][]float64
	for range 40_000 {
		x := 4*r.Float64() - 2
		side := 0
		if r.Float64() > 1/(1+stream.Exp(-1.2*min(max(x, -0.5), 1))) {
			side = 1
		}
		s[side] = append(s[side], x)
	}
	slices.Sort(s[0])
	slices.Sort(s[1])
	odds, ok := bendOf(steps(s[0], s[1]))
	if !ok {
		t.Fatal("no fit")
	}
	for x := -2.0; x <= 2; x += 0.1 {
		want := 1 / (1 + stream.Exp(-1.2*min(max(x, -0.5), 1)))
		if got := odds(x); math.Abs(got-want) > 0.02 {
			t.Errorf("odds at %v are %v, want %v", x, got, want)
		}
	}
}

// The numbers that rank events are those of their names.
func TestPromise(t *testing.T) {
	for _, beta := range []float64{0.3, 0.05, 0.0025, 1e-6} {
		if got := math.Erfc(normalUpper(beta)/math.Sqrt2) / 2; math.Abs(got/beta-1) > 0.02 {
			t.Errorf("P(Z > normalUpper(%v)) = %v", beta, got)
		}
	}
	// Close to the score limit of expected counts.
	for _, c := range []bounds.Counts{{X: 500, N1: 1000, Y: 100, N0: 1000}, {X: 60, N1: 10_000, Y: 7, N0: 10_000}, {X: 9000, N1: 10_000, Y: 8000, N0: 10_000}} {
		for _, delta := range []float64{0, 0.001} {
			p1, p0 := float64(c.X)/float64(c.N1), float64(c.Y)/float64(c.N0)
			got, want := promise(math.Log(p1/p0), (p1+p0)/2, delta, c.N1, normalUpper(0.05)), bounds.Score(c, delta, 0.05)
			if math.Abs(got-want) > 0.03 {
				t.Errorf("%+v, delta %v: promise %v, score limit %v", c, delta, got, want)
			}
		}
	}
	if v := promise(1, 0.001, 0.5, 100, 1.6); v != worthless {
		t.Errorf("an event below delta promises %v", v)
	}
	if v := improves(3, 1e-9); v != 3 {
		t.Errorf("3 for sure improves by %v", v)
	}
	if v := improves(0, 1); math.Abs(v-0.4) > 0.02 { // the mean of a normal value's positive part is .399
		t.Errorf("improves(0, 1) = %v", v)
	}
}
