package bounds

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"gonum.org/v1/gonum/mathext"
)

// CheckOneRun reports the first figure of an audit in one run that is out of range: m canaries, r
// guesses, v right ones.
func CheckOneRun(m, r, v int) error {
	return audit.First(require(m >= 1 && m <= maxOneRun, "one run: m is %d, must be 1 to %d canaries", m, maxOneRun),
		require(r >= 1 && r <= m, "one run: r is %d, must be 1 to m = %d guesses", r, m),
		require(v >= 0 && v <= r, "one run: v is %d, must be 0 to r = %d right guesses", v, r))
}

const maxOneRun = 1 << 31

func mustBeOneRun(m, r, v int, delta float64) { Must(CheckOneRun(m, r, v), CheckDelta(delta)) }

// OneRunPValue is a p-value of the claim (eps, delta) from a single run, in the game of Steinke,
// Nasr and Jagielski 2023: a fair coin of its own put each of m canaries in or left it out, the
// auditor saw the output and guessed r of the coins, v of them right:
//
//	p = 1 - (1 - b)(1 - m delta u),  b = P(Bin(r, q) >= v),  u = b/(v P(Bin(r, q) = v)),
//
// q = 1/(1 + e^-eps). It is valid whatever the canaries do to each other. Which coins are guessed,
// and which way, may depend on the output and on coins that are not guessed, but not on those that
// are; r is fixed before, or see [OneRunChosenPValue]. Where all guesses go one way that is fixed
// before, delta/2 may take the place of delta: half of the terms of the sum below are 0.
//
// Proof. Let W of N guesses be right and g >= 0 any function of N and W with largest value G. Fix a
// canary j, all other coins and a value c of its own: that j is guessed to be c and g(N, 1 + the
// other right guesses) are functions of the output alone, as no coin of a guessed canary was looked
// at. Privacy bounds the mean of their product under c by e^eps times that under the other value,
// plus delta G. Averaged over coins and summed over j,
//
//	E W g(N, W) <= e^eps E (N - W) g(N, W + 1) + m delta G.
//
// For N = r the equation w g(w) - e^eps (r - w) g(w+1) = 1{w >= v} - b, 0 <= w <= r, is solved by
// g(w) = P(Bin >= max(w, v)) P(Bin < min(w, v))/(w P(Bin = w)), which rises up to w = v and falls
// from there, so that G = (1-b) u. Put in, P(W >= v) <= b + m delta (1-b) u = p; p falls with v.
//
// It is the least p-value that falls with v and is a function of m, r and v alone. For let p < 1,
// so that m delta u < 1, B(w) = P(Bin = w), and x(w) = 1 - m delta u, plus m delta/(v B(v)) for w
// >= v. A mechanism draws W = w with probability x(w) B(w) (their sum is 1), r random canaries and
// w random ones of them, and tells the coins of the w, and the opposite of those of the others of
// the r. Given all but its own coin, one of these canaries has the value told with w right in all,
// the other with w - 1. Summed over outputs,
//
//	P(told c | coin c) - e^eps P(told c | coin not c) > 0 gives
//	1/m sum over w of max(0, w x(w) B(w) - e^eps (r-w+1) x(w-1) B(w-1)),
//
// and w B(w) = e^eps (r-w+1) B(w-1), so that this is 1/m sum w B(w) max(0, x(w) - x(w-1)) = delta.
// Told the opposite of its coin, it adds nothing, as x does not fall with w. So the mechanism keeps
// (eps, delta) for every canary, and P(W >= v) = b (1 - m delta u) + m delta u = p.
//
// 1-b and, as u = sum over k >= v of C(r,k)/C(r,v) e^((k-v) eps)/v rises with eps, also 1 - m delta
// u fall with eps: p < 1 rises with it.
//
// Right to a relative 1e-9 down to 1e-290. Cost O(sqrt r).
func OneRunPValue(m, r, v int, eps, delta float64) float64 {
	b, leak := oneRunTail(m, r, v, eps, delta)
	return min(1, (b+leak-float64(b*leak))*(1+1e-9))
}

// OneRunChosenPValue is [OneRunPValue] where r, too, depends on the output and on the coins that
// are not guessed. share in (0, 1), fixed before, is how much of the error is kept for delta, of no
// account at delta = 0:
//
//	p = max(b/(1 - share), m delta u/share).
//
// Proof: p <= a is W >= v(N), where b <= (1 - share) a and m delta u <= share a at v(n), for every
// n. The sum of the above over n with the solution g(n, .) for each gives P(W >= v(N)) <= E b(N) +
// m delta max u <= a. It rises with eps.
func OneRunChosenPValue(m, r, v int, eps, delta, share float64) float64 {
	b, leak := oneRunTail(m, r, v, eps, delta)
	if delta > 0 {
		Refuse(!(share > 0 && share < 1), "the share of delta must be in (0, 1)")
		b = max(b/(1-share), leak/share)
	}
	return min(1, b*(1+1e-9))
}

// OneRunShare is the share for [OneRunChosenPValue]: about what delta takes of beta.
func OneRunShare(m, least int, delta, beta float64) float64 {
	mustBeOneRun(m, 1, 0, delta)
	return min(0.5, max(1e-3, 3*float64(m)*delta/(float64(max(1, least))*beta)))
}

// WrongGuesses are the likely ones of Bin(r, 1/(1 + e^eps)), the wrong guesses: unnormalised masses
// from lo on, and their sum.
func WrongGuesses(r int, eps float64) (w []float64, lo int, total float64) {
	s := 1 / (1 + math.Exp(eps))
	const depth = 720 // e^-720: the least of the logarithms that are carried
	lo, hi := window(r, s, depth)
	w = mass(nil, r, lo, hi, s)
	for _, p := range w {
		total += p
	}
	return w, lo, total
}

// oneRunTail returns b and m delta u of [OneRunPValue], each at most 1.
func oneRunTail(m, r, v int, eps, delta float64) (b, leak float64) {
	mustBeOneRun(m, r, v, delta)
	Must(CheckClaim(eps))
	if v == 0 {
		return 1, 1
	}
	wrong := r - v
	w, lo, total := WrongGuesses(r, eps)
	for _, p := range w[:max(0, min(len(w), wrong+1-lo))] {
		b += p
	}
	b = min(1, b/total)
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
	return b, min(1, leak)
}

// OneRunEpsilon is a lower confidence bound on epsilon at delta from a single run: the largest eps
// whose [OneRunPValue] is at most beta.
func OneRunEpsilon(m, r, v int, delta, beta float64) float64 {
	return oneRunEnd(m, r, v, delta, beta, func(eps float64) float64 { return OneRunPValue(m, r, v, eps, delta) })
}

// OneRunChosenEpsilon is the same by [OneRunChosenPValue].
func OneRunChosenEpsilon(m, r, v int, delta, beta, share float64) float64 {
	return oneRunEnd(m, r, v, delta, beta, func(eps float64) float64 { return OneRunChosenPValue(m, r, v, eps, delta, share) })
}

func oneRunEnd(m, r, v int, delta, beta float64, p func(eps float64) float64) float64 {
	Must(CheckOneRun(m, r, v), CheckDelta(delta), CheckBeta(beta))
	return Largest(0, 60, 1e-9, func(eps float64) bool { return p(eps) <= beta })
}

// OneRunRight counts the right ones of up + down guesses: the canaries with the largest scores are
// guessed in, those with the smallest out; of equal scores the first counts as larger.
func OneRunRight(scores []float64, in []bool) func(up, down int) int {
	outs := outsOfTop(scores, in)
	m := len(scores)
	return func(up, down int) int {
		Refuse(up < 0 || down < 0 || up+down < 1 || up+down > m, "1 to m guesses")
		return up - outs[up] + outs[m] - outs[m-down]
	}
}

func outsOfTop(scores []float64, in []bool) []int {
	Refuse(len(scores) != len(in), "one coin for each score")
	order := make([]int32, len(scores))
	for i, x := range scores {
		order[i] = int32(i)
		Refuse(x != x, "a score is NaN")
	}
	slices.SortFunc(order, func(i, j int32) int { return cmp.Or(cmp.Compare(scores[j], scores[i]), cmp.Compare(i, j)) })
	outs := make([]int, len(scores)+1)
	for k, i := range order {
		outs[k+1] = outs[k]
		if !in[i] {
			outs[k+1]++
		}
	}
	return outs
}

// OneRunGuesses is how many guesses to make among m canaries when nothing is known beforehand: near
// the best for [OneRunEpsilon] of the Gaussian mechanism with independent canaries at epsilon from
// 1 to 8 and m from 10^3 to 10^5.
func OneRunGuesses(m int) int {
	mustBeOneRun(m, 1, 0, 0)
	c := math.Cbrt(float64(m))
	return min(m, max(8, int(math.Round(0.45*c*c))))
}

// OneRunGDPGuesses is the same for [OneRunGDPEpsilon].
func OneRunGDPGuesses(m int) int {
	mustBeOneRun(m, 1, 0, 0)
	return min(m, max(8, int(math.Round(4*math.Sqrt(float64(m))))))
}

// OneRunGDPMu is a lower confidence bound on the mu of GDP from a single run (see [OneRunPValue]):
// the largest mu that the recursion of Mahloujifar, Melis and Chaudhuri ("Auditing f-differential
// privacy in one run", 2024) refutes at level beta.
//
// With sides = 1 all guesses go one way, in or out, that is fixed before; else sides is 2. The
// recursion rests on
//
//	E W 1{W >= k} / m <= F(E (r-W) 1{W >= k-1} / m),  F = 1 - f concave,
//
// the sum over canaries of what privacy says of each and each value of its coin. With one side both
// are 0 for one value, which gives the same with m/2 in the place of m, which is less.
func OneRunGDPMu(m, r, v, sides int, beta float64) float64 {
	Must(CheckBeta(beta))
	return Largest(0, 40, 1e-7, func(mu float64) bool { return OneRunGDPRefutes(m, r, v, sides, mu, beta) })
}

// OneRunGDPRefutes tells whether the recursion refutes one mu. Both of its sums fall with mu.
func OneRunGDPRefutes(m, r, v, sides int, mu, beta float64) bool {
	mustBeOneRun(m, r, v, 0)
	Refuse(sides != 1 && sides != 2, "one side or two")
	return OneRunRecursion(float64(m*sides)/2, r, v, beta, func(right float64) float64 {
		return normalCDF(mathext.NormalQuantile(right) - mu)
	})
}

// OneRunRecursion tells whether v right ones of r guesses among n canaries refute a trade-off curve
// f at level beta, by the recursion at [OneRunGDPMu]. least(x) is the least y with 1 - f(y) >= x;
// it does not fall with x in [0, 1].
//
// right and wrong bound from below, in units of 1/n, what the guesses that are right and wrong
// would have to weigh if the curve gave v right ones with probability beta. No more than r/n can be
// had.
func OneRunRecursion(n float64, r, v int, beta float64, least func(right float64) float64) bool {
	right, wrong := beta*float64(v)/n, beta*float64(r-v)/n
	most := float64(r) / n * (1 + 1e-9)
	for i := v - 1; i >= 0; i-- {
		if right+wrong > most {
			return true
		}
		next := max(wrong, least(min(right, 1)))
		if next == wrong {
			break
		}
		right = min(1, right+float64(i)/float64(r-i)*(next-wrong))
		wrong = next
	}
	return right+wrong > most
}

// OneRunGDPEpsilon is a lower confidence bound on epsilon at delta only if the mechanism's
// trade-off is known to be Gaussian.
func OneRunGDPEpsilon(m, r, v int, delta, beta float64) float64 {
	mustBeOneRun(m, r, v, delta)
	return GaussianEpsilon(OneRunGDPMu(m, r, v, 2, beta), delta)
}

// OneRunAside is how many of m canaries are set aside, and not guessed, to choose which of the
// others are and which way.
func OneRunAside(m int) int {
	if m < 64 {
		return 0
	}
	return min(m/8, 1<<15)
}

// OneRunLeast is the least number of guesses among rest canaries.
func OneRunLeast(rest int) int { return max(1, OneRunGuesses(rest)/4) }

// OneRunForecast foretells, from canaries set aside, how many guesses would be wrong among the
// others.
type OneRunForecast struct {
	outs []int     // outs[k]: canaries that were out among the k with the largest scores
	fit  []float64 // fit[k]: the same by a logistic regression on normal scores of the ranks
}

// NewOneRunForecast takes the scores and coins of those canaries.
func NewOneRunForecast(scores []float64, in []bool) OneRunForecast {
	n := len(scores)
	f := OneRunForecast{outsOfTop(scores, in), make([]float64, n+1)}
	z, out := make([]float64, n), make([]float64, n)
	for k := range z {
		z[k] = mathext.NormalQuantile((float64(k) + 0.5) / float64(n))
		out[k] = float64(f.outs[k+1] - f.outs[k])
	}
	a, b := logistic(z, out)
	for k, x := range z {
		f.fit[k+1] = f.fit[k] + 1/(1+math.Exp(-a-float64(b*x)))
	}
	return f
}

// logistic fits P(y = 1) = 1/(1 + e^-(a + b x)) by Newton's steps, with a normal prior of variance
// 100 on a and b, which separated classes need.
func logistic(x, y []float64) (a, b float64) {
	for range 25 {
		ga, gb, haa, hab, hbb := -a/100, -b/100, 0.01, 0.0, 0.01
		for i, v := range x {
			p := 1 / (1 + math.Exp(-a-float64(b*v)))
			w, miss := float64(p*(1-p)), y[i]-p
			ga += miss
			gb += float64(miss * v)
			haa += w
			hab += float64(w * v)
			hbb += float64(float64(w*v) * v)
		}
		det := float64(haa*hbb) - float64(hab*hab)
		da, db := (float64(hbb*ga)-float64(hab*gb))/det, (float64(haa*gb)-float64(hab*ga))/det
		step := max(1, math.Hypot(da, db)/3)
		a, b = a+da/step, b+db/step
	}
	return a, b
}

// fitWeight is how many canaries the regression counts for where shares of few are taken.
const fitWeight = 4

func (f OneRunForecast) wrong(up, down, rest int) float64 {
	n := len(f.outs) - 1
	side := func(guesses int, seen func(k int) (outs int, fit float64)) float64 {
		if guesses == 0 {
			return 0
		}
		k := min(n, int(math.Round(float64(guesses)*float64(n)/float64(rest))))
		outs, _ := seen(k)
		_, fit := seen(max(1, k))
		return float64(guesses) * (float64(outs) + fitWeight*min(0.5, fit/float64(max(1, k)))) / float64(k+fitWeight)
	}
	return side(up, func(k int) (int, float64) { return f.outs[k], f.fit[k] }) +
		side(down, func(k int) (int, float64) {
			return k - (f.outs[n] - f.outs[n-k]), float64(k) - (f.fit[n] - f.fit[n-k])
		})
}

// Choose is how many of rest canaries to guess in and how many out: of a grid of pairs, the one
// with the largest Chernoff bound at level beta on the share of right guesses if as many are wrong
// as foretold.
func (f OneRunForecast) Choose(rest int, beta float64) (up, down int) {
	r := OneRunGuesses(rest)
	up, down = r-r/2, r/2
	if len(f.outs) < 2 {
		return up, down
	}
	least := OneRunLeast(rest)
	grid := []int{0}
	for x := float64(least) / 2; x < float64(rest); x *= math.Sqrt2 {
		grid = append(grid, int(math.Ceil(x)))
	}
	most := 0.0
	for _, a := range grid {
		for _, b := range grid {
			made := float64(a + b)
			if a+b > rest || a+b < least {
				continue
			}
			// Rounded, so that platforms agree.
			q := math.Round(leastShare(1-f.wrong(a, b, rest)/made, math.Log(1/beta)/made)*1e9) / 1e9
			if q > most {
				most, up, down = q, a, b
			}
		}
	}
	return up, down
}

// Split divides made guesses between both sides so that the fewest are expected to be wrong: in
// eighths, half of them where nothing is gained.
func (f OneRunForecast) Split(rest, made int) (up, down int) {
	up = made - made/2
	if len(f.outs) < 2 {
		return up, made - up
	}
	least := f.wrong(up, made-up, rest)
	for _, share := range []int{3, 5, 2, 6, 1, 7, 0, 8} {
		a := made * share / 8
		if w := f.wrong(a, made-a, rest); w < least-0.25 {
			least, up = w, a
		}
	}
	return up, made - up
}

// OneRunGuessesFor is how many of m canaries to guess against the claim (eps, delta) at level beta,
// on one or two sides of the order of scores. It sees no score and decides power alone.
//
// It expects a mechanism which just keeps the claim and tells each canary as well as it may:
// independent scores N(mu, 1) in and N(0, 1) out, mu by [GaussianMuFromDelta] (of a pure claim at
// delta = 1e-5, since no such scores keep one). It takes the r with the largest [OneRunEpsilon] at
// the claimed delta.
//
// If that bound is below a fifth of eps, mu is raised until some number is expected to refute the
// claim. Else if all r right do not refute it, but all of some larger number would, at a loss of at
// most a tenth of the expected bound, it is the least such number.
//
// Cost: some hundred p-values, or thousand.
func OneRunGuessesFor(m, sides int, eps, delta, beta float64) int {
	mustBeOneRun(m, 1, 0, delta)
	Must(CheckClaim(eps), CheckBeta(beta))
	Refuse(sides != 1 && sides != 2, "one side or two")
	leak := float64(delta * float64(sides) / 2) // see OneRunPValue
	refuted := func(r, v int) float64 {
		// In steps of .001, so that platforms choose alike.
		eps, _ := Bisect(0, 60, 1e-4, func(eps float64) bool { return OneRunPValue(m, r, v, eps, leak) <= beta })
		return math.Round(eps * 1000)
	}
	mu := GaussianMuFromDelta(cmp.Or(delta, 1e-5), min(eps, 1000))
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
	// choose is the best number of guesses at mu, and its bound in thousandths.
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
	case most < max(1, math.Floor(eps*200)):
		for mu = max(mu, 0.01); mu < 100; mu *= math.Sqrt(math.Sqrt2) {
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

// oneRunWrong is how many of r guesses are expected to be wrong at the ends of such scores.
func oneRunWrong(m, r, sides int, mu float64) float64 {
	share := float64(r) / float64(sides*m) // of the canaries, on each side
	at, _ := Bisect(-40, mu+40, 1e-6, func(t float64) bool { return (normalCDF(-t)+normalCDF(mu-t))/2 >= share })
	wrong, right := normalCDF(-at), normalCDF(mu-at)
	return float64(r) * (wrong / (wrong + right))
}
