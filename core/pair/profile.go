package pair

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/threshold"
)

// A claim that is a curve is refuted at one of its points. Exploration chooses the point,
// with the event; from there on the audit is one of the (epsilon, delta) there, on fresh
// outputs, with all of the error. So a mechanism that keeps the curve, and with it
// every point, is refuted no more often than one that keeps that claim.

// at is the audit of the point that exploration chose; nil: of the claim as it is.
func (a *Audit) at(point *audit.ProfilePoint) *Audit {
	if point == nil {
		return a
	}
	return a.claiming(audit.DPClaim(point.Epsilon, point.Delta))
}

// betPoints are at how many points of a curve the sequential stage bets against it.
const betPoints = 4

// stretched are the points that are bet against, evenly along the curve, were their
// epsilons this many times as large. What keeps the curve keeps each of them; and what
// keeps them at one factor keeps them at every larger one.
func (a *Audit) stretched(factor float64) []bounds.Point {
	all := a.Claim.Profile.Points
	n := min(betPoints, len(all))
	points := make([]bounds.Point, n)
	for i := range points {
		p := all[i*(len(all)-1)/max(1, n-1)]
		points[i] = bounds.Point{Epsilon: float64(factor * p.Epsilon), Delta: p.Delta}
	}
	return points
}

// statedClaim is the claim in words, with the curve that a point belongs to.
func (a *Audit) statedClaim(point *audit.ProfilePoint) string {
	words := a.at(point).Claim.String()
	if point != nil {
		words += ", of " + a.Claim.String()
		if s := a.Claim.Profile.Source; s != "" {
			words += " (" + s + ")"
		}
	}
	return words
}

// exploreShare is how many outputs a delta should stand for, at least, where exploration
// looks for an event.
const exploreShare = 100

// explorePoint is the claim by which exploration looks for pairs and events: the point of
// the least delta that its outputs still show well.
func (a *Audit) explorePoint() audit.Claim {
	points := a.Claim.Profile.Points
	best := points[0]
	for _, p := range points {
		if p.Delta >= float64(exploreShare)/float64(max(1, a.Plan.Samples)) {
			best = p
		}
	}
	return audit.DPClaim(best.Epsilon, best.Delta)
}

// choosePoint returns the point of the curve at which an event of the explored outputs
// promises most: the excess of p1 - e^epsilon p0 over delta, less its standard error in
// exploration, in standard errors of the certification.
func (a *Audit) choosePoint(table bounds.Table) (point audit.ProfilePoint, event threshold.Event) {
	best := math.Inf(-1)
	for _, p := range a.Claim.Profile.Points {
		ratio := stream.Exp(p.Epsilon)
		cut, v := threshold.Best(table, func(c bounds.Counts) float64 {
			p1, p0 := roughRate(c.X, c.N1), roughRate(c.Y, c.N0)
			excess := p1 - float64(ratio*p0) - p.Delta
			spread := math.Sqrt(float64(p1*(1-p1)) + float64(float64(ratio*ratio)*float64(p0*(1-p0))))
			explored, certified := spread/math.Sqrt(float64(c.N1)), spread/math.Sqrt(float64(a.Plan.Samples))
			return phrase.Floor((excess-explored)/certified, 6)
		})
		if v > best+threshold.ValueMargin {
			point, event, best = p, cut, v
		}
	}
	return point, event
}

// checkPoint refuses a point that is none of the curve's.
func (p Plan) checkPoint(point *audit.ProfilePoint) error {
	curve := p.Claim != nil && p.Claim.Kind == audit.Profile && p.Claim.Profile != nil
	switch {
	case curve && point == nil:
		return &audit.InputError{Field: "prepared.point", Found: audit.Absent, Want: "the point of the claim's curve that exploration chose"}
	case point != nil && !curve:
		return &audit.InputError{Field: "prepared.point", Found: "there", Want: fmt.Sprintf("absent except for a claim of kind %q", audit.Profile)}
	case point != nil && !slices.Contains(p.Claim.Profile.Points, *point):
		return &audit.InputError{Field: "prepared.point", Found: audit.DPClaim(point.Epsilon, point.Delta).String(), Want: "a point of the claim's curve"}
	}
	return nil
}
