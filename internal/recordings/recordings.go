// Package recordings reads files of recorded outputs and of scores from disks and pipes.
package recordings

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// Progress is how far a file is read.
type Progress struct {
	Name    string
	Bytes   int64
	Of      int64 // 0: not known
	Seconds float64
}

// Reader reads files. Those of one audit are read by one.
type Reader struct {
	Tell func(Progress) // called now and then while a file is read; may be nil

	cells int // of the files that were read
}

// Read reads a file as o says, but for limits. o.Name names it in errors.
func (r *Reader) Read(path string, o recorded.Options) (*recorded.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if before.IsDir() {
		return nil, audit.Fault(path, "a folder", "a file")
	}
	if !before.Mode().IsRegular() {
		return r.Stream(f, o)
	}
	o.Size = before.Size()
	file, err := r.Stream(f, o)
	after, failed := f.Stat()
	switch {
	case failed != nil:
		return nil, failed
	case after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()):
		// This may be why it could not be read.
		return nil, audit.Fault(o.Name, "changed while it was read", "a complete file", "wait until the program that writes it has ended")
	}
	return file, err
}

const maxCells = 1 << 27

// Stream reads what can be read once.
func (r *Reader) Stream(in io.Reader, o recorded.Options) (*recorded.File, error) {
	since := time.Now()
	o.MaxBytes, o.MaxExpanded, o.MaxCells = math.MaxInt64, math.MaxInt64, max(1, maxCells-r.cells)
	o.Progress = func(bytes int64) error {
		if r.Tell != nil {
			r.Tell(Progress{Name: filepath.Base(o.Name), Bytes: bytes, Of: o.Size, Seconds: time.Since(since).Seconds()})
		}
		return nil
	}
	file, err := recorded.Read(in, o)
	if err == nil {
		r.cells += file.Cells()
	}
	return file, err
}
