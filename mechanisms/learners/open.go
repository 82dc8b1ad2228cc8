package learners

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// FileTable is the name that plans have for the table of a file of the user's.
const FileTable = "file"

// Open is every learner over the table of a CSV file of examples whose features have declared
// bounds, and what reports say of the file. Errors are of type [audit.InputError].
func Open(name string, text []byte, r audit.LabelledReading) ([]audit.MechanismSpec, *audit.Labelled, error) {
	o := train.CSV{Label: r.Label, Classes: r.Classes}
	rest, err := declared(r.Bounds, &o)
	if err != nil {
		return nil, nil, err
	}
	d, err := train.ReadCSV(text, o)
	if err != nil {
		return nil, nil, audit.Of(name, err)
	}
	open := slices.DeleteFunc(slices.Clone(d.Features), func(f string) bool {
		_, ok := o.Bounds[f]
		return ok || rest
	})
	if len(open) > 0 {
		return nil, nil, &audit.InputError{Field: "bounds", Path: "bounds/" + open[0], Found: fmt.Sprintf("absent for %q", open[:min(5, len(open))]), Want: "declared for every feature",
			Remedy: "give the range of its values, known without the data, as " + open[0] + "=0:100; bounds taken from the data would leak"}
	}
	for f := range o.Bounds {
		if !slices.Contains(d.Features, f) {
			return nil, nil, audit.UnknownName("bounds", f, d.Features)
		}
	}
	t, err := tableOf(d)
	if err != nil {
		return nil, nil, audit.Of(name, err)
	}
	l := &audit.Labelled{File: audit.RecordedFile{Name: name, Format: "csv", Bytes: int64(len(text)), SHA256: sumOf(text)},
		Rows: t.Rows.Len(), Features: t.Features, Classes: t.Classes[:], Clipped: t.Clamped, Reading: r, Notes: t.Notes}
	list := On(t)
	for i := range list {
		list[i].Labelled = l
	}
	return list, l, nil
}

// tableOf is the table of examples that were read: features of which the bounds, the user's,
// became -1 and 1, and a label of two classes.
func tableOf(d *train.Dataset) (*Table, error) {
	n, features := d.Len(), len(d.Features)
	err := audit.First(
		audit.At("/csv/classes", audit.Remedy("keep the rows of two classes, or say which column holds the label",
			audit.Require(len(d.Classes) == 2, "classes",
				fmt.Sprintf("%d classes, %q the first", len(d.Classes), d.Classes[:min(3, len(d.Classes))]), "two"))),
		audit.Require(features <= mostFeatures, "data", fmt.Sprintf("of %d features", features), "at most %d", mostFeatures),
		audit.Remedy("leave columns out",
			audit.Require(features < n, "data", fmt.Sprintf("%d columns in %d rows", features+1, n), "more rows than columns")))
	if err != nil {
		return nil, err
	}
	t := &Table{Name: FileTable, Classes: [2]string(d.Classes), Clamped: d.Clamped}
	t.over(d.Features, -1)
	varies := make([]bool, features)
	for i, label := range d.Labels {
		x := d.X[i*features : (i+1)*features]
		for j, v := range x {
			varies[j] = varies[j] || v != d.X[j]
		}
		t.Rows.Values = append(append(t.Rows.Values, x...), float64(label))
	}
	for y, class := range d.Classes {
		if !slices.Contains(d.Labels, int32(y)) {
			return nil, &audit.InputError{Field: "data", Found: fmt.Sprintf("of one class: no row is of class %q", class), Want: "rows of both"}
		}
	}
	if j := slices.Index(varies, false); j >= 0 {
		return nil, &audit.InputError{Field: fmt.Sprintf("column %q", d.Features[j]), Path: "data", Found: "the same in every row, within its bounds", Want: "a feature that varies",
			Remedy: "leave the column out, or declare bounds that hold its values"}
	}
	if d.Clamped > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d values were outside the declared bounds and were clamped to them. The audit uses the clamped table.", d.Clamped, n*features))
	}
	if d.InferredClasses {
		t.Notes = append(t.Notes, "The two classes were read from the file. Declare them if it is sensitive which classes occur.")
	}
	return t, nil
}

// mostFeatures bounds the features of a table: a training takes time of their square.
const mostFeatures = 100

// MostBytes bounds the file of a table.
const MostBytes = 64 << 20

// In is a catalogue in which the learners are over the table of a file. A report that is replayed
// gives was: another file than its own is refused, and note says where it has another name now.
func In(cat audit.Catalogue, name string, text []byte, r audit.LabelledReading, was *audit.Labelled) (_ audit.Catalogue, note string, err error) {
	if len(text) > MostBytes {
		return cat, "", &audit.InputError{Field: name, Found: "larger than 64 MiB", Want: "at most that large", Remedy: "audit learners on a part of the rows"}
	}
	if sum := sumOf(text); was != nil && sum != was.File.SHA256 {
		return cat, "", &audit.InputError{Field: name, Found: "another file, with SHA-256 " + sum, Want: fmt.Sprintf("%s with SHA-256 %s, as the report says", was.File.Name, was.File.SHA256)}
	}
	list, now, err := Open(name, text, r)
	if err != nil {
		return cat, "", err
	}
	if was != nil && now.File.Name != was.File.Name { // it may have moved
		note = fmt.Sprintf("the report names %q; this replay read %q, which holds the same.", was.File.Name, now.File.Name)
		now.File.Name = was.File.Name
	}
	return replacing(cat, list), note, nil
}

// Refusing is a catalogue in which the learners over the table of a file end with the error
// of reading it.
func Refusing(cat audit.Catalogue, err error) audit.Catalogue {
	if in, ok := errors.AsType[*audit.InputError](err); ok {
		err = audit.At(in.Field, err) // a field of the reading, and not the plan's mechanism
	}
	t := *BuiltIn()[0]
	t.Name = FileTable
	list := On(&t)
	for i := range list {
		list[i].New = func(audit.Params) (audit.Mechanism, error) { return nil, err }
	}
	return replacing(cat, list)
}

// replacing is a catalogue with these mechanisms in place of those of their names.
func replacing(cat audit.Catalogue, list []audit.MechanismSpec) audit.Catalogue {
	cat.Mechanisms = slices.Clone(cat.Mechanisms)
	for _, m := range list {
		at := slices.IndexFunc(cat.Mechanisms, func(old audit.MechanismSpec) bool { return old.Name == m.Name })
		if at < 0 {
			cat.Mechanisms = append(cat.Mechanisms, m)
		} else {
			cat.Mechanisms[at] = m
		}
	}
	return cat
}

func sumOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// declared puts bounds, as age=0:120,height=1:2.2, into o; rest: one without a name is
// of all other features.
func declared(text string, o *train.CSV) (rest bool, err error) {
	o.Bounds = map[string][2]float64{}
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		at := strings.LastIndex(part, "=")
		name := strings.TrimSpace(part[:max(at, 0)])
		bad := func(found string) error {
			return &audit.InputError{Field: "bounds", Path: strings.TrimSuffix("bounds/"+name, "/"), Found: found, Want: "NAME=LOWER:UPPER separated by commas, finite, with LOWER below UPPER", Remedy: "for example age=0:120,height=1:2.2; LOWER:UPPER without a name applies to all other features"}
		}
		lower, upper, ok := strings.Cut(part[at+1:], ":")
		a, err1 := strconv.ParseFloat(strings.TrimSpace(lower), 64)
		b, err2 := strconv.ParseFloat(strings.TrimSpace(upper), 64)
		if width := b - a; !ok || err1 != nil || err2 != nil || !(width > 0) || width-width != 0 || at >= 0 && name == "" {
			return rest, bad(strconv.Quote(part))
		}
		if _, twice := o.Bounds[name]; twice {
			return rest, bad(strconv.Quote(name) + " twice")
		}
		o.Bounds[name] = [2]float64{a, b}
	}
	others, rest := o.Bounds[""]
	o.Lower, o.Upper = others[0], others[1]
	delete(o.Bounds, "")
	return rest, nil
}
