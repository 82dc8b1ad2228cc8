package recorded_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// laplace is n outputs of a count with Laplace noise on each of two datasets,
// as CSV.
func laplace(n int, scale float64, seed uint64) string {
	var b strings.Builder
	b.WriteString("x,dataset\n")
	x := make([]float64, 2*n)
	stream.New(stream.Key{Seed: seed, Purpose: "test"}).Laplace(x, scale)
	for i, v := range x {
		fmt.Fprintf(&b, "%v,%d\n", v-float64(i%2), i%2)
	}
	return b.String()
}

func runAudit(t testing.TB, s audit.MechanismSpec, p pair.Plan, workers int) pair.Report {
	t.Helper()
	p.Version, p.Mechanism = pair.PlanVersion, audit.RecordedName
	cat := audit.Catalogue{Mechanisms: []audit.MechanismSpec{s}, Learners: estimators.Registry(), Finders: finders.Registry()}
	return must.Get(pair.Run{Plan: p, Catalogue: cat, Pool: engine.LocalPool(workers)}.Do(context.Background()))(t)
}

// watched records which outputs were asked for.
type watched struct {
	audit.Mechanism
	mu    sync.Mutex
	taken [2][]int
}

func (w *watched) Recorded(seed uint64, side, at int, out []float64) error {
	w.mu.Lock()
	for i := range out {
		w.taken[side] = append(w.taken[side], at+i)
	}
	w.mu.Unlock()
	return w.Mechanism.(audit.Recorded).Recorded(seed, side, at, out)
}

// The sequential stage takes the first rows of each dataset once each, and the second stage
// rows from the first on once each: so it certifies none that it explored. All that the plan
// asks for are used, and a row of both stages counts once.
func TestNoRowTwice(t *testing.T) {
	const n = 40_000
	s := readPair(t, audit.Reading{}, read(t, laplace(n, 1, 5)+"0,1\n", recorded.Options{}))
	half, five := new(audit.DPClaim(0.5, 0)), new(audit.DPClaim(5, 0))
	for _, x := range []struct {
		plan pair.Plan
		want audit.RecordedSplit
	}{
		{pair.Plan{Mode: pair.Fixed, Claim: half}, audit.RecordedSplit{Explored: n / 2, Certified: n / 2, Unused: [2]int{0, 1}}},
		{pair.Plan{Mode: pair.Fixed, Claim: half, Samples: 21_000, Explore: 1000}, audit.RecordedSplit{Explored: 1000, Certified: 21_000, Unused: [2]int{18_000, 18_001}}},
		{pair.Plan{Mode: pair.Fixed, Claim: half, Explore: 500}, audit.RecordedSplit{Explored: 500, Certified: n - 500, Unused: [2]int{0, 1}}},
		{pair.Plan{Claim: half}, audit.RecordedSplit{Bet: n, Explored: n / 2, Certified: n / 2, Unused: [2]int{0, 1}}},
		{pair.Plan{Claim: five, Samples: 21_000, Explore: 1000}, audit.RecordedSplit{Bet: 21_000, Explored: 1000, Certified: 1000, Unused: [2]int{19_000, 19_001}}},
		{pair.Plan{Claim: half, Samples: 300, Explore: 1000}, audit.RecordedSplit{Bet: 300, Explored: 1000, Certified: 1000, Unused: [2]int{38_000, 38_001}}},
		{pair.Plan{Claim: five, Mode: pair.UntilRefuted}, audit.RecordedSplit{Bet: n, Unused: [2]int{0, 1}}},
	} {
		spec := s.Spec()
		m := must.Get(spec.New(nil))(t)
		w := &watched{Mechanism: m}
		spec.New = func(audit.Params) (audit.Mechanism, error) { return w, nil }
		r := runAudit(t, spec, x.plan, 2)
		bet, second := 0, x.want.Explored+x.want.Certified
		if s := r.Sequential; s != nil {
			for _, e := range s.Epochs {
				bet += e.Outputs
			}
		}
		if split := r.Inputs.Samples.Split; *split != x.want || bet > split.Bet || x.plan.Claim == five && bet != split.Bet || r.Termination.SamplesUsed != split.Certified {
			t.Errorf("%d bet on, split %+v, want %+v", bet, *split, x.want)
		}
		if got := r.Termination.Outputs; got != 2*max(bet, second) {
			t.Errorf("%d outputs, want 2 times the larger of %d and %d", got, bet, second)
		}
		for side, taken := range w.taken {
			want := make([]int, 0, bet+second)
			for i := range max(bet, second) {
				for _, stage := range []int{bet, second} {
					if i < stage {
						want = append(want, i)
					}
				}
			}
			if slices.Sort(taken); !slices.Equal(taken, want) {
				t.Errorf("dataset %d: %d outputs taken, want the first %d and the first %d once each", side, len(taken), bet, second)
			}
		}
	}
}

// The order is a permutation that depends on the seed, is the same however it is
// cut, and ends where the rows do.
func TestOrder(t *testing.T) {
	const n = 1000
	s := readPair(t, audit.Reading{}, read(t, laplace(n, 1, 6), recorded.Options{}))
	m := must.Get(s.Spec().New(nil))(t)
	take := func(seed uint64, side, step int) []float64 {
		out := make([]float64, n)
		for at := 0; at < n; at += step {
			must.Do(t, m.(audit.Recorded).Recorded(seed, side, at, out[at:min(at+step, n)]))
		}
		return out
	}
	all := make([]float64, n)
	for i := range all {
		s.Row(1, i, all[i:i+1])
	}
	a := take(1, 1, n)
	if b := take(1, 1, 7); !slices.Equal(a, b) {
		t.Error("the order depends on how it is cut")
	}
	if b := take(2, 1, n); slices.Equal(a, b) {
		t.Error("the order does not depend on the seed")
	}
	if slices.Equal(a, all) || !slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(all))) {
		t.Error("the order is no permutation")
	}
	must.Refuse(t, m.(audit.Recorded).Recorded(1, 0, n-1, make([]float64, 2)), "", "rows beyond the last were given out")
	must.Refuse(t, m.Sample(audit.Records(0), nil, a), "", "recorded outputs were drawn anew")
}

// The report is the same for 1 and 2 workers and replays, whole and quick.
func TestReplay(t *testing.T) {
	s := readPair(t, audit.Reading{}, read(t, laplace(testsize.Of(5_000, 20_000), 0.5, 7), recorded.Options{}))
	spec := s.Spec()
	claim := audit.DPClaim(1, 0)
	for _, plan := range []pair.Plan{{Claim: &claim, Seed: 3}, {Claim: &claim, Seed: 3, Mode: pair.UntilRefuted}} {
		r := runAudit(t, spec, plan, 1)
		if r.Verdict != audit.Violation {
			t.Errorf("half the noise: %s", r.Summary)
		}
		again := runAudit(t, spec, plan, 2)
		again.Timing = r.Timing
		a, _ := audit.Canonical(r)
		b, _ := audit.Canonical(again)
		if string(a) != string(b) {
			t.Error("the report depends on the workers")
		}
		parsed := must.Get(pair.ParseReport(a))(t)
		cat := audit.Catalogue{Mechanisms: []audit.MechanismSpec{spec}, Learners: estimators.Registry(), Finders: finders.Registry()}
		for _, whole := range []bool{true, false} {
			v, err := pair.Verify(context.Background(), cat, engine.LocalPool(2), parsed, whole)
			if err != nil || !v.OK() {
				t.Errorf("replay, whole %v: %v %v", whole, err, v.Differences)
			}
		}
	}
}

func TestPlansThatDoNotFit(t *testing.T) {
	s := readPair(t, audit.Reading{}, read(t, laplace(1000, 1, 8), recorded.Options{}))
	cat := audit.Catalogue{Mechanisms: []audit.MechanismSpec{s.Spec()}, Learners: estimators.Registry(), Finders: finders.Registry()}
	some := audit.Pair{First: audit.Records(0), Second: audit.Records(1)}
	for _, x := range []struct {
		plan pair.Plan
		want string
	}{
		{pair.Plan{Mode: pair.Fixed, Samples: 600, Explore: 500}, "together at most the 1000 rows"}, {pair.Plan{Mode: pair.Fixed, Samples: 1000}, "at least 100 each"},
		{pair.Plan{Mode: pair.Fixed, Explore: 950}, "at least 100 each"}, {pair.Plan{Mode: pair.Fixed, Samples: math.MaxInt, Explore: math.MaxInt}, "at least 100 each"},
		{pair.Plan{Samples: 1001}, "at most the 1000 rows"}, {pair.Plan{Explore: 501}, "at most 500, half of the rows"},
		{pair.Plan{Explore: math.MaxInt}, "at most 500"}, {pair.Plan{Samples: 99}, "in [100, "}, {pair.Plan{Explore: 99}, "in [100, "}, {pair.Plan{Trials: 2}, "1 for recorded outputs"},
		{pair.Plan{Finder: "random"}, "absent for recorded outputs"}, {pair.Plan{Pair: &some}, "absent for recorded outputs"},
	} {
		x.plan.Version, x.plan.Mechanism = pair.PlanVersion, audit.RecordedName
		must.Input(t, must.Err(x.plan.Resolve(cat)), x.want, x.plan)
	}
}

// Outputs of the same law on both datasets refute a claim of 0.001 by chance
// only: each audit with probability at most 0.05. Of 60 audits, 12 or more do
// so with probability below 5e-5.
func TestFalseAlarms(t *testing.T) {
	alarms := 0
	for seed := range uint64(60) {
		var b strings.Builder
		b.WriteString("x,dataset\n")
		x := make([]float64, 1200)
		stream.New(stream.Key{Seed: seed, Purpose: "null"}).Gaussian(x, 1)
		for i, v := range x {
			fmt.Fprintf(&b, "%v,%d\n", v, i%2)
		}
		claim := audit.DPClaim(0.001, 0)
		s := readPair(t, audit.Reading{}, read(t, b.String(), recorded.Options{}))
		if runAudit(t, s.Spec(), pair.Plan{Claim: &claim, Seed: seed, Learner: "logistic"}, 1).Verdict == audit.Violation {
			alarms++
		}
	}
	if alarms >= 12 {
		t.Errorf("%d of 60 audits flagged equal laws", alarms)
	}
}
