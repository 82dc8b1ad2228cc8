// Package mutate changes JSON documents, one place at a time, for tests of verifiers.
package mutate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Mutation is a document with one change.
type Mutation struct {
	Path string // of the place, such as evidence.cells[3].x
	What string // the change, in words
	JSON []byte
}

var index = regexp.MustCompile(`\[\d+\]`)

// Field is the path without the places in arrays: evidence.cells[].x.
func (m Mutation) Field() string { return index.ReplaceAllString(m.Path, "[]") }

func (m Mutation) String() string { return m.Path + " " + m.What }

// All deletes every member and element, changes every value, and swaps neighbours that differ in an array.
func All(doc []byte) ([]Mutation, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		return nil, err
	}
	w := &walker{root: root}
	w.walk("", root, func(x any) { w.root = x }, nil)
	return w.out, w.err
}

type walker struct {
	root any
	out  []Mutation
	err  error
}

func (w *walker) emit(path, format string, args ...any) {
	data, err := json.Marshal(w.root)
	if err != nil {
		w.err = err
		return
	}
	w.out = append(w.out, Mutation{path, fmt.Sprintf(format, args...), data})
}

// walk mutates the value at a path, which set replaces and without, if not nil, deletes.
func (w *walker) walk(path string, x any, set func(any), without func()) {
	for _, y := range changed(x) {
		set(y)
		text, _ := json.Marshal(y)
		if len(text) > 40 {
			text = append(text[:40:40], "..."...)
		}
		w.emit(path, "changed to %s", text)
	}
	set(x)
	if without != nil {
		without()
		w.emit(path, "deleted")
		set(x)
	}
	switch x := x.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			w.walk(strings.TrimPrefix(path+"."+name, "."), x[name], func(y any) { x[name] = y }, func() { delete(x, name) })
		}
	case []any:
		for i := range x {
			at := fmt.Sprintf("%s[%d]", path, i)
			w.walk(at, x[i], func(y any) { x[i] = y; set(x) }, func() { set(slices.Delete(slices.Clone(x), i, i+1)) })
			if i > 0 && !reflect.DeepEqual(x[i-1], x[i]) {
				x[i-1], x[i] = x[i], x[i-1]
				w.emit(at, "swapped with the one before")
				x[i-1], x[i] = x[i], x[i-1]
			}
		}
	}
}

func changed(x any) (out []any) {
	switch x := x.(type) {
	case bool:
		return []any{!x, nil}
	case string:
		out = []any{x + "x", nil}
		if x != "" {
			out = append(out, "")
		}
	case json.Number:
		v, err := x.Float64()
		if err != nil {
			return []any{0, nil}
		}
		out = []any{v + 1, nil}
		if v != 0 {
			out = append(out, 0.0, -v, float64(v*1.01))
		}
		if v < 0 || v > 1 {
			out = append(out, 0.5)
		}
	case []any:
		out = []any{nil}
		if len(x) > 0 {
			out = append(out, append(slices.Clone(x), x[len(x)-1]))
		}
		if len(x) > 1 {
			out = append(out, []any{})
		}
	case map[string]any:
		out = []any{nil}
		if len(x) > 1 {
			out = append(out, map[string]any{})
		}
	default:
		return []any{0, ""}
	}
	return out
}

// Few keeps the mutations at the first and at the last place of each field.
func Few(all []Mutation) []Mutation {
	places := map[string][]string{} // paths by field, in order
	for _, m := range all {
		if p := places[m.Field()]; len(p) == 0 || p[len(p)-1] != m.Path {
			places[m.Field()] = append(p, m.Path)
		}
	}
	return slices.DeleteFunc(all, func(m Mutation) bool {
		p := places[m.Field()]
		return p[0] != m.Path && p[len(p)-1] != m.Path
	})
}

// Unnoticed are the mutations that accepts lets pass, by field, and how many were tried: not those that same, which
// may be nil, says to be the original.
func Unnoticed(all []Mutation, same, accepts func([]byte) bool) (passed map[string][]Mutation, tried int) {
	passed = map[string][]Mutation{}
	for _, m := range all {
		if same != nil && same(m.JSON) {
			continue
		}
		tried++
		if accepts(m.JSON) {
			passed[m.Field()] = append(passed[m.Field()], m)
		}
	}
	return passed, tried
}
