package mechanisms

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/dptest"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

var update = flag.Bool("update", false, "write testdata/digests.txt anew")

// everySetting is settings, and for an SVT every query family at thresholds far and
// near.
func everySetting(spec audit.MechanismSpec) []audit.Params {
	list := settings(spec)
	for _, threshold := range []float64{-1000, 3, 25.5, 1000} {
		for _, family := range queryFamilyNames() {
			if p := defaults(spec); has(p, "queries") {
				p["threshold"], p["queries"], p["sensitivity"] = number(threshold), audit.ParamValue{Text: family}, number(1000)
				list = append(list, p)
			}
		}
	}
	return list
}

// loud are the audits of faults that the contract's own audit does not show.
var loud = map[string]pair.Plan{
	"laplace-mean-raw-denominator":  {Samples: 50_000, Explore: 20_000},
	"truncated-geometric":           {Samples: 50_000, Explore: 20_000},
	"gaussian-mean-raw-denominator": {Samples: 50_000, Explore: 50_000},
	"dp-sgd-microbatch":             {Samples: 20_000, Explore: 20_000},
	"svt3":                          {Samples: 10_000, Explore: 5_000}, // a size in both sizes
	"svt4":                          {Samples: 4_000, Explore: 2_000},
}

// TestEveryMechanism holds every line of the registry to the contract, with one
// audit each: what is broken is refuted, and what is not is not. Seeds are fixed; at
// another one a correct mechanism is refuted with probability at most 1e-6, whatever the
// size of the audit. In the short tests the audits that are not in loud are a fifth as
// large.
func TestEveryMechanism(t *testing.T) {
	testsize.Native(t)
	seen := map[string]bool{}
	for _, spec := range All() {
		if seen[spec.Name] {
			t.Errorf("%s is there twice", spec.Name)
		}
		seen[spec.Name] = true
		t.Run(spec.Name, func(t *testing.T) {
			plan := loud[spec.Name]
			plan.Seed = 3
			if spec.Fault != "" {
				plan.Finder = "candidates"
			}
			if _, ok := loud[spec.Name]; !testsize.All() && !ok {
				plan.Samples, plan.Explore = 2000, 1000
			}
			dptest.TestMechanism(t, spec, plan, everySetting(spec)...)
		})
		for _, p := range everySetting(spec) {
			claim := spec.Claim(p)
			if renyi := has(p, "alpha"); (claim.Kind == audit.Approximate) != has(p, "delta") || (claim.Kind == audit.Pure) == (has(p, "delta") || renyi) {
				t.Errorf("%s claims kind %s", spec.Name, claim.Kind)
			}
		}
	}
}

// At the ends of the range of epsilon outputs stay finite. A hundred thousand
// outputs reach where ñ is at its lower end about half of the time.
func TestOutputsAreFinite(t *testing.T) {
	for _, spec := range All() {
		for _, epsilon := range []float64{1e-6, 100} {
			p := defaults(spec)
			if has(p, "epsilon") {
				p["epsilon"] = number(epsilon)
			}
			if has(p, "delta") {
				p["delta"] = number(1e-300)
			}
			d := spec.Pairs(p, spec.Relations(p)[0])[0].First
			for _, v := range sample(t, mustNew(t, spec, p), d, 5_000, 0).Rows {
				if v-v != 0 || math.Abs(v) > 1e25 {
					t.Fatalf("%s at epsilon %g: output %g", spec.Name, epsilon, v)
				}
			}
		}
	}
}

// Two calls give what one gives, when the first ends with a block; and a digest
// of the outputs at the defaults is the same on every platform. Its reference
// is this package itself: go test -run TestSameBitsOfMechanisms -update, after a change of
// what a seed means.
func TestSameBitsOfMechanisms(t *testing.T) {
	const file = "testdata/digests.txt"
	var got strings.Builder
	for _, spec := range All() {
		p := defaults(spec)
		m := mustNew(t, spec, p)
		d := spec.Pairs(p, spec.Relations(p)[0])[0].Second
		width := audit.Width(m.Columns())
		const rows = 2*blockRows + 100
		whole := sample(t, m, d, rows, 0).Rows
		parts := make([]float64, len(whole))
		s := stream.New(stream.Key{Seed: 42, Purpose: "test"})
		for _, part := range [][]float64{parts[:blockRows*width], parts[blockRows*width:]} {
			must.Do(t, m.Sample(d, s, part))
		}
		sum := fnv.New64a()
		for i, v := range whole {
			if math.Float64bits(v) != math.Float64bits(parts[i]) {
				t.Fatalf("%s: number %d is %v in one call and %v in two", spec.Name, i, v, parts[i])
			}
			b := math.Float64bits(v)
			sum.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24), byte(b >> 32), byte(b >> 40), byte(b >> 48), byte(b >> 56)})
		}
		fmt.Fprintf(&got, "%s %016x\n", spec.Name, sum.Sum64())
	}
	if *update {
		must.Do(t, os.MkdirAll("testdata", 0o777))
		must.Do(t, os.WriteFile(file, []byte(got.String()), 0o666))
	}
	want := must.Get(os.ReadFile(file))(t)
	if got.String() != string(want) {
		t.Errorf("outputs changed; digests are now\n%swant\n%s", got.String(), want)
	}
}

func TestParametersOutOfRange(t *testing.T) {
	word := func(s string) audit.ParamValue { return audit.ParamValue{Text: s} }
	for _, c := range []struct {
		mechanism, param string
		value            audit.ParamValue
		says             string
	}{
		{"svt4", "epsilon", number(0), "epsilon is 0"},
		{"svt4", "epsilon", number(math.NaN()), "epsilon is NaN"},
		{"laplace-mean", "epsilon", number(101), "epsilon is 101"},
		{"gaussian-mean", "delta", number(0), "delta is 0"},
		{"svt1", "c", number(1.5), "c is 1.5"},
		{"svt1", "m", number(65), "m is 65"},
		{"svt1", "queries", word("sums"), "queries"},
		{"svt1", "q", number(1), `"q"`},
		{"noisy-histogram", "bins", number(0), "bins is 0"},
		{"randomised-response", "p", number(0.5), "parameter p is 0.5, must be a number in (0.5, 1)"},
		{"randomised-response", "p", number(0.2), "parameter p is 0.2"},
		{"randomised-response", "p", number(1), "parameter p is 1"},
		{"randomised-response", "p", number(-1), "p is -1"},
		{"rappor", "f", number(1), "parameter f is 1, must be a number in (0, 1)"},
		{"rappor", "q", number(0.4), "parameter q is 0.4, must be above p = 0.45"},
		{"rappor-once", "p", number(0.4), `"p"`},
		{"exponential-median", "hi", number(0), "parameter hi is 0, must be above lo = 0"},
		{"exponential-median", "points", number(1), "points is 1"},
		{"count-replace-as-add", "bins", number(1), "bins is 1"},
		{"sum-unclipped", "most", number(1), "most is 1"},
		{"prefix-sum", "data", word("queries"), "data"},
	} {
		plan := pair.Plan{Version: pair.PlanVersion, Mechanism: c.mechanism, Parameters: audit.Params{c.param: c.value}}
		_, err := plan.Resolve(audit.Catalogue{Mechanisms: All()})
		refused(t, err, c.mechanism, c.says)
	}
	p := defaults(svt1.complete().spec())
	p["sensitivity"] = number(0.5)
	mustNew(t, svt1.complete().spec(), p)
	p["queries"] = word("sum")
	_, err := svt1.complete().spec().New(p)
	refused(t, err, "svt1", "sensitivity is 0.5, must be at least 1 for queries=sum")
}

func TestDatasetsThatDoNotFit(t *testing.T) {
	two := audit.Dataset{Columns: 2, Values: []float64{0, 0}}
	for _, c := range []struct {
		mechanism string
		d         audit.Dataset
		says      string
	}{
		{"laplace-mean", two, "dataset.columns is 2"},
		{"laplace-mean", audit.Records(math.NaN()), "dataset.values[0] is NaN"},
		{"laplace-mean-raw-count", audit.Records(), "0 rows"},
		{"laplace-mean-raw-denominator", audit.Records(), "0 rows"},
		{"gaussian-mean-raw-count", audit.Records(), "0 rows"},
		{"svt1", audit.Records(1, 2), "2 rows"},
		{"svt1", two, "dataset.columns is 2"},
		{"svt3", audit.Records(vector(10, math.Inf(1))...), "dataset.values[0] is +Inf"},
		{"noisy-max-laplace", audit.Records(1, 2), "2 rows"},
		{"noisy-histogram", audit.Records(5), "dataset.values[0] is 5, must be a whole number in [0, 4]"},
		{"noisy-histogram", audit.Records(0, 0.5), "dataset.values[1] is 0.5"},
		{"noisy-histogram", audit.Records(-1), "dataset.values[0] is -1"},
		{"randomised-response", audit.Records(0, 1), "2 rows"},
		{"randomised-response", audit.Records(0.5), "dataset.values[0] is 0.5"},
		{"exponential-median", two, "dataset.columns is 2"},
		{"truncated-geometric", audit.Records(1), "1 rows, must be 5 rows"},
		{"truncated-geometric", audit.Records(0, 0, 2, 0, 0), "dataset.values[2] is 2, must be a whole number in [0, 1]"},
		{"rappor", audit.Records(100), "dataset.values[0] is 100"},
		{"rappor-once", audit.Records(), "0 rows"},
		{"numeric-svt", audit.Records(1), "1 rows"},
		{"svt34-parallel", audit.Records(1), "1 rows"},
		{"prefix-sum", audit.Records(10), "dataset.values[0] is 10"},
		{"laplace-parallel", audit.Records(1, 2), "2 rows"},
		{"laplace-float", audit.Records(), "0 rows"},
		{"laplace-snapping", two, "dataset.columns is 2"},
		{"dp-sgd", two, "dataset.columns is 2"},
		{"dp-sgd-reused-key", audit.Records(math.Inf(1)), "dataset.values[0] is +Inf"},
		{"sum-unclipped", two, "dataset.columns is 2"},
		{"sum-nan", audit.Records(1), "dataset.columns is 1, must be 2"},
		{"domain-from-data", audit.Records(5), "dataset.values[0] is 5"},
		{"size-leak", two, "dataset.columns is 2"},
	} {
		spec := specOf(t, c.mechanism)
		m := mustNew(t, spec, defaults(spec))
		out := make([]float64, audit.Width(m.Columns()))
		refused(t, m.Sample(c.d, stream.New(stream.Key{}), out), c.mechanism, c.says)
	}
}

func refused(t *testing.T, err error, what, says string) {
	t.Helper()
	must.Input(t, err, says, what)
}

// Of a mechanism whose noise follows epsilon the page says that it is enough for it: so
// one that keeps its claim claims that epsilon. Where more epsilon is more noise, it says
// nothing.
func TestNoiseOfEpsilon(t *testing.T) {
	for _, spec := range All() {
		for _, param := range spec.Params {
			p := defaults(spec)
			p[param.Name] = number(0.7)
			if param.Noise && (spec.Name == noisyHistogramWrongScale.Name || spec.Fault == "" && math.Abs(spec.Claim(p).Epsilon-0.7) > 1e-9) {
				t.Errorf("%s, %s = 0.7: claims %v", spec.Name, param.Name, spec.Claim(p))
			}
		}
	}
}
