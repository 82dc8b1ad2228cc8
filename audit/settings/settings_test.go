package settings_test

import (
	"errors"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
)

type plan struct {
	Number       float64
	Whole        uint64
	On           bool
	Either       *bool
	Wholes       []int
	Lower, Upper float64
	Params       audit.Params
}

func keys() []settings.Key[plan] {
	return []settings.Key[plan]{
		{Name: "number", At: settings.Number(func(p *plan) *float64 { return &p.Number }), Range: settings.From(0, 1)},
		{Name: "above", At: settings.Number(func(p *plan) *float64 { return &p.Number }), Range: settings.Above(0)},
		{Name: "whole", At: settings.Whole(func(p *plan) *uint64 { return &p.Whole }), Range: settings.In(0, 1<<53-1), Preset: "42"},
		{Name: "on", At: settings.Switch(func(p *plan) *bool { return &p.On })},
		{Name: "either", At: settings.Either(func(p *plan) **bool { return &p.Either })},
		{Name: "wholes", At: settings.Wholes(func(p *plan) *[]int { return &p.Wholes })},
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
		{"either", "", `either is "", must be true or false`},
		{"wholes", "1,0", `wholes is "1,0", must be whole numbers above 0 such as 200 or 100,200,400`},
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
	if err == nil || err.Error() != `setting is "limts", must be a known name; did you mean "limits"? Known: number, above, whole, on, either, wholes, limits, param` {
		t.Errorf("an unknown name: %v", err)
	}
}

// What is not given has its preset, where there is one.
func TestPreset(t *testing.T) {
	var p plan
	if err := settings.Read(keys(), settings.Texts{"p.c": "2", "limits": "-1,1"}, &p); err != nil {
		t.Fatal(err)
	}
	if p.Whole != 42 || p.Params["c"].Number != 2 || p.Lower != -1 || p.Upper != 1 || p.On || p.Either != nil {
		t.Errorf("%+v", p)
	}
}
