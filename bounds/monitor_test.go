package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/nativetest"
)

// Type I error over 200 looks up to 4000 pairs at truths on the boundary of the
// claim: smooth, rare, with delta, and with outputs coupled within pairs. Each
// line fails with probability falseAlarm at most if the error is .05.
func TestMonitorTypeOne(t *testing.T) {
	nativetest.Only(t)
	const looks, step, beta = 200, 20, 0.05
	runs := gear.Of(60, 400)
	for _, k := range []struct {
		name       string
		eps, delta float64
		p0         float64
		coupled    bool
	}{
		{"smooth", 1, 0, 0.25, false},
		{"rare", 2, 0, 0.002, false},
		{"delta", 0.5, 0.05, 0.05, false},
		{"coupled", 0.5, 0, 0.3, true},
		{"equal", 0, 0, 0.5, false},
	} {
		p1 := math.Exp(k.eps)*k.p0 + k.delta
		r := rand.New(rand.NewPCG(73, 74))
		wrongClaim, wrongBound := 0, 0
		for range runs {
			// The claim is the truth: with the steps of the grid around it.
			m := NewMonitor(k.eps, k.delta, beta)
			var n [2][2]int
			for range looks {
				for range step {
					u, v := r.Float64(), r.Float64()
					if k.coupled {
						v = 1 - u
					}
					x, y := 0, 0
					if u < p1 {
						x = 1
					}
					if v < k.p0 {
						y = 1
					}
					n[x][y]++
				}
				m.Observe(n[1][1], n[1][0], n[0][1], n[0][0])
			}
			if m.ClaimRejected() != (m.LowerBound() >= k.eps) {
				t.Fatalf("claim rejected: %v, epsilon rejected: %v", m.ClaimRejected(), (m.LowerBound() >= k.eps))
			}
			if m.ClaimRejected() {
				wrongClaim++
			}
			if m.LowerBound() > k.eps {
				wrongBound++
			}
		}
		notTooMany(t, k.name+" claim", wrongClaim, runs, beta)
		notTooMany(t, k.name+" bound", wrongBound, runs, beta)
	}
}

// The slow twin: every hypothesis of the grid at every look, running maxima
// from the beginning. The monitor follows a hypothesis only once its predecessor
// is rejected, so it may lag, but not by more than a step or two.
func TestMonitorAgainstSlowTwin(t *testing.T) {
	const beta, delta = 0.05, 0.01
	r := rand.New(rand.NewPCG(75, 76))
	for range 5 {
		m := NewMonitor(1, delta, beta)
		var grid []float64
		for i := range 1500 {
			grid = append(grid, float64(i)*monitorStep)
		}
		reached := make([]bool, len(grid))
		mixtures := make([]*EventMixture, len(grid))
		for i, eps := range grid {
			mixtures[i] = NewEventMixture(eps, delta)
		}
		var n [2][2]int
		last := math.Inf(-1)
		for range 20 {
			for range 100 {
				x, y := 0, 0
				if r.Float64() < 0.5 {
					x = 1
				}
				if r.Float64() < 0.05 {
					y = 1
				}
				n[x][y]++
			}
			m.Observe(n[1][1], n[1][0], n[0][1], n[0][0])
			want := math.Inf(-1)
			ahead := true
			for i := range grid {
				reached[i] = reached[i] || mixtures[i].LogWealth(n[1][1], n[1][0], n[0][1], n[0][0]) >= math.Log(1/beta)
				if ahead = ahead && reached[i]; ahead {
					want = grid[i]
				}
			}
			got := m.LowerBound()
			if got > want || !math.IsInf(want, -1) && got < want-2*monitorStep {
				t.Errorf("after %d pairs %v, slow twin %v", m.pairs, got, want)
			}
			if got < last {
				t.Errorf("the bound fell from %v to %v", last, got)
			}
			last = got
		}
		if truth := math.Log(0.49 / 0.05); last < 0.7*truth {
			t.Errorf("certified %v of %v", last, truth)
		}
	}
}

func TestMonitorEdges(t *testing.T) {
	m := NewMonitor(50, 0, 0.05)
	m.Observe(0, 1<<30, 0, 0)
	// About log n - log(log(25/beta)/.98).
	if v := m.LowerBound(); v < 18.9 || v > 19.1 {
		t.Errorf("bound %v after a billion hits, want about 19", v)
	}
	m.Observe(0, 1<<39, 0, 0)
	if v := m.LowerBound(); v != 20 || m.ClaimRejected() {
		t.Errorf("bound %v, claim rejected %v, want 20, the end of the grid below the claim", v, m.ClaimRejected())
	}
	m = NewMonitor(0.001, 0, 0.05)
	m.Observe(10, 10, 10, 10)
	if v := m.LowerBound(); !math.IsInf(v, -1) || m.ClaimRejected() {
		t.Errorf("bound %v without evidence, want -Inf", v)
	}
	m.Observe(10, 500, 10, 10)
	if v := m.LowerBound(); !(v > 1) || !m.ClaimRejected() {
		t.Errorf("bound %v, claim rejected %v", v, m.ClaimRejected())
	}
}

func BenchmarkMonitor(b *testing.B) {
	for b.Loop() {
		m := NewMonitor(1, 1e-5, 0.05)
		for look := 1; look <= 1000; look++ {
			m.Observe(4*look, 10*look, look, 5*look)
		}
	}
}
