package train

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream/matmul"
	"github.com/dpscope/dpscope/mechanisms/recorded/csv"
)

// CSV says how a file of examples is read: one example a line, features as
// numbers, the label a text or number. The bounds are declared, since bounds
// that follow the data would be a release of their own.
type CSV struct {
	Header  string   `json:"header,omitempty"`  // "yes", "no"; "" guesses: yes if some field of the first line that is no label is not a number
	Label   string   `json:"label,omitempty"`   // name or number (from 1) of the label's column; "" the last
	Classes []string `json:"classes,omitempty"` // labels that there are; none: those that occur
	// Lower and Upper bound every feature; both 0: -1 and 1. What lies outside is
	// moved to the nearest bound and counted.
	Lower  float64               `json:"lower,omitempty"`
	Upper  float64               `json:"upper,omitempty"`
	Bounds map[string][2]float64 `json:"bounds,omitempty"` // of single features, by name or number from 1
	// Scaling is "box" (default): bounds become -1 and 1; or "unit": then every
	// example that is not all zeros is divided by its norm.
	Scaling string `json:"scaling,omitempty"`
}

// ReadCSV reads examples. An InputError names line and column (both from 1) of
// what it cannot read.
func ReadCSV(text []byte, o CSV) (*Dataset, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	p := csvReader{options: o, class: map[string]int32{}}
	if err := csv.Each("data", text, ',', true, p.record); err != nil {
		return nil, err
	}
	return p.finish()
}

func (o CSV) check() error {
	for _, c := range []struct {
		field, value string
		known        []string
	}{{"header", o.Header, []string{"", "yes", "no"}}, {"scaling", o.Scaling, []string{"", "box", "unit"}}} {
		if !slices.Contains(c.known, c.value) {
			return audit.At("/csv/"+c.field, audit.UnknownName(c.field, c.value, c.known[1:]))
		}
	}
	if len(o.Classes) == 1 || len(o.Classes) > classesMost {
		return &audit.InputError{Field: "classes", Path: "/csv/classes", Found: strconv.Itoa(len(o.Classes)), Want: fmt.Sprintf("2 to %d labels, or none", classesMost)}
	}
	for i, c := range o.Classes {
		if slices.Contains(o.Classes[:i], c) {
			return &audit.InputError{Field: "classes", Path: "/csv/classes", Found: fmt.Sprintf("%q twice", c), Want: "different labels"}
		}
	}
	if _, err := bounds("bounds", [2]float64{o.Lower, o.Upper}); err != nil {
		return audit.At("bounds", err)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Bounds)) {
		if _, err := bounds(fmt.Sprintf("bounds of %q", name), o.Bounds[name]); err != nil {
			return audit.At("/csv/bounds", err)
		}
	}
	return nil
}

func bounds(field string, b [2]float64) ([2]float64, error) {
	if b == [2]float64{} {
		return [2]float64{-1, 1}, nil
	}
	if width := b[1] - b[0]; !(width > 0 && width <= math.MaxFloat64) {
		return b, &audit.InputError{Field: field, Found: fmt.Sprintf("%g to %g", b[0], b[1]), Want: "a lower bound below an upper one, both finite"}
	}
	return b, nil
}

type csvReader struct {
	options CSV
	columns int // 0 before the first line
	header  bool
	label   int          // column
	bounds  [][2]float64 // of features
	class   map[string]int32
	out     Dataset
}

func (p *csvReader) record(line int, cells []string) error {
	if p.columns == 0 {
		if err := p.head(line, cells); err != nil || p.header {
			return err
		}
	}
	return p.line(line, cells)
}

// head takes names, the label's column and the bounds from the first line.
func (p *csvReader) head(line int, first []string) error {
	if len(first) < 2 {
		return &audit.InputError{Field: fmt.Sprintf("data, line %d", line), Found: "one column", Want: "at least one feature and a label, separated by commas"}
	}
	if len(first) > FeaturesMost+1 {
		return &audit.InputError{Field: fmt.Sprintf("data, line %d", line), Found: fmt.Sprintf("%d columns", len(first)), Want: fmt.Sprintf("at most %d features and a label", FeaturesMost)}
	}
	p.columns = len(first)
	o := p.options
	names := audit.Each(first, strings.TrimSpace)
	p.label = len(first) - 1
	if n, err := strconv.Atoi(o.Label); err == nil && (o.Header == "no" || !slices.Contains(names, o.Label)) {
		if n < 1 || n > len(first) {
			return &audit.InputError{Field: "label", Path: "label", Found: "column " + o.Label, Want: fmt.Sprintf("in [1, %d]", len(first))}
		}
		p.label = n - 1
	} else if o.Label != "" {
		at := slices.Index(names, o.Label)
		if at < 0 || o.Header == "no" {
			return audit.UnknownName("label", o.Label, names)
		}
		p.label, p.header = at, true
	}
	switch o.Header {
	case "yes":
		p.header = true
	case "":
		for i, name := range names {
			if _, err := strconv.ParseFloat(name, 64); err != nil && i != p.label {
				p.header = true
			}
		}
	}
	if p.header && o.Label == "" && slices.Contains(names, "label") {
		p.label = slices.Index(names, "label")
	}
	for i, name := range names {
		if i == p.label {
			continue
		}
		if !p.header {
			name = fmt.Sprintf("column %d", i+1)
		}
		b, ok := o.Bounds[name]
		if !ok {
			b, ok = o.Bounds[strconv.Itoa(i+1)]
		}
		if !ok {
			b = [2]float64{o.Lower, o.Upper}
		}
		b, _ = bounds("", b)
		p.out.Features = append(p.out.Features, name)
		p.bounds = append(p.bounds, b)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Bounds)) {
		if n, err := strconv.Atoi(name); !slices.Contains(p.out.Features, name) && (err != nil || n < 1 || n > len(first) || n-1 == p.label) {
			return audit.UnknownName("bounds", name, p.out.Features)
		}
	}
	for i, c := range o.Classes {
		p.class[c] = int32(i)
	}
	p.out.Classes = slices.Clone(o.Classes)
	p.out.InferredClasses = len(o.Classes) == 0
	p.out.Unit = o.Scaling == "unit"
	return nil
}

func (p *csvReader) line(line int, record []string) error {
	if len(record) != p.columns {
		return &audit.InputError{Field: fmt.Sprintf("data, line %d", line), Found: fmt.Sprintf("of %d columns", len(record)), Want: fmt.Sprintf("of %d, as the first line", p.columns)}
	}
	if len(p.out.Labels) == examplesMost {
		return &audit.InputError{Field: fmt.Sprintf("data, line %d", line), Found: "one example too many", Want: fmt.Sprintf("one of at most %d", examplesMost), Remedy: "train on a part of the file"}
	}
	start, f := len(p.out.X), 0
	for i, cell := range record {
		field := strings.TrimSpace(cell)
		if i == p.label {
			k, ok := p.class[field]
			switch {
			case field == "":
				return &audit.InputError{Field: fmt.Sprintf("data, line %d, column %d", line, i+1), Found: "an empty label", Want: "a class"}
			case !ok && !p.out.InferredClasses:
				return &audit.InputError{Field: fmt.Sprintf("data, line %d, column %d", line, i+1), Found: fmt.Sprintf("the label %q", field), Want: "one of the declared classes: " + strings.Join(p.options.Classes, ", ")}
			case !ok && len(p.class) == classesMost:
				return &audit.InputError{Field: fmt.Sprintf("data, line %d, column %d", line, i+1), Found: fmt.Sprintf("label number %d, %q", classesMost+1, field), Want: fmt.Sprintf("one of at most %d classes", classesMost), Remedy: "say which column holds the label"}
			case !ok:
				k = int32(len(p.class))
				p.class[field] = k
			}
			p.out.Labels = append(p.out.Labels, k)
			continue
		}
		v, err := strconv.ParseFloat(field, 64)
		if err != nil || v-v != 0 {
			found := fmt.Sprintf("%q", field)
			remedy := "turn words into numbers, or say which column holds the label"
			if field == "" {
				found, remedy = "empty", "leave the example out, or fill in a value"
			}
			return &audit.InputError{Field: fmt.Sprintf("data, line %d, column %d (%s)", line, i+1, p.out.Features[f]), Found: found, Want: "a finite number", Remedy: remedy}
		}
		b := p.bounds[f]
		if v < b[0] || v > b[1] {
			p.out.Clamped++
			v = max(b[0], min(b[1], v))
		}
		p.out.X = append(p.out.X, max(-1, min(1, float64(2*((v-b[0])/(b[1]-b[0])))-1)))
		f++
	}
	if len(p.out.X) > cellsMost {
		return &audit.InputError{Field: fmt.Sprintf("data, line %d", line), Found: "beyond the limit", Want: fmt.Sprintf("at most %d numbers in all", cellsMost), Remedy: "train on a part of the file"}
	}
	if p.out.Unit {
		row := p.out.X[start:]
		if norm := math.Sqrt(matmul.Dot(row, row)); norm > 0 {
			for j, v := range row {
				row[j] = v / norm
			}
		}
	}
	return nil
}

func errEmpty() error {
	return &audit.InputError{Field: "data", Found: "empty", Want: "lines of numbers with a label"}
}

// finish numbers inferred classes by name: as numbers where all are.
func (p *csvReader) finish() (*Dataset, error) {
	d := &p.out
	if p.columns == 0 {
		return nil, errEmpty()
	}
	if len(d.Labels) < 2 {
		return nil, &audit.InputError{Field: "data", Found: fmt.Sprintf("of %d examples", len(d.Labels)), Want: "at least 2"}
	}
	if !d.InferredClasses {
		return d, nil
	}
	names := slices.Collect(maps.Keys(p.class))
	value := map[string]float64{}
	for _, name := range names {
		if v, err := strconv.ParseFloat(name, 64); err == nil && v == v {
			value[name] = v
		}
	}
	if len(value) < len(names) {
		clear(value)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(value[a], value[b]), strings.Compare(a, b))
	})
	if len(names) < 2 {
		return nil, &audit.InputError{Field: "data", Found: fmt.Sprintf("of one class, %q", names[0]), Want: "at least two", Remedy: "say which column holds the label"}
	}
	d.Classes = names
	to := make([]int32, len(names))
	for i, name := range names {
		to[p.class[name]] = int32(i)
	}
	for i, k := range d.Labels {
		d.Labels[i] = to[k]
	}
	return d, nil
}
