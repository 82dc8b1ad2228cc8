package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// The role of samples: a coordinator that reads the user's files, holds what is in
// them and audits it by itself, in one web worker that the page may end. Whoever
// explores recorded outputs has one pair, which is one task, and certifying them
// is cheap, so that a crew would gain little and each of its workers would hold or
// parse the file once more. The counts do not depend on it.

// sampleStore is where the user's samples are.
type sampleStore struct {
	c     *coordinator
	pause func()

	mu      sync.Mutex
	given   []userFile
	files   []*recorded.File // nil until they are read, and after a failure
	reading audit.Reading    // that they were read with
	spec    *audit.MechanismSpec
}

// Preview limits.
const (
	headRows    = 6
	headColumns = 64
)

// inspected is what the page gets to know of files.
type inspected struct {
	Files   []fileFacts   `json:"files"` // empty where they could not be read
	Columns []columnFacts `json:"columns"`
	// Head are the first rows of the first columns.
	Head [][]string `json:"head"`
	// Samples is absent where there is a problem.
	Samples *sampleFacts `json:"samples,omitempty"`
	Problem *refusal     `json:"problem,omitempty"`
	// Scores: the file looks like one of membership scores. With Samples it may be
	// either: arrays in and out could be outputs with a record in and out.
	Scores bool `json:"scores"`
	// TwoValued are the columns of which one may tell the datasets apart, where none is
	// known to; see [recorded.File.TwoValued].
	TwoValued []string `json:"twoValued,omitempty"`
}

type fileFacts struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows"` // of its longest table
}

type columnFacts struct {
	Name string           `json:"name"`
	Kind audit.ColumnKind `json:"kind"`
	// Role: "output", "dataset" or "left out"; empty where that is not known.
	Role string `json:"role"`
}

// Roles of columns.
const (
	roleOutput  = "output"
	roleDataset = "dataset"
	roleLeftOut = "left out"
)

type sampleFacts struct {
	Datasets [2]string              `json:"datasets"`
	Rows     [2]int                 `json:"rows"`
	Width    int                    `json:"columns"` // of an output
	Notes    []string               `json:"notes"`
	Listing  audit.MechanismListing `json:"listing"`
}

// readProgress is a file on its way.
type readProgress struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // of all files
}

// inspect reads the user's samples; without files: those that are there. Of the role of
// samples only.
func (c *coordinator) inspect(ctx context.Context, r request[audit.Reading]) (inspected, error) {
	if c.own == nil {
		return inspected{}, errors.New("no such request: samples are read by a coordinator of their own")
	}
	return c.own.inspect(ctx, r)
}

// inspect reads files and says what is in them. What is wrong with a file is part of the answer.
func (d *sampleStore) inspect(ctx context.Context, r request[audit.Reading]) (inspected, error) {
	reading := r.asked
	d.mu.Lock()
	if len(r.files) > 0 {
		d.given, d.files = r.files, nil
	}
	given, files := d.given, d.files
	if !sameBytesRead(reading, d.reading) {
		files = nil
	}
	d.files, d.spec = nil, nil // free, if they are read anew
	d.mu.Unlock()

	out := inspected{Files: []fileFacts{}, Columns: []columnFacts{}, Head: [][]string{}} // the page relies on them
	problem := func(err error) (inspected, error) {
		if ctx.Err() != nil {
			return inspected{}, errStopped
		}
		out.Problem = new(refusalOf(err))
		return out, nil
	}
	if files == nil {
		var columns []audit.Column
		var err error
		files, columns, err = d.read(ctx, r.id, given, recorded.Options{Reading: reading})
		if err != nil {
			var names []string
			for _, c := range columns {
				out.Columns = append(out.Columns, columnFacts{Name: c.Name, Kind: c.Kind})
				names = append(names, c.Name)
			}
			out.Scores = recorded.NamesOfScores(names)
			return problem(err)
		}
	}
	d.mu.Lock()
	d.files, d.reading = files, reading
	d.mu.Unlock()
	out.describe(files)
	samples, err := recorded.Pair(files, reading)
	if err != nil {
		known := func(c columnFacts) bool { return strings.EqualFold(c.Name, "dataset") }
		if len(files) == 1 && reading.Dataset == "" && !slices.ContainsFunc(out.Columns, known) {
			out.TwoValued = files[0].TwoValued()
		}
		return problem(err)
	}
	spec := samples.Spec()
	out.roles(samples)
	out.Samples = &sampleFacts{Datasets: samples.Datasets, Rows: [2]int{samples.Rows(0), samples.Rows(1)}, Width: len(samples.Columns),
		Notes: append([]string{}, samples.Notes...), Listing: audit.Catalogue{Mechanisms: []audit.MechanismSpec{spec}}.Listing().Mechanisms[0]}
	d.mu.Lock()
	d.spec = &spec
	d.mu.Unlock()
	return out, nil
}

var errStopped = errors.New("stopped before the end")

// sameBytesRead reports whether two readings differ at most in which columns are
// what.
func sameBytesRead(a, b audit.Reading) bool {
	return a.Header == b.Header && a.NonFinite == b.NonFinite && maps.Equal(a.Kinds, b.Kinds)
}

// describe says what files hold, whatever their columns mean.
func (out *inspected) describe(files []*recorded.File) {
	for _, f := range files {
		rows := 0
		for _, t := range f.Tables {
			rows = max(rows, t.Rows())
		}
		out.Files = append(out.Files, fileFacts{f.Name, string(f.Format), f.Bytes, f.SHA256, rows})
	}
	columns := namedColumns(files[0])
	var names []string
	for _, c := range columns {
		name := c.name
		if len(files[0].Tables) > 1 {
			name, _, _ = strings.Cut(name, ".") // an array's column
		}
		names = append(names, name)
	}
	out.Scores = len(files) == 1 && recorded.NamesOfScores(names)
	for _, c := range columns[:min(len(columns), headColumns)] {
		out.Columns = append(out.Columns, columnFacts{Name: c.name, Kind: c.Kind})
	}
	for i := range headRows {
		var row []string
		some := false
		for _, c := range columns[:min(len(columns), headColumns)] {
			cell := ""
			if i < c.Len() {
				some, cell = true, c.Text(i)
			}
			row = append(row, cell)
		}
		if some {
			out.Head = append(out.Head, row)
		}
	}
}

type namedColumn struct {
	*recorded.Column
	name string
}

// namedColumns are the columns of a file; those of several arrays are called after
// them.
func namedColumns(f *recorded.File) []namedColumn {
	var out []namedColumn
	for _, t := range f.Tables {
		for _, c := range t.Columns {
			name := c.Name
			if len(f.Tables) > 1 {
				name = t.Name
				if len(t.Columns) > 1 {
					name += "." + c.Name
				}
			}
			out = append(out, namedColumn{c, name})
		}
	}
	return out
}

// roles says what the columns are taken for; nothing of two arrays, one for each
// dataset.
func (out *inspected) roles(s *recorded.Samples) {
	if len(s.Files) == 1 && s.By == "" {
		return
	}
	for i := range out.Columns {
		c := &out.Columns[i]
		switch {
		case slices.ContainsFunc(s.Columns, func(o audit.Column) bool { return o.Name == c.Name }):
			c.Role = roleOutput
		case c.Name == s.By:
			c.Role = roleDataset
		default:
			c.Role = roleLeftOut
		}
	}
}

// read reads files. After an error it says what columns the file has, if that is
// known.
func (d *sampleStore) read(ctx context.Context, id int, given []userFile, o recorded.Options) ([]*recorded.File, []audit.Column, error) {
	if len(given) == 0 {
		return nil, nil, &audit.InputError{Field: "samples", Found: audit.Absent, Want: "a file, or one for each dataset"}
	}
	total, before := int64(0), int64(0)
	for _, f := range given {
		if err := recorded.CheckSize(f.name, f.size, o); err != nil {
			return nil, nil, err
		}
		total += f.size
	}
	var files []*recorded.File
	told := newThrottle(d.c.now, progressEvery)
	for _, f := range given {
		o.Name, o.Size = f.name, f.size
		last := time.Now()
		o.Progress = func(at int64) error {
			if time.Since(last) < sliceTime {
				return nil
			}
			if told.passes(false) {
				d.c.tell(id, readProgress{f.name, float64(before+at) / float64(max(1, total))})
			}
			d.pause()
			last = time.Now()
			return ctx.Err()
		}
		file, err := recorded.Read(&userReader{f, 0}, o)
		if err != nil {
			var columns []audit.Column
			if file != nil {
				for _, c := range file.Tables[0].Columns {
					columns = append(columns, audit.Column{Name: c.Name, Kind: c.Kind})
				}
			}
			return nil, columns, err
		}
		files = append(files, file)
		before += f.size
	}
	return files, nil, nil
}

// userReader reads a file of the user's from its beginning to its end.
type userReader struct {
	userFile
	at int64
}

func (r *userReader) Read(b []byte) (int, error) {
	if r.at == r.size {
		return 0, io.EOF
	}
	n, err := r.ReadAt(b[:min(int64(len(b)), r.size-r.at)], r.at)
	if r.at += int64(n); err == nil || errors.Is(err, io.EOF) && n > 0 {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it ends before its size")
	}
	return n, &audit.InputError{Field: r.name, Found: "unreadable: " + err.Error(), Want: "a file that this browser may read", Remedy: "choose it again"}
}

// catalogue is what is known, the samples included.
func (d *sampleStore) catalogue() audit.Catalogue {
	d.mu.Lock()
	defer d.mu.Unlock()
	return with(d.c.cat, d.spec)
}

func with(cat audit.Catalogue, spec *audit.MechanismSpec) audit.Catalogue {
	if spec != nil {
		cat.Mechanisms = append(slices.Clone(cat.Mechanisms), *spec)
	}
	return cat
}

// replay is the catalogue to replay a report with, for the request of that id: the files
// that are here, read as the report says.
func (d *sampleStore) replay(ctx context.Context, id int, r pair.Report) (audit.Catalogue, error) {
	rec := r.Inputs.Samples
	if rec == nil {
		return d.c.cat, nil
	}
	d.mu.Lock()
	files, given, reading := d.files, d.given, d.reading
	d.mu.Unlock()
	if files == nil || !sameBytesRead(reading, rec.Reading) {
		var err error
		if files, _, err = d.read(ctx, id, given, recorded.Options{Reading: rec.Reading}); err != nil {
			return audit.Catalogue{}, err
		}
	}
	samples, err := recorded.Replay(rec, files)
	if err != nil {
		return audit.Catalogue{}, err
	}
	spec := samples.Spec()
	return with(d.c.cat, &spec), nil
}

// worker executes tasks here.
func (d *sampleStore) worker() engine.Worker { return pausing{d.pause} }
