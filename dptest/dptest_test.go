package dptest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/dptest"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms"
)

// count releases the number of rows with Laplace noise of a scale.
type count struct{ scale float64 }

func (c count) Columns() []audit.Column { return []audit.Column{{Name: "count", Kind: audit.Real}} }

func (c count) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	s.Laplace(out, c.scale)
	n := float64(d.Len())
	for i := range out {
		out[i] += n
	}
	return nil
}

var oneRowMore = []audit.Pair{{First: audit.Records(1), Second: audit.Records(1, 0)}}

// recorder is a testing.TB that keeps the failure.
type recorder struct {
	testing.TB
	failed, log string
}

func (r *recorder) Helper()      {}
func (r *recorder) Name() string { return "TestCount/half" }
func (r *recorder) Logf(f string, a ...any) {
	r.log += fmt.Sprintf(f, a...) + "\n"
}
func (r *recorder) Fatalf(f string, a ...any) { r.failed = fmt.Sprintf(f, a...) }

// holder is a recorder that ends at what is fatal.
type holder struct{ recorder }

func (h *holder) Errorf(f string, a ...any) { h.failed += fmt.Sprintf(f, a...) + "\n" }
func (h *holder) Fatalf(f string, a ...any) {
	h.Errorf(f, a...)
	runtime.Goexit()
}

// odd is a count that breaks the contract of a mechanism.
type odd struct {
	count
	breaks func(d audit.Dataset, out []float64)
}

func (o odd) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	err := o.count.Sample(d, s, out)
	o.breaks(d, out)
	return err
}

// oddFinder proposes the same again, or datasets that are not neighbours.
type oddFinder []audit.Pair

func (f oddFinder) Propose([]audit.Trial, int) []audit.Pair { return f }

// oddModel scores otherwise than the model that it was read from.
type oddModel struct{ audit.Model }

func (m oddModel) Score(rows, scores []float64) {
	m.Model.Score(rows, scores)
	scores[0]++
}

// What breaks a contract fails the test of it, and says why.
func TestContracts(t *testing.T) {
	number := 0.0
	domain := audit.Domain{Columns: 1, MaxRows: 3, Lower: []float64{0}, Upper: []float64{1}}
	mechanism := func(m audit.Mechanism, change ...func(*audit.MechanismSpec)) func(testing.TB) {
		spec := audit.MechanismSpec{Name: "count", Title: "count", Source: "this test",
			Relations: func(audit.Params) []audit.Relation { return []audit.Relation{audit.AddRemove} },
			Claim:     func(audit.Params) audit.Claim { return audit.DPClaim(1, 0) },
			Truth:     func(audit.Params) string { return "epsilon = 1" },
			Domain:    func(audit.Params, audit.Relation) audit.Domain { return domain },
			Pairs: func(audit.Params, audit.Relation) []audit.Pair {
				return []audit.Pair{{Label: "one more", First: audit.Records(1), Second: audit.Records(1, 0)}}
			},
			New: func(audit.Params) (audit.Mechanism, error) { return m, nil }}
		for _, c := range change {
			c(&spec)
		}
		return func(t testing.TB) {
			dptest.TestMechanism(t, spec, pair.Plan{Samples: 2000, Explore: 2000, Trials: 1, Learner: "histogram", Finder: "candidates"})
		}
	}
	finder := func(pairs ...audit.Pair) func(testing.TB) {
		return func(t testing.TB) {
			dptest.TestFinder(t, audit.FinderSpec{Name: "odd", Title: "odd", Source: "this test", New: func(audit.FinderProblem) (audit.Finder, error) {
				if number++; len(pairs) > 1 {
					return oddFinder{pairs[int(number)%2]}, nil
				}
				return oddFinder(pairs), nil
			}}, audit.FinderProblem{Relation: audit.AddRemove, Domain: domain, Trials: 1})
		}
	}
	learner := func(change func(*audit.LearnerSpec)) func(testing.TB) {
		spec := must.Get(audit.Catalogue{Learners: estimators.Registry()}.Learner("histogram"))(t)
		change(&spec)
		return func(t testing.TB) { dptest.TestLearner(t, spec) }
	}
	one := audit.Pair{Label: "one", First: audit.Records(), Second: audit.Records(1)}
	other := audit.Pair{Label: "other", First: audit.Records(), Second: audit.Records(0)}
	for name, c := range map[string]struct {
		test func(testing.TB)
		says string // "" for what keeps it
	}{
		"a mechanism":          {mechanism(count{1}), ""},
		"half the noise":       {mechanism(count{0.5}), "verdict violation, must be no-violation"},
		"a fault that is none": {mechanism(count{1}, func(s *audit.MechanismSpec) { s.Fault = "none" }), "must be violation"},
		"own randomness": {mechanism(odd{count{1}, func(_ audit.Dataset, out []float64) {
			number++
			out[0] = number
		}}), "all randomness must come from the stream"},
		"changes its dataset": {mechanism(odd{count{1}, func(d audit.Dataset, _ []float64) { d.Values[0] = 0.5 }}), "sampling changed the dataset"},
		"NaN":                 {mechanism(odd{count{1}, func(_ audit.Dataset, out []float64) { out[0] = math.NaN() }}), "must be set to a finite number"},
		"strangers": {mechanism(count{1}, func(s *audit.MechanismSpec) {
			s.Pairs = func(audit.Params, audit.Relation) []audit.Pair {
				return []audit.Pair{{Label: "two more", First: audit.Records(1), Second: audit.Records(1, 0, 0)}}
			}
		}), "one row more"},
		"a finder":                 {finder(one), ""},
		"a finder of strangers":    {finder(audit.Pair{Label: "two", First: audit.Records(), Second: audit.Records(0, 1)}), "one row more"},
		"a finder of its own will": {finder(one, other), "the same stream gave different pairs"},
		"a learner":                {learner(func(*audit.LearnerSpec) {}), ""},
		"a learner of its own will": {learner(func(s *audit.LearnerSpec) {
			learn, n := s.Learn, 0
			s.Learn = func(ex audit.Exploration) (audit.Model, error) {
				n++
				ex.First = ex.First.Slice(0, max(0, ex.First.Len()-n))
				return learn(ex)
			}
		}), "gave two different models"},
		"a learner that forgets": {learner(func(s *audit.LearnerSpec) {
			decode := s.Decode
			s.Decode = func(data json.RawMessage, columns []audit.Column) (audit.Model, error) {
				m, err := decode(data, columns)
				return oddModel{m}, err
			}
		}), "after the model was written and read"},
	} {
		h, done := &holder{}, make(chan bool)
		go func() {
			defer close(done)
			c.test(h)
		}()
		if <-done; !strings.Contains(h.failed, c.says) || c.says == "" && h.failed != "" {
			t.Errorf("%s: %q, must say %q", name, h.failed, c.says)
		}
	}
}

func TestFailureTellsAll(t *testing.T) {
	for mode, says := range map[pair.Mode][]string{
		pair.Fixed: {"Violation: epsilon >= 1.", "99.9 % confidence", "claimed 1", "count with half the noise", "{1, [0]}", "Event", "Counts", "of 20 000", "Seed: 77", "'^TestCount$/^half$'", "0.001"},
		"":         {"Violation: the claim of 1 is false with 99.9 % confidence", "count with half the noise", "{1, [0]}", "Refuted after", "outputs of 1 pair", "p-value", "Seed: 77", "'^TestCount$/^half$'", "0.001"},
	} {
		rec := &recorder{}
		dptest.RequireNoViolation(rec, count{0.5}, audit.DPClaim(1, 0), dptest.Options{Name: "count with half the noise", Mode: mode, Pairs: oneRowMore, Samples: 20_000, Seed: 77})
		must.Say(t, rec.failed, says...)
	}
}

func TestRegistered(t *testing.T) {
	err := dptest.Check(dptest.From(mechanisms.All(), "svt5", "epsilon=1"), audit.DPClaim(1, 0), dptest.Options{Mode: pair.Fixed, Samples: 10_000, Explore: 10_000, Trials: 3, Seed: 4})
	var v *dptest.ViolationError
	if !errors.As(err, &v) {
		t.Fatalf("svt5 answers %v", err)
	}
	must.Refuse(t, err, "Replay: dpscope audit -mechanism svt5 -epsilon 1", "no replay command")
	if b := *v.Report.Rows(report.Bounds)[0].LowerBound; b <= 1 {
		t.Errorf("bound %v of a violation of 1", b)
	}
	must.Do(t, dptest.Check(dptest.From(mechanisms.All(), "svt1"), audit.DPClaim(1, 0), dptest.Options{Samples: 5_000, Trials: 2}))
}

func TestErrors(t *testing.T) {
	one := audit.DPClaim(1, 0)
	for _, c := range []struct {
		m     audit.Mechanism
		claim audit.Claim
		opts  dptest.Options
		says  string
	}{
		{nil, one, dptest.Options{Pairs: oneRowMore}, "mechanism is nil"},
		{count{1}, one, dptest.Options{}, "Options.Pairs is empty"},
		{count{1}, audit.DPClaim(-1, 0), dptest.Options{Pairs: oneRowMore}, "epsilon is -1"},
		{count{1}, one, dptest.Options{Pairs: oneRowMore, Samples: 5}, "samples is 5"},
		{count{1}, one, dptest.Options{Pairs: oneRowMore, FalseAlarm: 2}, "beta is 2"},
		{count{1}, one, dptest.Options{Pairs: []audit.Pair{{First: audit.Records(1), Second: audit.Records(2)}}}, "one row more"},
		{count{1}, audit.DPClaim(20, 0), dptest.Options{Pairs: oneRowMore, Mode: pair.Fixed, Samples: 1000}, "below the claim of 20"},
		{count{1}, audit.DPClaim(20, 0), dptest.Options{Pairs: oneRowMore, Samples: 1000}, "cannot refute the claim"},
		{dptest.From(mechanisms.All(), "svt9"), one, dptest.Options{}, `did you mean "svt`},
		{dptest.From(mechanisms.All(), "svt4", "c"), one, dptest.Options{}, "name=value"},
		{dptest.From(mechanisms.All(), "svt4", "x=1"), one, dptest.Options{}, `parameter is "x"`},
	} {
		must.Refuse(t, dptest.Check(c.m, c.claim, c.opts), c.says, c.m, c.opts)
	}
}

func ExampleCheck() {
	// Half the noise that a claim of 1 needs.
	err := dptest.Check(count{0.5}, audit.DPClaim(1, 0), dptest.Options{
		Pairs:   []audit.Pair{{First: audit.Records(1), Second: audit.Records(1, 0)}},
		Samples: 20_000,
		Seed:    1,
	})
	fmt.Println(strings.SplitN(err.Error(), " with ", 2)[0])
	// Output: Violation: the claim of 1 is false
}
