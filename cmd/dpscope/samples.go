package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// sampleFlags name files of outputs that another program recorded, and say how
// they are read.
type sampleFlags struct {
	file, file2                         string
	header, dataset, outputs, nonFinite string
	decimal                             string
	kinds                               map[string]audit.ColumnKind

	stdin io.Reader // what the file - is
}

func (f *sampleFlags) registerFiles(s *cli.Flags) {
	s.StringVar(&f.file, "samples-file", "", "file of recorded outputs instead of a mechanism: CSV, TSV, JSON lines, JSON, NPY or NPZ, also in gzip, told apart by content, with a column dataset (0 or 1) or arrays d0 and d1 (docs/samples.md); - is standard input")
	s.StringVar(&f.file2, "samples-file2", "", "file of the outputs on the second dataset, where -samples-file holds the first only")
}

func (f *sampleFlags) register(s *cli.Flags) {
	f.registerFiles(s)
	s.StringVar(&f.header, "header", "", "yes or no: whether the first line of -samples-file names the columns; default: by content")
	s.StringVar(&f.dataset, "dataset", "", `column of -samples-file that says which dataset a row is of; default "dataset"`)
	s.StringVar(&f.outputs, "outputs", "", "columns of -samples-file that are outputs, separated by commas; default: all others")
	s.StringVar(&f.nonFinite, "nonfinite", "", "what to do with NaN and infinities in -samples-file or from a mechanism of yours: refuse them, or take each as a symbol; default refuse")
	s.StringVar(&f.decimal, "decimal", "", "decimal separator of numbers in a CSV or TSV of -samples-file: . or ,")
	s.Func("kind", "kind of a column of -samples-file, or of column c1, c2, ... of a mechanism of yours, as name=real, name=symbol or name=mixed, or c1..c8=real; may be given more than once", func(v string) error {
		if f.kinds == nil {
			f.kinds = map[string]audit.ColumnKind{}
		}
		return audit.ParseKind(v, f.kinds)
	})
}

func (f *sampleFlags) given() bool { return f.file != "" || f.file2 != "" }

// check refuses flags that belong to mechanisms.
func (f *sampleFlags) check(given map[string]bool) error {
	if f.file == "" {
		return &audit.InputError{Field: "-samples-file", Found: "absent", Want: "the file of the first dataset", Remedy: "-samples-file2 is the file of the second one only"}
	}
	return refuseFlags(given, "absent with -samples-file", "recorded outputs are of one mechanism and one pair of datasets", "mechanism", "param", "relation", "pair", "finder", "trials")
}

// checkOwnClaim wants a claim, as what the user brings has none of its own.
func checkOwnClaim(c *audit.Claim) error {
	if c != nil && (c.Epsilon > 0 || c.Rho > 0 || c.Mu > 0) {
		return nil
	}
	return &audit.InputError{Field: "-epsilon", Found: "absent", Want: "the claimed epsilon (or -rho, or -mu)", Remedy: "enter what your mechanism claims, for example -epsilon 1; dpscope cannot know it"}
}

func (f *sampleFlags) options() recorded.Options {
	return recorded.Options{Header: f.header, NonFinite: f.nonFinite, Decimal: f.decimal, Kinds: f.kinds}
}

func (f *sampleFlags) choice() recorded.Choice {
	c := recorded.Choice{Dataset: f.dataset}
	for name := range strings.SplitSeq(f.outputs, ",") {
		if name = strings.TrimSpace(name); name != "" {
			c.Columns = append(c.Columns, name)
		}
	}
	return c
}

// catalogue is what is registered, and the samples where there are any.
func (f *sampleFlags) catalogue() (audit.Catalogue, error) {
	if !f.given() {
		return catalogue, nil
	}
	files, err := f.read(f.options())
	if err != nil {
		return audit.Catalogue{}, err
	}
	return withSamples(files, f.choice(), f.options())
}

func withSamples(files []*recorded.File, c recorded.Choice, o recorded.Options) (audit.Catalogue, error) {
	samples, err := recorded.Pair(files, c)
	if err != nil {
		return audit.Catalogue{}, err
	}
	return withRecorded(samples, o), nil
}

func withRecorded(s *recorded.Samples, o recorded.Options) audit.Catalogue {
	return cli.With(catalogue, s.Spec(o))
}

// read reads the files; their names are without their folders.
func (f *sampleFlags) read(o recorded.Options) ([]*recorded.File, error) {
	var files []*recorded.File
	for _, path := range []string{f.file, f.file2} {
		if path == "" {
			continue
		}
		file, err := f.open(path, o)
		if err != nil {
			return nil, err
		}
		file.Name = filepath.Base(path)
		files = append(files, file)
	}
	return files, nil
}

// open reads a file of data; - is standard input.
func (f *sampleFlags) open(path string, o recorded.Options) (*recorded.File, error) {
	if path != "-" || f.stdin == nil {
		return readFile(path, o)
	}
	if f.file == f.file2 {
		return nil, &audit.InputError{Field: "-samples-file2", Found: "- like -samples-file", Want: "another file", Remedy: "standard input can be read once; save one of the two to a file"}
	}
	o.Name = "standard input"
	return recorded.Read(f.stdin, o)
}

// readFile reads one file of data.
func readFile(path string, o recorded.Options) (*recorded.File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &audit.InputError{Field: path, Found: "a folder", Want: "a file"}
	}
	if err := recorded.CheckSize(path, info.Size(), o); err != nil {
		return nil, err
	}
	o.Name = path
	return recorded.Read(in, o)
}

// replay is the catalogue to replay a report with: for one of samples, with the
// same files, read as they were.
func (f *sampleFlags) replay(r pair.Report) (cat audit.Catalogue, note string, err error) {
	rec := r.Inputs.Samples
	switch {
	case rec == nil && !f.given():
		return catalogue, "", nil
	case rec == nil:
		return cat, "", &audit.InputError{Field: "-samples-file", Found: "given", Want: "absent: the report is of the mechanism " + r.Plan.Mechanism, Remedy: "leave the flag out"}
	case len(rec.Files) == 0 || len(rec.Files) > 2:
		return cat, "", &audit.InputError{Field: "inputs.samples.files", Found: fmt.Sprintf("of %d files", len(rec.Files)), Want: "one or two"}
	case f.file == "" || (f.file2 != "") != (len(rec.Files) == 2):
		want := fmt.Sprintf("the file that the report is of: %s", rec.Files[0].Name)
		if len(rec.Files) == 2 {
			want = fmt.Sprintf("the files that the report is of, -samples-file %s -samples-file2 %s", rec.Files[0].Name, rec.Files[1].Name)
		}
		return cat, "", &audit.InputError{Field: "-samples-file", Found: "absent, or not as many files as the report has", Want: want}
	}
	o := recorded.ReadingOptions(rec.Reading)
	files, err := f.read(o)
	if err != nil {
		return cat, "", err
	}
	samples, err := recorded.Replay(rec, files)
	if err != nil {
		return cat, "", err
	}
	for i, file := range files {
		if was := rec.Files[i].Name; file.Name != was { // it may have moved
			note += fmt.Sprintf("the report names %q; this replay read %q, which holds the same. ", was, file.Name)
		}
	}
	return withRecorded(samples, o), strings.TrimSpace(note), nil
}
