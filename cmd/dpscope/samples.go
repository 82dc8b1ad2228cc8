package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/recordings"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// checkOwnClaim wants a claim, as what the user brings has none of its own.
func checkOwnClaim(c *audit.Claim) error {
	if c != nil && (c.Epsilon > 0 || c.Rho > 0 || c.Mu > 0) {
		return nil
	}
	return &audit.InputError{Field: "-epsilon", Found: audit.Absent, Want: "the claimed epsilon (or -rho, or -mu)", Remedy: "enter what your mechanism claims, for example -epsilon 1; dpscope cannot know it"}
}

// recordedCatalogue is what is registered, and the samples.
func recordedCatalogue(r pair.Recorded, in intake) (audit.Catalogue, error) {
	files, err := in.samples(r.Files, recorded.Options{Reading: r.Reading})
	if err != nil {
		return audit.Catalogue{}, err
	}
	samples, err := recorded.Pair(files, r.Reading)
	if err != nil {
		return audit.Catalogue{}, err
	}
	return cli.With(catalogue, samples.Spec()), nil
}

// intake is where files of outputs and of scores come from, and where their progress is
// shown.
type intake struct {
	stdin  io.Reader // what the file - of samples is; nil: a file of that name
	stderr io.Writer // nil: nothing is shown
}

// reader reads the files of one audit, and show what it has read of them.
func (in intake) reader() (r *recordings.Reader, show *meter) {
	r, show = &recordings.Reader{}, in.meter()
	if show.w != nil {
		r.Tell = show.reading
	}
	return r, show
}

// meter shows progress, if somebody sees it.
func (in intake) meter() *meter {
	if in.stderr == nil {
		return &meter{}
	}
	return newMeter(in.stderr, false)
}

// samples reads the files; their names are without their folders.
func (in intake) samples(paths []string, o recorded.Options) (files []*recorded.File, err error) {
	r, show := in.reader()
	defer show.clear()
	for i, path := range paths {
		var file *recorded.File
		switch o.Name = path; {
		case path != "-" || in.stdin == nil:
			file, err = r.Read(path, o)
		case slices.Contains(paths[i+1:], "-"):
			err = &audit.InputError{Field: "-samples-file2", Found: "- like -samples-file", Want: "another file", Remedy: "standard input can be read once; save one of the two to a file"}
		default:
			o.Name = "standard input"
			file, err = r.Stream(in.stdin, o)
		}
		if err != nil {
			return nil, err
		}
		file.Name = filepath.Base(path)
		files = append(files, file)
	}
	return files, nil
}

// replayRecorded is the catalogue to replay a report with: for one of samples, with the
// same files, read as they were.
func (f *externalFlags) replayRecorded(r pair.Report) (cat audit.Catalogue, note string, err error) {
	rec, given := r.Inputs.Samples, f.Recorded.Files
	switch {
	case rec == nil && len(given) == 0:
		return catalogue, "", nil
	case rec == nil:
		return cat, "", &audit.InputError{Field: "-samples-file", Found: "given", Want: "absent: the report is of the mechanism " + r.Plan.Mechanism, Remedy: "leave the flag out"}
	case len(rec.Files) == 0 || len(rec.Files) > 2:
		return cat, "", &audit.InputError{Field: "inputs.samples.files", Found: fmt.Sprintf("of %d files", len(rec.Files)), Want: "one or two"}
	case len(given) != len(rec.Files) || given[0] == "":
		want := fmt.Sprintf("the file that the report is of: %s", rec.Files[0].Name)
		if len(rec.Files) == 2 {
			want = fmt.Sprintf("the files that the report is of, -samples-file %s -samples-file2 %s", rec.Files[0].Name, rec.Files[1].Name)
		}
		return cat, "", &audit.InputError{Field: "-samples-file", Found: "absent, or not as many files as the report has", Want: want}
	}
	in := intake{f.stdin, f.stderr}
	files, err := in.samples(given, recorded.Options{Reading: rec.Reading})
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
	return cli.With(catalogue, samples.Spec()), strings.TrimSpace(note), nil
}
