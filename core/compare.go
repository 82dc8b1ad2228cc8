package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Same notes the outcome of one comparison: what was compared, and where it
// differs how.
func (v *Verification) Same(ok bool, what, format string, args ...any) {
	if ok {
		v.Checked = append(v.Checked, what)
		return
	}
	v.Differences = append(v.Differences, what+": "+fmt.Sprintf(format, args...))
}

// SameWords compares words of a report that g made. They may change from version
// to version, and only then.
func (v *Verification) SameWords(g Generator, what string, a, b any) {
	version, _, _ := strings.Cut(g.Version, "+")
	if !EqualJSON(a, b) && version != Version {
		v.Notes = append(v.Notes, fmt.Sprintf("%s: version %s put it otherwise than this one", what, version))
		return
	}
	v.Same(EqualJSON(a, b), what, "the report does not say what its numbers say")
}

// SameWarnings compares warnings, but for those about workers that were lost.
func (v *Verification) SameWarnings(report, want []string) {
	lost := func(w string) bool { return strings.HasPrefix(w, LostWorker) }
	own, others := slices.DeleteFunc(slices.Clone(report), lost), slices.DeleteFunc(slices.Clone(want), lost)
	if len(own) < len(report) {
		v.Notes = append(v.Notes, "warnings about workers are the report's own word")
	}
	v.Same(slices.Equal(own, others), "warnings", "the replay warns of %q", others)
}

// Near reports whether two numbers computed from the same counts are the same:
// bounds are rounded to six decimals.
func Near(x, y float64) bool {
	d := math.Abs(x - y)
	return d <= boundTolerance || d <= 1e-9*math.Abs(x)
}

// SamePValue compares p-values, which may be tiny, by their logarithms.
func SamePValue(x, y *float64) bool {
	if x == nil || y == nil {
		return x == y
	}
	return *x == *y || *x > 0 && *y > 0 && math.Abs(math.Log(*x)-math.Log(*y)) < 1e-4
}

// NearJSON compares two values by their JSON, numbers up to what platforms
// differ by.
func NearJSON(a, b any) bool {
	var x, y any
	for _, p := range []struct {
		from any
		to   *any
	}{{a, &x}, {b, &y}} {
		data, err := json.Marshal(p.from)
		if err != nil || json.Unmarshal(data, p.to) != nil {
			return false
		}
	}
	return nearValue(x, y)
}

func nearValue(x, y any) bool {
	switch x := x.(type) {
	case float64:
		z, ok := y.(float64)
		return ok && Near(x, z)
	case []any:
		z, ok := y.([]any)
		return ok && slices.EqualFunc(x, z, nearValue)
	case map[string]any:
		z, ok := y.(map[string]any)
		if !ok || len(x) != len(z) {
			return false
		}
		for k := range x {
			if w, ok := z[k]; !ok || !nearValue(x[k], w) {
				return false
			}
		}
		return true
	}
	return x == y
}

// EqualJSON compares two values by their JSON; what has none is not equal.
func EqualJSON(a, b any) bool {
	x, errX := Canonical(a)
	y, errY := Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
