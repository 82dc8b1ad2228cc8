package host

import (
	"errors"
	"io"
	"os"

	"github.com/dpscope/dpscope/receipt"
)

// File keeps records in a file. A record that was not written to its end, when the power
// went, is cut off: nobody was told that it is there.
type File struct{ f *os.File }

// OpenFile opens the file, or makes it. Only one process may have it open.
func OpenFile(name string) (*File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Truncate(info.Size() - info.Size()%int64(receipt.RecordBytes))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{f}, nil
}

// Read implements [receipt.Records].
func (f *File) Read() ([]byte, error) {
	if _, err := f.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(f.f)
}

// Append implements [receipt.Records].
func (f *File) Append(record []byte) error {
	_, err := f.f.Write(record)
	return errors.Join(err, f.f.Sync())
}

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }
