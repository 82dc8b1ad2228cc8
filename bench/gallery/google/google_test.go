package google

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// With little noise the attack shows in a single output: one record of 1 moves a
// floating-point sum by 3, and a sum of whole numbers by 1.
func TestRounded(t *testing.T) {
	const epsilon = 45 // noise of scale 1/45; the library allows no more than 50
	for name, want := range map[string]float64{"google-sum-float": 3, "google-sum-int": 1} {
		answer := Cases[name](epsilon)
		without := must.Get(answer(nil, 1))(t)
		with := must.Get(answer([][]float64{{1}}, 1))(t)
		// Two draws of that noise together leave 0.9 once in 10^16 runs.
		if got := with[0] - without[0]; math.Abs(got-want) > 0.9 {
			t.Errorf("%s: one record moves the sum by %.2f, want %g", name, got, want)
		}
	}
}

// A mean of 2^33 records near 0 moves by less than a billionth.
func TestServe(t *testing.T) {
	var out bytes.Buffer
	in := strings.NewReader(`{"dataset": [[1]], "n": 3, "seed": 1}` + "\n" + `{"dataset": [], "n": 2, "seed": 2}` + "\n")
	must.Do(t, Serve("google-mean-float", 1, in, &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, n := range []int{3, 2} {
		var answer struct{ Outputs []float64 }
		if err := json.Unmarshal([]byte(lines[i]), &answer); err != nil || len(answer.Outputs) != n {
			t.Fatalf("answer %d: %v, %d outputs, want %d", i, err, len(answer.Outputs), n)
		}
		for _, v := range answer.Outputs {
			if v == 0 || math.Abs(v) > 1e-7 {
				t.Errorf("answer %d holds %g", i, v)
			}
		}
	}
	must.Refuse(t, Serve("google-sum", 1, strings.NewReader(""), &out), "google-sum-float", "of a case that is not there")
	must.Refuse(t, Serve("google-sum-int", 1, strings.NewReader("no request"), &out), "", "a request that is no JSON")
	must.Refuse(t, Serve("google-sum-int", -1, strings.NewReader(`{"dataset": [], "n": 1}`), &out), "", "an epsilon below 0")
}
