package accounting

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// ReadProfile reads a claim as a curve from a file: see docs/claims.md for the layouts.
// name is the file's, for the words of the claim and of errors.
//
//   - JSON of dpscope account: its points (-profile), or its epsilon at delta.
//   - JSON with lists "epsilons" and "deltas", or "points", or a list of pairs
//     [epsilon, delta]: what other accountants computed, such as dp_accounting's get_delta.
//   - JSON of an Opacus accountant's state_dict: its history of (noise multiplier, sample
//     rate, steps) is composed by [Composition], whatever mechanism it says.
//   - CSV with a header of epsilon and delta.
func ReadProfile(name string, data []byte) (audit.PrivacyProfile, error) {
	text := bytes.TrimSpace(data)
	var points []audit.ProfilePoint
	var err error
	what := name
	switch {
	case len(text) == 0:
		err = &audit.InputError{Field: name, Found: "empty", Want: "a curve of epsilon and delta", Remedy: "docs/claims.md says what can be read"}
	case text[0] == '[':
		points, err = pairsOf(name, text)
	case text[0] == '{':
		points, what, err = fromObject(name, text)
	default:
		points, err = fromCSV(name, text)
	}
	if err != nil {
		return audit.PrivacyProfile{}, err
	}
	p, err := audit.Profiled(points, what)
	return p, audit.At("claim-file", err)
}

func pairsOf(name string, data []byte) ([]audit.ProfilePoint, error) {
	var pairs [][]float64
	if json.Unmarshal(data, &pairs) == nil {
		points := make([]audit.ProfilePoint, len(pairs))
		for i, p := range pairs {
			if len(p) != 2 {
				return nil, &audit.InputError{Field: fmt.Sprintf("%s[%d]", name, i), Found: fmt.Sprintf("%d numbers", len(p)), Want: "epsilon and delta"}
			}
			points[i] = audit.ProfilePoint{Epsilon: p[0], Delta: p[1]}
		}
		return points, nil
	}
	var points []audit.ProfilePoint
	return points, audit.DecodeStrict(data, name, &points)
}

func fromObject(name string, data []byte) ([]audit.ProfilePoint, string, error) {
	var file struct {
		Query    json.RawMessage      `json:"query"` // of dpscope account
		History  [][]float64          `json:"history"`
		Points   []audit.ProfilePoint `json:"points"`
		Source   string               `json:"source"`
		Epsilons json.RawMessage      `json:"epsilons"` // of an account they are ways to one, of others a list
		Deltas   json.RawMessage      `json:"deltas"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, "", audit.JsonError(data, name, err)
	}
	if file.Query != nil {
		var a Account
		if err := audit.DecodeStrict(data, name, &a); err != nil {
			return nil, "", err
		}
		if len(a.Profile) == 0 && a.Epsilon != nil && a.Query.Delta != nil {
			a.Profile = []audit.ProfilePoint{{Epsilon: *a.Epsilon, Delta: *a.Query.Delta}}
		}
		return a.Profile, "dpscope account: " + a.Title, nil
	}
	switch {
	case file.History != nil:
		points, err := fromHistory(name, file.History)
		return points, "Opacus history in " + name, err
	case file.Points != nil:
		if file.Source == "" {
			file.Source = name
		}
		return file.Points, file.Source, nil
	case file.Epsilons != nil:
		var epsilons, deltas []float64
		if err := errors.Join(json.Unmarshal(file.Epsilons, &epsilons), json.Unmarshal(file.Deltas, &deltas)); err != nil || len(epsilons) != len(deltas) {
			return nil, "", &audit.InputError{Field: name + ": epsilons", Found: fmt.Sprintf("%d numbers beside %d deltas", len(epsilons), len(deltas)), Want: "numbers, one for each delta"}
		}
		points := make([]audit.ProfilePoint, len(epsilons))
		for i := range epsilons {
			points[i] = audit.ProfilePoint{Epsilon: epsilons[i], Delta: deltas[i]}
		}
		return points, name, nil
	}
	return nil, "", &audit.InputError{Field: name, Found: "JSON without a curve", Want: "an account of dpscope, lists epsilons and deltas, points, or an Opacus history", Remedy: "docs/claims.md says what can be read"}
}

// fromHistory composes an Opacus history. Its points are upper bounds, rounded up.
func fromHistory(name string, history [][]float64) ([]audit.ProfilePoint, error) {
	var c Composition
	for i, h := range history {
		at := fmt.Sprintf("%s: history[%d]", name, i)
		if len(h) != 3 {
			return nil, &audit.InputError{Field: at, Found: fmt.Sprintf("%d numbers", len(h)), Want: "noise multiplier, sample rate and steps"}
		}
		if !(h[2] >= 1 && h[2] <= maxLossSteps) || h[2] != math.Trunc(h[2]) {
			return nil, &audit.InputError{Field: at, Found: number(h[2]) + " steps", Want: fmt.Sprintf("a whole number in [1, %d]", maxLossSteps)}
		}
		m := SubsampledGaussian{h[0], 1, h[1]}
		if err := m.Validate(); err != nil {
			var in *audit.InputError
			if errors.As(err, &in) {
				in.Field = at + ": " + in.Field
			}
			return nil, err
		}
		c = append(c, Entry{m, int(h[2])})
	}
	if len(c) == 0 {
		return nil, fault("steps", audit.Absent, "one mechanism or more", "")
	}
	var points []audit.ProfilePoint
	for e := 0.5; e <= 10; e += 0.5 {
		delta := roundUp(math.Pow(10, -e))
		if _, upper := c.epsilon(delta, false); upper <= mostTarget {
			points = append(points, audit.ProfilePoint{Epsilon: roundUp(upper), Delta: delta})
		}
	}
	return points, nil
}

func fromCSV(name string, data []byte) ([]audit.ProfilePoint, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.TrimLeadingSpace, r.Comment = true, '#'
	head, err := r.Read()
	at := map[string]int{}
	for i, h := range head {
		at[strings.ToLower(strings.TrimSpace(h))] = i
	}
	eps, ok := at["epsilon"]
	delta, too := at["delta"]
	if err != nil || !ok || !too {
		return nil, &audit.InputError{Field: name, Found: fmt.Sprintf("a first line of %q", head), Want: "JSON, or CSV with columns epsilon and delta", Remedy: "docs/claims.md says what can be read"}
	}
	var points []audit.ProfilePoint
	for {
		row, err := r.Read()
		if err == io.EOF {
			return points, nil
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			return nil, &audit.InputError{Field: name, Line: line, Found: err.Error(), Want: "lines with as many fields as the first"}
		}
		var p audit.ProfilePoint
		for _, f := range []struct {
			name string
			at   int
			into *float64
		}{{"epsilon", eps, &p.Epsilon}, {"delta", delta, &p.Delta}} {
			v, err := strconv.ParseFloat(strings.TrimSpace(row[f.at]), 64)
			if err != nil || math.IsNaN(v) {
				return nil, &audit.InputError{Field: fmt.Sprintf("%s: %s in line %d", name, f.name, line), Line: line, Found: strconv.Quote(row[f.at]), Want: "a number"}
			}
			*f.into = v
		}
		if !math.IsInf(p.Epsilon, 1) {
			points = append(points, p)
		}
	}
}
