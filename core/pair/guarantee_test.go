package pair_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// shifted adds noise of unit scale to the sum of the rows: with a row of size
// shift more, the outputs are the same law, shifted.
type shifted struct{ laplace bool }

func (shifted) Columns() []audit.Column { return []audit.Column{{Name: "x", Kind: audit.Real}} }

func (m shifted) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	sum := 0.0
	for _, v := range d.Values {
		sum += v
	}
	if m.laplace {
		s.Laplace(out, 1)
	} else {
		s.Gaussian(out, 1)
	}
	for i := range out {
		out[i] += sum
	}
	return nil
}

// of is the catalogue with one mechanism, of the pair {} and {row}.
func of(name string, row float64, m audit.Mechanism) audit.Catalogue {
	cat := catalogue
	cat.Mechanisms = []audit.MechanismSpec{{Name: name, Title: "x", Source: "x", Custom: true,
		Relations: func(audit.Params) []audit.Relation { return []audit.Relation{audit.AddRemove} },
		Claim:     func(audit.Params) audit.Claim { return audit.DPClaim(1, 0) },
		Truth:     func(audit.Params) string { return "" },
		Domain: func(audit.Params, audit.Relation) audit.Domain {
			return audit.Domain{Columns: 1, MaxRows: 1, Lower: []float64{0}, Upper: []float64{row}}
		},
		Pairs: func(audit.Params, audit.Relation) []audit.Pair {
			return []audit.Pair{{First: audit.Records(), Second: audit.Records(row)}}
		},
		New: func(audit.Params) (audit.Mechanism, error) { return m, nil }}}
	return cat
}

func runShift(t *testing.T, laplace bool, shift float64, p pair.Plan) pair.Report {
	t.Helper()
	cat := of("shift", shift, shifted{laplace})
	p.Version, p.Mechanism, p.Finder, p.Trials = pair.PlanVersion, "shift", "candidates", 1
	r := must.Get(pair.Run{Plan: p, Catalogue: cat, Pool: engine.LocalPool(2)}.Do(context.Background()))(t)
	return r
}

// record holds outputs of a shift that were recorded, by side.
type record struct {
	shifted
	rows [2][]float64
}

func (m record) Recorded(_ uint64, side, at int, out []float64) error {
	copy(out, m.rows[side][at:])
	return nil
}

// runRecord is the audit of n outputs that were recorded of each side of a shift.
func runRecord(t *testing.T, laplace bool, shift float64, n int, p pair.Plan) pair.Report {
	t.Helper()
	m := record{shifted: shifted{laplace}}
	for side, d := range []audit.Dataset{audit.Records(), audit.Records(shift)} {
		m.rows[side] = make([]float64, n)
		must.Do(t, m.Sample(d, stream.New(stream.Key{Seed: p.Seed, Purpose: "record", Side: side}), m.rows[side]))
	}
	cat := catalogue
	cat.Mechanisms = []audit.MechanismSpec{(&audit.Recording{Rows: [2]int{n, n}}).Spec(m)}
	p.Version, p.Mechanism = pair.PlanVersion, audit.RecordedName
	return must.Get(pair.Run{Plan: p, Catalogue: cat, Pool: engine.LocalPool(2)}.Do(t.Context()))(t)
}

// turning is a shift whose outputs have the other sign from so many calls on.
type turning struct {
	shifted
	calls *int
	from  int
}

func (m turning) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	err := m.shifted.Sample(d, s, out)
	if *m.calls++; *m.calls > m.from {
		for i := range out {
			out[i] = -out[i]
		}
	}
	return err
}

// TestBetsComeBefore: what an epoch bets does not depend on what it draws.
func TestBetsComeBefore(t *testing.T) {
	epochs := func(from int) []pair.Epoch {
		plan := pair.Plan{Version: pair.PlanVersion, Mode: pair.UntilRefuted, Mechanism: "turning", Claim: &audit.Claim{Epsilon: 0.5}, Finder: "candidates", Samples: 1_000, Trials: 1, Seed: 1}
		r := must.Get(pair.Run{Plan: plan, Catalogue: of("turning", 1, turning{shifted{true}, new(int), from}), Pool: engine.LocalPool(1)}.Do(t.Context()))(t)
		return r.Sequential.Epochs
	}
	one, other := epochs(math.MaxInt), epochs(60)
	at := 0
	for at < len(one)-1 && audit.EqualJSON(one[at].Counts, other[at].Counts) {
		at++
	}
	if at == len(one)-1 || len(one[at].Bets) == 0 || !audit.EqualJSON(one[at].Bets, other[at].Bets) {
		t.Errorf("epoch %d of %d bets %v or %v", at, len(one), one[at].Bets, other[at].Bets)
	}
}

// laplaceRenyi is D_alpha of unit Laplace laws a distance of 1 apart (Mironov
// 2017, proposition 6).
func laplaceRenyi(a float64) float64 {
	return math.Log(a/(2*a-1)*math.Exp(a-1)+(a-1)/(2*a-1)*math.Exp(-a)) / (a - 1)
}

// TestRenyiWitnessIsLearned: a whole audit, witness and all, certifies most of a
// divergence that is known. The means over 20 runs, seeds fixed, lie three
// standard errors or more above the targets, and those over two runs, whose standard
// error is three times as large, above targets that are a tenth lower.
func TestRenyiWitnessIsLearned(t *testing.T) {
	t.Parallel()
	testsize.Native(t)
	for _, c := range []struct {
		laplace bool
		shift   float64
		n       int
		truth   float64
		target  float64
	}{{false, 0.5, 50_000, 0.25, 0.85}, {true, 1, 100_000, laplaceRenyi(2), 0.93}} {
		sum, squares := 0.0, 0.0
		runs := testsize.Of(2.0, 20)
		c.target *= testsize.Of(0.9, 1)
		for seed := range uint64(runs) {
			r := runShift(t, c.laplace, c.shift, pair.Plan{Claim: &audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 1}, Mode: pair.Fixed, Learner: "histogram", Samples: c.n, Seed: 100 + seed})
			v := *r.Rows(report.Bounds)[0].LowerBound / c.truth
			sum += v
			squares += v * v
			if v > 1 {
				t.Logf("seed %d: %v of the truth certified", seed, v)
			}
		}
		mean := sum / runs
		t.Logf("laplace %v: %.4f of the divergence certified (standard error %.4f)", c.laplace, mean, math.Sqrt((squares/runs-mean*mean)/runs))
		if mean < c.target {
			t.Errorf("laplace %v: %.4f of the divergence certified, want %v", c.laplace, mean, c.target)
		}
	}
}

// TestAllRowsCover: on pairs whose every quantity is known, each row of a report
// exceeds the truth in no more runs than its error allows, beta = .1 each: of 30 runs,
// more than 11 misses of one row, and of 5 runs, 5, happen by chance with probability
// below 1e-4; about 90 rows are counted. Of recorded outputs all rows are bet on, and explored
// or certified again.
func TestAllRowsCover(t *testing.T) {
	t.Parallel()
	testsize.Native(t)
	gaussDelta := func(mu, eps float64) float64 {
		phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
		return phi(mu/2-eps/mu) - math.Exp(eps)*phi(-eps/mu-mu/2)
	}
	laplaceDelta := func(eps float64) float64 { return max(0, 1-math.Exp((eps-1)/2)) }
	const mu = 0.5
	for _, c := range []struct {
		laplace bool
		claim   audit.Claim
		through float64
		how     string
	}{
		{false, audit.DPClaim(0.5, 0.02), 0, "fixed"},
		{false, audit.DPClaim(0.5, 0.02), 0, "recorded"},
		{false, audit.Claim{Kind: audit.GaussianDP, Mu: mu}, 0, "fixed"},
		{false, audit.Claim{Kind: audit.GaussianDP, Mu: mu}, 0, "climbing"},
		{false, audit.Claim{Kind: audit.GaussianDP, Mu: mu}, 0, "recorded"},
		{false, audit.Claim{Kind: audit.ZCDP, Rho: mu * mu / 2}, 0, "fixed"},
		{false, audit.Claim{Kind: audit.Renyi, Alpha: 3, Epsilon: mu * mu * 3 / 2}, 0, "climbing"},
		{true, audit.DPClaim(1, 0), 0, "fixed"},
		{true, audit.DPClaim(1, 0), 0, "climbing"},
		{true, audit.DPClaim(1, 0), 0, "recorded"},
		{true, audit.DPClaim(1, 0), 4, "fixed"},
	} {
		misses := map[string]int{}
		bad := 0
		runs, allowed := testsize.Of(5, 30), testsize.Of(4, 11)
		for seed := range uint64(runs) {
			shift := mu
			if c.laplace {
				shift = 1
			}
			claim := c.claim
			n := testsize.Of(2_000, 6_000)
			plan := pair.Plan{Claim: &claim, ThroughRenyi: c.through, Learner: "histogram", Beta: 0.1, Seed: 500 + seed}
			var r pair.Report
			if c.how == "recorded" { // by default: the bound that climbs, and what comes after it
				r = runRecord(t, c.laplace, shift, n, plan)
			} else {
				plan.Mode, plan.Samples, plan.Explore = pair.Mode(c.how), n, n/2
				r = runShift(t, c.laplace, shift, plan)
			}
			renyi := func(a float64) float64 {
				if c.laplace {
					return laplaceRenyi(a)
				}
				return mu * mu * a / 2
			}
			for _, f := range r.Rows(report.Bounds) {
				truth := math.Inf(1)
				switch {
				case f.ID == report.Epsilon && c.laplace:
					truth = 1
				case f.ID == report.Epsilon && f.Delta > 0:
					for truth = 0; gaussDelta(mu, truth) > f.Delta; truth += 1e-4 {
					}
				case f.ID == report.Delta && c.laplace:
					truth = laplaceDelta(f.Epsilon)
				case f.ID == report.Delta:
					truth = gaussDelta(mu, f.Epsilon)
				case f.ID == report.RenyiDivergence:
					truth = renyi(f.Alpha)
				case f.ID == report.Rho && c.laplace:
					truth = 0.5 // no smaller rho is known to hold
				case f.ID == report.Rho:
					truth = mu * mu / 2
				case f.ID == report.Mu && !c.laplace:
					truth = mu
				case f.ID == report.RenyiEpsilon && c.laplace:
					truth = 1
				}
				if *f.LowerBound > truth+1e-6 {
					misses[fmt.Sprintf("%s by %s", f.ID, f.Method)]++
				}
			}
			wrong := false
			for _, f := range r.Rows(report.Renyi) {
				wrong = wrong || *f.LowerBound > renyi(f.Alpha)
			}
			if wrong {
				misses["Rényi curve"]++
			}
			if r.Verdict == audit.Violation {
				bad++
			}
		}
		for id, n := range misses {
			if n > allowed {
				t.Errorf("%s, %s: %s exceeds the truth in %d of %d runs at beta = .1", c.claim, c.how, id, n, runs)
			}
		}
		t.Logf("%s (through %v), %s: %d of %d refuted, misses %v", c.claim, c.through, c.how, bad, runs, fmt.Sprint(misses))
	}
}

// TestStopKeepsTheBound: what bets show when a run is stopped holds, is in the report and
// replays; and neither depends on the number of workers.
func TestStopKeepsTheBound(t *testing.T) {
	t.Parallel()
	for _, claim := range []audit.Claim{audit.DPClaim(5, 0), {Kind: audit.Renyi, Alpha: 2, Epsilon: 1}, {Kind: audit.ZCDP, Rho: 0.6}, {Kind: audit.GaussianDP, Mu: 3}} {
		ctx, cancel := context.WithCancel(context.Background())
		r := must.Get(pair.Run{Catalogue: catalogue, Pool: engine.LocalPool(2),
			Plan: pair.Plan{Version: pair.PlanVersion, Mechanism: "laplace-mean", Claim: &claim, Mode: pair.UntilRefuted, Samples: 50_000_000, Trials: 2},
			Progress: func(p pair.Progress) {
				if p.Rows > 40_000 {
					cancel()
				}
			}}.Do(ctx))(t)
		if r.Termination.Reason != audit.Stopped || r.Verdict != audit.Inconclusive || r.LowerBound == nil || *r.LowerBound <= 0 {
			t.Errorf("%s: stopped: verdict %s, %+v, results %+v", claim, r.Verdict, r.Termination, r.Rows(report.Bounds)[0])
			continue
		}
		replays(t, catalogue, r)
		cancel()
	}
}

// TestEveryGuaranteeReplays: reports of every kind of claim, fixed and anytime,
// with one worker and with eight.
func TestEveryGuaranteeReplays(t *testing.T) {
	t.Parallel()
	for _, p := range []pair.Plan{
		{Mechanism: "gaussian-mean", Claim: &audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 0.1}},
		{Mechanism: "laplace-mean", Claim: &audit.Claim{Kind: audit.ZCDP}},
		{Mechanism: "laplace-mean", Claim: &audit.Claim{Kind: audit.GaussianDP}},
		{Mechanism: "svt4", Claim: &audit.Claim{Kind: audit.Renyi, Alpha: 16}},
		{Mechanism: "noisy-histogram", ThroughRenyi: 3},
		{Mechanism: "gaussian-mean", Claim: &audit.Claim{Kind: audit.Pure}},
	} {
		for _, anytime := range []bool{false, true} {
			p.Samples, p.Explore, p.Trials, p.Seed = testsize.Of(600, 9_000), testsize.Of(400, 3_000), 2, 6
			if anytime {
				p.Mode, p.Explore = pair.UntilRefuted, 0
			}
			one, eight := runAudit(t, p, 1), runAudit(t, p, 8)
			one.Timing, eight.Timing = audit.Timing{}, audit.Timing{}
			if d := cmp.Diff(one, eight); d != "" {
				t.Errorf("%s %s: 1 worker and 8 differ: %s", p.Mechanism, one.Claim, d)
			}
			back := replays(t, catalogue, one)
			if report.Text(back) == "" || len(back.Words()) < 1 || !anytime && (len(back.Words()) < 2 || pair.ReportCurves(back).Renyi == nil) {
				t.Errorf("%s %s: no words, rows or curves", p.Mechanism, one.Claim)
			}
		}
	}
}

// TestOddOutputs: constant outputs, symbols only and a hundred dimensions, under
// every kind of claim and with every learner, end in a report that says what
// happened or in an error that says why not.
func TestOddOutputs(t *testing.T) {
	t.Parallel()
	testsize.Native(t)
	wide := make([]audit.Column, 100)
	for i := range wide {
		wide[i] = audit.Column{Name: fmt.Sprint("x", i), Kind: audit.Real}
	}
	claims := []audit.Claim{audit.DPClaim(1, 0), audit.DPClaim(1, 0.01), {Kind: audit.Renyi, Alpha: 2, Epsilon: 1}, {Kind: audit.Renyi, Alpha: 500, Epsilon: 1}, {Kind: audit.ZCDP, Rho: 1}, {Kind: audit.GaussianDP, Mu: 1}}
	for _, c := range []struct {
		name    string
		columns []audit.Column
		sample  func(out []float64) error
	}{
		{"constant", []audit.Column{{Name: "x", Kind: audit.Real}}, func(out []float64) error { clear(out); return nil }},
		{"constant symbol", []audit.Column{{Name: "x", Kind: audit.Symbol}}, func(out []float64) error { clear(out); return nil }},
		{"symbols", []audit.Column{{Name: "x", Kind: audit.Symbol}, {Name: "y", Kind: audit.Symbol}}, func(out []float64) error {
			for i := range out {
				out[i] = math.Floor(3 * out[i])
			}
			return nil
		}},
		{"wide", wide, func([]float64) error { return nil }},
	} {
		cat := of("shift", 1, faulty{c.columns, c.sample})
		learners := []string{audit.Auto}
		for _, l := range cat.Learners {
			if l.Applies(c.columns) == nil {
				learners = append(learners, l.Name)
			}
		}
		for i, claim := range claims {
			for _, learner := range learners {
				if learner != audit.Auto && i%3 != 0 || c.name == "wide" && i != 2 {
					continue // a sample of all
				}
				r, err := pair.Run{Catalogue: cat, Pool: engine.LocalPool(2), Plan: pair.Plan{Version: pair.PlanVersion, Mechanism: "shift", Claim: &claim,
					Samples: 400, Trials: 1, Finder: "candidates", Learner: learner, Beta: 1e-6}}.Do(context.Background())
				switch {
				case err != nil && r.Verdict == audit.Invalid && strings.Contains(err.Error(), "no learner could learn"):
				case err != nil || r.Verdict == audit.Violation:
					t.Errorf("%s, %s, learner %s: %v, verdict %s", c.name, claim, learner, err, r.Verdict)
				}
			}
		}
	}
}

// TestPowerOfDivergences: at the smallest divergence that a report says would
// show in half of all runs, some half of fresh runs do show it. Of 30 runs, fewer
// than 5 or more than 28 come up with probability below 1e-4 where the chance is
// .4 to .75.
func TestPowerOfDivergences(t *testing.T) {
	testsize.Long(t) // a few runs would not tell a chance of .4 from one of 0
	for _, c := range []struct {
		n     int
		claim audit.Claim
		shift float64 // of the run that says what would show
	}{
		{4_000, audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 0.1}, 0.3},
		{20_000, audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 0.26}, 0.5},
		{20_000, audit.Claim{Kind: audit.ZCDP, Rho: 0.13}, 0.5},
	} {
		plan := pair.Plan{Claim: &c.claim, Mode: pair.Fixed, Learner: "histogram", Samples: c.n, Seed: 900}
		r := runShift(t, false, c.shift, plan)
		if r.Power == nil || r.Power.Smallest == nil {
			t.Fatalf("%s: no power: %s", c.claim, r.Summary)
		}
		mu := math.Sqrt(2 * *r.Power.Smallest / max(c.claim.Alpha, 1))
		refuted := 0
		const runs = 30
		for seed := range uint64(runs) {
			plan.Seed = 901 + seed
			if runShift(t, false, mu, plan).Verdict == audit.Violation {
				refuted++
			}
		}
		t.Logf("%s, n = %d: at %.4f refuted in %d of %d runs", c.claim, c.n, *r.Power.Smallest, refuted, runs)
		if refuted < 5 || refuted > 28 {
			t.Errorf("%s, n = %d: at %v refuted in %d of %d runs", c.claim, c.n, *r.Power.Smallest, refuted, runs)
		}
	}
}
