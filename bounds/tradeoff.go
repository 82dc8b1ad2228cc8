package bounds

import "math"

// TradeoffPoint is one rejection region of the test of the second dataset (null)
// against the first: the estimates of both errors and a rectangle that holds the
// true pair.
type TradeoffPoint struct {
	FPR      float64 `json:"fpr"` // share of the second dataset's outputs in the region
	FPRLower float64 `json:"fprLower"`
	FPRUpper float64 `json:"fprUpper"`
	FNR      float64 `json:"fnr"` // share of the first dataset's outputs outside it
	FNRLower float64 `json:"fnrLower"`
	FNRUpper float64 `json:"fnrUpper"`
}

// TradeoffBand returns the empirical trade-off curve of a score whose bins are
// taken into the rejection region one after another in the given order, from no
// bin to all of them: Bins+1 points. All rectangles together hold their true
// points with probability at least 1 - beta at every sample size, if the outputs
// are independent and bins and order were fixed beforehand. So every
// (FPRUpper, FNRUpper) certifies a point on or above the mechanism's trade-off
// function: a claimed f with f(FPRUpper) > FNRUpper is refuted.
//
// Half of beta goes to the Dvoretzky-Kiefer-Wolfowitz bands of both marginals
// with Massart's constant (1990), which are better in the middle, half to
// Clopper-Pearson limits of every point by the union bound, better in the tails,
// where privacy lives; each limit is the better of the two, and then made
// monotone along the curve, as the truth is.
//
// Cost: 4 Bins Clopper-Pearson limits. It panics on arguments out of range;
// order must name every bin once.
func TradeoffBand(t Table, order []int, beta float64) []TradeoffPoint {
	if t.Validate() != nil || CheckBeta(beta) != nil {
		panic("bounds: table or beta out of range")
	}
	mustBePermutation(order, t.Bins)
	n := t.Pairs()
	fpr := cumulativeBand(t.Second(), order, n, beta/2)
	tpr := cumulativeBand(t.First(), order, n, beta/2)
	points := make([]TradeoffPoint, t.Bins+1)
	for i := range points {
		points[i] = TradeoffPoint{
			FPR: fpr[i].value, FPRLower: fpr[i].low, FPRUpper: fpr[i].high,
			FNR: 1 - tpr[i].value, FNRLower: 1 - tpr[i].high, FNRUpper: 1 - tpr[i].low,
		}
	}
	return points
}

type limited struct{ value, low, high float64 }

// cumulativeBand bounds all partial sums of one marginal at level beta.
func cumulativeBand(counts, order []int, n int, beta float64) []limited {
	band := make([]limited, len(order)+1)
	band[len(order)] = limited{1, 1, 1}
	// P(sup |F_n - F| > d) <= 2 exp(-2 n d^2) = beta/2.
	width := math.Sqrt(math.Log(4/beta)/(2*float64(n))) + 1e-12
	each := beta / 4 / math.Max(1, float64(len(order)-1))
	k := 0
	for i := 1; i < len(order); i++ {
		k += counts[order[i-1]]
		v := float64(k) / float64(n)
		band[i] = limited{
			value: v,
			low:   math.Max(band[i-1].low, math.Max(v-width, LowerProportion(k, n, each))),
			high:  math.Min(v+width, UpperProportion(k, n, each)),
		}
	}
	for i := len(order) - 1; i > 0; i-- {
		band[i].high = math.Min(band[i].high, band[i+1].high)
	}
	return band
}

func mustBePermutation(order []int, n int) {
	seen := make([]bool, n)
	if len(order) != n {
		panic("bounds: an order names every bin once")
	}
	for _, i := range order {
		if i < 0 || i >= n || seen[i] {
			panic("bounds: an order names every bin once")
		}
		seen[i] = true
	}
}
