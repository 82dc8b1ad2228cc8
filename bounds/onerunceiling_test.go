package bounds

import (
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// The most powerful test of G against N, both drawn: its power is at most what is
// computed, and near it, as nothing but the lattice is given away. Each comparison is of
// 8,000 draws, of more in the full tests; five standard errors of the power, and of the level times the slope of
// the one by the other, are allowed.
func TestOneRunMostPowerBySimulation(t *testing.T) {
	draws := testsize.Of(3_000, 200_000)
	const beta, delta = 0.05, 1e-4
	for _, k := range []struct {
		m, runs int
		mu, eps float64
	}{{200, 1, 1, 1}, {200, 1, 1, 0.6}, {400, 1, 2, 2.5}, {100, 3, 1.5, 1.5}} {
		all := GaussianDelta(k.mu, k.eps)
		p := delta / all
		q := 1 / (1 + math.Exp(-k.eps))
		st := stream.New(stream.Key{Seed: 14, Purpose: "one run"})
		z := make([]float64, k.m)
		// statistic is log dG/dN of an audit under G or under N.
		statistic := func(truth bool) float64 {
			total := 0.0
			for range k.runs {
				loud := truth || st.Float64() < p
				st.Gaussian(z, 1)
				x := 0.0
				for _, z := range z {
					// By symmetry the coin may be in.
					l := k.mu * (z + k.mu/2)
					size := math.Abs(l)
					s := 1 / (1 + math.Exp(-size))
					right := l > 0
					if size > k.eps && !loud {
						right = st.Float64() < q
					}
					if size > k.eps && right {
						x += math.Log(s / q)
					} else if size > k.eps {
						x += math.Log((1 - s) / (1 - q))
					}
				}
				total -= math.Log(p + (1-p)*math.Exp(-x))
			}
			return total
		}
		under, truth := make([]float64, draws), make([]float64, draws)
		for i := range draws {
			under[i], truth[i] = statistic(false), statistic(true)
		}
		slices.Sort(under)
		critical := under[int(float64(draws)*(1-beta))]
		power := 0.0
		for _, x := range truth {
			if x > critical {
				power += 1 / float64(draws)
			}
		}
		got := OneRunMostPower(k.m, k.runs, k.mu, k.eps, delta, beta)
		slack := 5*math.Sqrt(power*(1-power)/float64(draws)) + 5*math.Exp(critical)*math.Sqrt(beta/float64(draws))
		if got < power-slack || got > power+slack+0.02 {
			t.Errorf("%+v: drawn %.4f ± %.4f, at most %.4f", k, power, slack, got)
		}
	}
}

// What any test reaches is below the ceiling, ours among them; three runs are worth more
// than one, a larger m more than a smaller; where N is G, beta is all.
func TestOneRunMostPower(t *testing.T) {
	const m, delta = 2000, 1e-5
	mu := GaussianMuFromDelta(delta, 4)
	r := OneRunGuessesFor(m, 2, 4, delta, nominal)
	st := stream.New(stream.Key{Seed: 15, Purpose: "one run"})
	audits := testsize.Of(200, 2000)
	bound := make([]float64, audits)
	for i := range bound {
		scores, in := oneRunScores(st, m, 1/mu)
		bound[i] = OneRunEpsilon(m, r, oneRunHalves(scores, in, r), delta, nominal)
	}
	for _, eps := range testsize.Of([]float64{1, 1.9}, []float64{1, 1.5, 1.9, 2.3}) {
		over := 0
		for _, x := range bound {
			if x > eps {
				over++
			}
		}
		one, three := OneRunMostPower(m, 1, mu, eps, delta, nominal), OneRunMostPower(m, 3, mu, eps, delta, nominal)
		if most := testsize.Most(audits, one, 1e-6); over > most || three < one-1e-9 {
			t.Errorf("eps %v: %d of %d bounds are above, power at most %v, of three runs %v", eps, over, audits, one, three)
		}
		if more := OneRunMostPower(10*m, 1, mu, eps, delta, nominal); more < one-1e-3 {
			t.Errorf("eps %v: %v with ten times as many canaries, %v before", eps, more, one)
		}
	}
	// A shock is left where the canaries are many: at most beta over its probability.
	if got, want := OneRunMostPower(1<<30, 1, mu, 3.5, delta, nominal), nominal*GaussianDelta(mu, 3.5)/delta; got > want*1.01 {
		t.Errorf("of many canaries %v, want at most %v", got, want)
	}
	for _, eps := range []float64{4, 5} {
		if got := OneRunMostPower(m, 1, mu, eps, delta, nominal); math.Abs(got-nominal) > 0.001 {
			t.Errorf("eps %v, which holds: power %v", eps, got)
		}
	}
	if got := OneRunMostPower(50, 1, 1, 1, 0, nominal); !(got > nominal && got < 1) {
		t.Errorf("delta 0: %v", got)
	}
	must.Panic(t, "mu", func() { OneRunMostPower(10, 1, 0, 1, 0, nominal) })
	must.Panic(t, "runs", func() { OneRunMostPower(10, 9, 1, 1, 0, nominal) })
}
