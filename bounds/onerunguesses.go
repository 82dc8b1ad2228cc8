package bounds

import "math"

// OneRunGuessesFor returns how many of m canaries to guess against the claim (eps, delta)
// at level beta, on one side of the order of scores or on two (sides 1 or 2). It sees no
// score, so that r is fixed before the run. It decides power alone.
//
// The run that it expects is that of a mechanism which just keeps the claim and tells each
// canary as well as it may: scores N(mu, 1) in and N(0, 1) out, independent, mu by
// [GaussianMuFromDelta] (of a pure claim at delta = 1e-5, since no such scores keep
// one). Of the numbers r = 8, 11, 16, 22, ... (by factors of sqrt 2, and its root where the best
// of them is) it takes the one with the largest [OneRunEpsilon], at the claimed delta, of as many wrong guesses as are
// expected. Where none is above 0 mu is doubled.
//
// If all r right do not refute the claim, but all of some larger number would, at a loss of
// at most a tenth of that expected bound, it is the least such number: an audit should be
// able to say that a claim is broken.
//
// It panics on arguments out of range. Cost: some hundred p-values.
func OneRunGuessesFor(m, sides int, eps, delta, beta float64) int {
	mustBeOneRun(m, 1, 0, delta)
	refuse(CheckEpsilon(eps) != nil || eps < 0 || CheckBeta(beta) != nil || sides != 1 && sides != 2, "epsilon, beta or sides out of range")
	leak := float64(delta * float64(sides) / 2) // see OneRunPValue
	refuted := func(r, v int) float64 {
		// In steps of .001: what differs between platforms is below that, and the
		// choice the same.
		eps, _ := bisect(0, 60, 1e-4, func(eps float64) bool { return OneRunPValue(m, r, v, eps, leak) <= beta })
		return math.Round(eps * 1000)
	}
	just := delta
	if just == 0 {
		just = 1e-5
	}
	mu := GaussianMuFromDelta(just, math.Min(eps, 1000))
	usual := OneRunGuesses(m)
	for range 12 {
		expected := func(r int) float64 {
			wrong := oneRunWrong(m, r, sides, mu)
			k := int(wrong)
			if k >= r {
				return 0
			}
			part := wrong - float64(k)
			return math.Round(float64((1-part)*refuted(r, r-k)) + float64(part*refuted(r, r-k-1)))
		}
		best, most := 0, 0.0
		for x := 8.0; ; x *= math.Sqrt2 {
			r := min(m, int(x))
			e := expected(r)
			if e > most {
				best, most = r, e
			}
			// From there on it falls; far below, two or three right guesses can seem much.
			if r == m || e < most/2 && r > 4*best && r > usual {
				break
			}
		}
		at := float64(best)
		for _, x := range []float64{at / math.Sqrt(math.Sqrt2), at * math.Sqrt(math.Sqrt2)} {
			r := min(m, int(x))
			if e := expected(max(1, r)); e > most {
				best, most = r, e
			}
		}
		if most > 0 {
			claimed := math.Ceil(eps*1000) + 1
			if refuted(best, best) >= claimed || refuted(m, m) < claimed {
				return best
			}
			lo, hi := best, m
			for hi-lo > 1 {
				if mid := lo + (hi-lo)/2; refuted(mid, mid) >= claimed {
					hi = mid
				} else {
					lo = mid
				}
			}
			if expected(hi) >= math.Round(0.9*most) {
				return hi
			}
			return best
		}
		mu = math.Max(2*mu, 0.05)
	}
	return usual
}

// oneRunWrong is how many of r guesses among m canaries are expected to be wrong, at the
// ends of independent scores N(mu, 1) of those in and N(0, 1) of those out.
func oneRunWrong(m, r, sides int, mu float64) float64 {
	share := float64(r) / float64(sides*m) // of the canaries, on each side
	at, _ := bisect(-40, mu+40, 1e-6, func(t float64) bool { return (normalCDF(-t)+normalCDF(mu-t))/2 >= share })
	wrong, right := normalCDF(-at), normalCDF(mu-at)
	return float64(r) * (wrong / (wrong + right))
}
