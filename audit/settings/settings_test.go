package settings_test

import (
	"errors"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/internal/must"
)

type plan struct {
	Number       float64
	Whole        uint64
	On           bool
	Wholes       []int
	Numbers      []float64
	Words        []string
	Optional     *int
	Kinds        map[string]audit.ColumnKind
	Lower, Upper float64
	Params       audit.Params
}

func keys() []settings.Key[plan] {
	return []settings.Key[plan]{
		{Name: "number", At: settings.Number(func(p *plan) *float64 { return &p.Number }), Range: settings.From(0, 1)},
		{Name: "above", At: settings.Number(func(p *plan) *float64 { return &p.Number }), Range: settings.Above(0)},
		{Name: "whole", At: settings.Whole(func(p *plan) *uint64 { return &p.Whole }), Range: settings.In(0, 1<<53-1), Preset: "42"},
		{Name: "on", At: settings.Switch(func(p *plan) *bool { return &p.On })},
		{Name: "wholes", At: settings.Wholes(func(p *plan) *[]int { return &p.Wholes })},
		{Name: "numbers", At: settings.Numbers(func(p *plan) *[]float64 { return &p.Numbers })},
		{Name: "words", At: settings.Words(func(p *plan) *[]string { return &p.Words })},
		{Name: "optional", At: settings.Optional(settings.Whole[int, int], func(p *plan) **int { return &p.Optional }), Range: settings.In(0, 9)},
		{Name: "kinds", At: settings.Kinds(func(p *plan) *map[string]audit.ColumnKind { return &p.Kinds })},
		{Name: "limits", At: settings.Limits(func(p *plan) (*float64, *float64) { return &p.Lower, &p.Upper })},
		{Name: "param", At: settings.Params(func(p *plan) *audit.Params { return &p.Params })},
	}
}

// A text out of range, or that cannot be read, is refused; the error says of which
// setting it is.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"number", "1", "number is 1, must be in [0, 1)"},
		{"number", "NaN", "number is NaN, must be in [0, 1)"},
		{"number", "x", `number is "x", must be a number in [0, 1)`},
		{"number", "", `number is "", must be a number in [0, 1)`},
		{"above", "0", "above is 0, must be a finite number above 0"},
		{"above", "+Inf", "above is +Inf, must be a finite number above 0"},
		{"whole", "1.5", `whole is "1.5", must be a whole number in [0, 9007199254740991]`},
		{"whole", "9007199254740993", "whole is 9007199254740993, must be a whole number in [0, 9007199254740991]"},
		{"whole", "1e999", "whole is 1e999, must be a whole number in [0, 9007199254740991]"},
		{"whole", "-1", "whole is -1, must be a whole number in [0, 9007199254740991]"},
		{"on", "maybe", `on is "maybe", must be true or false`},
		{"wholes", "1,0", `wholes is "1,0", must be whole numbers above 0 such as 200 or 100,200,400`},
		{"numbers", "1,", `numbers is "1,", must be numbers separated by commas, such as 2,4,8`},
		{"optional", "10", "optional is 10, must be a whole number in [0, 9]"},
		{"kinds", "c1", `kind is "c1", must be name=kind; for example -kind answer=symbol, or -kind c1..c8=real`},
		{"above", "1e999", "above is 1e999, must be a finite number above 0"},
		{"limits", "1", `limits is "1", must be two numbers with a comma between, for example 0,255`},
	} {
		var p plan
		err := settings.Read(keys(), settings.Texts{c.name: c.text}, &p)
		var in *audit.InputError
		if !errors.As(err, &in) || in.Place() != c.name || err.Error() != c.says {
			t.Errorf("%s=%s: %v, want %s", c.name, c.text, err, c.says)
		}
	}
	err := settings.Read(keys(), settings.Texts{"limts": "1"}, &plan{})
	if err == nil || err.Error() != `setting is "limts", must be a known name; did you mean "limits"? Known: number, above, whole, on, wholes, numbers, words, optional, kinds, limits, param` {
		t.Errorf("an unknown name: %v", err)
	}
}

// What is not given has its preset, where there is one.
func TestPreset(t *testing.T) {
	var p plan
	must.Do(t, settings.Read(keys(), settings.Texts{"p.c": "2", "limits": "-1,1"}, &p))
	if p.Whole != 42 || p.Params["c"].Number != 2 || p.Lower != -1 || p.Upper != 1 || p.On {
		t.Errorf("%+v", p)
	}
}

// What is written is read again: nothing that is not given, and a text for each kind.
func TestWritten(t *testing.T) {
	p := plan{Numbers: []float64{1e-7, 2}, Words: []string{"a", "b c"}, Optional: new(0), Kinds: map[string]audit.ColumnKind{"x": audit.Real, "a=b": audit.Symbol}}
	var again plan
	texts := settings.Texts{"whole": "0"}
	for _, x := range settings.Written(keys(), p, plan{}) {
		if before, ok := texts[x.Name]; ok {
			x.Value = before + settings.Between + x.Value
		}
		texts[x.Name] = x.Value
	}
	if err := settings.Read(keys(), texts, &again); err != nil || !audit.EqualJSON(again, p) {
		t.Errorf("%q: %v\n%+v\nwant\n%+v", texts, err, again, p)
	}
	if texts["words"] != "a,b c" || texts["optional"] != "0" || texts["numbers"] != "1e-07,2" {
		t.Errorf("%q", texts)
	}
	if none := settings.Written(keys(), plan{}, plan{}); len(none) > 0 {
		t.Errorf("%v of a plan without settings", none)
	}
}
