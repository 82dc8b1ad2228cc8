package bounds

import (
	"fmt"
	"math"
	"slices"
)

// CheckOneRun reports the first figure of an audit in one run that is out of
// range: m canaries (1 to 2^31), r guesses (1 to m), v right ones (0 to r).
func CheckOneRun(m, r, v int) error {
	if m < 1 || m > maxOneRun {
		return fmt.Errorf("one run: m is %d, must be 1 to %d canaries", m, maxOneRun)
	}
	if r < 1 || r > m {
		return fmt.Errorf("one run: r is %d, must be 1 to m = %d guesses", r, m)
	}
	if v < 0 || v > r {
		return fmt.Errorf("one run: v is %d, must be 0 to r = %d right guesses", v, r)
	}
	return nil
}

const maxOneRun = 1 << 31

func mustBeOneRun(m, r, v int, delta float64) {
	if CheckOneRun(m, r, v) != nil {
		panic("bounds: counts of one run out of range; call CheckOneRun first")
	}
	if CheckDelta(delta) != nil {
		panic("bounds: delta outside [0, 1); call CheckDelta first")
	}
}

// OneRunPValue returns a p-value of the claim (eps, delta) from a single run: each
// of m canaries was put into the data or left out by a fair coin of its own, the
// auditor saw the output and guessed r of the coins, v of the guesses are right
// (the game of Steinke, Nasr and Jagielski 2023):
//
//	p = 1 - (1 - b)(1 - m delta u),  b = P(Bin(r, q) >= v),  u = b/(v P(Bin(r, q) = v)),
//
// q = 1/(1 + e^-eps). Under the claim it is at most a with probability at most a,
// for every a, whatever the canaries do to each other. Which coins are guessed, and
// which way, may depend on the output and on the coins that are not guessed, but not
// on those that are; r is fixed before, or see [OneRunChosenPValue]. Where all
// guesses go one way and that way is fixed before, delta/2 may take the place of
// delta: half of the terms of the sum below are 0. At delta = 0 it is the binomial
// tail, which is exact. Wherever the published p-value was below 1/2 in all that was
// tried this is below it, and far below where m delta is not small.
//
// Proof. Let W of N guesses be right and g >= 0 any function of N and W with
// largest value G. Fix a canary j, all other coins and a value c of its own: that j
// is guessed to be c and g(N, 1 + the other right guesses) are functions of the
// output alone, as no coin of a guessed canary was looked at. (eps, delta) privacy
// bounds the mean of their product under c by e^eps times that under the other
// value, plus delta G. Averaged over coins and summed over j,
//
//	E W g(N, W) <= e^eps E (N - W) g(N, W + 1) + m delta G.
//
// For N = r the equation w g(w) - e^eps (r - w) g(w+1) = 1{w >= v} - b, 0 <= w <= r,
// is solved by g(w) = P(Bin >= max(w, v)) P(Bin < min(w, v))/(w P(Bin = w)), which
// rises up to w = v and falls from there, so that G = (1-b) u. Put in, P(W >= v) <=
// b + m delta (1-b) u = p; p falls with v. A mechanism that tells r random canaries
// outright with probability m delta/r, and the others' coins never, meets it at v = r.
//
// 1-b and, as u = sum over k >= v of C(r,k)/C(r,v) e^((k-v) eps)/v rises with eps,
// also 1 - m delta u fall with eps: p < 1 rises with it.
//
// Right to a relative 1e-9 down to 1e-290. Cost O(sqrt r). It panics unless eps >= 0
// and finite and the rest is in range, see [CheckOneRun].
func OneRunPValue(m, r, v int, eps, delta float64) float64 {
	b, leak := oneRunTail(m, r, v, eps, delta)
	return math.Min(1, (b+leak-float64(b*leak))*(1+1e-9))
}

// OneRunChosenPValue is [OneRunPValue] where r, too, depends on the output and on the
// coins that are not guessed. share in (0, 1), fixed before, is how much of the error
// is kept for delta:
//
//	p = max(b/(1 - share), m delta u/share).
//
// Proof: p <= a is W >= v(N), where b <= (1 - share) a and m delta u <= share a at
// v(n), for every n. The sum of the above over n with the solution g(n, .) for each gives
// P(W >= v(N)) <= E b(N) + m delta max u <= a. It rises with eps.
//
// At delta = 0 share is of no account. It panics as [OneRunPValue] does.
func OneRunChosenPValue(m, r, v int, eps, delta, share float64) float64 {
	b, leak := oneRunTail(m, r, v, eps, delta)
	if delta > 0 {
		if !(share > 0 && share < 1) {
			panic("bounds: the share of delta must be in (0, 1)")
		}
		b = math.Max(b/(1-share), leak/share)
	}
	return math.Min(1, b*(1+1e-9))
}

// OneRunShare is the share that [OneRunChosenPValue] is called with: about what delta
// takes of beta where at least least guesses are made and most of them are right.
func OneRunShare(m, least int, delta, beta float64) float64 {
	mustBeOneRun(m, 1, 0, delta)
	return math.Min(0.5, math.Max(1e-3, 3*float64(m)*delta/(float64(max(1, least))*beta)))
}

// WrongGuesses are the likely ones of Bin(r, 1/(1 + e^eps)), how many of r guesses are
// wrong at worst: unnormalised masses from lo on, and their sum. That share, unlike the
// one of right guesses, keeps its digits at large eps.
func WrongGuesses(r int, eps float64) (w []float64, lo int, total float64) {
	s := 1 / (1 + math.Exp(eps))
	const depth = 720 // e^-720: the least of the logarithms that are carried
	lo, hi := window(r, s, depth)
	w = make([]float64, hi-lo+1)
	mass(w, r, lo, mode(r, s), s)
	for _, p := range w {
		total += p
	}
	return w, lo, total
}

// oneRunTail returns b and m delta u of [OneRunPValue], each at most 1.
func oneRunTail(m, r, v int, eps, delta float64) (b, leak float64) {
	mustBeOneRun(m, r, v, delta)
	if !(eps >= 0) || math.IsInf(eps, 1) {
		panic("bounds: epsilon must be at least 0 and finite")
	}
	if v == 0 {
		return 1, 1
	}
	wrong := r - v
	w, lo, total := WrongGuesses(r, eps)
	hi := lo + len(w) - 1
	for k := lo; k <= min(hi, wrong); k++ {
		b += w[k-lo]
	}
	b = math.Min(1, b/total)
	if delta == 0 {
		return b, 0
	}
	unit := float64(m) * delta / float64(v)
	odds, term := math.Exp(eps), unit
	for k := wrong; k >= 0 && leak < 1; k-- {
		leak += term
		ratio := odds * (float64(k) / float64(r-k+1)) // falls with k
		term *= ratio
		if term < leak*1e-12 && ratio < 0.999 {
			leak *= 1 + 1e-9 // what is left out
			break
		}
	}
	return b, math.Min(1, leak)
}

// OneRunEpsilon returns a lower confidence bound on epsilon at delta from a single
// run: the largest eps whose [OneRunPValue] is at most beta, rounded down to six
// decimals; 0 if there is none. It exceeds the true epsilon with probability at
// most beta, as the p-value rises with eps. Cost: 40 p-values. It panics on arguments
// out of range.
func OneRunEpsilon(m, r, v int, delta, beta float64) float64 {
	return oneRunEnd(m, r, v, delta, beta, func(eps float64) float64 { return OneRunPValue(m, r, v, eps, delta) })
}

// OneRunChosenEpsilon is the same by [OneRunChosenPValue].
func OneRunChosenEpsilon(m, r, v int, delta, beta, share float64) float64 {
	return oneRunEnd(m, r, v, delta, beta, func(eps float64) float64 { return OneRunChosenPValue(m, r, v, eps, delta, share) })
}

// oneRunEnd is the largest eps whose p-value is at most beta.
func oneRunEnd(m, r, v int, delta, beta float64, p func(eps float64) float64) float64 {
	mustBeOneRun(m, r, v, delta)
	if CheckBeta(beta) != nil {
		panic("bounds: beta outside (0, 1); call CheckBeta first")
	}
	eps, ok := bisect(0, 60, 1e-9, func(eps float64) bool { return p(eps) <= beta })
	if !ok {
		return 0
	}
	return math.Max(0, RoundDown(eps))
}

// OneRunRight counts the right ones of up + down guesses: the canaries with the up
// largest scores are guessed to be in the data, those with the down smallest to be
// out; among equal scores the one that comes first counts as larger. It panics unless
// scores and in are equally long, no score is NaN, up and down are at least 0 and
// together 1 to len(scores).
func OneRunRight(scores []float64, in []bool, up, down int) int {
	if len(scores) != len(in) || up < 0 || down < 0 || up+down < 1 || up+down > len(scores) {
		panic("bounds: one coin for each score, and 1 to m guesses")
	}
	order := oneRunOrder(scores)
	v := 0
	for _, i := range order[:up] {
		if in[i] {
			v++
		}
	}
	for _, i := range order[len(order)-down:] {
		if !in[i] {
			v++
		}
	}
	return v
}

func oneRunOrder(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
		if math.IsNaN(scores[i]) {
			panic("bounds: a score is NaN")
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case scores[i] > scores[j]:
			return -1
		case scores[i] < scores[j]:
			return 1
		}
		return 0
	})
	return order
}

// OneRunGuesses is how many guesses to make among m canaries when nothing is known
// beforehand: .45 m^(2/3), at least 8, within some per cent of the best for
// [OneRunEpsilon] of the Gaussian mechanism with independent canaries at epsilon
// from 1 to 8 and m from 10^3 to 10^5.
func OneRunGuesses(m int) int {
	mustBeOneRun(m, 1, 0, 0)
	c := math.Cbrt(float64(m))
	return min(m, max(8, int(math.Round(0.45*c*c))))
}

// OneRunGDPGuesses is the same for [OneRunGDPEpsilon]: 4 sqrt(m).
func OneRunGDPGuesses(m int) int {
	mustBeOneRun(m, 1, 0, 0)
	return min(m, max(8, int(math.Round(4*math.Sqrt(float64(m))))))
}
