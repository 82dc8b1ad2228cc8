package threshold

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
)

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
		// Tails of two scales: the log odds go on, over scores that a learner stretched.
		{"two scales", 10_000, func(r *rand.Rand, side int) float64 {
			return math.Pow(r.ExpFloat64()/float64(1+side), 2)
		}, 0, 14.5, 0.97},
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
			bound := func(k Choice, beta float64) float64 {
				return max(0, bounds.Exact(k.CountsOf(fresh[0], fresh[1]), c.delta, beta))
			}
			known += bound(Choice{Threshold: c.best, above: true}, 0.05)
			plain += bound(bestCut(explored[0], explored[1], c.delta), 0.05)
			main, hedges := Choose(explored[0], explored[1], c.delta, 0.05, c.n, nil)
			most := bound(main, 0.05*(1-float64(len(hedges))*AlternativeShare))
			for _, h := range hedges {
				most = max(most, bound(h, 0.05*AlternativeShare))
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
		main, hedges := Choose(s[0], s[1], 0, 0.05, 1000, func(c Choice) int { return int(c.Threshold) % 3 })
		if len(hedges) > MostAlternatives {
			t.Errorf("%d hedges", len(hedges))
		}
		for _, c := range append([]Choice{main}, hedges...) {
			edges := Edges(s[0], s[1], c.Threshold)
			if c.Threshold-c.Threshold != 0 || c.In(edges).Check(len(edges)) != nil {
				t.Errorf("%v: event %+v", s, c)
			}
		}
	}
}

// Of events that promise nearly as much the simplest is taken, and of others the best.
func TestSimplerEventsArePreferred(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var s [2][]float64
	for side := range s {
		for range 10_000 {
			s[side] = append(s[side], r.NormFloat64()+float64(1-side))
		}
		slices.Sort(s[side])
	}
	best, _ := Choose(s[0], s[1], 0, 0.05, 10_000, nil)
	for away, taken := range map[float64]bool{0.02: true, 1: false} {
		got, _ := Choose(s[0], s[1], 0, 0.05, 10_000, func(c Choice) int {
			if c.above == best.above && math.Abs(c.Threshold) > math.Abs(best.Threshold)+away {
				return 1 // farther out
			}
			return 3
		})
		if simple := got.above == best.above && got.Threshold != best.Threshold; simple != taken {
			t.Errorf("simpler events %v away: %+v, the best is %+v", away, got, best)
		}
	}
}

// The fit of an end finds where the line of log odds ends, over the score and over the log of
// the rank.
func TestBend(t *testing.T) {
	const n = 80_000
	for by, logOdds := range [2]func(far [2]float64) float64{
		func(far [2]float64) float64 { return 4 * (min(far[0], 1.8) - 1.7) },
		func(far [2]float64) float64 { return 1.5 * (min(far[1], -8) + 8.5) },
	} {
		at := func(rank float64) [2]float64 { return [2]float64{2 - 4*rank/n, -math.Log(rank)} }
		r := rand.New(rand.NewPCG(5, 6))
		var s [2][]float64
		for i := range n {
			far, side := at(float64(i)+0.5), 0
			if r.Float64() > 1/(1+stream.Exp(-logOdds(far))) {
				side = 1
			}
			s[side] = append(s[side], far[0])
		}
		slices.Sort(s[0])
		slices.Sort(s[1])
		end := endOf(steps(s[0], s[1]), true)
		for end[len(end)-1].size > n/8 {
			end = end[:len(end)-1]
		}
		fit, ok := bent(end, by)
		if !ok {
			t.Fatal("no fit")
		}
		for rank := 10.0; rank < n/8; rank *= 1.3 {
			far := at(rank)
			if got, want := fit.logOdds(far[by]), logOdds(far); math.Abs(got-want) > 0.15 {
				t.Errorf("by %d: log odds at rank %v are %v, want %v", by, rank, got, want)
			}
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
	if v := promise(1, 0.001, 0.5, 100, 1.6); v != Worthless {
		t.Errorf("an event below delta promises %v", v)
	}
	if v := improves(3, 1e-9); v != 3 {
		t.Errorf("3 for sure improves by %v", v)
	}
	if v := improves(0, 1); math.Abs(v-0.4) > 0.02 { // the mean of a normal value's positive part is .399
		t.Errorf("improves(0, 1) = %v", v)
	}
}
