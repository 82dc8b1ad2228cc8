package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Tolerances for numbers computed from the same counts on another platform:
// bounds are rounded down to 1e-6, shares and deltas to 1e-9 and the power up to
// 1e-4, and a difference in the last bits may cross one such step.
const (
	boundTolerance = 1.5e-6
	shareTolerance = 1.5e-9
	powerTolerance = 1.5e-4
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

// Skip notes fields that are not compared, and why.
func (v *Verification) Skip(why string, fields ...string) {
	v.NotCompared = append(v.NotCompared, fields...)
	v.Notes = append(v.Notes, fmt.Sprintf("not compared: %s (%s)", strings.Join(fields, ", "), why))
}

// release is the version without the revision.
func (g Generator) release() string {
	version, _, _ := strings.Cut(g.Version, "+")
	return version
}

// before reports whether the report's version, such as 0.1.0, is an earlier one. A
// report that does not say its version is of this one.
func (g Generator) before(version string) bool {
	var own, other [3]int
	for _, x := range []struct {
		text string
		to   *[3]int
	}{{g.release(), &own}, {version, &other}} {
		parts := strings.Split(x.text, ".")
		for i := range x.to {
			if len(parts) != len(x.to) {
				return false
			}
			n, err := strconv.Atoi(parts[i])
			if err != nil {
				return false
			}
			x.to[i] = n
		}
	}
	return slices.Compare(own[:], other[:]) < 0
}

// SameWords compares words of a report that g made. They may change from version
// to version, and only then.
func (v *Verification) SameWords(g Generator, what string, a, b any) {
	if version := g.release(); !EqualJSON(a, b) && version != Version {
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

// nearRatio compares numbers that were not rounded.
func nearRatio(x, y float64) bool { return math.Abs(x-y) <= max(1e-12, 1e-6*math.Abs(x)) }

// nearShare compares shares, which are rounded to nine decimals.
func nearShare(x, y float64) bool { return math.Abs(x-y) <= shareTolerance }

// nearDelta compares bounds on delta, which have six decimals or nine.
func nearDelta(x, y float64) bool {
	six := func(v float64) bool {
		millionths := float64(v * 1e6)
		return math.Abs(millionths-math.Round(millionths)) < 1e-4
	}
	return nearShare(x, y) || six(x) && six(y) && Near(x, y)
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
func NearJSON(a, b any) bool { return NearJSONBy(a, b, Near) }

// NearJSONBy is [NearJSON] with another comparison of numbers.
func NearJSONBy(a, b any, near func(x, y float64) bool) bool {
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
	return nearValue(x, y, near)
}

func nearValue(x, y any, near func(x, y float64) bool) bool {
	switch x := x.(type) {
	case float64:
		z, ok := y.(float64)
		return ok && near(x, z)
	case []any:
		z, ok := y.([]any)
		return ok && slices.EqualFunc(x, z, func(a, b any) bool { return nearValue(a, b, near) })
	case map[string]any:
		z, ok := y.(map[string]any)
		if !ok || len(x) != len(z) {
			return false
		}
		for k := range x {
			if w, ok := z[k]; !ok || !nearValue(x[k], w, near) {
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
