package accounting

import "math"

// Noise is looked for between these multiples of the sensitivity.
const (
	leastNoise = MinNoise
	mostNoise  = 1e6
)

// LeastNoise returns the least noise at which the upper bound of
// [Composition.Epsilon] of the composition that compose makes of it is at most eps at
// delta, rounded up to five significant digits and tried there: a standard deviation, a
// scale, whatever compose takes it as. Noise outside [MinNoise, 1e6] is not tried: +Inf
// if none is enough. Some ten compositions.
func LeastNoise(eps, delta float64, compose func(noise float64) Composition) float64 {
	mustBeEpsilon(eps)
	mustBeDelta(delta)
	at := func(noise float64) float64 {
		_, upper := compose(noise).epsilon(delta, false)
		return upper
	}
	if at(leastNoise) <= eps {
		return leastNoise
	}
	lo, hi := leastNoise, 1.0
	above, below := math.Inf(1), at(hi)
	for below > eps {
		if lo, above = hi, below; hi >= mostNoise {
			return math.Inf(1)
		}
		hi = math.Min(mostNoise, 4*hi)
		below = at(hi)
	}
	// The logarithm of epsilon falls nearly on a line over that of the noise.
	for i := 0; hi > lo*(1+2e-6) && i < 60; i++ {
		mid := math.Sqrt(lo * hi)
		if i%3 < 2 && above < math.Inf(1) && below > 0 && eps > 0 {
			part := math.Log(above/eps) / math.Log(above/below)
			// A little to one side or the other, so that both ends close in.
			part = math.Max(0.001, math.Min(0.999, part+[2]float64{1e-3, -1e-3}[i%2]*math.Min(1, 30*part*(1-part))))
			mid = lo * math.Pow(hi/lo, part)
		}
		if v := at(mid); v <= eps {
			hi, below = mid, v
		} else {
			lo, above = mid, v
		}
	}
	unit := math.Pow10(4 - int(math.Floor(math.Log10(hi))))
	for v := math.Ceil(hi*unit) / unit; ; v = (math.Round(v*unit) + 1) / unit {
		if v == hi || at(v) <= eps {
			return v
		}
	}
}
