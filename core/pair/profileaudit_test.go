package pair_test

import (
	"context"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// A Gaussian mechanism whose claim is a Gaussian curve: whole audits of one that keeps
// it, and of one with half the noise. The report replays, and says which point it is.
func TestProfileAudit(t *testing.T) {
	t.Parallel()
	curve := func(mu float64) *audit.PrivacyProfile {
		p := &audit.PrivacyProfile{Source: "a table"}
		for _, eps := range []float64{0.1, 0.5, 1, 2, 3, 4} {
			p.Points = append(p.Points, audit.ProfilePoint{Epsilon: eps, Delta: bounds.GaussianDelta(mu, eps) * (1 + 1e-9)})
		}
		return p
	}
	for _, k := range []struct {
		claimed float64
		want    audit.Verdict
	}{{1, audit.NoViolation}, {0.5, audit.Violation}} {
		for seed := range uint64(testsize.Of(2, 5)) {
			r := runShift(t, false, 1, pair.Plan{Claim: &audit.Claim{Profile: curve(k.claimed)}, Samples: 3000, Seed: seed})
			if r.Verdict != k.want || !r.Claim.IsDP() || r.Plan.Claim.Kind != audit.Profile || r.Plan.Mode != pair.Fixed {
				t.Fatalf("%v: %s of %s, plan %+v", k.claimed, r.Verdict, r.Claim, r.Plan)
			}
			if !strings.Contains(r.StatedClaim, ", of a curve of 6 points (a table)") || !strings.HasPrefix(r.StatedClaim, r.Claim.String()) {
				t.Errorf("promise %q", r.StatedClaim)
			}
			if seed > 0 {
				continue
			}
			cat := of("shift", 1, shifted{})
			back := replays(t, cat, r)
			// Another point of the curve than exploration's, and one that is none.
			at := back.Evidence.Prepared.Point
			other := curve(k.claimed).Points[5]
			back.Evidence.Prepared.Point = &other
			if v, err := pair.Verify(context.Background(), cat, engine.LocalPool(2), back, false); err == nil && v.OK() && other != *at {
				t.Error("another point passes")
			}
			for _, p := range []*audit.ProfilePoint{nil, {Epsilon: 0.123, Delta: 0.5}} {
				back.Evidence.Prepared.Point = p
				must.Input(t, must.Err(pair.Verify(context.Background(), cat, engine.LocalPool(2), back, false)), "prepared.point", p)
			}
		}
	}
}

func TestProfilePlansRefused(t *testing.T) {
	good := &audit.PrivacyProfile{Points: []audit.ProfilePoint{{Epsilon: 1, Delta: 0.1}}}
	for _, k := range []struct {
		p    pair.Plan
		says string
	}{
		{pair.Plan{Version: pair.PlanVersion, Mode: pair.Climbing, Claim: &audit.Claim{Profile: good}}, "fixed or until-refuted for a claim that is a curve"},
		{pair.Plan{Version: pair.PlanVersion + 1, Claim: &audit.Claim{Profile: good}}, "plan version is 2, must be 1, the version of plans of dpscope " + audit.Version},
		{pair.Plan{Version: pair.PlanVersion, Claim: &audit.Claim{Kind: audit.Profile}}, "profile is missing"},
		{pair.Plan{Version: pair.PlanVersion, Claim: &audit.Claim{Epsilon: 1, Profile: good}}, "absent in a claim of kind"},
		{pair.Plan{Version: pair.PlanVersion, Claim: &audit.Claim{Profile: &audit.PrivacyProfile{}}}, "0 points"},
		{pair.Plan{Version: pair.PlanVersion, ThroughRenyi: 2, Claim: &audit.Claim{Profile: good}}, "absent for the claim"},
	} {
		k.p.Mechanism = "randomised-response"
		must.Input(t, must.Err(k.p.Resolve(catalogue)), k.says)
	}
}

// Bets against a curve: a Gaussian mechanism at the exact claim, a little beyond it, and
// at half of it. The bound is of the factor on the curve's epsilons.
func TestProfileUntilRefuted(t *testing.T) {
	t.Parallel()
	curve := func(mu, times float64) *audit.PrivacyProfile {
		var p audit.PrivacyProfile
		for eps := 0.1; eps < 5; eps += 0.1 {
			p.Points = append(p.Points, audit.ProfilePoint{Epsilon: times * eps, Delta: bounds.GaussianDelta(mu, eps) * (1 + 1e-9)})
		}
		return &p
	}
	run := func(mu, times float64, seed uint64, n int) pair.Report {
		return runShift(t, false, 1, pair.Plan{Claim: &audit.Claim{Profile: curve(mu, times)}, Mode: pair.UntilRefuted, Samples: n, Seed: seed, Beta: 0.1})
	}
	seeds, refuted := testsize.Of(10, 1000), 0
	for seed := range seeds {
		if r := run(1, 1, uint64(seed), 200); r.Verdict == audit.Violation {
			refuted++
		}
	}
	testsize.Chance(t, "a curve that is kept is refuted", refuted, seeds, 0.1, 0.001)
	for seed := range uint64(2) {
		r := run(1, 0.6, seed, 20_000)
		if r.Verdict != audit.Violation || r.Rows(report.Bounds)[0].ID != report.Stretch || *r.LowerBound < 1 {
			t.Fatalf("%s: %s", r.Verdict, r.Headline)
		}
		if r.Termination.Outputs > 10_000 || !strings.HasPrefix(r.Headline, "Violation: the c") {
			t.Errorf("%s %s", r.Headline, r.Summary)
		}
		if seed > 0 {
			continue
		}
		replays(t, of("shift", 1, shifted{}), r)
	}
	// A curve that the truth keeps with room to spare is never refuted, and the stretch
	// that it shows is below what it would take.
	if r := run(1, 2, 1, 2000); r.Verdict != audit.NoViolation || *r.LowerBound > 0.5 {
		t.Errorf("%s: %s", r.Verdict, r.Headline)
	}
}
