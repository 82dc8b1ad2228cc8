package recorded

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// Spec is the line of a catalogue that audits the samples.
func (s *Samples) Spec() audit.MechanismSpec {
	r := &audit.Recording{Datasets: s.Datasets, Rows: [2]int{s.Rows(0), s.Rows(1)}, Notes: s.Notes, Reading: s.Reading}
	r.Reading.Outputs, r.Reading.Kinds = slices.Clone(s.Reading.Outputs), maps.Clone(s.Reading.Kinds)
	if r.Reading.NonFinite == Refuse {
		r.Reading.NonFinite = ""
	}
	r.Files = audit.Each(s.Files, func(f *File) audit.RecordedFile { return f.RecordedFile })
	r.Columns = audit.Each(s.Columns, func(c audit.Column) audit.Column {
		return audit.Column{Name: c.Name, Kind: c.Kind}
	})
	return r.Spec(&recorded{samples: s}) // every task resolves its plan: the order is made once
}

// recorded gives out samples in a random order.
type recorded struct{ samples *Samples }

func (r *recorded) Columns() []audit.Column { return r.samples.Columns }

// Sample refuses: recorded outputs are no source of new ones.
func (r *recorded) Sample(audit.Dataset, *stream.Stream, []float64) error {
	return fmt.Errorf("recorded outputs cannot be drawn anew")
}

// Recorded implements [audit.Recorded].
func (r *recorded) Recorded(seed uint64, side, at int, out []float64) error {
	s := r.samples
	n := len(out) / audit.Width(s.Columns)
	if at < 0 || at+n > s.Rows(side) {
		return fmt.Errorf("recorded outputs %d to %d were asked for, there are %d", at, at+n, s.Rows(side))
	}
	for _, i := range s.arranged(seed, side)[at : at+n] {
		for _, c := range s.columns[side] {
			out = out[c.put(i, out):]
		}
	}
	return nil
}

// Replay takes a report's samples from files that were read with its reading, two in any order.
// Those of another SHA-256 are refused. They get the report's names: they may have moved.
func Replay(rec *audit.Recording, files []*File) (*Samples, error) {
	if len(rec.Files) != len(files) {
		names := audit.Each(rec.Files, func(f audit.RecordedFile) string { return f.Name })
		return nil, audit.Fault("samples", countFiles(len(files)), countFiles(len(rec.Files))+", as the report has: "+firstFew(names))
	}
	if len(files) == 2 && files[0].SHA256 == rec.Files[1].SHA256 {
		files = []*File{files[1], files[0]}
	}
	moved := make([]*File, len(files))
	for i, f := range files {
		want := rec.Files[i]
		if f.SHA256 != want.SHA256 {
			return nil, audit.Fault(f.Name, "another file, with SHA-256 "+f.SHA256, fmt.Sprintf("%s with SHA-256 %s, as the report says", want.Name, want.SHA256))
		}
		g := *f
		g.Name = want.Name
		moved[i] = &g
	}
	return Pair(moved, rec.Reading)
}

func countFiles(n int) string { return audit.Pick(n == 1, "one file", fmt.Sprintf("%d files", n)) }
