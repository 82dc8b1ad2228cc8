package bounds

import (
	"fmt"
	"math"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// Counts of an event on two datasets. Those of disjoint shards of an experiment add up.
type Counts struct {
	X  int `json:"x"`  // outputs of the first dataset in the event, 0..N1
	N1 int `json:"n1"` // outputs of the first dataset, at least 1
	Y  int `json:"y"`  // outputs of the second dataset in the event, 0..N0
	N0 int `json:"n0"` // outputs of the second dataset, at least 1
}

// Validate reports the first field that is out of range.
func (c Counts) Validate() error {
	return audit.First(checkSide("X", "N1", c.X, c.N1), checkSide("Y", "N0", c.Y, c.N0))
}

func checkSide(hit, size string, k, n int) error {
	return audit.First(require(n >= 1 && n <= maxTrials, "counts: %s is %d, must be 1 to %d: draw at least one output of each dataset", size, n, maxTrials),
		require(k >= 0 && k <= n, "counts: %s is %d, must be 0 to %s = %d", hit, k, size, n))
}

// require is nil where a requirement holds, and else this error.
func require(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// maxTrials keeps counts exactly representable, and indices of a table inside memory.
const maxTrials = 1 << 40

// Add returns the counts of both experiments together.
func (c Counts) Add(d Counts) Counts {
	return Counts{X: c.X + d.X, N1: c.N1 + d.N1, Y: c.Y + d.Y, N0: c.N0 + d.N0}
}

// CheckDelta reports a delta outside [0, 1).
func CheckDelta(delta float64) error {
	return require(delta >= 0 && delta < 1, "delta is %v, must be at least 0 and below 1", delta)
}

// CheckBeta reports an error probability outside (0, 1), or below where tail sums are carried.
func CheckBeta(beta float64) error {
	return require(beta >= minBeta && beta < 1, "beta is %v, must be at least %v and below 1: use 0.05 for 95 %% confidence", beta, minBeta)
}

const minBeta = 1e-100

var inf = math.Inf(1)

// CheckEpsilon reports an epsilon that is not a finite number.
func CheckEpsilon(eps float64) error {
	return require(eps-eps == 0, "epsilon must be a finite number")
}

// CheckClaim reports an epsilon, mu or divergence, as is claimed, that is below 0 or not finite.
func CheckClaim(v float64) error {
	return require(v >= 0 && v != inf, "%v must be at least 0 and finite", v)
}

// Must panics with the first error: such arguments are the programmer's.
func Must(errs ...error) {
	if err := audit.First(errs...); err != nil {
		panic("bounds: " + err.Error())
	}
}

// Refuse panics where the programmer's arguments are wrong.
func Refuse(wrong bool, why string) {
	if wrong {
		panic("bounds: " + why)
	}
}

func mustBeSound(c Counts, delta, beta float64) {
	Must(c.Validate(), CheckDelta(delta), CheckBeta(beta))
}

// Method names how a bound was computed.
type Method string

const (
	// MethodExact is [Exact].
	MethodExact Method = "exact-unconditional"
	// MethodClopperPearson is [ClopperPearson] with the split of [TuneSplit].
	MethodClopperPearson Method = "clopper-pearson"
)

// RoundDown rounds down to six decimals, less 1e-9: so platforms agree.
func RoundDown(eps float64) float64 { return math.Floor((eps-1e-9)*1e6) / 1e6 }

// MaxCertifiable is the largest epsilon that n1 and n0 outputs can certify: about log n - log
// log(1/beta).
func MaxCertifiable(n1, n0 int, delta, beta float64) float64 {
	return Exact(Counts{X: n1, N1: n1, N0: n0}, delta, beta)
}

// SmallestDetectable is the smallest true epsilon, for an event of probability p0 on the second
// dataset, whose expected counts certify more than claimEps: about what is found half of the time.
func SmallestDetectable(claimEps, delta, beta float64, n1, n0 int, p0 float64) float64 {
	Must(Counts{N1: n1, N0: n0}.Validate(), CheckDelta(delta), CheckBeta(beta), CheckEpsilon(claimEps))
	Refuse(!(p0 >= 0 && p0 <= 1), "probability outside [0, 1]")
	y := int(math.Round(p0 * float64(n0)))
	shows := func(x int) bool { return Exact(Counts{X: x, N1: n1, Y: y, N0: n0}, delta, beta) > claimEps }
	if p0 == 0 || !shows(n1) {
		return inf
	}
	// The bound grows with x, but for a granularity of the last digits.
	high := sort.Search(n1, shows)
	return math.Log((float64(high)/float64(n1) - delta) / p0)
}

// Largest is the largest x of [lo, hi], to within tol, up to which in holds, rounded down: at least
// 0.
func Largest(lo, hi, tol float64, in func(float64) bool) float64 {
	x, _ := Bisect(lo, hi, tol, in)
	return max(0, RoundDown(x))
}

// Bisect narrows [lo, hi], where in holds up to some point and not beyond, until its ends are
// within tol or next to each other: last is where in holds, first where it does not, or hi. Both
// are lo if it fails there. Take the end that is safe.
func Bisect(lo, hi, tol float64, in func(float64) bool) (last, first float64) {
	if !in(lo) {
		return lo, lo
	}
	for hi-lo > tol {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if in(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, hi
}

// Golden is the place of the least value between two, to within near, by golden sections.
func Golden(lo, hi, near float64, value func(x float64) float64) float64 {
	const ratio = 0.6180339887498949
	x1, x2 := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	v1, v2 := value(x1), value(x2)
	for range 100 {
		if hi-lo <= near {
			break
		}
		if v1 <= v2 {
			hi, x2, v2 = x2, x1, v1
			x1 = hi - ratio*(hi-lo)
			v1 = value(x1)
		} else {
			lo, x1, v1 = x1, x2, v2
			x2 = lo + ratio*(hi-lo)
			v2 = value(x2)
		}
	}
	return (lo + hi) / 2
}

// leastShare is the least q with kl(p, q) <= level, from below, for the Kullback-Leibler divergence
// of Bernoulli laws (Hoeffding 1963, theorem 1).
func leastShare(p, level float64) float64 {
	part := func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return float64(a * stream.Log(a/b))
	}
	q, _ := Bisect(0, p, 0, func(q float64) bool { return part(p, q)+part(1-p, 1-q) > level })
	return q
}
