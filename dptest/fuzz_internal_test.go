package dptest

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms"
)

// clipped is a sum that is clipped to [0, 4] and gets noise for 1: it keeps its
// claim only between datasets of small values.
type clipped struct{ drawn *int }

func (clipped) Columns() []audit.Column { return []audit.Column{{Name: "sum", Kind: audit.Real}} }

func (c clipped) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if c.drawn != nil {
		*c.drawn += len(out)
	}
	sum := 0.0
	for _, v := range d.Values {
		sum += v
	}
	s.Laplace(out, 1)
	for i := range out {
		out[i] += min(max(sum, 0), 4)
	}
	return nil
}

func wide(upper float64) *audit.Domain {
	return &audit.Domain{Columns: 1, MaxRows: 4, Lower: []float64{0}, Upper: []float64{upper}}
}

// However many pairs are certified, in however many processes, their errors sum
// to the false alarm of the call at most: the exact argument for Fuzz.
func TestFuzzSpending(t *testing.T) {
	for _, processes := range []int{1, 8} {
		z := must.Get(newFuzzer(clipped{}, audit.DPClaim(1, 0), Options{Domain: wide(1), FalseAlarm: 0.01}, processes))(t)
		sum, k := 0.0, 1
		for ; z.spend(k) >= leastBeta; k++ {
			sum += z.spend(k)
		}
		// What is never spent is the integral of 1/x^2 from k at least.
		rest := z.spend(1) / float64(k)
		if total := float64(processes) * (sum + rest); total > 0.01*(1+1e-12) || total < 0.0099 {
			t.Errorf("%d processes spend %v in all, want 0.01", processes, total)
		}
		if k < 100 {
			t.Errorf("only %d certifications", k)
		}
	}
}

func TestFuzzFinds(t *testing.T) {
	drawn := 0
	z := must.Get(newFuzzer(clipped{&drawn}, audit.DPClaim(1, 0), Options{Domain: wide(10), Samples: 5000, Seed: 5, Learner: "histogram"}, 1))(t)
	// No rows against one of 0.25: quiet.
	must.Get(z.try([]byte{0, 0, 0, 63}))(t)
	if len(z.certified) != 0 || z.rungs > 5 {
		t.Errorf("a quiet pair cost %d certifications and reached rung %d", len(z.certified), z.rungs)
	}
	r, err := z.try([]byte{0, 0, 0, 0xff})
	var v *ViolationError
	if !errors.As(err, &v) {
		t.Fatalf("a loud pair answers %v", err)
	}
	// About 4 is there, less what 5000 outputs cost.
	if b := *r.Rows(report.Bounds)[0].LowerBound; b < 2.5 || b > 4 {
		t.Errorf("bound %v", b)
	}
	if want := 0.001 * 6 / (math.Pi * math.Pi); math.Abs(r.Plan.Beta-want) > 1e-15 || r.Plan.Samples != 5000 {
		t.Errorf("certified with error %v and %d samples, want %v and 5000", r.Plan.Beta, r.Plan.Samples, want)
	}
	for _, says := range []string{"Replay: dptest.Check with dptest.Options{Pairs: []audit.Pair{{First: audit.Dataset{Columns: 1, Values: []float64{}}, Second: audit.Dataset{Columns: 1, Values: []float64{10}}}}", "Samples: 5000", "at most 0.001", "pair number 1"} {
		must.Refuse(t, err, says)
	}
	// The same input again draws nothing and costs nothing.
	before := drawn
	again, err2 := z.try([]byte{0, 0, 0, 0xff})
	if drawn != before || len(z.certified) != 1 || err2 == nil || !audit.EqualJSON(again, r) {
		t.Errorf("tried again: %d outputs drawn, %d certified, %v", drawn-before, len(z.certified), err2)
	}
	// In another process that certified other pairs before, it fails too.
	other := must.Get(newFuzzer(clipped{}, audit.DPClaim(1, 0), Options{Domain: wide(10), Samples: 5000, Seed: 5, Learner: "histogram"}, 8))(t)
	for _, data := range [][]byte{{255, 0, 0, 200}, {120, 0, 0, 180}, {255, 0, 255, 222}} {
		must.Refuse(t, must.Err(other.try(data)), "", data, "is not found")
	}
	if r, err := other.try([]byte{0, 0, 0, 0xff}); !errors.As(err, &v) || len(other.certified) != 4 || r.Plan.Beta > 0.001/8/10 {
		t.Errorf("with %d certified before: %v", len(other.certified)-1, err)
	}
	// What the message says to do comes to the same counts.
	at, _ := z.pair([]byte{0, 0, 0, 0xff})
	err = Check(clipped{}, audit.DPClaim(1, 0), Options{Pairs: []audit.Pair{at}, Mode: pair.Fixed, Relation: audit.AddRemove, Samples: 5000, Explore: 5000, FalseAlarm: r.Plan.Beta, Seed: r.Plan.Seed, Learner: "histogram"})
	if !errors.As(err, &v) || *v.Report.Rows(report.Bounds)[0].Counts != *r.Rows(report.Bounds)[0].Counts {
		t.Errorf("the replay answers %v", err)
	}
}

// A mechanism that keeps its claim on every pair of the domain, at the claim on
// some: no input fails. With 60 certifications at most and error 0.001 for all of
// them, that fails with probability 0.001 at most.
func TestFuzzPrivate(t *testing.T) {
	z := must.Get(newFuzzer(clipped{}, audit.DPClaim(1, 0), Options{Domain: wide(1), Explore: 500, Samples: 2000, Learner: "histogram"}, 1))(t)
	for i := range 60 {
		data := []byte{byte(37 * i), byte(5 * i), byte(7 * i), byte(13 * i), byte(3 * i)}
		if _, err := z.try(data); err != nil && !errors.As(err, new(skipError)) {
			t.Errorf("%v: %v", data, err)
		}
	}
	if z.rungs < 3 {
		t.Errorf("the loudest pairs reach rung %d", z.rungs)
	}
}

// When the error is spent, pairs are skipped, not certified at a larger one.
func TestFuzzSpent(t *testing.T) {
	z := must.Get(newFuzzer(clipped{}, audit.DPClaim(1, 0), Options{Domain: wide(10), Explore: 500, Samples: 500, FalseAlarm: 1e-8, Learner: "histogram"}, 1))(t)
	var last error
	for i := range 5 {
		_, last = z.try([]byte{0, 0, 0, byte(150 + 10*i)})
	}
	if len(z.certified) != 2 || !strings.Contains(last.Error(), "the allowed error is used up") {
		t.Errorf("%d certified; %v", len(z.certified), last)
	}
}

func TestFuzzErrors(t *testing.T) {
	one := audit.DPClaim(1, 0)
	pair := []audit.Pair{{First: audit.Records(1), Second: audit.Records(1, 0)}}
	for _, c := range []struct {
		m     audit.Mechanism
		claim audit.Claim
		opts  Options
		says  string
	}{
		{nil, one, Options{}, "mechanism is nil"},
		{clipped{}, one, Options{}, "Options.Domain is missing"},
		{clipped{}, one, Options{Domain: wide(1), Pairs: pair}, "Options.Pairs is given"},
		{clipped{}, one, Options{Domain: wide(math.Inf(1))}, "two finite numbers"},
		{clipped{}, one, Options{Domain: wide(0), Relation: audit.Replace}, "no value can differ"},
		{clipped{}, one, Options{Domain: wide(1), Relation: "swap"}, `elation is "swap"`},
		{clipped{}, one, Options{Domain: &audit.Domain{Columns: 2, MaxRows: 1, Lower: []float64{0}, Upper: []float64{1}}}, "1 lower and 1 upper"},
		{clipped{}, one, Options{Domain: &audit.Domain{Columns: 1, MinRows: 2, MaxRows: 2, Lower: []float64{0}, Upper: []float64{1}}}, "always 2"},
		{clipped{}, audit.DPClaim(-1, 0), Options{Domain: wide(1)}, "epsilon is -1"},
		{clipped{}, one, Options{Domain: wide(1), Samples: 5}, "samples is 5"},
		{clipped{}, one, Options{Domain: wide(1), FalseAlarm: 1e-9}, "beta is"},
		{From(mechanisms.All(), "svt9"), one, Options{}, `did you mean "svt`},
	} {
		must.Refuse(t, must.Err(newFuzzer(c.m, c.claim, c.opts, 1)), c.says, c.m, c.opts)
	}
	// A claim that no screening of this size could refute is an error, not a pass.
	z := must.Get(newFuzzer(clipped{}, audit.DPClaim(9, 0), Options{Domain: wide(1)}, 1))(t)
	must.Refuse(t, must.Err(z.try([]byte{0, 0, 0, 0xff})), "below the claim of 9, which needs ")
}

// Registered mechanisms bring their own domain and relation.
func TestFuzzRegistered(t *testing.T) {
	z := must.Get(newFuzzer(From(mechanisms.All(), "svt4"), audit.DPClaim(1, 0), Options{Explore: 10_000, Learner: "histogram"}, 1))(t)
	if z.opts.Relation != audit.LInfinity {
		t.Errorf("relation %s", z.opts.Relation)
	}
	data := []byte{80, 0, 0, 0, 120, 0, 120, 240} // two runs of answers: 1 moved to 0, 0 moved to 1
	must.Refuse(t, must.Err(z.try(data)), "Violation: epsilon", "the known pair answers")
}
