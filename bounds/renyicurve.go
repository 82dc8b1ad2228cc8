package bounds

import "math"

// RenyiPoint is one order of a simultaneous set of Renyi bounds.
type RenyiPoint struct {
	Alpha  float64 `json:"alpha"`
	Lower  float64 `json:"lower"` // bound on D_alpha, nats
	Method Method  `json:"method"`
	Beta   float64 `json:"beta"` // its share of the error probability
}

// RenyiCurve returns lower bounds for all plans that hold simultaneously with
// probability at least 1 - beta: each is [Renyi] at beta/len(plans), the union
// bound. Tune the plans at that level. It panics as Renyi does, and without
// plans.
func RenyiCurve(t Table, plans []RenyiPlan, beta float64) []RenyiPoint {
	if len(plans) == 0 {
		panic("bounds: a curve needs at least one plan")
	}
	share := beta / float64(len(plans))
	points := make([]RenyiPoint, len(plans))
	for i, p := range plans {
		points[i] = RenyiPoint{Alpha: p.Alpha, Lower: Renyi(t, p, share), Method: p.Method, Beta: share}
	}
	return points
}

// ConcentratedRho returns a lower bound on the rho of zero-concentrated
// differential privacy (Bun and Steinke 2016: D_alpha <= rho alpha for all
// alpha > 1): the largest Lower/Alpha. It holds whenever the bounds do, so the
// confidence is that of the curve, already paid for. Rounded down.
func ConcentratedRho(curve []RenyiPoint) float64 {
	rho := 0.0
	for _, p := range curve {
		rho = math.Max(rho, p.Lower/p.Alpha)
	}
	return math.Max(0, RoundDown(rho))
}
