package pair

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
)

// External says where a mechanism from outside is: in files of its outputs, or in what the user
// brings. A plan has only its name, see [External.Mechanism].
type External struct {
	Recorded Recorded    `json:"recorded"`
	User     UserProgram `json:"brought"`
	Table    Table       `json:"table,omitzero"`
}

// Table is a file of labelled examples that one of dpscope's learners is trained on.
type Table struct {
	File string `json:"file"`
	audit.LabelledReading
}

// Recorded names files of outputs that another program recorded.
type Recorded struct {
	// Files are one or, for the second dataset, two; in a file of several audits relative to its folder.
	Files []string `json:"files"`
	audit.Reading
}

// UserProgram is a mechanism that the user brings: one of Exec and Wasm.
type UserProgram struct {
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
func (o External) Mechanism() string {
	switch {
	case len(o.Recorded.Files) > 0:
		return audit.RecordedName
	case o.User.Wasm != "":
		return string(audit.UserModule)
	case o.User.Exec != "":
		return string(audit.UserCommand)
	}
	return ""
}

// ExternalKeys are the settings of a mechanism from outside, as a report names them.
func ExternalKeys() []settings.Key[External] {
	key := func(name, field string, at settings.Value[External], usage string) settings.Key[External] {
		return settings.Key[External]{Name: name, Field: field, At: at, Usage: usage}
	}
	shown := func(k settings.Key[External], place, label, hint, empty string) settings.Key[External] {
		k.Form = &settings.Form{Place: place, Label: label, Hint: hint, Empty: empty}
		return k
	}
	text, word := settings.Text[External], settings.Word[External, string]
	file := func(i int) settings.Value[External] {
		return text(func(o *External) *string {
			files := &o.Recorded.Files
			*files = append(*files, make([]string, max(0, i+1-len(*files)))...)
			return &(*files)[i]
		})
	}
	return []settings.Key[External]{
		key("samples-file", "recorded/files", file(0),
			"file of recorded outputs instead of a mechanism: CSV, TSV, JSON lines, JSON, NPY or NPZ, also in gzip, recognised by content, with a column dataset (0 or 1) or arrays d0 and d1 (docs/samples.md); - is standard input"),
		key("samples-file2", "recorded/files", file(1), "file of the outputs on the second dataset, where -samples-file holds the first only"),
		key("header", "recorded/header", word(func(o *External) *string { return &o.Recorded.Header }),
			"yes or no: whether the first line of -samples-file names the columns; default: by content"),
		key("dataset", "recorded/dataset", text(func(o *External) *string { return &o.Recorded.Dataset }), `column of -samples-file that says which dataset a row is of; default "dataset"`),
		key("outputs", "recorded/outputs", settings.Words(func(o *External) *[]string { return &o.Recorded.Outputs }), "columns of -samples-file that are outputs, separated by commas; default: all others"),
		key("wasm", "brought/wasm", text(func(o *External) *string { return &o.User.Wasm }), "`file` of your own mechanism as a WebAssembly module (docs/abi.md)"),
		key("exec", "brought/exec", text(func(o *External) *string { return &o.User.Exec }),
			"`command` that runs your own mechanism: a program, in any language, that reads requests, each a JSON line, and writes its outputs as a JSON line (docs/command.md). Quotes are read as in a shell, but no shell runs"),
		shown(key("domain", "brought/domain", text(func(o *External) *string { return &o.User.Domain }),
			"ranges of the columns of datasets for -exec and -wasm, as lower:upper separated by commas; default 0:1"), "own", "Ranges", "of the columns, as 0:1,18:99", "0:1"),
		shown(key("rows", "brought/rows", text(func(o *External) *string { return &o.User.Rows }),
			"least and most rows of datasets for -exec and -wasm, as 0:10 or 3; default 0:5, 1:5 where rows are not added"), "own", "Rows", "least and most, as 0:5", "0:5"),
		shown(key("integer", "brought/integer", settings.Switch(func(o *External) *bool { return &o.User.Integer }),
			"datasets for -exec and -wasm hold whole numbers only"), "own", "Whole numbers only", "", ""),
		shown(key("reach", "brought/reach", settings.Number(func(o *External) *float64 { return &o.User.Reach }),
			"for -exec and -wasm with -relation bounded-replace or l-infinity: how far a value may move; default 1"), "own", "Reach", "how far a value may move", "1"),
		key("kind", "recorded/kinds", settings.Kinds(func(o *External) *map[string]audit.ColumnKind { kinds, _ := o.shared(); return kinds }),
			"kind of a column of -samples-file, or of column c1, c2, ... of your own mechanism, as name=real, name=symbol or name=mixed, or c1..c8=real; may be given more than once"),
		key("nonfinite", "recorded/nonFinite", word(func(o *External) *string { _, nonFinite := o.shared(); return nonFinite }),
			"what to do with NaN and infinities: refuse them, the default in -samples-file, or take each as a symbol; default for your own mechanism: each is an outcome of its column"),
		key("table", "table/file", text(func(o *External) *string { return &o.Table.File }), "CSV `file` of labelled examples that the learner of -mechanism is trained on, with -bounds (docs/learners.md)"),
		key("label", "table/label", text(func(o *External) *string { return &o.Table.Label }), "column of -table that holds the label: its name, or its number from 1; default the column label, or the last"),
		key("bounds", "table/bounds", text(func(o *External) *string { return &o.Table.Bounds }), "declared ranges of the features of -table, as age=0:120,height=1:2.2; a range without a name applies to all others. Take the ranges from what the columns mean, not from the data"),
		key("classes", "table/classes", settings.Words(func(o *External) *[]string { return &o.Table.Classes }), "the two labels of -table, separated by a comma; default: those that occur"),
	}
}

// SharedKeys are the settings of both kinds of a mechanism from outside.
var SharedKeys = []string{"kind", "nonfinite"}

func (o *External) shared() (kinds *map[string]audit.ColumnKind, nonFinite *string) {
	if o.User.Exec != "" || o.User.Wasm != "" {
		return &o.User.Kinds, &o.User.NonFinite
	}
	return &o.Recorded.Kinds, &o.Recorded.NonFinite
}

// external is where the mechanism is; ok: it is from outside.
func external(m audit.MechanismSpec) (o External, ok bool) {
	if r := m.Recording; r != nil {
		for _, f := range r.Files {
			o.Recorded.Files = append(o.Recorded.Files, f.Name)
		}
		o.Recorded.Reading = r.Reading
		return o, true
	}
	if l := m.Labelled; l != nil {
		o.Table = Table{l.File.Name, l.Reading}
		return o, true
	}
	b := m.User
	if b == nil {
		return o, false
	}
	switch b.Kind {
	case audit.UserCommand:
		o.User.Exec = b.Name
	case audit.UserModule:
		o.User.Wasm = b.Name
	}
	s := b.Datasets
	o.User.Surroundings = Surroundings{Domain: s.Ranges(), Rows: fmt.Sprintf("%d:%d", s.MinRows, s.MaxRows), Integer: s.Integer, NonFinite: b.NonFinite, Kinds: map[string]audit.ColumnKind{}}
	if s.Relation.HasReach() {
		o.User.Reach = s.Reach
	}
	for _, c := range b.Columns {
		o.User.Kinds[c.Name] = c.Kind
	}
	return o, true
}
