package settings

import (
	"cmp"
	"math"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

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
