package estimators

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

func TestDecodeRefuses(t *testing.T) {
	columns := []audit.Column{{Kind: audit.Real}, {Kind: audit.Symbol}, {Kind: audit.Mixed}}
	parts := `[{"edges":[0,1]},{"symbols":[0,1]},{"symbols":[0,1],"carries":[false,true],"edges":[2]}]`
	table := func(outcomes string) string {
		return `{"partitions":` + parts + `,"outcomes":[` + outcomes + `],"rest":0}`
	}
	logit := func(f string) string { return `{"carriers":[1],"features":[` + f + `]}` }
	for _, c := range []struct {
		spec  audit.LearnerSpec
		model string
		says  string // "": decodes
	}{
		{outcomeTable, table(`{"cells":[2,1,2],"score":1}`), ""},
		{outcomeTable, ``, "empty"},
		{outcomeTable, `[]`, "array"},
		{outcomeTable, `{"partitions":`, "cut off"},
		{outcomeTable, table("") + " 1", "followed by more"},
		{outcomeTable, `{"partition":[]}`, `"partition"`},
		{outcomeTable, `{"partitions":[],"outcomes":[],"rest":0}`, "a list of 3"},
		{outcomeTable, `{"partitions":` + parts + `,"outcomes":[],"rest":"0"}`, "rest"},
		{outcomeTable, table(`{"cells":[2,1],"score":1}`), "outcomes[0].cells is a list of 2"},
		{outcomeTable, table(`{"cells":[3,1,2],"score":1}`), "in [0, 2]"},
		{outcomeTable, table(`{"cells":[2,-1,2],"score":1}`), "in [0, 1]"},
		{outcomeTable, table(`{"cells":[2,1,2],"score":1},{"cells":[2,1,2],"score":2}`), "twice"},
		{outcomeTable, table(`{"cells":[2,1,2],"score":1e999}`), "1e999"},
		{outcomeTable, strings.Replace(table(""), `"edges":[0,1]`, `"edges":[1,0]`, 1), "ascending"},
		{outcomeTable, strings.Replace(table(""), `"edges":[0,1]`, `"edges":[0,1],"symbols":[1]`, 1), "absent in a real column"},
		{outcomeTable, strings.Replace(table(""), `"carries":[false,true]`, `"carries":[true]`, 1), "one for each symbol"},
		{outcomeTable, strings.Replace(table(""), `{"symbols":[0,1]}`, `{"symbols":[]}`, 1), "1 to 256"},
		{outcomeTable, strings.Replace(table(""), `{"symbols":[0,1]}`, `{"symbols":[1,1]}`, 1), "distinct"},
		{outcomeTable, strings.Replace(table(""), `{"symbols":[0,1]}`, `{"symbols":[0,1],"edges":[1]}`, 1), "absent in a symbol column"},
		{histogram, `{"column":0,"partition":{"edges":[0]},"scores":[1,-1,0]}`, ""},
		{histogram, `{"column":2,"partition":{"symbols":[0,1],"carries":[false,true],"edges":[2]},"scores":[1,-1,2,0]}`, ""},
		{histogram, `{"column":3,"partition":{"edges":[0]},"scores":[1,-1,0]}`, "in [0, 2]"},
		{histogram, `{"column":-1,"partition":{"edges":[0]},"scores":[1,-1,0]}`, "in [0, 2]"},
		{histogram, `{"column":0,"partition":{"edges":[0]},"scores":[1,-1]}`, "a list of 3"},
		{histogram, `{"column":0,"partition":{"edges":[0],"bins":2},"scores":[1,-1,0]}`, `"bins"`},
		{histogram, fmt.Sprintf(`{"column":0,"partition":{"edges":[0%s]},"scores":[]}`, strings.Repeat(",1", 300)), "at most 255"},
		{logistic, logit(`{"kind":"is","column":1,"symbol":1,"weight":2},{"kind":"sum","low":0,"high":1,"weight":1}`), ""},
		{logistic, logit(`{"kind":"is","column":0,"weight":2}`), "real column"},
		{logistic, logit(`{"kind":"is","column":7,"weight":2}`), "in [0, 2]"},
		{logistic, logit(`{"kind":"value","column":1,"low":0,"high":1,"weight":2}`), "symbol column"},
		{logistic, logit(`{"kind":"value","column":0,"low":1,"high":1,"weight":2}`), "low, high"},
		{logistic, logit(`{"kind":"value","column":0,"low":0,"high":5e-324,"weight":2}`), "low, high"},
		{logistic, logit(`{"kind":"square","column":0,"low":0,"high":1e-200,"weight":2}`), "low, high"},
		{logistic, logit(`{"kind":"count","from":2,"to":2,"weight":2}`), "0 <= from"},
		{logistic, logit(`{"kind":"count","from":0,"to":4,"weight":2}`), "0 <= from"},
		{logistic, logit(`{"kind":"cube","weight":2}`), `"cube"`},
		{logistic, logit(`{"kind":"first","weight":1e10}`), "weight"},
		{logistic, `{"carriers":[1,0],"features":[]}`, "ascending"},
		{logistic, logit(strings.Repeat(`{"kind":"sum","low":0,"high":1,"weight":1},`, 127) + `{"kind":"sum","low":0,"high":1,"weight":1}`), "at most 127"},
	} {
		decodes(t, c.spec, columns, c.model, c.says)
	}
}

// decodes wants a model to decode, or to be refused in these words.
func decodes(t *testing.T, spec audit.LearnerSpec, columns []audit.Column, model, says string) {
	t.Helper()
	_, err := spec.Decode(json.RawMessage(model), columns)
	if says == "" && err != nil || says != "" && (err == nil || !audit.IsInput(err) || !strings.Contains(err.Error(), says)) {
		t.Errorf("%s: %.160s: error %v, want %q in it", spec.Name, model, err, says)
	}
}

// A model of other outputs does not decode.
func TestDecodeChecksTheColumns(t *testing.T) {
	c := mixedScenario()
	for _, spec := range All {
		m := must.Get(spec.Learn(c.exploration(2000)))(t)
		data, _ := json.Marshal(m)
		must.Refuse(t, must.Err(spec.Decode(data, realColumns(1))), "", spec.Name, "a model of a symbol and a mixed column decodes for one real column")
	}
}
