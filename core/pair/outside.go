package pair

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
)

// Outside says where a mechanism from outside dpscope is: in files of its outputs, or in
// what the user brings. A plan has only its name, [Outside.Mechanism].
type Outside struct {
	Recorded Recorded `json:"recorded"`
	Brought  Brought  `json:"brought"`
}

// Recorded names files of outputs that another program recorded.
type Recorded struct {
	// Files are one or, for the second dataset, two. In a file of several audits a
	// relative name is relative to the folder of that file.
	Files []string `json:"files"`
	audit.Reading
}

// Brought is a mechanism that the user brings: one of Exec and Wasm.
type Brought struct {
	Exec string `json:"exec,omitempty"` // the command line of a program
	Wasm string `json:"wasm,omitempty"` // the file of a WebAssembly module, named like those of [Recorded]
	Surroundings
}

// Surroundings say what goes into a mechanism that the user brings, and what comes out.
type Surroundings struct {
	Domain    string                      `json:"domain,omitempty"` // ranges of the columns of datasets, as 0:1,18:99
	Rows      string                      `json:"rows,omitempty"`   // least and most rows, as 0:5
	Integer   bool                        `json:"integer,omitempty"`
	Reach     float64                     `json:"reach,omitempty"` // of l-infinity and bounded-replace
	Kinds     map[string]audit.ColumnKind `json:"kinds,omitempty"` // of outputs
	NonFinite string                      `json:"nonFinite,omitempty"`
}

// Space is the space of datasets.
func (s Surroundings) Space(relation audit.Relation) (audit.Space, error) {
	return audit.ParseSpace(s.Domain, s.Rows, relation, s.Integer, s.Reach)
}

// Mechanism is the name that a plan has for it; "" where there is none.
func (o Outside) Mechanism() string {
	switch {
	case len(o.Recorded.Files) > 0:
		return audit.RecordedName
	case o.Brought.Wasm != "":
		return string(audit.BroughtModule)
	case o.Brought.Exec != "":
		return string(audit.BroughtCommand)
	}
	return ""
}

// OutsideKeys are the settings of a mechanism from outside, in the order in which a
// report names them.
func OutsideKeys() []settings.Key[Outside] {
	file := func(i int) settings.Value[Outside] {
		return settings.Text(func(o *Outside) *string {
			files := &o.Recorded.Files
			*files = append(*files, make([]string, max(0, i+1-len(*files)))...)
			return &(*files)[i]
		})
	}
	return []settings.Key[Outside]{
		{Name: "samples-file", Field: "recorded/files", At: file(0),
			Usage: "file of recorded outputs instead of a mechanism: CSV, TSV, JSON lines, JSON, NPY or NPZ, also in gzip, told apart by content, with a column dataset (0 or 1) or arrays d0 and d1 (docs/samples.md); - is standard input"},
		{Name: "samples-file2", Field: "recorded/files", At: file(1),
			Usage: "file of the outputs on the second dataset, where -samples-file holds the first only"},
		{Name: "header", Field: "recorded/header", At: settings.Word(func(o *Outside) *string { return &o.Recorded.Header }),
			Usage: "yes or no: whether the first line of -samples-file names the columns; default: by content",
			Form:  &settings.Form{Place: "yours", Label: "First line"}},
		{Name: "dataset", Field: "recorded/dataset", At: settings.Text(func(o *Outside) *string { return &o.Recorded.Dataset }),
			Usage: `column of -samples-file that says which dataset a row is of; default "dataset"`},
		{Name: "outputs", Field: "recorded/outputs", At: settings.Words(func(o *Outside) *[]string { return &o.Recorded.Outputs }),
			Usage: "columns of -samples-file that are outputs, separated by commas; default: all others"},
		{Name: "wasm", Field: "brought/wasm", At: settings.Text(func(o *Outside) *string { return &o.Brought.Wasm }),
			Usage: "`file` with a mechanism of yours as a WebAssembly module (docs/abi.md)"},
		{Name: "exec", Field: "brought/exec", At: settings.Text(func(o *Outside) *string { return &o.Brought.Exec }),
			Usage: "`command` that runs a mechanism of yours: a program, in any language, that reads a JSON request a line and writes its outputs as a JSON line (docs/command.md). Quotes are read as in a shell, but no shell runs"},
		{Name: "domain", Field: "brought/domain", At: settings.Text(func(o *Outside) *string { return &o.Brought.Domain }),
			Usage: "ranges of the columns of datasets for -exec and -wasm, as lower:upper with commas between; default 0:1",
			Form:  &settings.Form{Place: "own", Label: "Ranges", Hint: "of the columns, as 0:1,18:99", Empty: "0:1"}},
		{Name: "rows", Field: "brought/rows", At: settings.Text(func(o *Outside) *string { return &o.Brought.Rows }),
			Usage: "least and most rows of datasets for -exec and -wasm, as 0:10 or 3; default 0:5, 1:5 where rows are not added",
			Form:  &settings.Form{Place: "own", Label: "Rows", Hint: "least and most, as 0:5", Empty: "0:5"}},
		{Name: "integer", Field: "brought/integer", At: settings.Switch(func(o *Outside) *bool { return &o.Brought.Integer }),
			Usage: "datasets for -exec and -wasm hold whole numbers only",
			Form:  &settings.Form{Place: "own", Label: "Whole numbers only"}},
		{Name: "reach", Field: "brought/reach", At: settings.Number(func(o *Outside) *float64 { return &o.Brought.Reach }),
			Usage: "for -exec and -wasm with -relation bounded-replace or l-infinity: how far a value may move; default 1",
			Form:  &settings.Form{Place: "own", Label: "Reach", Hint: "how far a value may move", Empty: "1"}},
		// Of both.
		{Name: "kind", Field: "recorded/kinds", At: settings.Kinds(func(o *Outside) *map[string]audit.ColumnKind {
			if o.brings() {
				return &o.Brought.Kinds
			}
			return &o.Recorded.Kinds
		}),
			Usage: "kind of a column of -samples-file, or of column c1, c2, ... of a mechanism of yours, as name=real, name=symbol or name=mixed, or c1..c8=real; may be given more than once"},
		{Name: "nonfinite", Field: "recorded/nonFinite", At: settings.Word(func(o *Outside) *string {
			if o.brings() {
				return &o.Brought.NonFinite
			}
			return &o.Recorded.NonFinite
		}),
			Usage: "what to do with NaN and infinities in -samples-file or from a mechanism of yours: refuse them, or take each as a symbol; default refuse",
			Form:  &settings.Form{Place: "yours", Label: "NaN and infinities"}},
		{Name: "decimal", Field: "recorded/decimal", At: settings.Word(func(o *Outside) *string { return &o.Recorded.Decimal }),
			Usage: "decimal separator of numbers in a CSV or TSV of -samples-file: . or ,",
			Form:  &settings.Form{Place: "yours", Label: "Decimals"}},
	}
}

func (o *Outside) brings() bool { return o.Brought.Exec != "" || o.Brought.Wasm != "" }

// SharedKeys are the settings that mean something for both kinds of a mechanism from
// outside.
var SharedKeys = []string{"kind", "nonfinite"}

// outside is where the mechanism is, to find it again; ok: it is from outside.
func outside(m audit.MechanismSpec) (o Outside, ok bool) {
	if r := m.Recording; r != nil {
		for _, f := range r.Files {
			o.Recorded.Files = append(o.Recorded.Files, f.Name)
		}
		o.Recorded.Reading = r.Reading
		return o, true
	}
	b := m.Brought
	if b == nil {
		return o, false
	}
	switch b.Kind {
	case audit.BroughtCommand:
		o.Brought.Exec = b.Name
	case audit.BroughtModule:
		o.Brought.Wasm = b.Name
	}
	s := b.Datasets
	o.Brought.Surroundings = Surroundings{Domain: s.Ranges(), Rows: fmt.Sprintf("%d:%d", s.MinRows, s.MaxRows), Integer: s.Integer, NonFinite: b.NonFinite, Kinds: map[string]audit.ColumnKind{}}
	if s.Relation.HasReach() {
		o.Brought.Reach = s.Reach
	}
	for _, c := range b.Columns {
		o.Brought.Kinds[c.Name] = c.Kind
	}
	return o, true
}
