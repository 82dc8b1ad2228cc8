package bounds

import (
	"math"
	"sort"
)

// MaxCertifiable returns the largest epsilon that n1 and n0 outputs can
// certify: the bound at X = N1, Y = 0, about log n - log log(1/beta).
func MaxCertifiable(n1, n0 int, delta, beta float64) float64 {
	c := Counts{X: n1, N1: n1, Y: 0, N0: n0}
	return Certify(c, c, delta, beta).Epsilon
}

// SmallestDetectable returns the smallest true epsilon, for an event of
// probability p0 on the second dataset, whose expected counts certify more than
// claimEps: roughly the violation that this sample size finds half of the time.
// +Inf if there is none, since p1 cannot exceed 1 or p0 is 0.
//
// It panics on arguments out of range; p0 must lie in [0, 1].
func SmallestDetectable(claimEps, delta, beta float64, n1, n0 int, p0 float64) float64 {
	mustBeSound(Counts{N1: n1, N0: n0}, delta, beta)
	if CheckEpsilon(claimEps) != nil {
		panic("bounds: epsilon is not finite")
	}
	if !(p0 >= 0 && p0 <= 1) {
		panic("bounds: probability outside [0, 1]")
	}
	y := int(math.Round(p0 * float64(n0)))
	shows := func(x int) bool {
		c := Counts{X: x, N1: n1, Y: y, N0: n0}
		return Certify(c, c, delta, beta).Epsilon > claimEps
	}
	if p0 == 0 || !shows(n1) {
		return math.Inf(1)
	}
	// The bound grows with x, but for a granularity of the last digits. The
	// score limit, which costs next to nothing, says where to look; then double
	// the distance until the bracket holds, and halve it.
	guess := sort.Search(n1, func(x int) bool {
		return Score(Counts{X: x, N1: n1, Y: y, N0: n0}, delta, beta) > claimEps
	})
	var low, high int // the least x that shows it is above low and at most high
	step := 1 + int(math.Sqrt(float64(n1)))/100
	if shows(guess) {
		for high = guess; high-step > 0 && shows(high-step); step *= 2 {
			high -= step
		}
		low = max(0, high-step)
	} else {
		for low = guess; low+step < n1 && !shows(low+step); step *= 2 {
			low += step
		}
		high = min(n1, low+step)
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; shows(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Log((float64(high)/float64(n1) - delta) / p0)
}
