package pair

import (
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// Curves are what a report holds to draw besides its chart, with the claim as a
// line to compare with.
type Curves struct {
	Tradeoff *TradeoffCurve `json:"tradeoff,omitempty"`
	Renyi    *RenyiCurve    `json:"renyi,omitempty"`
}

// TradeoffCurve is the false negative rate against the false positive rate of
// the test that takes an output for one of the numerator's dataset. Claimed is a
// polyline: no test of a mechanism that keeps its claim lies below.
type TradeoffCurve struct {
	Points     []bounds.TradeoffPoint `json:"points"`
	Claimed    [][2]float64           `json:"claimed"`
	ClaimWords string                 `json:"claimWords"`
	Confidence string                 `json:"confidence"`
	Direction  string                 `json:"direction"`
}

// RenyiCurve is the lower bounds on the Rényi divergence against its order.
// Claimed is a polyline: the divergence of a mechanism that keeps its claim lies
// on or below.
type RenyiCurve struct {
	Points     []report.Row `json:"points"`
	Claimed    [][2]float64 `json:"claimed"`
	ClaimWords string       `json:"claimWords"`
	Confidence string       `json:"confidence"`
}

// ReportCurves are the curves of a report.
func ReportCurves(r Report) Curves {
	var c Curves
	if len(r.Tradeoff) > 0 && r.Evidence != nil {
		c.Tradeoff = &TradeoffCurve{Points: r.Tradeoff, Claimed: claimedTradeoff(r.Claim), ClaimWords: r.Claim.String(),
			Confidence: phrase.Percent(1 - r.Plan.Beta), Direction: r.Evidence.Prepared.Event.Direction()}
	}
	if len(r.Rows(report.Renyi)) > 0 {
		c.Renyi = &RenyiCurve{Points: r.Rows(report.Renyi), Claimed: claimedRenyi(r.Claim, r.Rows(report.Renyi)), ClaimWords: r.Claim.String(), Confidence: phrase.Percent(1 - r.Plan.Beta)}
	}
	return c
}

// curveSteps is about how many points a claimed curve has.
const curveSteps = 160

// claimedTradeoff is the claim as a trade-off function: for (epsilon, delta), proposition
// 2.4 of Dong, Roth and Su 2022 (Wasserman and Zhou 2010); empty where the claim
// is none in these terms.
func claimedTradeoff(c audit.Claim) [][2]float64 {
	points := [][2]float64{}
	switch c.Kind {
	case audit.Pure, audit.Approximate:
		corner := (1 - c.Delta) / (1 + math.Exp(c.Epsilon))
		points = append(points, [2]float64{0, 1 - c.Delta}, [2]float64{corner, corner}, [2]float64{1 - c.Delta, 0})
		if c.Delta > 0 {
			points = append(points, [2]float64{1, 0})
		}
	case audit.GaussianDP:
		points = gaussianTradeoff(c.Mu)
	}
	return points
}

// gaussianTradeoff is a polyline of tangents of the curve of mu-GDP, so that it
// lies nowhere above it. Even steps of the normal quantile reach into both
// corners.
func gaussianTradeoff(mu float64) [][2]float64 {
	points := [][2]float64{{0, 1}}
	var x0, y0, s0 float64
	for i := range curveSteps + 1 {
		z := -6 - mu + float64((12+mu)*float64(i))/curveSteps
		x, y, s := normalCDF(z), normalCDF(-z-mu), -math.Exp(-float64(mu*z)-float64(mu*mu/2))
		if i > 0 && s > s0 {
			// Where the tangents at both points meet.
			meet := (y - y0 + float64(s0*x0) - float64(s*x)) / (s0 - s)
			if at := y + float64(s*(meet-x)); meet >= x0 && meet <= x && at >= 0 && at <= 1 {
				points = append(points, [2]float64{meet, at})
			}
		}
		x0, y0, s0 = x, y, s
	}
	return append(points, [2]float64{1, 0})
}

func normalCDF(x float64) float64 { return float64(math.Erfc(-x/math.Sqrt2) / 2) }

// claimedRenyi is what the claim implies from the smallest order to the largest.
func claimedRenyi(c audit.Claim, found []report.Row) [][2]float64 {
	points := [][2]float64{}
	lo, hi := math.Inf(1), 0.0
	for _, f := range found {
		lo, hi = math.Min(lo, f.Alpha), math.Max(hi, f.Alpha)
	}
	for i := range curveSteps + 1 {
		alpha := lo * math.Pow(hi/lo, float64(i)/curveSteps)
		if v, ok := c.ImpliedRenyi(alpha); ok {
			points = append(points, [2]float64{alpha, v})
		}
	}
	if c.Kind == audit.Renyi && c.Alpha <= hi && c.Alpha >= lo {
		points = append(points, [2]float64{c.Alpha, c.Epsilon})
	}
	return points
}
