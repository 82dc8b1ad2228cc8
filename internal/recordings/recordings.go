// Package recordings reads files of recorded outputs and of scores from disks and pipes.
package recordings

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// Limits of a file.
const (
	maxBytes = 1 << 44
	maxCells = 1 << 27 // 1 GiB of numbers
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
}

// Read reads a file as o says, but for limits and scratch. o.Name names it in errors.
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
		return nil, &audit.InputError{Field: path, Found: "a folder", Want: "a file"}
	}
	if !before.Mode().IsRegular() {
		return r.Stream(f, o)
	}
	r.options(&o)
	if err := recorded.CheckSize(path, before.Size(), o); err != nil {
		return nil, err
	}
	file, err := recorded.Read(&regular{r.begin(o.Name, before.Size()), f}, o)
	changed := func() error {
		after, err := f.Stat()
		if err != nil || after.Size() == before.Size() && after.ModTime().Equal(before.ModTime()) {
			return err
		}
		return &audit.InputError{Field: o.Name, Found: "changed while it was read", Want: "a file that is whole", Remedy: "wait until the program that writes it has ended"}
	}
	if err := changed(); err != nil { // which may be why it could not be read
		return nil, err
	}
	return file, err
}

// Stream reads what has no size and can be read once.
func (r *Reader) Stream(in io.Reader, o recorded.Options) (*recorded.File, error) {
	r.options(&o)
	return recorded.Read(&counting{in: in, begun: r.begin(o.Name, 0)}, o)
}

func (r *Reader) options(o *recorded.Options) {
	o.MaxBytes, o.MaxExpanded, o.MaxCells = maxBytes, maxBytes, maxCells
}

// begun counts what is read of a file.
type begun struct {
	tell  func(Progress)
	at    Progress
	since time.Time
}

func (r *Reader) begin(name string, size int64) *begun {
	return &begun{tell: r.Tell, at: Progress{Name: filepath.Base(name), Of: size}, since: time.Now()}
}

func (b *begun) read(n int) {
	if b.at.Bytes += int64(n); b.tell != nil {
		b.at.Seconds = time.Since(b.since).Seconds()
		b.tell(b.at)
	}
}

// counting is a stream.
type counting struct {
	in io.Reader
	*begun
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.begun.read(n)
	return n, err
}

// regular is a file on a disk, parts of which may be read again.
type regular struct {
	*begun
	file *os.File
}

func (c *regular) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	c.begun.read(n)
	return n, err
}

func (c *regular) ReadAt(p []byte, at int64) (int, error) { return c.file.ReadAt(p, at) }
