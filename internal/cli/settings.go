package cli

import (
	"cmp"
	"errors"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
)

// Asked are settings that flags give.
type Asked[P any] struct {
	keys  []settings.Key[P]
	texts settings.Texts
}

// Settings are flags, one for each key.
func Settings[P any](f *Flags, keys []settings.Key[P]) Asked[P] {
	a := Asked[P]{keys, settings.Texts{}}
	for _, k := range keys {
		usage := k.Usage
		switch k.At.Type {
		case settings.ParamsType:
			f.Func(k.Name, usage, func(v string) error {
				name, value, err := audit.ParseParam(v)
				if err == nil {
					a.texts["p."+name] = value.String()
				}
				return err
			})
			continue
		case settings.WholeType:
			usage += ", a whole `number`"
		}
		shown := cmp.Or(k.Default, k.Preset)
		f.Var(&settingValue{a.texts, k.Name, shown, k.At.Type == settings.SwitchType, k.At.Type == settings.EachType}, k.Name, usage)
	}
	return a
}

// Read puts what was given into a plan. An error names the flag.
func (a Asked[P]) Read(p *P) error {
	err := settings.Read(a.keys, a.texts, p)
	var in *audit.InputError
	if errors.As(err, &in) && in.Field == in.Path && !strings.HasPrefix(in.Field, "p.") {
		in.Field = "-" + in.Field
	}
	return err
}

// Blame names the flag in an error about the field of a plan that it sets.
func (a Asked[P]) Blame(err error) error {
	var in *audit.InputError
	if errors.As(err, &in) {
		field, _, _ := strings.Cut(in.Field, "[")
		for _, k := range a.keys {
			if field == k.Field || field == k.Name {
				in.Field = "-" + k.Name + in.Field[len(field):]
			}
		}
	}
	return err
}

// settingValue keeps the text of a flag.
type settingValue struct {
	texts settings.Texts
	name  string
	shown string // where none is given
	alone bool   // it may stand without a value
	each  bool   // it may be given more than once
}

func (v *settingValue) String() string {
	if text, given := v.texts[v.name]; given {
		return text
	}
	return v.shown
}

// Set keeps the text.
func (v *settingValue) Set(text string) error {
	if before, given := v.texts[v.name]; given && v.each {
		text = before + settings.Between + text
	}
	v.texts[v.name] = text
	return nil
}

// IsBoolFlag lets a switch stand without a value.
func (v *settingValue) IsBoolFlag() bool { return v.alone }
