package train

import (
	"cmp"
	"errors"
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

// CSV says how a file of examples is read: one example a line, features as numbers, the
// label a text or number. Bounds are declared: those of the data would be a release.
type CSV struct {
	Header  string   `json:"header,omitempty"`  // "yes", "no"; "" guesses: yes if some field of the first line that is no label is not a number
	Label   string   `json:"label,omitempty"`   // name or number (from 1) of the label's column; "" the last
	Classes []string `json:"classes,omitempty"` // labels that there are; none: those that occur
	// Lower and Upper bound every feature; both 0: -1 and 1. What lies outside is moved there.
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
	p := csvReader{options: o, class: map[string]int32{}}
	err := o.check()
	if err == nil {
		err = csv.Each("data", text, ',', true, p.record)
	}
	if err != nil {
		return nil, err
	}
	return p.finish()
}

func (o CSV) check() error {
	known := func(field, value string, words ...string) error {
		if value == "" || slices.Contains(words, value) {
			return nil
		}
		return audit.At("/csv/"+field, audit.UnknownName(field, value, words))
	}
	n := len(o.Classes)
	classes := audit.Require(n != 1 && n <= classesMost, "classes", n, "2 to %d labels, or none", classesMost)
	for i := 0; i < n && classes == nil; i++ { // at most classesMost
		c := o.Classes[i]
		classes = audit.Require(!slices.Contains(o.Classes[:i], c), "classes", fmt.Sprintf("%q twice", c), "different labels")
	}
	bounds := audit.At("bounds", checkBounds("bounds", [2]float64{o.Lower, o.Upper}))
	for _, name := range slices.Sorted(maps.Keys(o.Bounds)) {
		single := checkBounds(fmt.Sprintf("bounds of %q", name), o.Bounds[name])
		bounds = audit.First(bounds, audit.At("/csv/bounds", single))
	}
	return audit.First(known("header", o.Header, "yes", "no"), known("scaling", o.Scaling, "box", "unit"),
		audit.At("/csv/classes", classes), bounds)
}

func checkBounds(field string, b [2]float64) error {
	width := b[1] - b[0]
	return audit.Require(b == [2]float64{} || width > 0 && width <= math.MaxFloat64,
		field, fmt.Sprintf("%g to %g", b[0], b[1]), "a lower bound below an upper one, both finite")
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
	refuse := func(where, found, want, remedy string) error {
		return &audit.InputError{Field: fmt.Sprintf("data, line %d%s", line, where), Found: found, Want: want, Remedy: remedy}
	}
	if len(cells) != p.columns {
		return refuse("", fmt.Sprintf("of %d columns", len(cells)), fmt.Sprintf("of %d, as the first line", p.columns), "")
	}
	if len(p.out.Labels) == examplesMost {
		return refuse("", "one example too many", fmt.Sprintf("one of at most %d", examplesMost), "train on a part of the file")
	}
	start, f := len(p.out.X), 0
	for i, cell := range cells {
		field := strings.TrimSpace(cell)
		if i == p.label {
			k, ok := p.class[field]
			where := fmt.Sprintf(", column %d", i+1)
			switch {
			case field == "":
				return refuse(where, "an empty label", "a class", "")
			case !ok && !p.out.InferredClasses:
				return refuse(where, fmt.Sprintf("the label %q", field), "one of the declared classes: "+strings.Join(p.options.Classes, ", "), "")
			case !ok && len(p.class) == classesMost:
				return refuse(where, fmt.Sprintf("label number %d, %q", classesMost+1, field), fmt.Sprintf("one of at most %d classes", classesMost), "say which column holds the label")
			case !ok:
				k = int32(len(p.class))
				p.class[field] = k
			}
			p.out.Labels = append(p.out.Labels, k)
			continue
		}
		v, err := strconv.ParseFloat(field, 64)
		if err != nil || v-v != 0 {
			found, remedy := strconv.Quote(field), "turn words into numbers, or say which column holds the label"
			if field == "" {
				found, remedy = "empty", "leave the example out, or fill in a value"
			}
			return refuse(fmt.Sprintf(", column %d (%s)", i+1, p.out.Features[f]), found, "a finite number", remedy)
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
		return refuse("", "beyond the limit", fmt.Sprintf("at most %d numbers in all", cellsMost), "train on a part of the file")
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

func (p *csvReader) head(line int, first []string) error {
	p.columns = len(first)
	where := fmt.Sprintf("data, line %d", line)
	err := audit.First(
		audit.Require(p.columns > 1, where, "one column", "at least one feature and a label, separated by commas"),
		audit.Require(p.columns <= FeaturesMost+1, where, fmt.Sprintf("%d columns", p.columns), "at most %d features and a label", FeaturesMost))
	if err != nil {
		return err
	}
	o := p.options
	names := audit.Each(first, strings.TrimSpace)
	p.label = p.columns - 1
	if n, err := strconv.Atoi(o.Label); err == nil && (o.Header == "no" || !slices.Contains(names, o.Label)) {
		if n < 1 || n > p.columns {
			return &audit.InputError{Field: "label", Path: "label", Found: "column " + o.Label, Want: fmt.Sprintf("in [1, %d]", p.columns)}
		}
		p.label = n - 1
	} else if o.Label != "" {
		at := slices.Index(names, o.Label)
		if at < 0 || o.Header == "no" {
			return audit.UnknownName("label", o.Label, names)
		}
		p.label, p.header = at, true
	}
	p.header = p.header || o.Header == "yes"
	for i, name := range names {
		if _, err := strconv.ParseFloat(name, 64); o.Header == "" && err != nil && i != p.label {
			p.header = true
		}
	}
	if at := slices.Index(names, "label"); p.header && o.Label == "" && at >= 0 {
		p.label = at
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
		p.out.Features = append(p.out.Features, name)
		p.bounds = append(p.bounds, cmp.Or(b, [2]float64{-1, 1}))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Bounds)) {
		if n, err := strconv.Atoi(name); !slices.Contains(p.out.Features, name) && (err != nil || n < 1 || n > p.columns || n-1 == p.label) {
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
	d.Classes = slices.Collect(maps.Keys(p.class))
	value := map[string]float64{}
	for _, name := range d.Classes {
		if v, err := strconv.ParseFloat(name, 64); err == nil && v == v {
			value[name] = v
		}
	}
	if len(value) < len(d.Classes) {
		clear(value)
	}
	slices.SortFunc(d.Classes, func(a, b string) int {
		return cmp.Or(cmp.Compare(value[a], value[b]), strings.Compare(a, b))
	})
	if len(d.Classes) < 2 {
		return nil, &audit.InputError{Field: "data", Found: fmt.Sprintf("of one class, %q", d.Classes[0]), Want: "at least two", Remedy: "say which column holds the label"}
	}
	to := make([]int32, len(d.Classes))
	for i, name := range d.Classes {
		to[p.class[name]] = int32(i)
	}
	for i, k := range d.Labels {
		d.Labels[i] = to[k]
	}
	return d, nil
}

// Preview is what the beginning of a file of examples looks like. Nothing in it is a bound.
type Preview struct {
	Names  []string   `json:"names"`  // of columns: those of the first line, or column 1, column 2 ...
	Header bool       `json:"header"` // the first line names the columns
	Label  int        `json:"label"`  // the label's column, from 0
	Labels []string   `json:"labels"` // labels in the lines that were read, at most 20
	Head   [][]string `json:"head"`   // first examples, as texts
}

var errEnough = errors.New("enough was read")

// Look reads so many examples at the beginning of a file, as [ReadCSV] would. label is as in [CSV].
func Look(text []byte, label string, rows int) (Preview, error) {
	p := csvReader{options: CSV{Label: label}, class: map[string]int32{}}
	var out Preview
	err := csv.Each("data", text, ',', true, func(line int, cells []string) error {
		row := audit.Each(cells, strings.TrimSpace)
		if p.columns == 0 {
			if err := p.head(line, cells); err != nil {
				return err
			}
			if out.Names = row; p.header {
				return nil
			}
			out.Names = numbered("column ", len(row))
		}
		out.Head = append(out.Head, row)
		if p.label < len(row) && len(out.Labels) < classesShown && !slices.Contains(out.Labels, row[p.label]) {
			out.Labels = append(out.Labels, row[p.label])
		}
		if len(out.Head) >= rows {
			return errEnough
		}
		return nil
	})
	if err == nil && p.columns == 0 {
		err = errEmpty()
	}
	if err != nil && !errors.Is(err, errEnough) {
		return Preview{}, err
	}
	out.Header, out.Label = p.header, p.label
	return out, nil
}

const classesShown = 20
