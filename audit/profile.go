package audit

import (
	"cmp"
	"fmt"
	"slices"
)

// PrivacyProfile is a claim as a curve: at each of its points the mechanism claims to be (Epsilon,
// Delta) private. What refutes one point refutes the claim, and nothing else.
type PrivacyProfile struct {
	Points []ProfilePoint `json:"points"`           // by epsilon, increasing; 1 to 4096
	Source string         `json:"source,omitempty"` // where they come from, in words
}

// ProfilePoint is an (epsilon, delta) claim.
type ProfilePoint struct {
	Epsilon float64 `json:"epsilon"` // in (0, 500]
	Delta   float64 `json:"delta"`   // in [0, 1), not increasing with epsilon
}

// MostPoints is how many points a curve may have.
const MostPoints = 4096

const mostSource = 200

// Validate checks the points and their order.
func (p PrivacyProfile) Validate() error {
	if len(p.Points) < 1 || len(p.Points) > MostPoints {
		return At("/claim/profile/points", Fault("profile.points", fmt.Sprintf("%d points", len(p.Points)), fmt.Sprintf("1 to %d", MostPoints)))
	}
	if len(p.Source) > mostSource {
		return At("/claim/profile/source", Fault("profile.source", fmt.Sprintf("%d bytes", len(p.Source)), fmt.Sprintf("at most %d", mostSource)))
	}
	for i, x := range p.Points {
		name, found, want := "delta", x.Delta, ""
		if i > 0 && x.Delta > p.Points[i-1].Delta {
			want = "at most " + Number(p.Points[i-1].Delta) + " of the point before it: delta must not rise with epsilon"
		}
		if !(x.Delta >= 0 && x.Delta < 1) {
			want = "in [0, 1)"
		}
		if i > 0 && x.Epsilon <= p.Points[i-1].Epsilon {
			name, found, want = "epsilon", x.Epsilon, "above "+Number(p.Points[i-1].Epsilon)+" of the point before it"
		}
		if !(x.Epsilon > 0 && x.Epsilon <= claimTop) {
			name, found, want = "epsilon", x.Epsilon, "above 0, at most "+Number(claimTop)
		}
		if want != "" {
			return At(fmt.Sprintf("/claim/profile/points/%d/%s", i, name), Fault(fmt.Sprintf("profile.points[%d].%s", i, name), Number(found), want))
		}
	}
	return nil
}

// ParseProfile reads a curve from JSON; unknown fields are refused.
func ParseProfile(data []byte) (PrivacyProfile, error) {
	var p PrivacyProfile
	if err := DecodeStrict(data, "profile", &p); err != nil {
		return p, err
	}
	return p, p.Validate()
}

// leastEpsilon stands for 0: what holds at 0 holds there.
const leastEpsilon = 1e-6

// Profiled is a curve of points in any order. Those of a delta of 1 or more are left out; the least
// delta at an epsilon stays; an epsilon of 0 is raised to 1e-6.
func Profiled(points []ProfilePoint, source string) (PrivacyProfile, error) {
	p := PrivacyProfile{Source: source[:min(len(source), mostSource)]}
	points = slices.Clone(points)
	for i, x := range points {
		if x.Epsilon == 0 {
			points[i].Epsilon = leastEpsilon
		}
	}
	slices.SortFunc(points, func(a, b ProfilePoint) int {
		return cmp.Or(cmp.Compare(a.Epsilon, b.Epsilon), cmp.Compare(a.Delta, b.Delta))
	})
	for _, x := range points {
		if n := len(p.Points); x.Delta >= 1 || n > 0 && p.Points[n-1].Epsilon == x.Epsilon {
			continue
		}
		p.Points = append(p.Points, x)
	}
	return p, p.Validate()
}
