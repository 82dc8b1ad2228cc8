// Package settings says once what can be set in a plan: from a table of keys come the flags of a
// command, the settings in an address and an embed, the page's form, and the command and the
// address that a report names.
//
// A setting is a text under its name everywhere but in the plan itself. One that is absent has its
// default.
package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Type says what texts of a setting are.
type Type string

const (
	NumberType Type = "number"
	WholeType  Type = "whole" // a whole number, which may be written as 1e6
	WordType   Type = "word"
	TextType   Type = "text"
	WordsType  Type = "words"  // names with commas between
	EachType   Type = "each"   // several texts, which a flag gives one by one
	SwitchType Type = "switch" // true; false is as good as absent
	WholesType Type = "wholes"
	ListType   Type = "list"
	LimitsType Type = "limits"
	JSONType   Type = "json"
	ParamsType Type = "params" // parameters, each a text under p.NAME
)

// Key is a setting of the plan P.
type Key[P any] struct {
	// Name is that of the flag, in an address, and of the attribute of an embed.
	Name string
	// Field is where it stands in the plan's JSON, with slashes between; default Name.
	Field string
	At    Value[P]
	Range Range
	Usage string // what it is, for the command line
	// Default is what the audit takes where nothing is given, for the command line.
	Default string
	// Preset is read where nothing is given and zero is no default.
	Preset string
	Needed string // what has to be given, of settings that have no default
	Always bool   // reports name it even where it has its default
	// Claims are the kinds of claim that use it, where not all do; "" is the claim whose kind the
	// settings tell.
	Claims []audit.ClaimKind
	Form   *Form // in the page; nil: not in its form
}

// Form says how the page's form shows a setting.
type Form struct {
	Place string `json:"place"` // which group of fields
	Label string `json:"label"`
	Hint  string `json:"hint,omitempty"`
	Empty string `json:"empty,omitempty"` // what stands in an empty field
	Wide  bool   `json:"wide,omitempty"`
}

// Range is where a number may lie; of the zero Range, anywhere.
type Range struct {
	Least, Most  float64
	Above, Below bool // without Least, without Most
}

// In is the range from least to most.
func In(least, most float64) Range { return Range{Least: least, Most: most} }

// Above is the range of finite numbers above least.
func Above(least float64) Range { return Range{Least: least, Most: math.Inf(1), Above: true} }

// From is the range of numbers from least, below most.
func From(least, most float64) Range { return Range{Least: least, Most: most, Below: true} }

func (r Range) holds(x float64) bool {
	if r == (Range{}) {
		return !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return x >= r.Least && x <= r.Most && !math.IsInf(x, 0) && !(r.Above && x == r.Least) && !(r.Below && x == r.Most)
}

func (r Range) words() string {
	switch {
	case r == (Range{}):
		return "a finite number"
	case math.IsInf(r.Most, 1):
		return "a finite number above " + audit.Exactly(r.Least)
	}
	return fmt.Sprintf("in [%s, %s%s", plain(r.Least), plain(r.Most), audit.Pick(r.Below, ")", "]"))
}

// plain writes whole numbers without an exponent, and small ones as 1e-9.
func plain(x float64) string {
	if x == math.Trunc(x) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strings.Replace(audit.Exactly(x), "e-0", "e-", 1)
}

// Value is where a setting stands in a plan, and how it is written and read.
type Value[P any] struct {
	Type Type
	text func(p *P) string // "" where nothing stands
	set  func(p *P, text string, r Range) error
}

// want is the error of a text that a setting cannot have.
func want(text, what string) error { return &audit.InputError{Found: text, Want: what} }

func parsed(text string, r Range) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, want(strconv.Quote(text), of("a number", r))
	case err == nil && (math.IsNaN(x) || math.IsInf(x, 0)):
		return 0, want(audit.Exactly(x), r.words())
	case !r.holds(x):
		return 0, want(text, r.words())
	}
	return x, nil
}

func of(noun string, r Range) string {
	if words := r.words(); strings.HasPrefix(words, "in ") {
		return noun + " " + words
	}
	return r.words()
}

// value is a setting that is a T, with its texts.
func value[P, T any](t Type, at func(*P) *T, text func(T) string, read func(text string, r Range) (T, error)) Value[P] {
	return Value[P]{t, func(p *P) string { return text(*at(p)) }, func(p *P, text string, r Range) error {
		x, err := read(text, r)
		if err == nil {
			*at(p) = x
		}
		return err
	}}
}

// Number is a setting that is a number.
func Number[P any](at func(*P) *float64) Value[P] {
	return value(NumberType, at, audit.Exactly, parsed)
}

// Optional is a setting that is nil unless given.
func Optional[P, T any](of func(func(*T) *T) Value[T], at func(*P) **T) Value[P] {
	v := of(func(x *T) *T { return x })
	return value(v.Type, at, func(x *T) string {
		if x == nil {
			return ""
		}
		return v.text(x)
	}, func(text string, r Range) (*T, error) {
		x := new(T)
		return x, v.set(x, text, r)
	})
}

// Whole is a setting that is a whole number. Its range lies between -2^53 and 2^53.
func Whole[P any, N int | uint64](at func(*P) *N) Value[P] {
	return value(WholeType, at, func(n N) string { return fmt.Sprint(n) }, func(text string, r Range) (N, error) {
		n, err := strconv.ParseInt(text, 0, 64)
		x := float64(n)
		if err != nil {
			x, err = strconv.ParseFloat(text, 64)
			n = int64(x)
		}
		switch {
		case err != nil && !errors.Is(err, strconv.ErrRange) || x != math.Trunc(x):
			return 0, want(strconv.Quote(text), of("a whole number", r))
		case !r.holds(x):
			return 0, want(text, of("a whole number", r))
		}
		return N(n), nil
	})
}

// Word is a setting that is a name. The audit knows which there are.
func Word[P any, T ~string](at func(*P) *T) Value[P] {
	read := func(text string, _ Range) (T, error) { return T(text), nil }
	return value(WordType, at, func(x T) string { return string(x) }, read)
}

func onOff(text string, _ Range) (bool, error) {
	on, err := strconv.ParseBool(text)
	if err != nil {
		err = want(strconv.Quote(text), "true or false")
	}
	return on, err
}

// Switch is a setting that is on or off.
func Switch[P any](at func(*P) *bool) Value[P] {
	return value(SwitchType, at, strconv.FormatBool, onOff)
}

// Is is a setting that is on where a word of the plan is this one. Only one of the settings of a
// word may be given.
func Is[P any, T ~string](at func(*P) *T, word T) Value[P] {
	return Value[P]{SwitchType, func(p *P) string { return strconv.FormatBool(*at(p) == word) }, func(p *P, text string, r Range) error {
		on, err := onOff(text, r)
		if now := *at(p); on && now != "" && now != word {
			return want("true", fmt.Sprintf("absent beside %s", now))
		}
		if on {
			*at(p) = word
		}
		return err
	}}
}

// Text is a setting that may be any text.
func Text[P any](at func(*P) *string) Value[P] {
	v := Word(at)
	v.Type = TextType
	return v
}

// Words is a setting that is a list of names, without empty ones.
func Words[P any](at func(*P) *[]string) Value[P] {
	join := func(names []string) string { return strings.Join(names, ",") }
	return value(WordsType, at, join, func(text string, _ Range) (names []string, err error) {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		return names, nil
	})
}

// Between stands between texts of a setting of [EachType]: no argument of a command holds it.
const Between = "\x00"

// Kinds is a setting that is kinds of columns, each as [audit.ParseKind] reads it.
func Kinds[P any](at func(*P) *map[string]audit.ColumnKind) Value[P] {
	return value(EachType, at, func(kinds map[string]audit.ColumnKind) string {
		return strings.Join(audit.KindTexts(kinds), Between)
	}, func(text string, _ Range) (map[string]audit.ColumnKind, error) {
		kinds := map[string]audit.ColumnKind{}
		for one := range strings.SplitSeq(text, Between) {
			if err := audit.ParseKind(one, kinds); err != nil {
				return nil, err
			}
		}
		return kinds, nil
	})
}

// Wholes is a setting that is a list of whole numbers above 0.
func Wholes[P any](at func(*P) *[]int) Value[P] {
	return list(WholesType, at, strconv.Itoa, "whole numbers above 0 such as 200 or 100,200,400", func(part string) (int, bool) {
		n, err := strconv.Atoi(part)
		return n, err == nil && n > 0
	})
}

// Numbers is a setting that is a list of numbers.
func Numbers[P any](at func(*P) *[]float64) Value[P] {
	return list(ListType, at, audit.Exactly, "numbers separated by commas, such as 2,4,8", func(part string) (float64, bool) {
		x, err := strconv.ParseFloat(part, 64)
		return x, err == nil
	})
}

func list[P, T any](t Type, at func(*P) *[]T, text func(T) string, wanted string, one func(part string) (T, bool)) Value[P] {
	join := func(all []T) string { return strings.Join(audit.Each(all, text), ",") }
	return value(t, at, join, func(text string, _ Range) (all []T, err error) {
		for part := range strings.SplitSeq(text, ",") {
			x, ok := one(strings.TrimSpace(part))
			if !ok {
				return nil, want(strconv.Quote(text), wanted)
			}
			all = append(all, x)
		}
		return all, nil
	})
}

// Limits is a setting that is two numbers, both 0 where it is absent.
func Limits[P any](at func(*P) (lower, upper *float64)) Value[P] {
	return Value[P]{LimitsType, func(p *P) string {
		lower, upper := at(p)
		if *lower == 0 && *upper == 0 {
			return ""
		}
		return audit.Exactly(*lower) + "," + audit.Exactly(*upper)
	}, func(p *P, text string, _ Range) error {
		low, high, _ := strings.Cut(text, ",")
		a, errA := strconv.ParseFloat(strings.TrimSpace(low), 64)
		b, errB := strconv.ParseFloat(strings.TrimSpace(high), 64)
		if errA != nil || errB != nil {
			return want(strconv.Quote(text), "two numbers with a comma between, for example 0,255")
		}
		lower, upper := at(p)
		*lower, *upper = a, b
		return nil
	}}
}

// JSON is a setting that is a JSON value, which parse reads.
func JSON[P, T any](at func(*P) **T, parse func([]byte) (T, error)) Value[P] {
	return value(JSONType, at, func(x *T) string {
		if x == nil {
			return ""
		}
		data, _ := json.Marshal(x) // what has no JSON is not written
		return string(data)
	}, func(text string, _ Range) (*T, error) {
		x, err := parse([]byte(text))
		return &x, err
	})
}

// Params is a setting of several texts, one for each parameter.
func Params[P any](at func(*P) *audit.Params) Value[P] {
	return Value[P]{ParamsType, func(*P) string { return "" }, func(p *P, assignment string, _ Range) error {
		name, value, err := audit.ParseParam(assignment)
		if err != nil {
			return err
		}
		if *at(p) == nil {
			*at(p) = audit.Params{}
		}
		(*at(p))[name] = value
		return nil
	}}
}

// Then is the value with a change that reading it brings to others.
func (v Value[P]) Then(also func(p *P, text string)) Value[P] {
	set := v.set
	v.set = func(p *P, text string, r Range) error {
		err := set(p, text, r)
		if err == nil {
			also(p, text)
		}
		return err
	}
	return v
}

const paramPrefix = "p."

// Texts are settings by name, parameters by p.NAME.
type Texts map[string]string

// Given are the texts that are not empty, without space around: an empty field has its default.
func (t Texts) Given() Texts {
	out := Texts{}
	for name, text := range t {
		if text = strings.TrimSpace(text); text != "" {
			out[name] = text
		}
	}
	return out
}

// Read puts texts into a plan, in the order of the table. An error is an [audit.InputError] whose
// path is the setting's name.
func Read[P any](keys []Key[P], texts Texts, p *P) error {
	known := map[string]bool{}
	for _, k := range keys {
		known[k.Name] = true
		if k.At.Type == ParamsType {
			for _, name := range slices.Sorted(maps.Keys(texts)) {
				if param, ok := strings.CutPrefix(name, paramPrefix); ok {
					if err := k.At.set(p, param+"="+texts[name], k.Range); err != nil {
						return placed(name, err)
					}
				}
			}
			continue
		}
		text, given := texts[k.Name]
		switch {
		case !given && k.Needed != "":
			return placed(k.Name, want(audit.Absent, k.Needed))
		case !given && k.Preset == "":
			continue
		case !given:
			text = k.Preset
		}
		if err := k.At.set(p, text, k.Range); err != nil {
			return placed(k.Name, err)
		}
	}
	for name := range texts {
		if !known[name] && !strings.HasPrefix(name, paramPrefix) {
			return audit.UnknownName("setting", name, Names(keys))
		}
	}
	return nil
}

// placed says which setting an error is about.
func placed(name string, err error) error {
	return audit.Amend(err, func(in *audit.InputError) { in.Path, in.Field = name, cmp.Or(in.Field, name) })
}

// Names of all settings, in the order of the table.
func Names[P any](keys []Key[P]) []string {
	return audit.Listed(len(keys), func(i int) string { return keys[i].Name })
}

// Without is a table without some keys.
func Without[P any](keys []Key[P], names ...string) []Key[P] {
	return slices.DeleteFunc(slices.Clone(keys), func(k Key[P]) bool { return slices.Contains(names, k.Name) })
}

// Only is a table of some keys.
func Only[P any](keys []Key[P], names ...string) []Key[P] {
	return slices.DeleteFunc(slices.Clone(keys), func(k Key[P]) bool { return !slices.Contains(names, k.Name) })
}

// Written are the settings in which a plan differs from the defaults, in order, without parameters.
func Written[P any](keys []Key[P], p, otherwise P) []audit.Argument {
	var out []audit.Argument
	for _, k := range keys {
		text := k.At.text(&p)
		if text == "" || !k.Always && text == k.At.text(&otherwise) {
			continue
		}
		for one := range strings.SplitSeq(text, Between) {
			out = append(out, audit.Argument{Name: k.Name, Value: one, Alone: k.At.Type == SwitchType})
		}
	}
	return out
}

// Described is a key as scripts know it.
type Described struct {
	Name   string            `json:"name"`
	Fields []string          `json:"fields"` // JSON pointers into the plan; of limits two
	Type   Type              `json:"type"`
	Range  *DescribedRange   `json:"range,omitempty"`
	Preset string            `json:"preset,omitempty"`
	Claims []audit.ClaimKind `json:"claims,omitempty"`
	Form   *Form             `json:"form,omitempty"`
}

// DescribedRange is a range without the ends that it does not have.
type DescribedRange struct {
	Min   *float64 `json:"min,omitempty"`
	Max   *float64 `json:"max,omitempty"`
	Above bool     `json:"above,omitempty"` // without Min
	Below bool     `json:"below,omitempty"` // without Max
}

// Describe is a table as scripts know it.
func Describe[P any](keys []Key[P]) []Described {
	out := make([]Described, len(keys))
	for i, k := range keys {
		d := Described{Name: k.Name, Type: k.At.Type, Preset: k.Preset, Claims: k.Claims, Form: k.Form}
		for field := range strings.FieldsSeq(cmp.Or(k.Field, k.Name)) {
			d.Fields = append(d.Fields, "/"+field)
		}
		if r := k.Range; r != (Range{}) {
			d.Range = &DescribedRange{Min: &r.Least, Above: r.Above, Below: r.Below}
			if !math.IsInf(r.Most, 1) {
				d.Range.Max = &r.Most
			}
		}
		out[i] = d
	}
	return out
}
