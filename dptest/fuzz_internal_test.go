package dptest

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
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

// Whatever the bytes, the datasets are neighbours in the domain.
func TestFuzzPairsAreNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dom := audit.Domain{Columns: rapid.IntRange(1, 3).Draw(t, "columns"), MinRows: rapid.IntRange(0, 5).Draw(t, "least"), Integer: rapid.Bool().Draw(t, "integer"), Reach: rapid.Float64Range(1, 5).Draw(t, "reach")}
		dom.MaxRows = dom.MinRows + rapid.IntRange(1, 100).Draw(t, "more")
		for range dom.Columns {
			low := float64(rapid.IntRange(-100, 100).Draw(t, "low"))
			dom.Lower, dom.Upper = append(dom.Lower, low), append(dom.Upper, low+float64(rapid.IntRange(1, 1000).Draw(t, "width")))
		}
		relation := rapid.SampledFrom([]audit.Relation{audit.AddRemove, audit.Replace, audit.BoundedReplace, audit.LInfinity}).Draw(t, "relation")
		z := &fuzzer{relation: relation, domain: dom}
		if err := z.checkDomain(); err != nil {
			t.Fatal(err)
		}
		data := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "data")
		p, differ := z.pair(data)
		if err := relation.Check(p, dom); err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		if again, _ := z.pair(data); !slices.Equal(p.First.Values, again.First.Values) || !slices.Equal(p.Second.Values, again.Second.Values) {
			t.Fatal("the same bytes make another pair")
		}
		if differ == slices.Equal(p.First.Values, p.Second.Values) {
			t.Fatalf("differ is %v of %v", differ, p)
		}
	})
}

// Both ends of a column, and the halves and thirds between them, are on the grid.
func TestFuzzGrid(t *testing.T) {
	z := &fuzzer{domain: *wide(12)}
	for b, want := range map[int]float64{0: 0, 80: 4, 120: 6, 160: 8, 240: 12, 255: 12} {
		if got := z.value(0, b); got != want {
			t.Errorf("byte %d is %v, want %v", b, got, want)
		}
	}
	z.domain.Integer = true
	seen := map[float64]bool{}
	for b := range 256 {
		seen[z.value(0, b)] = true
	}
	if len(seen) != 13 {
		t.Errorf("%d whole numbers of [0, 12] are in reach, want 13", len(seen))
	}
}

// However many pairs are certified, in however many processes, their errors sum
// to the false alarm of the call at most: the exact argument for Fuzz.
func TestFuzzSpending(t *testing.T) {
	for _, processes := range []int{1, 8} {
		z, err := newFuzzer(clipped{}, audit.DPClaim(1, 0), Options{Domain: wide(1), FalseAlarm: 0.01}, processes)
		if err != nil {
			t.Fatal(err)
		}
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
	z, err := newFuzzer(clipped{&drawn}, audit.DPClaim(1, 0), Options{Domain: wide(10), Samples: 5000, Seed: 5, Learner: "histogram"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	// No rows against one of 0.21: quiet.
	if _, err := z.try([]byte{0, 5}); err != nil {
		t.Errorf("a quiet pair answers %v", err)
	}
	if len(z.certified) != 0 || z.rungs > 5 {
		t.Errorf("a quiet pair cost %d certifications and reached rung %d", len(z.certified), z.rungs)
	}
	r, err := z.try([]byte{1, 0xff})
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
	for _, says := range []string{"Replay: dptest.Check with dptest.Options{Pairs: []audit.Pair{{First: audit.Dataset{Columns: 1, Values: []float64{0}}, Second: audit.Dataset{Columns: 1, Values: []float64{0, 10}}}}", "Samples: 5000", "at most 0.001", "pair number 1"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("the failure does not say %q:\n%v", says, err)
		}
	}
	// The same input again draws nothing and costs nothing.
	before := drawn
	again, err2 := z.try([]byte{1, 0xff})
	if drawn != before || len(z.certified) != 1 || err2 == nil || !audit.EqualJSON(again, r) {
		t.Errorf("tried again: %d outputs drawn, %d certified, %v", drawn-before, len(z.certified), err2)
	}
	// In another process that certified other pairs before, it fails too.
	other, err := newFuzzer(clipped{}, audit.DPClaim(1, 0), Options{Domain: wide(10), Samples: 5000, Seed: 5, Learner: "histogram"}, 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{{1, 200}, {2, 180}, {3, 222}} {
		if _, err := other.try(data); err == nil {
			t.Errorf("%v is not found", data)
		}
	}
	if r, err := other.try([]byte{1, 0xff}); !errors.As(err, &v) || len(other.certified) != 4 || r.Plan.Beta > 0.001/8/10 {
		t.Errorf("with %d certified before: %v", len(other.certified)-1, err)
	}
	// What the message says to do comes to the same counts.
	at, _ := z.pair([]byte{1, 0xff})
	err = Check(clipped{}, audit.DPClaim(1, 0), Options{Pairs: []audit.Pair{at}, Mode: pair.Fixed, Relation: audit.AddRemove, Samples: 5000, Explore: 5000, FalseAlarm: r.Plan.Beta, Seed: r.Plan.Seed, Learner: "histogram"})
	if !errors.As(err, &v) || *v.Report.Rows(report.Bounds)[0].Counts != *r.Rows(report.Bounds)[0].Counts {
		t.Errorf("the replay answers %v", err)
	}
}

// A mechanism that keeps its claim on every pair of the domain, at the claim on
// some: no input fails. With 60 certifications at most and error 0.001 for all of
// them, that fails with probability 0.001 at most.
func TestFuzzPrivate(t *testing.T) {
	z, err := newFuzzer(clipped{}, audit.DPClaim(1, 0), Options{Domain: wide(1), Explore: 500, Samples: 2000, Learner: "histogram"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		data := []byte{byte(i), 0xff, byte(7 * i), byte(13 * i)}
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
	z, err := newFuzzer(clipped{}, audit.DPClaim(1, 0), Options{Domain: wide(10), Explore: 500, Samples: 500, FalseAlarm: 1e-8, Learner: "histogram"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for i := range 5 {
		_, last = z.try([]byte{1, byte(150 + 10*i)})
	}
	if len(z.certified) != 2 || !strings.Contains(last.Error(), "the error is spent") {
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
		{clipped{}, one, Options{Domain: wide(math.Inf(1))}, "a finite interval"},
		{clipped{}, one, Options{Domain: wide(0), Relation: audit.Replace}, "two neighbours that differ"},
		{clipped{}, one, Options{Domain: wide(1), Relation: "swap"}, `relation is "swap"`},
		{clipped{}, one, Options{Domain: &audit.Domain{Columns: 2, MaxRows: 1, Lower: []float64{0}, Upper: []float64{1}}}, "of 2 columns with 1 lower"},
		{clipped{}, one, Options{Domain: &audit.Domain{Columns: 1, MinRows: 2, MaxRows: 2, Lower: []float64{0}, Upper: []float64{1}}}, "room for a row more"},
		{clipped{}, audit.DPClaim(-1, 0), Options{Domain: wide(1)}, "epsilon is -1"},
		{clipped{}, one, Options{Domain: wide(1), Samples: 5}, "samples is 5"},
		{clipped{}, one, Options{Domain: wide(1), FalseAlarm: 1e-9}, "beta is"},
		{From(mechanisms.All(), "svt9"), one, Options{}, `did you mean "svt`},
	} {
		if _, err := newFuzzer(c.m, c.claim, c.opts, 1); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v %+v: error %v, want %q", c.m, c.opts, err, c.says)
		}
	}
	// A claim that no screening of this size could refute is an error, not a pass.
	z, err := newFuzzer(clipped{}, audit.DPClaim(9, 0), Options{Domain: wide(1)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.try([]byte{1, 0xff}); err == nil || !strings.Contains(err.Error(), "below the claim of 9, which needs ") {
		t.Errorf("error %v", err)
	}
}

// Registered mechanisms bring their own domain and relation.
func TestFuzzRegistered(t *testing.T) {
	z, err := newFuzzer(From(mechanisms.All(), "svt4"), audit.DPClaim(1, 0), Options{Explore: 10_000, Learner: "histogram"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if z.relation != audit.LInfinity || z.domain.Columns != 1 || z.domain.MinRows != 10 {
		t.Errorf("relation %s, domain %+v", z.relation, z.domain)
	}
	up, down := []byte{132, 0}, []byte{108, 0xff} // 1 moved to 0, 0 moved to 1
	data := append([]byte{0}, append(slices.Repeat(up, 5), slices.Repeat(down, 5)...)...)
	if _, err := z.try(data); err == nil || !strings.Contains(err.Error(), "Violation: epsilon") {
		t.Errorf("the known pair answers %v", err)
	}
}
