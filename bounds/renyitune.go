package bounds

import (
	"errors"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// CalibrateRenyiOrdered is a witness for order alpha by bin from exploration: the logarithm of the
// ratio of the smoothed marginals, the best witness of densities constant on the bins, clipped so
// that it cannot overflow. The bins are in the order of a score that should rise with the ratio:
// neighbours whose ratios fall are pooled (isotonic regression, Ayer et al. 1955).
func CalibrateRenyiOrdered(explore Table, alpha float64) []float64 {
	Must(explore.Validate(), CheckAlpha(alpha))
	p, q := Smoothed(explore.First()), Smoothed(explore.Second())
	type block struct {
		p, q float64
		n    int
	}
	var blocks []block
	for i := range p {
		b := block{p[i], q[i], 1}
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.p*b.q <= b.p*last.q {
				break
			}
			b = block{last.p + b.p, last.q + b.q, last.n + b.n}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	var h []float64
	limit := maxExponent / alpha / 4
	for _, b := range blocks {
		n := float64(b.n)
		v := max(-limit, min(limit, math.Log((b.p/n)/(b.q/n))))
		h = append(h, slices.Repeat([]float64{v}, b.n)...)
	}
	return h
}

// TuneRenyi is the plan for [Renyi] on n pairs at level beta that would be best if certification
// repeated the smoothed exploration marginals, which alone it sees: so the bound stays valid. The
// witness h is clipped above at the best of some levels, which shortens the range of exp(alpha h),
// and shifted so that the tangent touches at its mean; then comes the best stake.
func TuneRenyi(explore Table, h []float64, alpha float64, n int, beta float64) (RenyiPlan, error) {
	if err := audit.First(CheckRenyiWitness(h, alpha), explore.Validate()); err != nil {
		return RenyiPlan{}, err
	}
	if len(h) != explore.Bins {
		return RenyiPlan{}, errors.New("witness: it must have one value for each bin of the exploration table")
	}
	Must(CheckBeta(beta))
	Refuse(n < 1, "n out of range")
	q := Smoothed(explore.Second())
	rate := math.Log(1/beta) / float64(n)
	best, value := RenyiPlan{Alpha: alpha, Method: MethodRenyiBetting}, -inf
	for _, top := range clipLevels(h) {
		clipped := clipAbove(h, top, alpha, q)
		w := newRenyiWager(clipped, alpha)
		cells := poolMarginals(explore, w)
		lambda := w.usualStake(cells, rate)
		if v := w.expected(cells, lambda, rate, value); v > value {
			best.H, best.Lambda, value = clipped, lambda, v
		}
	}
	w := newRenyiWager(best.H, alpha)
	cells := poolMarginals(explore, w)
	usual := best.Lambda
	for _, factor := range []float64{0.35, 0.5, 0.7, 0.85, 1.2, 1.4, 2, 3} {
		lambda := min(usual*factor, 0.98/w.floor())
		if v := w.expected(cells, lambda, rate, value); v > value {
			best.Lambda, value = lambda, v
		}
	}
	return best, nil
}

// usualStake is about where the wealth against e0 = 0 grows fastest at this rate.
func (w renyiWager) usualStake(cells []tableCell, rate float64) float64 {
	c := func(bin int) float64 { return w.z2[bin]/w.k + 1/w.alpha }
	var mean1, meanC, var1, varC float64 // of Z1, and of what is taken from it
	for _, k := range cells {
		mean1 += k.n * w.z1[k.a]
		meanC += k.n * c(k.b)
	}
	for _, k := range cells {
		d1, dC := w.z1[k.a]-mean1, c(k.b)-meanC
		var1 += k.n * d1 * d1
		varC += k.n * dC * dC
	}
	// At the e0 that is just certified the mean is near 0 and the variance about that at g.
	g := min(1, meanC/mean1)
	return min(math.Sqrt(2*rate/(g*g*var1+varC)), 0.95/w.floor())
}

// expected is the largest e0 at which the mean log wealth is the rate; -Inf where it is not above
// least.
func (w renyiWager) expected(cells []tableCell, lambda, rate, least float64) float64 {
	if least >= 0 && !(w.logEValue(cells, least, lambda) >= rate) {
		return -inf
	}
	e0, next := Bisect(0, w.reach(), 1e-6, func(e0 float64) bool { return w.logEValue(cells, e0, lambda) >= rate })
	if next == 0 {
		// Nothing is certified: prefer what comes nearest.
		return w.logEValue(cells, 0, lambda) - rate
	}
	return e0
}

// clipLevels are no clipping and up to seven levels among the upper values, or between them if few.
func clipLevels(h []float64) []float64 {
	sorted := slices.Sorted(slices.Values(h))
	slices.Reverse(sorted)
	levels := []float64{sorted[0]}
	for _, rank := range []int{1, 2, 3, 5, 8, 12, len(h) / 3} {
		if rank < len(sorted) && sorted[rank] < levels[len(levels)-1] {
			levels = append(levels, sorted[rank])
		}
	}
	if len(levels) < 6 {
		bottom := sorted[len(sorted)-1]
		for _, share := range []float64{0.85, 0.7, 0.55, 0.4, 0.25} {
			levels = append(levels, bottom+share*(sorted[0]-bottom))
		}
	}
	return levels
}

// clipAbove clips h at top and shifts it so that the mean of exp(alpha h) under q is 1.
func clipAbove(h []float64, top, alpha float64, q []float64) []float64 {
	clipped := audit.Each(h, func(v float64) float64 { return min(v, top) })
	shift := logMeanExp(clipped, q, alpha) / alpha
	for i := range clipped {
		clipped[i] -= shift
	}
	return clipped
}

// RenyiEstimate is R^{h,n} = k log mean e^((alpha-1)h(X)) - log mean e^(alpha h(Y)), k =
// alpha/(alpha-1), the divergence that h shows on the table itself.
func RenyiEstimate(t Table, h []float64, alpha float64) float64 {
	mustBeTable(t, h)
	Must(CheckAlpha(alpha))
	n := float64(t.Pairs())
	share := func(counts []int) []float64 {
		return audit.Each(counts, func(k int) float64 { return float64(k) / n })
	}
	return alpha/(alpha-1)*logMeanExp(h, share(t.First()), alpha-1) - logMeanExp(h, share(t.Second()), alpha)
}

func logMeanExp(v, weight []float64, scale float64) float64 {
	top := -inf
	for i, x := range v {
		if weight[i] > 0 {
			top = max(top, scale*x)
		}
	}
	sum := 0.0
	for i, x := range v {
		if weight[i] > 0 {
			sum += weight[i] * math.Exp(scale*x-top)
		}
	}
	return top + math.Log(sum)
}
