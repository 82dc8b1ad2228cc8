package estimators

import (
	"encoding/json"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

func TestDescribe(t *testing.T) {
	real1 := realColumns(1)
	two := columnsOf(audit.Symbol, 2)
	both := []audit.Column{{Kind: audit.Real, Name: "mean"}, {Kind: audit.Mixed, Labels: answers}}
	bits := `{"partitions":[{"symbols":[0,1]},{"symbols":[0,1]}],"outcomes":[{"cells":[0,1],"score":2},{"cells":[1,0],"score":1},{"cells":[1,1],"score":-1}],"rest":0}`
	pieces := `{"column":0,"partition":{"edges":[0.31,1.2,1.4]},"scores":[2,-1,1,-2,0]}`
	mixed := `{"column":1,"partition":{"symbols":[0,1],"carries":[false,true],"edges":[2,3]},"scores":[1,-1,2,3,-5]}`
	logit := `{"carriers":[1],"features":[{"kind":"is","column":1,"symbol":1,"weight":0.8},{"kind":"count","from":0,"to":1,"symbol":0,"weight":-0.1}]}`
	for _, c := range []struct {
		spec      audit.LearnerSpec
		columns   []audit.Column
		model     string
		threshold float64
		above     bool
		want      string
	}{
		{outcomeTable, two, bits, 0.5, true, "one of 2 outcomes: ⊥⊤, ⊤⊥"},
		{outcomeTable, two, bits, -0.5, false, "outcome ⊤⊤"},
		{outcomeTable, two, bits, 0.5, false, "outcome ⊤⊤, or one that the table does not list"},
		{outcomeTable, two, bits, -0.5, true, "any outcome but outcome ⊤⊤"},
		{outcomeTable, two, bits, -9, true, "any outcome"},
		{outcomeTable, two, bits, 9, true, "no outcome"},
		{histogram, real1, pieces, 0, true, "output in (-inf, 0.31] or (1.2, 1.4]"},
		{histogram, real1, pieces, 0, false, "output in (0.31, 1.2] or (1.4, inf)"},
		{histogram, real1, pieces, 9, true, "no output"},
		{histogram, both, mixed, 0, true, "column 2 is ⊥ or ⊤ in (2, inf)"},
		{histogram, both, mixed, -2, false, "column 2 is a symbol not seen before"},
		{logistic, two, logit, 0.73, true, "logistic score of 2 features > 0.73: +0.8·[column 2 is ⊤] -0.1·[number of ⊥ in columns 1 to 1]"},
		{logistic, two, `{"features":[]}`, 1, false, "constant score 0 <= 1"},
	} {
		m := must.Get(c.spec.Decode(json.RawMessage(c.model), c.columns))(t)
		if got := m.Describe(c.threshold, c.above); got != c.want {
			t.Errorf("%s at %v, %v: %q, want %q", c.spec.Name, c.threshold, c.above, got, c.want)
		}
	}
}
