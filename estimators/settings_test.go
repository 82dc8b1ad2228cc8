package estimators

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

// A learner of its own defaults is the learner, and one of others writes another model.
func TestSettings(t *testing.T) {
	cat := audit.Catalogue{Learners: Registry()}
	c := laplaceShift(1)
	model := func(name string) string {
		l := must.Get(cat.Learner(name))(t)
		m := must.Get(l.Learn(c.exploration(40)))(t)
		data := must.Get(json.Marshal(m))(t)
		if _, err := l.Decode(data, c.columns); err != nil || l.Name != name {
			t.Errorf("%s calls itself %s: %v", name, l.Name, err)
		}
		return string(data)
	}
	for name, other := range map[string]string{"mlp": "units=7", "renyi-tester": "cap=2", "hockeystick-tester": "epochs=1:patience=1", "histogram-tester": "bins=10",
		"chebyshev": "degree=1", "mmd-tester": "landmarks=5"} {
		l := must.Get(cat.Learner(name))(t)
		usual := name
		for _, s := range l.Settings {
			usual += fmt.Sprintf(":%s=%v", s.Name, s.Default)
		}
		plain := model(name)
		if model(usual) != plain {
			t.Errorf("%s is not %s", usual, name)
		}
		if model(name+":"+other) == plain {
			t.Errorf("%s:%s is %s", name, other, name)
		}
	}
	must.Say(t, model("renyi-tester:cap=2:epochs=1"), `"bound":2,`)
	for name, says := range map[string]string{
		"renyi-tester:epochs=0":        "learner renyi-tester, parameter epochs is 0, must be a whole number in [1, 1000]",
		"renyi-tester:epoch=3":         `did you mean "epochs"?`,
		"renyi-tester:":                "dpscope list renyi-tester",
		"histogram-tester:bins":        "dpscope list histogram-tester",
		"mlp:units=4:units=5":          "each setting once",
		"histogram:bins=3":             "there are no parameters",
		"svm:bins=3":                   `learner is "svm"`,
		"histogram-tester:bins=quarts": `is "quarts"`,
	} {
		must.Input(t, must.Err(cat.Learner(name)), says, name)
	}
}
