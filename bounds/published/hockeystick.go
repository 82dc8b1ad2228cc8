package published

import (
	"math"

	"github.com/dpscope/dpscope/bounds"
)

// MethodHockeyStick is [HockeyStickEstimate] less [HockeyStickSlack].
const MethodHockeyStick bounds.Method = "published-hockeystick"

// HockeyStickEstimate is what algorithm 5 of DP-Auditorium estimates of the hockey-stick
// divergence by the event that its classifier is for: (1 + e^eps) P(right) - e^eps, which
// is P(event) - e^eps Q(event).
func HockeyStickEstimate(c bounds.Counts, eps float64) float64 {
	return float64(c.X)/float64(c.N1) - float64(math.Exp(eps)*float64(c.Y))/float64(c.N0)
}

// HockeyStickSlack is (1 + e^eps) sqrt(log(1/beta)/(2m)), Hoeffding's bound of its
// propositions 4.11 and 4.12, for the m of which n outputs of the second side are the share
// e^eps/(1 + e^eps). The algorithm draws the sides at random in that proportion; with n
// of either it errs less, so the bound is valid. What is wrong: nothing, but an exact test
// of the event shows several times more.
func HockeyStickSlack(n int, eps, beta float64) float64 {
	must(bounds.CheckEpsilon(eps), notBelow(eps, 0), bounds.CheckBeta(beta))
	e := math.Exp(eps)
	return (1 + e) * math.Sqrt(math.Log(1/beta)*e/(2*float64(n)*(1+e)))
}
