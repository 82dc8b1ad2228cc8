// Package memdisk has a file in memory for tests.
package memdisk

import (
	"errors"
	"io"
	"sync"
)

// Disk is a file in memory.
type Disk struct {
	Most int // bytes beyond which it is full; 0: none

	mu   sync.Mutex
	data []byte
}

// ErrFull is the error of writing to a disk that is full.
var ErrFull = errors.New("the disk is full")

// Len is how many bytes were written.
func (d *Disk) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.data)
}

// WriteAt implements [io.WriterAt].
func (d *Disk) WriteAt(p []byte, at int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	end := int(at) + len(p)
	if d.Most > 0 && end > d.Most {
		return 0, ErrFull
	}
	d.data = append(d.data, make([]byte, max(0, end-len(d.data)))...)
	return copy(d.data[at:], p), nil
}

// ReadAt implements [io.ReaderAt].
func (d *Disk) ReadAt(p []byte, at int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := copy(p, d.data[min(int(at), len(d.data)):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
