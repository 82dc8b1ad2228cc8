package accounting

import (
	"math"
	"math/bits"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

// Entry is a mechanism that runs Count times.
type Entry struct {
	Mechanism Lossy
	Count     int
}

// Composition is mechanisms that run one after the other, each free to depend on what those before
// put out. The privacy loss distributions of the entries are put on a grid from above and from
// below, composed by the Fourier transform of the exponentially tilted law, and what the transform,
// the ends of its window and rounding may have added is put on or taken off. So the truth lies
// between the two.
//
// Sources: Koskela, Jälkö and Honkela 2020 (discretised laws, fast Fourier transform); Gopi, Lee
// and Wutschitz 2021 (errors of both kinds bounded); Doroshenko et al. 2022 (the two
// discretisations).
type Composition []Entry

// Epsilon is a lower and an upper bound on the least epsilon that holds at delta.
func (c Composition) Epsilon(delta float64) (lower, upper float64) {
	mustBeDelta(delta)
	return c.epsilon(delta, true)
}

func (c Composition) epsilon(delta float64, lower bool) (least, upper float64) {
	return c.both(math.Log(delta), lower, func(l *composed, up bool) float64 { return l.epsilon(delta, up) },
		func(l *composed) float64 { return l.tiltAtDelta(math.Log(delta)) })
}

// Delta is a lower and an upper bound on the least delta that holds at eps.
func (c Composition) Delta(eps float64) (lower, upper float64) {
	mustBeEpsilon(eps)
	// A first look at how small delta is, so that the tails that are cut off are smaller yet.
	rough := 0.0
	for _, reverse := range []bool{false, true} {
		step, _ := c.steps(reverse, 1e-30)
		l := c.compose(reverse, step, 1e-30, true)
		lambda := l.tiltAtEpsilon(eps)
		k, _, _ := l.cumulant(lambda)
		rough = min(rough, k-lambda*eps)
	}
	return c.both(max(rough, -600), true, func(l *composed, up bool) float64 { return l.curve(eps, up) },
		func(l *composed) float64 { return l.tiltAtEpsilon(eps) })
}

// both asks a question of both directions: the larger answers. Without lower that is 0.
func (c Composition) both(logDelta float64, both bool, ask func(l *composed, up bool) float64, tilt func(*composed) float64) (lower, upper float64) {
	steps := 0.0
	for _, e := range c {
		steps += float64(e.Count)
	}
	tail := math.Exp(max(-640, logDelta-28-math.Log(steps)))
	for _, reverse := range []bool{false, true} {
		first, least := c.steps(reverse, tail)
		step := first
		var l *composed
		var lambda float64
		for range 6 {
			l = c.compose(reverse, step, tail, true)
			lambda = tilt(l)
			better := max(least, min(64*first, l.window(lambda)/(0.8*l.size())))
			if better > 0.8*step && better < 1.25*step {
				break
			}
			step = better
		}
		l.convolve(lambda)
		upper = max(upper, ask(l, true))
		if !both {
			continue
		}
		l = c.compose(reverse, step, tail, false)
		l.convolve(lambda)
		lower = max(lower, ask(l, false))
	}
	return min(lower, upper), upper
}

// steps are a step to begin with, and the least one that floating point can tell from 0 beside the
// largest loss.
func (c Composition) steps(reverse bool, tail float64) (first, least float64) {
	widest, largest := 0.0, 1e-100
	for _, e := range c {
		lo, hi := clipped(e.Mechanism.losses(reverse).span(tail))
		widest, largest = max(widest, hi-lo), max(largest, max(hi, -lo))
	}
	return max(widest/1024, 1e-12*largest), 1e-12 * largest
}

// composed is the composition on one grid, from above or from below.
type composed struct {
	laws     []*lossLaw
	counts   []int
	steps    float64 // in all
	step     float64
	offset   float64 // of the sum
	infinite float64

	// After convolve: the tilt and the tilted sum's cumulant; the loss at the first place of the
	// window; and from each place on up the sums of tilted masses, weighed by e^(-lambda d)(1-e^-d)
	// and by e^(-(lambda+1) d), d the distance.
	lambda, k  float64
	from       float64
	gains, low []float64
	noise      float64 // error of the weighed sum, as a share of e^(k - lambda epsilon)
	relative   float64 // relative error of what is computed
}

func (c Composition) compose(reverse bool, step, tail float64, above bool) *composed {
	alone := len(c) == 1 // the step is its own
	l := &composed{step: step}
	keeps := 0.0
	for _, e := range c {
		cells := newCells(e.Mechanism.losses(reverse), step, tail, alone)
		var law *lossLaw
		if above {
			law = cells.above()
		} else {
			law = cells.below(alone)
		}
		l.laws, l.counts = append(l.laws, law), append(l.counts, e.Count)
		l.step = law.step
		n := float64(e.Count)
		l.offset += n * law.offset
		l.steps += n
		keeps += n * math.Log1p(-min(1, law.infinite))
	}
	l.infinite = -math.Expm1(keeps)
	l.k, l.noise = -inf, inf
	return l
}

func (l *composed) cumulant(lambda float64) (k, mean, variance float64) {
	for i, law := range l.laws {
		a, b, c := law.cumulant(lambda)
		n := float64(l.counts[i])
		k, mean, variance = k+n*a, mean+n*b, variance+n*c
	}
	return k, mean, variance
}

// empty: no finite loss is left.
func (l *composed) empty() bool { return l.largest() == -inf }

// largest is the largest finite loss of the sum.
func (l *composed) largest() float64 {
	top := l.offset
	for i, law := range l.laws {
		if len(law.at) == 0 {
			return -inf
		}
		top += float64(l.counts[i]) * law.step * float64(law.at[len(law.at)-1])
	}
	return top
}

// share is the largest value of e^(-lambda d)(1-e^-d) over d > 0.
func share(lambda float64) float64 {
	if lambda == 0 {
		return 1
	}
	return math.Exp(-lambda*math.Log1p(1/lambda)) / (1 + lambda)
}

// tiltAtEpsilon is about the tilt under which the sum has mean eps: there the law is known best.
func (l *composed) tiltAtEpsilon(eps float64) float64 {
	return l.tilt(func(_, mean, _ float64) bool { return mean >= eps })
}

// tiltAtDelta is about the tilt under whose mean Chernoff's bound of delta is e^logDelta.
func (l *composed) tiltAtDelta(logDelta float64) float64 {
	return l.tilt(func(lambda, mean, k float64) bool {
		return k-lambda*mean+math.Log(share(lambda)) <= logDelta
	})
}

func (l *composed) tilt(far func(lambda, mean, k float64) bool) float64 {
	is := func(lambda float64) bool {
		k, mean, _ := l.cumulant(lambda)
		return far(lambda, mean, k)
	}
	if is(0) {
		return 0
	}
	// A tilt of more tells no two places of the grid apart.
	_, _, variance := l.cumulant(0)
	most := 50 / l.step
	lo, hi := 0.0, min(most, 1/math.Sqrt(max(variance, l.step*l.step)))
	for hi < most && !is(hi) {
		lo, hi = hi, 2*hi
	}
	lo, hi = bounds.Bisect(lo, hi, (hi-lo)/200, func(lambda float64) bool { return !is(lambda) })
	return lo + (hi-lo)/2
}

// outside is -log of what the window leaves out of the tilted law on a side.
const outside = 20.0

// ends has at most e^-outside of the tilted sum on either side of it, by Chernoff's bound.
func (l *composed) ends(lambda float64) (lo, hi float64) {
	k, mean, variance := l.cumulant(lambda)
	lo, hi = -inf, inf
	s := math.Sqrt(2 * outside / max(variance, l.step*l.step))
	for _, s := range []float64{s / 16, s / 4, s / 2, s, 2 * s, (lambda + 1) / 8, (lambda + 1) / 2, lambda + 1} {
		up, _, _ := l.cumulant(lambda + s)
		down, _, _ := l.cumulant(lambda - s)
		hi = min(hi, (up-k+outside)/s)
		lo = max(lo, -(down-k+outside)/s)
	}
	// Neither end is further than the law.
	return min(lo, mean), max(mean, min(hi, l.largest()+l.step))
}

func (l *composed) window(lambda float64) float64 {
	if l.empty() {
		return 0
	}
	lo, hi := l.ends(lambda)
	return hi - lo
}

// The length of the transform: the step should be a fiftieth of the spread of a loss.
const (
	resolution = 800
	leastSize  = 1 << 14
	mostSize   = 1 << 19
)

func (l *composed) size() float64 {
	want := resolution * math.Sqrt(l.steps)
	if want >= mostSize {
		return mostSize
	}
	return float64(max(leastSize, 1<<bits.Len(uint(want))))
}

// convolve composes under the tilt. The error of the Fourier transforms in the Euclidean norm is at
// most
//
//	(n+1) (t fourierError + 4) u |f|,  t = log2 of the length, n the steps,
//
// f the law of largest norm: forward transforms err by t fourierError u |f|, no coefficient exceeds
// 1, so their product errs by at most the sum, every product by another sqrt(5) u, and the inverse
// by t fourierError u of the result, whose norm is at most |f|. By Cauchy and Schwarz a weighed sum
// errs by that times the norm of the weights.
func (l *composed) convolve(lambda float64) {
	if l.empty() {
		l.noise = 0
		return
	}
	lo, hi := l.ends(lambda)
	size := leastSize
	for float64(size)*l.step < hi-lo+4*l.step {
		if size *= 2; size > 4*mostSize {
			return
		}
	}
	first := int(math.Floor((lo - l.offset) / l.step))
	f := newFourier(size)
	var product []complex128
	norm := 0.0
	l.lambda, l.k = lambda, 0
	for j, law := range l.laws {
		k, _, _ := law.cumulant(lambda)
		l.k += float64(l.counts[j]) * k
		x := make([]float64, size)
		sum := 0.0
		for i, at := range law.at {
			w := law.mass[i] * math.Exp(lambda*(law.offset+law.step*float64(at))-k)
			x[at&(size-1)] += w
		}
		for _, v := range x {
			sum += v * v
		}
		norm = max(norm, math.Sqrt(sum))
		coefficients := f.forward(x)
		raise(coefficients, l.counts[j])
		for i, v := range product { // of the laws before
			coefficients[i] *= v
		}
		product = coefficients
	}
	tilted := f.inverse(product)

	l.from = l.offset + float64(first)*l.step
	l.gains, l.low = make([]float64, size+1), make([]float64, size+1)
	near, fall, rise := math.Exp(-lambda*l.step), math.Exp(-l.step), -math.Expm1(-l.step)
	weights, weight := 0.0, 1.0 // norm of the weights
	for i := size - 1; i >= 0; i-- {
		l.gains[i] = near * (l.gains[i+1] + rise*l.low[i+1])
		l.low[i] = tilted[(first+i)&(size-1)] + near*fall*l.low[i+1]
		weight *= near * near
		weights += weight
	}
	t := float64(bits.Len(uint(size)))
	euclid := (l.steps + 1) * (t*fourierError + 4) * unit * norm * 1.1
	l.noise = euclid*math.Sqrt(1+weights) + 2*math.Exp(-outside)*share(lambda)
	l.relative = 8*unit*(float64(size)+math.Abs(l.k)+lambda*(math.Abs(lo)+math.Abs(hi)+l.steps*math.Abs(l.step))) + 4*l.steps*lossError
}

// curve is delta at any eps, from above or below.
func (l *composed) curve(eps float64, up bool) float64 {
	// Errors of the masses and losses are like another epsilon.
	shift := 4 * l.steps * lossError
	eps += audit.Pick(up, -shift, shift)
	sum := 0.0
	// From the first place of the window at or above eps.
	if i := max(0, math.Ceil((eps-l.from)/l.step)); i < float64(len(l.gains)) {
		d := l.from + i*l.step - eps
		sum = math.Exp(-l.lambda*d) * (l.gains[int(i)] - math.Expm1(-d)*l.low[int(i)])
	}
	scale := math.Exp(l.k - l.lambda*eps)
	if up {
		infinite := l.infinite * (1 + shift + 8*unit)
		if eps < l.largest() {
			infinite += scale*max(0, sum)*(1+l.relative) + max(scale, leastMass)*l.noise
		}
		return min(1, infinite)
	}
	sum = sum*(1-l.relative) - l.noise
	if !(sum > 0) {
		sum, scale = 0, 0
	}
	return max(0, l.infinite*(1-shift-8*unit)+scale*sum)
}

// epsilon is the end, on the safe side, of a bisection for delta.
func (l *composed) epsilon(delta float64, up bool) float64 {
	holds := func(eps float64) bool { return l.curve(eps, up) <= delta }
	if up && holds(0) {
		return 0
	}
	lo, hi := 0.0, max(l.from+float64(len(l.gains))*l.step, l.step)
	if up && !holds(hi) {
		return inf
	}
	if !up {
		// Far below the tilt's own loss the bound says nothing: from the last place at which it
		// exceeds delta.
		for i := len(l.gains) - 1; i >= 0 && holds(max(0, hi)); i-- {
			hi = l.from + float64(i)*l.step
		}
		if lo = max(0, hi); holds(lo) {
			return 0
		}
		hi = lo + l.step
	}
	lo, hi = bounds.Bisect(lo, hi, 0, func(eps float64) bool { return !holds(eps) })
	if up {
		return hi
	}
	return lo
}

// Noise is looked for between these multiples of the sensitivity.
const (
	leastNoise = MinNoise
	mostNoise  = 1e6
)

// LeastNoise is the least noise of five digits in [MinNoise, 1e6] at which the upper bound of what
// compose makes of it is at most eps at delta: +Inf if none is enough.
func LeastNoise(eps, delta float64, compose func(noise float64) Composition) float64 {
	mustBeEpsilon(eps)
	mustBeDelta(delta)
	at := func(noise float64) float64 {
		_, upper := compose(noise).epsilon(delta, false)
		return upper
	}
	digits := func(x float64, round func(float64) float64) float64 {
		unit := math.Pow10(4 - int(math.Floor(math.Log10(x))))
		return round(x*unit) / unit
	}
	lo, hi := leastNoise, 1.0
	above, below := inf, at(hi)
	for ; below > eps; below = at(hi) {
		if lo, above = hi, below; hi >= mostNoise {
			return inf
		}
		hi = min(mostNoise, digits(4*hi, math.Ceil))
	}
	if lo == leastNoise {
		if above = at(lo); above <= eps {
			return lo
		}
	}
	const aside = 1e-7 // so that what has five digits is rounded to its neighbour
	// The logarithm of epsilon falls nearly on a line over that of the noise: false position
	// (Dowell and Jarratt 1971, the Illinois method).
	over, under := math.Log(above/eps), math.Log(eps/below)
	for last := 0.0; ; {
		first, end := digits(lo*(1+aside), math.Ceil), digits(hi*(1-aside), math.Floor)
		if first > end*(1+aside) {
			return hi
		}
		part := over / (over + under)
		if !(part > 0 && part < 1) {
			part = 0.5
		}
		mid := max(first, min(digits(lo*math.Pow(hi/lo, part), math.Ceil), end))
		if v := at(mid); v <= eps {
			if last == hi {
				over /= 2
			}
			hi, under, last = mid, math.Log(eps/v), mid
		} else {
			if last == lo {
				under /= 2
			}
			lo, over, last = mid, math.Log(v/eps), mid
		}
	}
}
