package bounds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// slowSequence is the log wealth against eps, training by training as the definition
// has it: events and what was learnt of each epoch, and its trainings.
func slowSequence(k, m int, eps, delta float64, epochs []CanarySums, trainings [][][2]int) float64 {
	wealth := 1.0
	for i, past := range epochs {
		stake, _ := past.Bet(k, m, math.Exp(eps), delta)
		for _, t := range trainings[i] {
			wealth *= 1 + stake*(float64(t[0])/float64(k)-math.Exp(eps)*float64(t[1])/float64(m)-delta)
		}
	}
	return math.Log(wealth)
}

// TestCanarySequenceSlow: wealth, bound and p-value are those of the definition, at every
// look.
func TestCanarySequenceSlow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const k, m, claim, delta, beta = 5, 7, .8, 1e-3, .05
	s := NewCanarySequence(k, m, claim, delta, beta)
	var past CanarySums
	var epochs []CanarySums
	var trainings [][][2]int
	bound, most := math.Inf(-1), 0.0
	for i := range 60 {
		if i < 4 || i%7 == 0 {
			s.Epoch(past)
			epochs, trainings = append(epochs, past), append(trainings, nil)
		}
		x, y := hits(rng.Float64, k, .7), hits(rng.Float64, m, .05)
		s.Observe(x, y)
		past.Add(x, y)
		last := len(trainings) - 1
		trainings[last] = append(trainings[last], [2]int{x, y})
		for _, eps := range []float64{0, .5, claim, 3, 20} {
			if got, want := s.LogEValue(eps), slowSequence(k, m, eps, delta, epochs, trainings); math.Abs(got-want) > 1e-11 {
				t.Fatalf("wealth %v after %d at %v, want %v", got, i, eps, want)
			}
		}
		for _, eps := range slowGrid(claim) {
			if eps <= bound {
				continue
			}
			if slowSequence(k, m, eps, delta, epochs, trainings) < math.Log(1/beta)+1e-9 {
				break
			}
			bound = eps
		}
		most = max(most, slowSequence(k, m, claim, delta, epochs, trainings))
		if s.LowerBound() != bound || s.Refuted() != (bound > claim) || math.Abs(s.PValue()-math.Exp(-most)) > 1e-8 {
			t.Fatalf("after %d: bound %v, p %v; want %v, %v", i, s.LowerBound(), s.PValue(), bound, math.Exp(-most))
		}
	}
	if bound < 1 {
		t.Errorf("bound %v", bound)
	}
	if c := CanarySequenceCeiling(m, 60, delta, beta); bound > c {
		t.Errorf("bound %v above the ceiling %v", bound, c)
	}
}

// slowGrid are the hypotheses: steps of .002 from 0 to 20, the claim, and a value just
// above it.
func slowGrid(claim float64) []float64 {
	grid := []float64{claim, claim + max(2e-6, 1e-9*claim)}
	for i := range 10_001 {
		grid = append(grid, float64(i)*0.002)
	}
	slices.Sort(grid)
	return slices.Compact(grid)
}

// TestCanarySequenceGrid: the hypotheses are those of the grid, whatever the claim.
func TestCanarySequenceGrid(t *testing.T) {
	for _, claim := range []float64{0, .002, .0015, 1, 1.2345, 19.9995, 20, 20.5, 80} {
		s := NewCanarySequence(2, 3, claim, 0, .05)
		want := slowGrid(claim)
		place := 0
		for last := math.Inf(-1); ; place++ {
			eps := s.hypothesis(place)
			if math.IsInf(eps, 1) {
				break
			}
			if eps == last && eps == claim { // a step that is the claim
				continue
			}
			if eps <= last || eps != want[0] || (place > s.claim) != (eps > claim+max(2e-6, 1e-9*claim)) {
				t.Fatalf("claim %v, place %d: %v after %v, want %v", claim, place, eps, last, want[0])
			}
			if s.next = place + 1; s.LowerBound() != eps || s.Refuted() != (eps > claim) {
				t.Fatalf("claim %v: with all up to %v rejected the bound is %v, refuted: %v", claim, eps, s.LowerBound(), s.Refuted())
			}
			last, want = eps, want[1:]
		}
		if len(want) > 0 {
			t.Errorf("claim %v: %d hypotheses are missing", claim, len(want))
		}
	}
}

// TestCanarySums: stakes are those of the formula, of lists of trainings, and never risk
// more than their share.
func TestCanarySums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		k, m, n := 1+rng.IntN(9), 1+rng.IntN(9), 1+rng.IntN(30)
		p, q := rng.Float64(), rng.Float64()*rng.Float64()
		th, delta := math.Exp(4*rng.Float64()-1), 0.1*rng.Float64()
		var s CanarySums
		var ws []float64
		a, b := 0.0, 0.0
		for range n {
			x, y := hits(rng.Float64, k, p), hits(rng.Float64, m, q)
			s.Add(x, y)
			a, b = a+float64(x)/float64(k)/float64(n), b+float64(y)/float64(m)/float64(n)
			ws = append(ws, float64(x)/float64(k)-th*float64(y)/float64(m))
		}
		must.Do(t, s.Validate(k, m))
		b += 1 / float64(n*m)
		mean, sum := a-th*b-delta, 0.0
		for _, w := range ws {
			sum += (w - (a - th*(b-1/float64(n*m)))) * (w - (a - th*(b-1/float64(n*m))))
		}
		v := a*(1-a)/float64(k) + math.Max(0, th*th*b*(1-b)/float64(m))
		if n >= 8 {
			v = math.Max(v, sum/float64(n-1))
		}
		v += mean * mean
		want := 0.0
		if mean > 0 {
			want = math.Min(.9/(th+delta), mean/v) * float64(n) / float64(n+3)
		}
		got, growth := s.Bet(k, m, th, delta)
		if math.Abs(got-want) > 1e-9*(1+want) || growth < 0 || got*(th+delta) > .9 || (got > 0) != (growth > 0) {
			t.Fatalf("stake %v, want %v, growth %v", got, want, growth)
		}
	}
	for _, bad := range []CanarySums{{Runs: -1}, {Runs: 1, X: 3, XX: 9}, {Runs: 1, X: 1}, {Runs: 2, X: 1, XX: 1, Y: 1, YY: 1, XY: 9}, {Runs: 1, X: 1, XX: 1, XY: 1}, {Runs: 1, Y: 1, YY: 1, XY: 1}, {Runs: 1, Y: 2, YY: 5}} {
		if bad.Validate(2, 2) == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}

// TestCanarySequenceFalseAlarms: with shocks that are common to a training, events and
// stakes learnt as the trainings come, and somebody who stops at the best look, no claim
// that holds with equality is refuted more often than beta.
func TestCanarySequenceFalseAlarms(t *testing.T) {
	const k, m, beta = 4, 3, .05
	runs, looks := testsize.Of(200, 10_000), 200
	for _, law := range []struct{ p1, p0, delta, shock float64 }{
		{.3, .1, 0, 0}, {.3, .1, 0, 1}, {.52, .1, .02, .5}, {.06, .02, 0, 1},
	} {
		claim := math.Log((law.p1 - law.delta) / law.p0)
		alarms := 0
		for run := range runs {
			rng := rand.New(rand.NewPCG(uint64(run), math.Float64bits(law.p1+law.shock)))
			s := NewCanarySequence(k, m, claim, law.delta, beta)
			var past CanarySums
			next := 0
			for i := range looks {
				if i == next {
					s.Epoch(past)
					next = i + i/8 + 1
				}
				// One number for both sides and all canaries, or one for each.
				draw := rng.Float64
				if common, u := rng.Float64() < law.shock, rng.Float64(); common {
					draw = func() float64 { return u }
				}
				x, y := hits(draw, k, law.p1), hits(draw, m, law.p0)
				s.Observe(x, y)
				past.Add(x, y)
				if s.LowerBound() > claim {
					alarms++
					break
				}
			}
		}
		testsize.Chance(t, fmt.Sprint(law), alarms, runs, beta, 1e-6)
	}
}

// TestCanarySequenceCeiling: it grows with n, is reached nearly by the best outcome, and
// never exceeded by it.
func TestCanarySequenceCeiling(t *testing.T) {
	last := math.Inf(-1)
	for _, n := range []int{1, 2, 5, 10, 30, 100, 400} {
		c := CanarySequenceCeiling(4, n, 1e-5, .05)
		s := NewCanarySequence(4, 4, 1, 1e-5, .05)
		var past CanarySums
		for i, next := 0, 0; i < n; i++ {
			if i == next {
				s.Epoch(past)
				next = i + i/8 + 1
			}
			s.Observe(4, 0)
			past.Add(4, 0)
		}
		if got := s.LowerBound(); c < last || got > c || n >= 30 && got < c-.3 {
			t.Errorf("%d: ceiling %v, before %v; the best outcome gives %v", n, c, last, got)
		}
		last = c
	}
}
