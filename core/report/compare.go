package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
)

const mostDifferences = 3

// Compare holds a report against the one that follows from a replay, field by field as their tags say,
// see [Report]. Why something is taken from the report, say with [engine.Verification.Skip].
//
// Numbers of want that differ as platforms do become those of the report before it is put into words.
func Compare(v *engine.Verification, report, want Replayed, taken ...string) {
	own, other := report.Common(), want.Common()
	c := comparison{v: v, taken: taken, found: map[string][]string{}, fieldsOf: map[string]map[string]bool{}}
	other.Warnings = c.withLost(other.Warnings, own.Warnings)
	a, b := reflect.ValueOf(report).Elem(), reflect.ValueOf(want).Elem()
	c.walk("", "", a, b)
	want.Reword()
	c.words = true
	c.walk("", "", a, b)
	v.Summary = other.Summary
	c.tell()
}

// Replayed is a pointer to a report that embeds [Report] and can put its verdict into words.
type Replayed interface {
	Common() *Report
	Reword()
}

// Common implements [Replayed].
func (r *Report) Common() *Report { return r }

// comparison walks twice: for all but words, and for words.
type comparison struct {
	v        *engine.Verification
	taken    []string
	words    bool
	parts    []string                   // of reports, in their order
	found    map[string][]string        // differences of each part
	fieldsOf map[string]map[string]bool // the paths that were compared of each part, without places in lists
	own      []string                   // what is never compared
}

// withLost are the warnings that follow, with those about workers that the report has.
func (c *comparison) withLost(want, report []string) []string {
	lost := func(w string) bool { return strings.HasPrefix(w, engine.LostWorker) }
	if slices.ContainsFunc(report, lost) {
		c.v.Notes = append(c.v.Notes, "warnings about workers are taken from the report: a replay cannot check them")
	}
	return append(slices.DeleteFunc(append([]string{}, want...), lost), slices.DeleteFunc(slices.Clone(report), func(w string) bool { return !lost(w) })...)
}

// part is what a path is told under: its first name, of evidence its first two.
func part(path string) string {
	names := strings.SplitN(path, ".", 3)
	if len(names) > 1 && names[0] == "evidence" {
		names[0] += "." + names[1]
	}
	name, _, _ := strings.Cut(names[0], "[")
	return name
}

// near are the comparisons of numbers by the tag same.
var near = map[string]func(x, y float64) bool{
	"":       func(x, y float64) bool { return x == y },
	"near":   audit.Near,
	"ratio":  audit.NearRatio,
	"share":  audit.NearShare,
	"delta":  audit.NearDelta,
	"power":  func(x, y float64) bool { return math.Abs(x-y) <= audit.PowerTolerance },
	"pvalue": audit.NearPValue,
}

func (c *comparison) walk(path, rule string, a, b reflect.Value) {
	kind, words := a.Kind(), rule == "words"
	raw := a.Type() == reflect.TypeFor[json.RawMessage]()
	marshals := kind != reflect.Pointer && a.Type().Implements(reflect.TypeFor[json.Marshaler]())
	list := kind == reflect.Slice || kind == reflect.Array
	pointer := kind == reflect.Pointer || kind == reflect.Interface
	switch {
	case words, raw, marshals:
	case kind == reflect.Struct:
		c.fields(path, rule, a, b)
		return
	case pointer && !a.IsNil() && !b.IsNil():
		c.walk(path, rule, a.Elem(), b.Elem())
		return
	case list && a.Len() == b.Len() && (kind == reflect.Array || a.IsNil() == b.IsNil()): // null is no list
		for i := range a.Len() {
			c.walk(path+"["+strconv.Itoa(i)+"]", rule, a.Index(i), b.Index(i))
		}
		return
	}
	if words != c.words {
		return
	}
	same, how := false, ""
	switch {
	case words:
		same, how = audit.EqualJSON(a.Interface(), b.Interface()), "the report's words do not follow from its numbers"
	case raw:
		same, how = audit.EqualJSON(a.Interface(), b.Interface()), "the replay gives a different one"
	case marshals:
		same = audit.NearJSONBy(a.Interface(), b.Interface(), near[rule])
	case pointer:
		same = a.IsNil() == b.IsNil()
	case list && a.Len() != b.Len():
		how = fmt.Sprintf("the report has %d of them, a replay %d", a.Len(), b.Len())
	case list:
	case kind == reflect.Float64:
		x, y := a.Float(), b.Float()
		if same = x == y || near[rule](x, y); same && b.CanSet() {
			b.SetFloat(x)
		}
	case kind == reflect.Map:
		same = audit.EqualJSON(a.Interface(), b.Interface())
	default:
		same = a.Equal(b)
	}
	p := part(path)
	if c.fieldsOf[p] == nil {
		c.fieldsOf[p] = map[string]bool{}
	}
	c.fieldsOf[p][unplaced(path)] = true
	if !same {
		c.found[p] = append(c.found[p], path+": "+cmp.Or(how, fmt.Sprintf("the report says %s, a replay %s", said(a), said(b))))
	}
}

func empty(x reflect.Value) bool {
	list := x.Kind() == reflect.Slice || x.Kind() == reflect.Map
	return list && x.Len() == 0 || x.Kind() != reflect.Struct && x.IsZero()
}

// said is a value in an error, not longer than one reads.
func said(x reflect.Value) string {
	if (x.Kind() == reflect.Pointer || x.Kind() == reflect.Interface) && x.IsNil() {
		return "nothing"
	}
	data, err := json.Marshal(x.Interface())
	if err != nil {
		return fmt.Sprint(x)
	}
	if len(data) > 80 {
		return string(data[:77]) + "..."
	}
	return string(data)
}

func (c *comparison) fields(path, rule string, a, b reflect.Value) {
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		if f.Anonymous && f.Tag.Get("json") == "" {
			c.walk(path, rule, a.Field(i), b.Field(i))
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if option == "omitempty" && empty(a.Field(i)) && empty(b.Field(i)) {
			continue // neither is written
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		own, tagged := f.Tag.Lookup("same")
		if !tagged {
			own = rule
		}
		if row, ok := a.Interface().(Row); ok && row.ID == Delta && name == "lowerBound" {
			own = "delta"
		}
		switch {
		case slices.Contains(c.taken, unplaced(at)) || name == "-":
		case own == "own":
			if !c.words {
				c.own = append(c.own, at)
			}
		default:
			if p := part(at); !slices.Contains(c.parts, p) && !(p == "evidence" && a.Field(i).Kind() == reflect.Pointer) {
				c.parts = append(c.parts, p)
			}
			c.walk(at, own, a.Field(i), b.Field(i))
		}
	}
}

func (c *comparison) tell() {
	slices.SortStableFunc(c.parts, engine.Follows) // why before what follows
	for _, p := range c.parts {
		found := c.found[p]
		c.v.Differences = append(c.v.Differences, found[:min(len(found), mostDifferences)]...)
		if more := len(found) - mostDifferences; more > 0 {
			c.v.Differences = append(c.v.Differences, fmt.Sprintf("%s: %d more", p, more))
		} else if len(found) == 0 {
			c.v.Checked = append(c.v.Checked, engine.Part{Name: p + c.butFor(p), Fields: max(1, len(c.fieldsOf[p]))})
		}
	}
	if !slices.Contains(c.parts, "evidence") {
		c.v.Differences = append(c.v.Differences, c.found["evidence"]...)
	}
	c.v.Skip("only the report says it", c.own...)
}

func (c *comparison) butFor(p string) string {
	var names []string
	for _, path := range c.taken {
		if name, within := strings.CutPrefix(path, p+"."); within {
			names = append(names, name)
		}
	}
	return audit.Pick(names == nil, "", " (but for "+strings.Join(names, " ")+")")
}

func unplaced(path string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(path, "[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("[]")
		_, path, _ = strings.Cut(after, "]")
	}
}
