package published

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpscope/dpscope/bounds"
)

const (
	// MethodKatz is [Katz] at delta = 0; it certifies nothing.
	MethodKatz bounds.Method = "published-katz-log"
	// MethodKatzDelta is [Katz] at delta > 0, which nobody published; it
	// certifies nothing.
	MethodKatzDelta bounds.Method = "katz-log-delta-method"
)

// Katz is the log-ratio bound of Katz, Baptista, Azen and Pike (1978), as Lu et
// al. (2022, section 4.2 and lemma A.3) use it at delta = 0, with delta > 0 put
// in by the delta method, which is this project's own extension and stands in
// neither paper:
//
//	log((x/n1 - delta)/(y/n0)) - z sqrt(p1(1-p1)/(n1 (p1-delta)^2) + (1-p0)/(n0 p0))
//
// with the observed rates for p1 and p0 and z the upper beta quantile of the
// normal distribution. It is here to compare with published figures, never to
// certify. For delta = 0 and p1 >= p0 its error stays near beta. The limits:
// with delta > 0 and p1 near delta its error is far above beta (.13 at nominal
// .05 for n = 10^4, delta = .01); at Y = 0, where it is undefined, it
// returns -Inf; and it is not valid when the event, or its complement, was
// chosen on the same counts. -Inf if X/N1 <= delta.
func Katz(c bounds.Counts, delta, beta float64) float64 {
	must(c.Validate(), bounds.CheckDelta(delta), bounds.CheckBeta(beta))
	n1, n0 := float64(c.N1), float64(c.N0)
	p1, p0 := float64(c.X)/n1, float64(c.Y)/n0
	if c.Y == 0 || p1 <= delta {
		return math.Inf(-1)
	}
	excess := p1 - delta
	spread := p1*(1-p1)/(n1*excess*excess) + (1-p0)/(n0*p0)
	return math.Log(excess/p0) - -mathext.NormalQuantile(beta)*math.Sqrt(spread)
}
