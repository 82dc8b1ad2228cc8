package pair

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/internal/testsize"
)

// gaussianCurve is what a Gaussian mechanism of mu claims: the exact delta, rounded up,
// at some epsilons.
func gaussianCurve(mu float64) *audit.PrivacyProfile {
	p := &audit.PrivacyProfile{Source: "test"}
	for _, eps := range []float64{0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6} {
		p.Points = append(p.Points, audit.ProfilePoint{Epsilon: eps, Delta: bounds.GaussianDelta(mu, eps) * (1 + 1e-9)})
	}
	return p
}

// drawn are n independent pairs of N(mu, 1) and N(0, 1), in bins.
func drawn(r *rand.Rand, mu float64, n int) bounds.Table {
	const bins = 40
	t := bounds.NewTable(bins)
	bin := func(x float64) int { return max(0, min(bins-1, int((x+3)*bins/(6+mu)))) }
	for range n {
		t.N[bin(r.NormFloat64()+mu)*bins+bin(r.NormFloat64())]++
	}
	return t
}

// Coverage at the exact claim, and power at half the noise: what the curve's point
// says on fresh outputs, chosen on others.
func TestProfileCoverage(t *testing.T) {
	const beta, n, mu = 0.05, 400, 1.0
	runs := testsize.Of(1000, 10_000)
	for _, k := range []struct {
		claimed float64
		least   float64
	}{{mu, -1}, {mu / 2, 0.95}} {
		a := &Audit{Claim: audit.Claim{Kind: audit.Profile, Profile: gaussianCurve(k.claimed)}, Plan: Plan{Samples: n, Beta: beta}}
		r := rand.New(rand.NewPCG(16, 40))
		refuted, chosen := 0, map[float64]int{}
		count := runs
		if k.least > 0 {
			count = 100
		}
		for range count {
			point, event := a.choosePoint(drawn(r, mu, n))
			chosen[point.Epsilon]++
			certified := event.Counts(drawn(r, mu, n))
			if bounds.Exact(certified, point.Delta, beta) > point.Epsilon {
				refuted++
			}
		}
		t.Logf("mu %v, claimed %v: %d of %d refuted, points %v", mu, k.claimed, refuted, count, chosen)
		if k.least < 0 && refuted > testsize.Most(count, beta, 1e-6) {
			t.Errorf("a curve that is kept is refuted %d times in %d", refuted, count)
		}
		if k.least > 0 && float64(refuted) < k.least*float64(count) {
			t.Errorf("half of the noise shows %d times in %d", refuted, count)
		}
	}
}

// The point that is chosen is the one that promises most, by a plain search over all
// events and points.
func TestChoosePoint(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 16))
	for range 5 {
		table := drawn(r, 1.5, 3000)
		a := &Audit{Claim: audit.Claim{Kind: audit.Profile, Profile: gaussianCurve(1)}, Plan: Plan{Samples: 10_000}}
		point, event := a.choosePoint(table)
		promise := func(p audit.ProfilePoint, c bounds.Counts) float64 {
			x, y := (float64(c.X)+0.5)/float64(c.N1+1), (float64(c.Y)+0.5)/float64(c.N0+1)
			s := math.Sqrt(x*(1-x) + math.Exp(2*p.Epsilon)*y*(1-y))
			return ((x-math.Exp(p.Epsilon)*y-p.Delta)/s - 1/math.Sqrt(float64(c.N1))) * 100
		}
		got, best := promise(point, event.Counts(table)), math.Inf(-1)
		for _, p := range a.Claim.Profile.Points {
			for k := range table.Bins - 1 {
				for i := range 4 {
					best = max(best, promise(p, threshold.Event{Edge: k, Above: i&1 == 0, Reversed: i&2 == 0}.Counts(table)))
				}
			}
		}
		if got < best-1e-5 {
			t.Errorf("%+v promises %v, the best %v", point, got, best)
		}
	}
}
