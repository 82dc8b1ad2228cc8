package estimators

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

// words is a floatList as JSON.
func words(v ...float32) string {
	text, _ := floatList(v).MarshalText()
	return `"` + string(text) + `"`
}

func TestNamedDecodeRefuses(t *testing.T) {
	one := realColumns(1)
	mixed := []audit.Column{{Kind: audit.Real}, {Kind: audit.Symbol}, {Kind: audit.Mixed}}
	value := `{"kind":"value","column":0,"low":0,"high":1,"weight":2,"shift":-1}`
	network := func(inputs, hidden, bound, weights string) string {
		return `{"inputs":[` + inputs + `],"hidden":` + hidden + `,"bound":` + bound + `,"weights":` + weights + `}`
	}
	good := words(1, 2, 3, 4, 5, 6) // 1 input, 1 and 1 units
	means := func(inputs, bandwidth, first, landmarks string) string {
		return `{"inputs":[` + inputs + `],"bandwidth":` + bandwidth + `,"first":` + first + `,"landmarks":` + landmarks + `}`
	}
	polynomial := func(low, high, bound, c string) string {
		return `{"low":` + low + `,"high":` + high + `,"bound":` + bound + `,"coefficients":[` + c + `]}`
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		spec    audit.LearnerSpec
		columns []audit.Column
		model   string
		says    string // "": decodes
	}{
		{usualNetwork, one, network(value, "[1,1]", "8", good), ""},
		{usualNetwork, mixed, network(value, "[1,1]", "8", good), ""},
		{usualNetwork, one, network("", "[1,1]", "8", good), "1 to 640 inputs"},
		{usualNetwork, one, network(value, "[1,1]", "8", words(1, 2, 3, 4, 5)), "a list of 5, must be a list of 6"},
		{usualNetwork, one, network(value, "[1,1]", "8", words(1, 2, nan, 4, 5, 6)), "model.weights[2] is NaN"},
		{usualNetwork, one, network(value, "[1,1]", "8", words(1, 2, inf, 4, 5, 6)), "model.weights[2]"},
		{usualNetwork, one, network(value, "[1,1]", "8", words(1, 2, 2e4, 4, 5, 6)), "[-10000, 10000]"},
		{usualNetwork, one, network(value, "[1,1]", "8", `"AAA"`), "base64"},
		{usualNetwork, one, network(value, "[1,1]", "8", `"AAAA"`), "base64"},
		{usualNetwork, one, network(value, "[1,1]", "8", `[1,2,3,4,5,6]`), "array"},
		{usualNetwork, one, network(value, "[0,1]", "8", good), "model.hidden[0] is 0"},
		{usualNetwork, one, network(value, "[1,300]", "8", good), "model.hidden[1] is 300"},
		{usualNetwork, one, network(value, "[1,1]", "0", good), "model.bound is 0"},
		{usualNetwork, one, network(value, "[1,1]", "1e4", good), "model.bound"},
		{usualNetwork, one, network(value, "[1,1]", "8", good) + "1", "followed by more"},
		{usualNetwork, one, strings.Replace(network(value, "[1,1]", "8", good), "hidden", "hide", 1), `"hide"`},
		{usualNetwork, one, network(strings.Replace(value, `"column":0`, `"column":1`, 1), "[1,1]", "8", good), "in [0, 0]"},
		{usualNetwork, mixed, network(strings.Replace(value, `"column":0`, `"column":1`, 1), "[1,1]", "8", good), "symbol column"},
		{usualNetwork, one, network(strings.Replace(value, `"high":1`, `"high":0`, 1), "[1,1]", "8", good), "low, high"},
		{usualNetwork, one, network(strings.Replace(value, `value`, `square`, 1), "[1,1]", "8", good), "is or value"},
		{usualNetwork, one, network(strings.Replace(value, `"weight":2`, `"weight":1e6`, 1), "[1,1]", "8", good), "[-1000, 1000]"},
		{usualNetwork, one, network(strings.Replace(value, `"shift":-1`, `"shift":-1e6`, 1), "[1,1]", "8", good), "[-1000, 1000]"},
		{usualKernels, one, means(value, "1", "1", words(0, 1)), ""},
		{usualKernels, one, means(value, "0", "1", words(0, 1)), "model.bandwidth is 0"},
		{usualKernels, one, means(value, "1", "2", words(0, 1)), "2 of 2 landmarks"},
		{usualKernels, one, means(value, "1", "0", words(0, 1)), "0 of 2 landmarks"},
		{usualKernels, one, means(value, "1", "1", words(0, 1e6)), "model.landmarks[1]"},
		{usualKernels, one, means(value+","+value, "1", "1", words(0, 1, 2, 3, 4)), "a list of 5"},
		{chebyshev, one, polynomial("0", "1", "8", "1,2"), ""},
		{chebyshev, one, polynomial("1", "1", "8", "1,2"), "low, high"},
		{chebyshev, one, polynomial("0", "1", "-8", "1,2"), "model.bound is -8"},
		{chebyshev, one, polynomial("0", "1", "8", ""), "a list of 0"},
		{chebyshev, one, polynomial("0", "1", "8", strings.Repeat("1,", 33)+"1"), "a list of 34"},
		{chebyshev, one, polynomial("0", "1", "8", "1e10"), "model.coefficients[0]"},
		{chebyshev, mixed, polynomial("0", "1", "8", "1,2"), "one real column"},
		{floatBits, one, `{"logistic":{"features":[]}}`, ""},
		{floatBits, one, `{}`, "both or neither"},
		{floatBits, one, `{"logistic":{"features":[]},"table":{}}`, "both or neither"},
		{floatBits, one, `{"table":{"partitions":[],"outcomes":[],"rest":0}}`, "a list of 3"},
		{floatBits, one, `{"logistic":{"features":[{"kind":"is","column":56,"weight":1}]}}`, "in [0, 55]"},
		{floatBits, mixed, `{"logistic":{"features":[]}}`, "one real column"},
	} {
		decodes(t, c.spec, c.columns, c.model, c.says)
	}
}

func TestFloatListKeepsItsBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := floatList(rapid.SliceOf(rapid.Float32()).Draw(t, "list"))
		in = append(in, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32)
		data := must.Get(json.Marshal(in))(t)
		var out floatList
		must.Do(t, json.Unmarshal(data, &out))
		if !slices.EqualFunc(in, out, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
			t.Fatalf("%v became %v", in, out)
		}
	})
}

// Any model that decodes gives finite scores on any finite outputs, also with
// weights as large as they may be.
func TestLargestWeightsScoreFinitely(t *testing.T) {
	s := shape{3, 4, 5}
	for _, sign := range []float32{1, -1} {
		m := &mlpModel{Hidden: [2]int{s.first, s.second}, Bound: boundMost, Weights: make(floatList, s.weights())}
		for i := range m.Weights {
			m.Weights[i] = sign * weightMost
		}
		for i := range s.inputs {
			m.Inputs = append(m.Inputs, input{feature{Kind: valueFeature, Column: i, Low: -1, High: 1, Weight: inputFar}, inputFar})
		}
		data, _ := json.Marshal(m)
		again := must.Get(usualNetwork.Decode(data, realColumns(3)))(t)
		rows := []float64{1e300, -1e300, math.MaxFloat64, -math.MaxFloat64, 0, 5e-324}
		out := make([]float64, 2)
		again.Score(rows, out)
		for _, v := range out {
			if v-v != 0 {
				t.Errorf("score %v", v)
			}
		}
	}
}

func TestNamedDescriptions(t *testing.T) {
	columns := []audit.Column{{Kind: audit.Real, Name: "mean"}, {Kind: audit.Symbol, Labels: answers}}
	inputs := `[{"kind":"value","column":0,"low":0,"high":1,"weight":2,"shift":-1},{"kind":"is","column":1,"symbol":1,"weight":2,"shift":0}]`
	for _, c := range []struct {
		spec    audit.LearnerSpec
		columns []audit.Column
		model   string
		above   bool
		want    string
	}{
		{usualNetwork, columns, `{"inputs":` + inputs + `,"hidden":[1,1],"bound":8,"weights":` + words(0.5, -2, 0, 1, 0, 1, 0) + `}`, true,
			"network of 1 and 1 units on 2 inputs > 0.25, with the largest weights on column 2 is ⊤, mean"},
		{usualKernels, columns, `{"inputs":` + inputs + `,"bandwidth":1.5,"first":1,"landmarks":` + words(0, 0, 1, 1) + `}`, false,
			"difference of kernel means, 1 and 1 landmarks at bandwidth 1.5 on 2 inputs, <= 0.25"},
		{chebyshev, realColumns(1), `{"low":-1,"high":3,"bound":8,"coefficients":[0,1,2]}`, true,
			"polynomial of degree 2 of output, clipped to [-1, 3], > 0.25"},
		{floatBits, realColumns(1), `{"logistic":{"features":[{"kind":"is","column":2,"symbol":-54,"weight":3}]}}`, true,
			"by the bits of the floating-point number, logistic score of 1 features > 0.25: +3·[grid is -54]"},
	} {
		m := must.Get(c.spec.Decode(json.RawMessage(c.model), c.columns))(t)
		if got := m.Describe(0.25, c.above); got != c.want {
			t.Errorf("%s: %q, want %q", c.spec.Name, got, c.want)
		}
	}
}

func TestReadBits(t *testing.T) {
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1.5, 0.1, 5e-324, -3e-320, math.MaxFloat64, 0x1p-1022, 3 + 0x1p-51, -1e-300} {
		got := make([]float64, len(bitColumns))
		readBits(x, got)
		want := twinBits(x)
		if x == 0 {
			want[3] = mantissaBits
		}
		if !slices.Equal(got, want) {
			t.Errorf("bits of %v are %v, want %v", x, got, want)
		}
	}
}
