package bounds

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// OneRunAside is how many of m canaries are set aside to choose which of the others
// are guessed and which way: one in eight, at most 2^15, none of so few that they tell
// nothing.
// Their coins are looked at, so that they are not guessed themselves:
// [OneRunPValue] and [OneRunChosenPValue] hold for the others.
func OneRunAside(m int) int {
	if m < 64 {
		return 0
	}
	return min(m/8, 1<<15)
}

// OneRunLeast is the least number of guesses that [OneRunForecast.Choose] makes among
// rest canaries: a quarter of [OneRunGuesses].
func OneRunLeast(rest int) int { return max(1, OneRunGuesses(rest)/4) }

// OneRunForecast foretells, from canaries that were set aside, how many guesses would be
// wrong among the others. It decides power alone: bounds hold whatever it says.
type OneRunForecast struct {
	outs []int     // outs[k]: canaries that were out among the k with the largest scores
	fit  []float64 // fit[k]: the same by a logistic regression on normal scores of the ranks
}

// NewOneRunForecast takes the scores and coins of the canaries that were set aside.
// It panics unless both are equally long and no score is NaN.
func NewOneRunForecast(scores []float64, in []bool) OneRunForecast {
	if len(scores) != len(in) {
		panic("bounds: one coin for each score")
	}
	n := len(scores)
	f := OneRunForecast{make([]int, n+1), make([]float64, n+1)}
	z, out := make([]float64, n), make([]float64, n)
	for k, i := range oneRunOrder(scores) {
		f.outs[k+1] = f.outs[k]
		z[k] = mathext.NormalQuantile((float64(k) + 0.5) / float64(n))
		if !in[i] {
			f.outs[k+1]++
			out[k] = 1
		}
	}
	a, b := logistic(z, out)
	for k, x := range z {
		f.fit[k+1] = f.fit[k] + 1/(1+math.Exp(-a-float64(b*x)))
	}
	return f
}

// logistic fits P(y = 1) = 1/(1 + e^-(a + b x)) by Newton's steps of at most 3, with
// a normal prior of variance 100 on a and b, which separated classes need.
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
		step := math.Max(1, math.Hypot(da, db)/3)
		a, b = a+da/step, b+db/step
	}
	return a, b
}

// fitWeight is how many canaries the regression counts for where shares of few are
// taken: the far ends, of which a mixture may have another share than it says.
const fitWeight = 4

// wrong is how many of up guesses in and down guesses out of the ends are expected to be
// wrong among rest canaries.
func (f OneRunForecast) wrong(up, down, rest int) float64 {
	n := len(f.outs) - 1
	side := func(guesses int, seen func(k int) (outs int, fit float64)) float64 {
		if guesses == 0 {
			return 0
		}
		k := min(n, int(math.Round(float64(guesses)*float64(n)/float64(rest))))
		outs, _ := seen(k)
		_, fit := seen(max(1, k))
		return float64(guesses) * (float64(outs) + fitWeight*math.Min(0.5, fit/float64(max(1, k)))) / float64(k+fitWeight)
	}
	return side(up, func(k int) (int, float64) { return f.outs[k], f.fit[k] }) +
		side(down, func(k int) (int, float64) {
			return k - (f.outs[n] - f.outs[n-k]), float64(k) - (f.fit[n] - f.fit[n-k])
		})
}

// Choose returns how many of rest canaries with the largest scores to guess in, and how many
// with the smallest out: of a grid of pairs, none on one side among them, the one with
// the largest Chernoff bound at level beta on the share of right guesses if as many are wrong as
// foretold. Without canaries that were set aside it is [OneRunGuesses], on both
// sides.
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
			q := math.Round(chernoffLower(1-f.wrong(a, b, rest)/made, math.Log(1/beta)/made)*1e9) / 1e9
			if q > most {
				most, up, down = q, a, b
			}
		}
	}
	return up, down
}

// Split divides made guesses between both sides so that the fewest are expected to be wrong:
// in shares of an eighth, half of them where nothing is gained.
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

// chernoffLower is the least q with kl(share, q) <= level, 0 <= share <= 1.
func chernoffLower(share, level float64) float64 {
	lo, hi := 0.0, share
	for range 40 {
		q := (lo + hi) / 2
		kl := 0.0
		if share > 0 {
			kl = share * math.Log(share/q)
		}
		if share < 1 {
			kl += (1 - share) * math.Log((1-share)/(1-q))
		}
		if kl > level {
			lo = q
		} else {
			hi = q
		}
	}
	return hi
}
