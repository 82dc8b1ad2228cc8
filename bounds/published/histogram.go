package published

import (
	"math"

	"github.com/dpscope/dpscope/bounds"
)

const (
	// MethodHistogram is [HistogramDelta].
	MethodHistogram bounds.Method = "histogram-corrected"
	// MethodHistogramPublished is [HistogramDivergence] less eta at [HistogramSamples]; it
	// certifies nothing.
	MethodHistogramPublished bounds.Method = "published-histogram"
	// MethodADPTester is [HistogramDivergence] less [ADPTesterEta]; it certifies nothing.
	MethodADPTester bounds.Method = "published-adptester"
)

// HistogramDivergence is the plug-in estimate of the hockey-stick divergence on bins, the sum of
// max(0, x_j/n1 - e^eps y_j/n0), biased upwards. The published tester (algorithms 3 and 4 of
// DP-Auditorium, algorithm 2 of RenyiTester) reports a violation if it less eta exceeds delta.
func HistogramDivergence(first, second []int, eps float64) float64 {
	n1, n0 := mustBeHistograms(first, second)
	bounds.Must(bounds.CheckEpsilon(eps))
	th, sum := math.Exp(eps), 0.0
	for j := range first {
		sum += max(0, float64(first[j])/n1-th*float64(second[j])/n0)
	}
	return sum
}

// HistogramDelta is a lower confidence bound on the delta for which (eps, delta) can hold from the
// histograms of n1 and n0 independent outputs on m bins that were fixed beforehand:
//
//	z - sqrt(m s)/2 - sqrt(s log(1/beta)/2),  s = 1/n1 + e^(2 eps)/n0,
//
// z = [HistogramDivergence]: the bias of a positive part is at most half the mean absolute
// deviation, hence that of z at most half the sum of the bins' deviations, whose squares add up to
// at most s; and one output moves z by at most 1/n1 or e^eps/n0 (McDiarmid 1989).
func HistogramDelta(first, second []int, eps, beta float64) float64 {
	n1, n0 := mustBeHistograms(first, second)
	bounds.Must(bounds.CheckBeta(beta))
	s := 1/n1 + math.Exp(2*eps)/n0
	slack := math.Sqrt(float64(len(first))*s)/2 + math.Sqrt(s*math.Log(1/beta)/2)
	return max(0, bounds.RoundDown(HistogramDivergence(first, second, eps)-slack))
}

// HistogramSamples is line 2 of algorithm 3 of DP-Auditorium. The first term must have eta where it
// has beta, and 12 stands for 4/beta at beta = 1/3 (docs/findings/histogram.md).
func HistogramSamples(m int, eps, eta, beta float64) float64 {
	return max(4*float64(m)/(beta*beta), 12/(eta*eta)) * (1 + math.Exp(2*eps))
}

// ADPTesterEta is the estimation error eta for which n outputs a side are what aDPTester asks for
// (RenyiTester, algorithm 2, after Gilbert and McMillan 2018), of m outcomes, at an error of 1/3.
// Such n at eta = .01, fitted here, are its column of table 1.
func ADPTesterEta(m int, eps float64, n int) float64 {
	return math.Sqrt(max(4*float64(m), 12) * (1 + math.Exp(2*eps)) / float64(n))
}

func mustBeHistograms(first, second []int) (n1, n0 float64) {
	bounds.Refuse(len(first) != len(second), "histograms with different bins")
	for j := range first {
		bounds.Refuse(first[j] < 0 || second[j] < 0, "negative count")
		n1 += float64(first[j])
		n0 += float64(second[j])
	}
	bounds.Refuse(n1 == 0 || n0 == 0, "empty histogram")
	return n1, n0
}

// MethodHockeyStick is [HockeyStickEstimate] less [HockeyStickSlack].
const MethodHockeyStick bounds.Method = "published-hockeystick"

// HockeyStickEstimate is what algorithm 5 of DP-Auditorium estimates by its classifier's event: (1
// + e^eps) P(right) - e^eps.
func HockeyStickEstimate(c bounds.Counts, eps float64) float64 {
	return float64(c.X)/float64(c.N1) - float64(math.Exp(eps)*float64(c.Y))/float64(c.N0)
}

// HockeyStickSlack is (1 + e^eps) sqrt(log(1/beta)/(2m)), Hoeffding's bound of its propositions
// 4.11 and 4.12, for the m of which n outputs of the second side are the share e^eps/(1 + e^eps).
func HockeyStickSlack(n int, eps, beta float64) float64 {
	bounds.Must(bounds.CheckClaim(eps), bounds.CheckBeta(beta))
	e := math.Exp(eps)
	return (1 + e) * math.Sqrt(math.Log(1/beta)*e/(2*float64(n)*(1+e)))
}
