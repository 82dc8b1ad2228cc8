package pair_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
)

// Each published tester says its own verdict beside what is certified: False of a mechanism
// that is loud, Passed of one that keeps its claim, and what it takes the divergence for is
// at most its estimate.
func TestTesters(t *testing.T) {
	t.Parallel()
	for learner, method := range map[string]bounds.Method{"histogram-tester:bins=5": "published-adptester", "hockeystick-tester:units=8:epochs=2": "published-hockeystick",
		"renyi-tester:units=32:batch=32:rate=0.01:patience=12": "published-renyitester", "mmd-tester:landmarks=20": "published-mmd"} {
		for _, mechanism := range []string{"gaussian-mean-raw-count", "laplace-mean"} {
			loud := mechanism != "laplace-mean"
			r := runAudit(t, pair.Plan{Mechanism: mechanism, Claim: new(audit.DPClaim(0.01, 0)), Mode: pair.Fixed, Learner: learner, Samples: 100_000, Explore: 4000, Trials: 1, Seed: 1,
				Pair: &audit.Pair{First: audit.Records(1), Second: audit.Records(1, 0)}}, 2)
			found := false
			for _, row := range r.Rows(report.Published) {
				if row.Method != method {
					continue
				}
				found = true
				if row.Value == nil || row.Claimed == nil || row.Estimate != nil && *row.Value > *row.Estimate || !strings.Contains(row.Note, map[bool]string{true: "False", false: "Passed"}[loud]) {
					t.Errorf("%s on %s: %+v", learner, mechanism, row)
				}
				if loud != (*row.Value > *row.Claimed) {
					t.Errorf("%s on %s: %v of %v", learner, mechanism, *row.Value, *row.Claimed)
				}
			}
			if !found {
				t.Errorf("%s on %s: no row %s", learner, mechanism, method)
			}
		}
	}
	// Where the theorem asks for more outputs than there are, it says so.
	r := runAudit(t, pair.Plan{Mechanism: "laplace-mean", Claim: new(audit.DPClaim(1, 0)), Mode: pair.Fixed, Learner: "renyi-tester:units=8:epochs=2", Samples: 500, Explore: 500, Trials: 1}, 1)
	rows := r.Rows(report.Published)
	if last := rows[len(rows)-1]; last.Value != nil || !strings.Contains(last.Note, "theorem 4.3 asks for more than") {
		t.Errorf("%+v", last)
	}
}

// The mean of h over random pairings is the squared discrepancy of the shares of bins,
// sum over bins of K (p - q)(p - q), with no bias but that of pairs.
func TestRankMMD(t *testing.T) {
	explored := bounds.NewTable(3)
	explored.N = []int{10, 0, 0, 0, 20, 0, 0, 0, 10}
	// First dataset .5, .3, .2; second .2, .3, .5, drawn apart.
	p, q := []float64{0.5, 0.3, 0.2}, []float64{0.2, 0.3, 0.5}
	rank := []float64{0.125, 0.5, 0.875}
	want := 0.0
	for i := range p {
		for j := range p {
			want += (1 - math.Abs(rank[i]-rank[j])) * (p[i] - q[i]) * (p[j] - q[j])
		}
	}
	draw := stream.New(stream.Key{Seed: 1, Purpose: "rank"})
	pick := func(p []float64) int {
		u := draw.Float64()
		for i, x := range p {
			if u -= x; u < 0 {
				return i
			}
		}
		return len(p) - 1
	}
	table := bounds.NewTable(3)
	const n = 100_000
	for range n {
		table.N[pick(p)*3+pick(q)]++
	}
	s := published.RankMMD(table, explored, 7)
	if se := math.Sqrt(s.Variance / float64(s.N)); s.N != n/2 || math.Abs(s.Mean-want) > 4*se || se > 0.01 {
		t.Errorf("%+v, want %v", s, want)
	}
	if again := published.RankMMD(table, explored, 7); again != s {
		t.Errorf("%+v and %+v", again, s)
	}
	if other := published.RankMMD(table, explored, 8); other.Mean == s.Mean {
		t.Error("another seed pairs alike")
	}
}

// Where another stage has proved a bound, the first learner whose event shows nine tenths of it
// ends the search; where none does, all are learnt.
func TestShownEvent(t *testing.T) {
	t.Parallel()
	a := must.Get(pair.Plan{Version: pair.PlanVersion, Mechanism: "gaussian-mean-raw-count", Samples: 10_000, Trials: 1, Seed: 1}.Resolve(catalogue))(t)
	for _, c := range []struct {
		proven float64
		ends   bool
	}{{0, false}, {2, true}, {100, false}} {
		task := a.Explore(0, audit.Pair{First: audit.Records(1), Second: audit.Records(1, 0)}, 4000)
		task.Proven = &c.proven
		found := must.Get(engine.Result[pair.Explored](task, func(int) error { return nil }))(t)
		if one := len(found.Learners) == 1; one != c.ends || one && found.Value < 0.9*c.proven {
			t.Errorf("proven %v: %v of value %v", c.proven, found.Learners, found.Value)
		}
	}
	// Of a recording all rows were bet on, those that count the event too: the event must not
	// depend on what they proved.
	if r := runRecord(t, true, 1, 20_000, pair.Plan{Claim: new(audit.DPClaim(0.5, 0)), Seed: 3}); r.Verdict != audit.Violation || len(r.Evidence.Learners) == 1 {
		t.Errorf("recorded outputs: %s, by %v", r.Verdict, r.Evidence.Learners)
	}
}
