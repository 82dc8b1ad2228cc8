package bounds

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/testsize"
)

// loudest is the law of right guesses of the mechanism in the comment of OneRunPValue.
func loudest(m, r, v int, eps, delta float64) []float64 {
	law := pmf(r, 1/(1+math.Exp(-eps)))
	tail := floats.Sum(law[v:])
	step := float64(m) * delta / (float64(v) * law[v])
	for w := range law {
		x := 1 - step*tail
		if w >= v {
			x += step
		}
		law[w] *= x
	}
	return law
}

// Of every m to 5 the mechanism is written out as a table: of each string of coins the
// law of the canaries that are told and of what is told of them. It keeps (eps, delta)
// for every canary, with equality, and has v right with exactly the p-value. So no
// p-value of m, r and v that is valid is less.
func TestOneRunPValueIsTheLeast(t *testing.T) {
	st := stream.New(stream.Key{Seed: 11, Purpose: "one run"})
	tried := 0
	for range testsize.Of(300, 3000) {
		m := 1 + st.Intn(5)
		r := 1 + st.Intn(m)
		v := 1 + st.Intn(r)
		eps, delta := 3*st.Float64(), 0.2*st.Float64()*st.Float64()
		p := OneRunPValue(m, r, v, eps, delta)
		if p > 0.999 {
			continue
		}
		tried++
		law := loudest(m, r, v, eps, delta)
		atLeast, total := floats.Sum(law[v:]), floats.Sum(law)
		if floats.Min(law) < 0 {
			t.Fatalf("m %d, r %d, v %d: a probability below 0 in %v", m, r, v, law)
		}
		// P(output | coins) of r canaries, a set of bits, and a string told of them.
		output := func(coins, set, told int) float64 {
			w := ones(set &^ (coins ^ told))
			return law[w] / float64(combin.Binomial(m, r)*combin.Binomial(r, w))
		}
		for j := range m {
			for coins := range 1 << m {
				over, sum := 0.0, 0.0
				for set := range 1 << m {
					if ones(set) != r {
						continue
					}
					for told := set; ; told = (told - 1) & set {
						a, b := output(coins, set, told), output(coins^1<<j, set, told)
						sum += a
						over += math.Max(0, a-math.Exp(eps)*b)
						if told == 0 {
							break
						}
					}
				}
				if math.Abs(sum-1) > 1e-12 || math.Abs(over-delta) > 1e-12 {
					t.Fatalf("m %d, r %d, v %d, eps %v: outputs of %b add up to %v, delta of canary %d is %v, want %v", m, r, v, eps, coins, sum, j, over, delta)
				}
			}
		}
		if math.Abs(total-1) > 1e-12 || math.Abs(atLeast-p) > 1e-8 {
			t.Errorf("m %d, r %d, v %d, eps %v, delta %v: %v or more right with probability %v of %v, the p-value is %v", m, r, v, eps, delta, v, atLeast, total, p)
		}
	}
	if tried < 100 {
		t.Errorf("only %d mechanisms", tried)
	}
}

// Canaries that share a shock, Gaussian scores whose mu is drawn once for all of them:
// the claim is the exact delta of the mixture. No more bounds than beta exceed the
// epsilon, but for a false alarm of 1e-4.
func TestOneRunCoverageOfSharedShocks(t *testing.T) {
	audits := testsize.Of(300, 3000)
	for _, k := range []struct {
		m          int
		hush       float64 // probability of the shock
		loud, mu   float64
		eps        float64
		everything bool // of the shock: all scores are one, too
	}{{2000, 0.05, 3, 0.3, 2, false}, {2000, 0.02, 40, 0.3, 1, false}, {500, 0.3, 1.5, 0.2, 2.5, false}, {500, 0.2, 1, 0.2, 1.5, true}} {
		delta := float64(k.hush*GaussianDelta(k.loud, k.eps)) + float64((1-k.hush)*GaussianDelta(k.mu, k.eps))
		if k.everything {
			delta = GaussianDelta(math.Max(k.loud, k.mu), k.eps)
		}
		r := OneRunGuessesFor(k.m, 2, k.eps, delta, nominal)
		st, failed := stream.New(stream.Key{Seed: 12, Purpose: "one run"}), 0
		for range audits {
			scores, in := make([]float64, k.m), make([]bool, k.m)
			st.Gaussian(scores, 1)
			mu, common := k.mu, scores[0]
			if shock := st.Float64() < k.hush; shock {
				mu = k.loud
			}
			for i := range in {
				if k.everything {
					scores[i] = float64(scores[i]*0.999) + float64(common*0.04)
				}
				if in[i] = st.Intn(2) == 1; in[i] {
					scores[i] += mu
				}
			}
			if OneRunEpsilon(k.m, r, OneRunRight(scores, in)(r-r/2, r/2), delta, nominal) > k.eps {
				failed++
			}
		}
		testsize.Chance(t, fmt.Sprint(k, r, delta), failed, audits, nominal, 1e-4)
	}
}

// The number of guesses against all numbers: of runs like those it expects, with as many
// wrong as are expected, it has the largest bound but for a tenth.
func TestOneRunGuessesFor(t *testing.T) {
	for _, k := range []struct {
		m          int
		eps, delta float64
		least      float64 // of the bound
	}{{1000, 1, 1e-5, 0.19}, {1000, 8, 1e-5, 2.7}, {10_000, 4, 1e-5, 2.1}, {100_000, 8, 1e-5, 4.6}, {1000, 2, 1e-3, 0.3}, {10_000, 2, 0, 1}} {
		got, just := OneRunGuessesFor(k.m, 2, k.eps, k.delta, nominal), k.delta
		if just == 0 {
			just = 1e-5
		}
		mu := GaussianMuFromDelta(just, k.eps)
		bound := func(r int) float64 {
			wrong := int(math.Ceil(oneRunWrong(k.m, r, 2, mu)))
			return OneRunEpsilon(k.m, r, max(0, r-wrong), k.delta, nominal)
		}
		best := 0.0
		for r := 8; r <= k.m; r = r + 1 + r/20 {
			best = math.Max(best, bound(r))
		}
		if bound(got) < 0.88*best || bound(got) < k.least {
			t.Errorf("%+v: %d guesses have %v, others %v", k, got, bound(got), best)
		}
	}
	// As many right as a run can show refute the claim, where that costs little.
	if r := OneRunGuessesFor(1000, 2, 4, 1e-5, nominal); OneRunEpsilon(1000, r, r, 1e-5, nominal) <= 4 {
		t.Errorf("%d guesses of 1000 cannot refute epsilon = 4", r)
	}
	for m := 1; m < 3000; m = m*5/4 + 1 {
		for sides := 1; sides <= 2; sides++ {
			for _, eps := range []float64{0, 0.01, 3, 1e6} {
				if r := OneRunGuessesFor(m, sides, eps, 1e-5, nominal); r < 1 || r > m {
					t.Errorf("m %d, eps %v, %d sides: %d guesses", m, eps, sides, r)
				}
			}
		}
	}
	// How many wrong ones are expected, against draws.
	st := stream.New(stream.Key{Seed: 13, Purpose: "one run"})
	for _, r := range []int{50, 400} {
		const m, runs = 2000, 300
		sum := 0.0
		for range runs {
			scores, in := oneRunScores(st, m, 1)
			sum += float64(r - oneRunHalves(scores, in, r))
		}
		want := oneRunWrong(m, r, 2, 1)
		if mean := sum / runs; math.Abs(mean-want) > 5*math.Sqrt(want/runs) {
			t.Errorf("%d guesses: %v wrong on average, %v expected", r, mean, want)
		}
	}
}

// Where a mechanism that keeps the claim shows next to nothing, the number is that which
// refutes the claim by the fewest: of 1000 canaries at delta = .01, 774 of 1000 right
// refuted nothing where some 400 guesses do.
func TestOneRunGuessesForWeakClaims(t *testing.T) {
	for _, k := range []struct {
		m          int
		eps, delta float64
	}{{1000, 1, 0.01}, {300, 0.5, 1e-5}, {1000, 0.1, 1e-5}} {
		got := OneRunGuessesFor(k.m, 2, k.eps, k.delta, nominal)
		// from is the mu from which on so many guesses are expected to refute.
		from := func(r int) float64 {
			mu, _ := Bisect(0, 10, 1e-3, func(mu float64) bool {
				wrong := int(math.Ceil(oneRunWrong(k.m, r, 2, mu)))
				return OneRunEpsilon(k.m, r, max(0, r-wrong), k.delta, nominal) <= k.eps
			})
			return mu
		}
		least := math.Inf(1)
		for r := 8; r <= k.m; r += 1 + r/10 {
			least = math.Min(least, from(r))
		}
		if from(got) > 1.1*least {
			t.Errorf("%+v: %d guesses refute from mu = %v on, others from %v", k, got, from(got), least)
		}
	}
}
