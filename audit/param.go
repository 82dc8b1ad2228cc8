package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ParamSpec describes one parameter of a mechanism: a number, or, where Choices is set, one of a
// few words.
type ParamSpec struct {
	Name    string   `json:"name"`
	Doc     string   `json:"doc"`
	Default float64  `json:"default,omitempty"`
	Min     float64  `json:"min,omitempty"`  // inclusive
	Max     float64  `json:"max,omitempty"`  // inclusive
	Open    bool     `json:"open,omitempty"` // the lower end is not allowed
	Integer bool     `json:"integer,omitempty"`
	Choices []string `json:"choices,omitempty"` // the first is the default
	// Noise says that a smaller value adds more noise, which the page has a slider for.
	Noise bool `json:"noise,omitempty"`
	// Fault says that it sets how large the fault of the mechanism is.
	Fault bool `json:"fault,omitempty"`
}

// ParamValue is the value of one parameter: a number or a word.
type ParamValue struct {
	Number float64
	Text   string // not empty: the value is this word
}

// MarshalJSON writes a number or a string.
func (v ParamValue) MarshalJSON() ([]byte, error) {
	if v.Text != "" {
		return json.Marshal(v.Text)
	}
	return json.Marshal(v.Number)
}

// UnmarshalJSON reads a number or a string.
func (v *ParamValue) UnmarshalJSON(data []byte) error {
	*v = ParamValue{}
	if bytes.HasPrefix(data, []byte{'"'}) {
		if err := json.Unmarshal(data, &v.Text); err != nil || v.Text != "" {
			return err
		}
		return At("/parameters", Fault("parameter", "an empty text", "a number or a word"))
	}
	if bytes.Equal(data, []byte("null")) {
		return At("/parameters", Fault("parameter", "null", "a number or a word", "leave it out for its default"))
	}
	return json.Unmarshal(data, &v.Number)
}

func (v ParamValue) String() string {
	if v.Text != "" {
		return v.Text
	}
	return Exactly(v.Number)
}

// Exactly prints a float so that it reads back to the same bits.
func Exactly(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Params are parameter values by name.
type Params map[string]ParamValue

// Num is the number of a resolved parameter. It panics when there is none.
func (p Params) Num(name string) float64 {
	v, ok := p[name]
	if !ok || v.Text != "" {
		panic("core: no such number parameter: " + name)
	}
	return v.Number
}

// Int is Num as an int.
func (p Params) Int(name string) int { return int(p.Num(name)) }

// Word is the word of a resolved parameter with choices.
func (p Params) Word(name string) string {
	v, ok := p[name]
	if !ok || v.Text == "" {
		panic("core: no such word parameter: " + name)
	}
	return v.Text
}

// Assignments lists the parameters as name=value, sorted by name.
func (p Params) Assignments() []string {
	out := make([]string, 0, len(p))
	for k, v := range p {
		out = append(out, k+"="+v.String())
	}
	slices.Sort(out)
	return out
}

// ParseParam reads name=value.
func ParseParam(s string) (string, ParamValue, error) {
	name, text, ok := strings.Cut(s, "=")
	name, text = strings.TrimSpace(name), strings.TrimSpace(text)
	if !ok || name == "" || text == "" {
		return "", ParamValue{}, Fault("param", strconv.Quote(s), "name=value", "for example -param c=2")
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return name, ParamValue{Number: v}, nil
	}
	return name, ParamValue{Text: text}, nil
}

// ResolveParams checks the given values against the specs and fills in defaults. The parameters
// epsilon, delta and alpha, where they are not given, follow those of the claim.
func ResolveParams(specs []ParamSpec, given Params, claim Claim) (Params, error) {
	claimed := map[string]float64{"epsilon": claim.Epsilon, "delta": claim.Delta, "alpha": claim.Alpha}
	names := make([]string, len(specs))
	out := Params{}
	for i, s := range specs {
		names[i], out[s.Name] = s.Name, s.Usual()
		if x := claimed[s.Name]; x > 0 && len(s.Choices) == 0 {
			out[s.Name] = ParamValue{Number: x}
		}
	}
	// Sorted, so that of several faults the same one is always reported.
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := out[name]; !ok {
			if len(names) == 0 {
				return nil, At("p."+name, Fault("parameter", strconv.Quote(name), "absent: there are no parameters"))
			}
			return nil, At("p."+name, UnknownName("parameter", name, names))
		}
		out[name] = given[name]
	}
	for _, s := range specs {
		field, path := "parameter "+s.Name, "p."+s.Name
		_, own := given[s.Name]
		if _, ok := claimed[s.Name]; ok && !own {
			field, path = s.Name, s.Name // it came from the claim
		}
		if err := s.Check(field, out[s.Name]); err != nil {
			return nil, At(path, err)
		}
	}
	return out, nil
}

// Usual is the value of a parameter that is not given.
func (s ParamSpec) Usual() ParamValue {
	if len(s.Choices) > 0 {
		return ParamValue{Text: s.Choices[0]}
	}
	return ParamValue{Number: s.Default}
}

// Check refuses a value outside of the range; field names the parameter in the error.
func (s ParamSpec) Check(field string, v ParamValue) error {
	if len(s.Choices) > 0 {
		if slices.Contains(s.Choices, v.Text) {
			return nil
		}
		return UnknownName(field, v.String(), s.Choices)
	}
	x, want := v.Number, s.rangeText()
	return First(Require(v.Text == "", field, strconv.Quote(v.Text), "%s", want),
		Require(x >= s.Min && x <= s.Max && !(s.Open && x == s.Min) && !(s.Integer && x != math.Floor(x)), field, Number(x), "%s", want))
}

func (s ParamSpec) rangeText() string {
	kind, open := Pick(s.Integer, "a whole number", "a number"), Pick(s.Open, "(", "[")
	return fmt.Sprintf("%s in %s%s, %s]", kind, open, Number(s.Min), Number(s.Max))
}
