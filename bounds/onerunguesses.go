package bounds

import (
	"math"
	"sort"
)

// OneRunGuessesFor returns how many of m canaries to guess against the claim (eps, delta)
// at level beta, on one side of the order of scores or on two (sides 1 or 2). It sees no
// score, so that r is fixed before the run. It decides power alone.
//
// The run that it expects is that of a mechanism which just keeps the claim and tells each
// canary as well as it may: scores N(mu, 1) in and N(0, 1) out, independent, mu by
// [GaussianMuFromDelta] (of a pure claim at delta = 1e-5, since no such scores keep
// one). Of the numbers r = 8, 11, 16, 22, ... (by factors of sqrt 2, and by its root
// beside the best of them) it takes the one with the largest [OneRunEpsilon], at the
// claimed delta, of as many wrong guesses as are expected.
//
// An audit should be able to say that a claim is broken. So if that bound is below a fifth
// of eps, mu is raised, by 2^(1/4) each time, until some number is expected to refute the
// claim, and that number is taken. Else if all r right do not refute it, but all of some
// larger number would, at a loss of at most a tenth of the expected bound, it is the least
// such number.
//
// It panics on arguments out of range. Cost: some hundred p-values,
// some thousand where mu is raised.
func OneRunGuessesFor(m, sides int, eps, delta, beta float64) int {
	mustBeOneRun(m, 1, 0, delta)
	refuse(CheckEpsilon(eps) != nil || eps < 0 || CheckBeta(beta) != nil || sides != 1 && sides != 2, "epsilon, beta or sides out of range")
	leak := float64(delta * float64(sides) / 2) // see OneRunPValue
	refuted := func(r, v int) float64 {
		// In steps of .001: what differs between platforms is below that, and the
		// choice the same.
		eps, _ := Bisect(0, 60, 1e-4, func(eps float64) bool { return OneRunPValue(m, r, v, eps, leak) <= beta })
		return math.Round(eps * 1000)
	}
	just := delta
	if just == 0 {
		just = 1e-5
	}
	mu := GaussianMuFromDelta(just, math.Min(eps, 1000))
	usual := OneRunGuesses(m)
	expected := func(r int) float64 {
		wrong := oneRunWrong(m, r, sides, mu)
		k := int(wrong)
		if k >= r {
			return 0
		}
		part := wrong - float64(k)
		return math.Round(float64((1-part)*refuted(r, r-k)) + float64(part*refuted(r, r-k-1)))
	}
	// choose returns the best number of guesses at mu, and its bound in thousandths.
	choose := func() (best int, most float64) {
		best = usual
		try := func(r int) float64 {
			e := expected(r)
			if e > most {
				best, most = r, e
			}
			return e
		}
		for x := 8.0; ; x *= math.Sqrt2 {
			r := min(m, int(x))
			// From there on it falls; far below, two or three right guesses can seem much.
			if e := try(r); r == m || e < most/2 && r > 4*best && r > usual {
				break
			}
		}
		at, fourth := float64(best), math.Sqrt(math.Sqrt2)
		try(max(1, int(at/fourth)))
		try(min(m, int(at*fourth)))
		return best, most
	}
	best, most := choose()
	claimed := math.Ceil(eps*1000) + 1
	switch {
	case refuted(m, m) < claimed: // nothing refutes it
		return best
	case most < math.Max(1, math.Floor(eps*200)):
		for mu = math.Max(mu, 0.01); mu < 100; mu *= math.Sqrt(math.Sqrt2) {
			if r, e := choose(); e >= claimed {
				return r
			}
		}
		return best
	case refuted(best, best) >= claimed:
		return best
	}
	more := best + 1 + sort.Search(m-best-1, func(i int) bool { return refuted(best+1+i, best+1+i) >= claimed })
	if expected(more) >= math.Round(0.9*most) {
		return more
	}
	return best
}

// oneRunWrong is how many of r guesses among m canaries are expected to be wrong, at the
// ends of independent scores N(mu, 1) of those in and N(0, 1) of those out.
func oneRunWrong(m, r, sides int, mu float64) float64 {
	share := float64(r) / float64(sides*m) // of the canaries, on each side
	at, _ := Bisect(-40, mu+40, 1e-6, func(t float64) bool { return (normalCDF(-t)+normalCDF(mu-t))/2 >= share })
	wrong, right := normalCDF(-at), normalCDF(mu-at)
	return float64(r) * (wrong / (wrong + right))
}
