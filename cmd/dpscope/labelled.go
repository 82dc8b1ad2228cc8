package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// maxTableBytes bounds a learner's table.
const maxTableBytes = 64 << 20

// openTable is what is registered, with the learners over the table of a file in place
// of those over the tables that come along. A report that is replayed gives was: another
// file than its own is refused.
func openTable(path string, reading audit.LabelledReading, was *audit.Labelled) (cat audit.Catalogue, note string, err error) {
	in, err := os.Open(path)
	if err != nil {
		return cat, "", err
	}
	defer in.Close()
	if info, err := in.Stat(); err == nil && info.IsDir() {
		return cat, "", &audit.InputError{Field: path, Found: "a folder", Want: "a file"}
	}
	text, err := io.ReadAll(io.LimitReader(in, maxTableBytes+1))
	if err != nil {
		return cat, "", err
	}
	if len(text) > maxTableBytes {
		return cat, "", &audit.InputError{Field: path, Found: "larger than 64 MiB", Want: "a table of at most that", Remedy: "audit learners of a part of it"}
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(text)); was != nil && sum != was.File.SHA256 {
		return cat, "", &audit.InputError{Field: path, Found: "another file, with SHA-256 " + sum, Want: fmt.Sprintf("%s with SHA-256 %s, as the report says", was.File.Name, was.File.SHA256)}
	}
	list, now, err := learners.Open(filepath.Base(path), text, reading)
	if err != nil {
		return cat, "", err
	}
	if was != nil && now.File.Name != was.File.Name { // it may have moved
		note = fmt.Sprintf("the report names %q; this replay read %q, which holds the same.", was.File.Name, now.File.Name)
		now.File.Name = was.File.Name
	}
	cat = catalogue
	cat.Mechanisms = slices.Clone(cat.Mechanisms)
	for _, m := range list {
		at := slices.IndexFunc(cat.Mechanisms, func(old audit.MechanismSpec) bool { return old.Name == m.Name })
		if at < 0 {
			cat.Mechanisms = append(cat.Mechanisms, m)
		} else {
			cat.Mechanisms[at] = m
		}
	}
	return cat, note, nil
}

// labelled is the catalogue for an audit of a learner over the table of -table.
func (f *outsideFlags) labelled(p pair.Plan) (audit.Catalogue, error) {
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
func (f *outsideFlags) replayLabelled(r pair.Report) (audit.Catalogue, string, error) {
	was := r.Inputs.Labelled
	switch {
	case was == nil:
		return audit.Catalogue{}, "", &audit.InputError{Field: "-table", Found: "given", Want: "absent: the report is of no table of the user's", Remedy: "leave the flag out"}
	case f.Table.File == "":
		return audit.Catalogue{}, "", &audit.InputError{Field: "-table", Found: "absent", Want: "the table that the report is of: " + was.File.Name, Remedy: "name it with -table FILE"}
	}
	return openTable(f.Table.File, was.Reading, was)
}
