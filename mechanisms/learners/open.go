package learners

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// FileTable is the name that plans have for the table of a file of the user's. It says
// nothing of the file, which may move.
const FileTable = "file"

// Open is every learner over the table of a CSV file of examples, and what reports say
// of the file. Every feature needs declared bounds: see [Read]. Errors are of type
// [audit.InputError].
func Open(name string, text []byte, r audit.LabelledReading) ([]audit.MechanismSpec, *audit.Labelled, error) {
	o := train.CSV{Label: r.Label, Classes: r.Classes}
	rest, err := declared(r.Bounds, &o)
	if err != nil {
		return nil, nil, err
	}
	d, err := train.ReadCSV(text, o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	var open []string
	for _, f := range d.Features {
		if _, ok := o.Bounds[f]; !ok && !rest {
			open = append(open, f)
		}
	}
	if len(open) > 0 {
		return nil, nil, &audit.InputError{Field: "bounds", Found: fmt.Sprintf("absent for %q", open[:min(5, len(open))]), Want: "declared for every feature",
			Remedy: "say what range its values can have, known without the data, as " + open[0] + "=0:100; bounds taken from the data would be a release of their own"}
	}
	for f := range o.Bounds {
		if !slices.Contains(d.Features, f) {
			return nil, nil, audit.UnknownName("bounds", f, d.Features)
		}
	}
	t, err := tableOf(FileTable, d)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	t.Title = fmt.Sprintf("%s: %s and %s, %d rows", name, t.Classes[0], t.Classes[1], t.Rows.Len())
	l := &audit.Labelled{File: audit.RecordedFile{Name: name, Format: "csv", Bytes: int64(len(text)), SHA256: fmt.Sprintf("%x", sha256.Sum256(text))},
		Rows: t.Rows.Len(), Features: t.Features, Classes: t.Classes[:], Clipped: t.Clamped, Reading: r, Notes: t.Notes}
	list := On(t)
	for i := range list {
		list[i].Labelled = l
	}
	return list, l, nil
}

// declared puts bounds, as age=0:120,height=1:2.2, into o; rest: one without a name is
// of all other features.
func declared(text string, o *train.CSV) (rest bool, err error) {
	o.Bounds = map[string][2]float64{}
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		bad := func(found string) error {
			return &audit.InputError{Field: "bounds", Found: found, Want: "NAME=LOWER:UPPER with commas between, the lower bound below the upper one, both finite", Remedy: "for example age=0:120,height=1:2.2; LOWER:UPPER without a name is of all other features"}
		}
		at := strings.LastIndex(part, "=")
		name := strings.TrimSpace(part[:max(at, 0)])
		lower, upper, ok := strings.Cut(part[at+1:], ":")
		a, err1 := strconv.ParseFloat(strings.TrimSpace(lower), 64)
		b, err2 := strconv.ParseFloat(strings.TrimSpace(upper), 64)
		if width := b - a; !ok || err1 != nil || err2 != nil || !(width > 0) || width-width != 0 || at >= 0 && name == "" {
			return rest, bad(strconv.Quote(part))
		}
		if _, twice := o.Bounds[name]; twice || name == "" && rest {
			return rest, bad(strconv.Quote(name) + " twice")
		}
		if name == "" {
			rest, o.Lower, o.Upper = true, a, b
		} else {
			o.Bounds[name] = [2]float64{a, b}
		}
	}
	return rest, nil
}
