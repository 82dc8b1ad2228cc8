package accounting

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

func TestReadProfile(t *testing.T) {
	account := must.Get(Answer(Query{Mechanism: KindGaussian, Sigma: new(1.0), Profile: true}))(t)
	for i, x := range account.Profile {
		// Of Gaussian noise every point is exact, rounded up.
		if d := GaussianDelta(1, 1, x.Epsilon); d > x.Delta || d < x.Delta*(1-1e-4) && x.Epsilon > 0 {
			t.Errorf("point %d: %+v, delta is %v", i, x, d)
		}
	}
	points := account.Profile
	own, _ := json.Marshal(account)
	account.Profile = nil
	single, _ := json.Marshal(account)
	for _, k := range []struct {
		name, data string
		points     int
		first      audit.ProfilePoint
		source     string
	}{
		{"account", string(own), len(points), points[0], "dpscope account: Gaussian noise"},
		{"one answer", string(single), 1, audit.ProfilePoint{Epsilon: 4.377179, Delta: 1e-5}, "dpscope account"},
		// What a script writes of dp_accounting's get_delta, or of get_epsilon.
		{"lists", `{"epsilons": [2, 1, 0.5], "deltas": [1e-6, 1e-4, 1e-3]}`, 3, audit.ProfilePoint{Epsilon: 0.5, Delta: 1e-3}, "lists"},
		{"points", `{"points": [{"epsilon": 1, "delta": 0.1}], "source": "a paper"}`, 1, audit.ProfilePoint{Epsilon: 1, Delta: 0.1}, "a paper"},
	} {
		p, err := ReadProfile(k.name, []byte(k.data))
		if err != nil {
			t.Errorf("%s: %v", k.name, err)
			continue
		}
		if len(p.Points) != k.points || p.Points[0] != k.first || !strings.HasPrefix(p.Source, k.source) {
			t.Errorf("%s: %d points, %+v, %q", k.name, len(p.Points), p.Points[0], p.Source)
		}
	}
	for _, k := range []struct{ data, says string }{
		{"", "no JSON object"},
		{"epsilon,delta\n1,0.1\n", "no JSON object"},
		{`{"epsilons": [1`, "not JSON"},
		{`{"a": 1}`, "without a curve"},
		{`{"epsilons": [1], "deltas": [1, 2]}`, "1 numbers beside 2"},
		{`{"epsilons": [1, 2], "deltas": [0.1, 0.2]}`, "delta must not rise with epsilon"},
		{`{"epsilons": [-1], "deltas": [0.1]}`, "above 0, at most 500"},
		{`{"epsilons": [1], "deltas": [-0.1]}`, "in [0, 1)"},
		{`{"epsilons": [1], "deltas": [1]}`, "0 points"},
		{`{"history": [[1, 0.1]]}`, "2 numbers"},
		{`{"history": [[1, 0.1, 0.5]]}`, "0.5 steps"},
		{`{"history": [[0, 0.1, 5]]}`, "history[0]: sigma"},
		{`{"history": []}`, "missing"},
	} {
		must.Input(t, must.Err(ReadProfile("file", []byte(k.data))), k.says, k.data)
	}
}

// An Opacus accountant's state_dict (opacus/accountants/accountant.py: history and
// mechanism), of the figures of its test_prv_accountant.
func TestReadOpacus(t *testing.T) {
	p, err := ReadProfile("state.json", []byte(`{"history": [[1.5, 0.04, 2000], [1.5, 0.04, 249]], "mechanism": "prv"}`))
	if err != nil || len(p.Points) < 15 || p.Source != "Opacus history in state.json" {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, x := range p.Points {
		if x.Delta == 1e-5 && (x.Epsilon > 6.777395712150674 || x.Epsilon < 6.76) {
			t.Errorf("%+v, theirs 6.7774", x)
		}
	}
}
