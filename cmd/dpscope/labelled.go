package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// openTable is what is registered, with the learners over the table of a file in place
// of those over the tables that come along: see [learners.In].
func openTable(path string, reading audit.LabelledReading, was *audit.Labelled) (audit.Catalogue, string, error) {
	in, err := os.Open(path)
	if err != nil {
		return audit.Catalogue{}, "", err
	}
	defer in.Close()
	if info, err := in.Stat(); err == nil && info.IsDir() {
		return audit.Catalogue{}, "", &audit.InputError{Field: path, Found: "a folder", Want: "a file"}
	}
	text, err := io.ReadAll(io.LimitReader(in, learners.MostBytes+1))
	if err != nil {
		return audit.Catalogue{}, "", err
	}
	return learners.In(catalogue, filepath.Base(path), text, reading, was)
}

// labelled is the catalogue for an audit of a learner over the table of -table.
func (f *externalFlags) labelled(p pair.Plan) (audit.Catalogue, error) {
	cat, _, err := openTable(f.Table.File, f.Table.LabelledReading, nil)
	if err != nil {
		return cat, err
	}
	var names []string
	for _, m := range cat.Mechanisms {
		if m.Labelled != nil {
			names = append(names, m.Name)
		}
	}
	if p.Mechanism != "" && !slices.Contains(names, p.Mechanism) {
		return cat, audit.UnknownName("-mechanism with -table", p.Mechanism, names)
	}
	return cat, nil
}

// replayLabelled is the catalogue to replay the report of such an audit with.
func (f *externalFlags) replayLabelled(r pair.Report) (audit.Catalogue, string, error) {
	was := r.Inputs.Labelled
	switch {
	case was == nil:
		return audit.Catalogue{}, "", &audit.InputError{Field: "-table", Found: "given", Want: "absent: the report is not of a user's table", Remedy: "leave the flag out"}
	case f.Table.File == "":
		return audit.Catalogue{}, "", &audit.InputError{Field: "-table", Found: audit.Absent, Want: "the table that the report is of: " + was.File.Name, Remedy: "name it with -table FILE"}
	}
	return openTable(f.Table.File, was.Reading, was)
}
