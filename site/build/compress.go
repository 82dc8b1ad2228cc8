package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"time"

	"github.com/andybalholm/brotli"
)

type coding struct {
	suffix string
	pack   func([]byte) ([]byte, error)
}

var brotliCoding = coding{".br", packing(func(w io.Writer) (io.WriteCloser, error) {
	// The window of 16 MB, the largest that browsers take, sees the whole core.
	return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24}), nil
})}

var gzipCoding = coding{".gz", packing(func(w io.Writer) (io.WriteCloser, error) {
	return gzip.NewWriterLevel(w, gzip.BestCompression) // its header has no name and no time
})}

func packing(begin func(io.Writer) (io.WriteCloser, error)) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		var out bytes.Buffer
		w, err := begin(&out)
		if err == nil {
			_, err = w.Write(data)
		}
		if err == nil {
			err = w.Close()
		}
		return out.Bytes(), err
	}
}

// sibling writes the compressed form of data beside path and returns its size. One is kept that was there when a
// build of the same data ended: brotli takes seconds.
func (c coding) sibling(path string, data []byte, ended time.Time) (int, error) {
	if old, err := os.Stat(path + c.suffix); err == nil && !old.ModTime().After(ended) {
		return int(old.Size()), nil
	}
	packed, err := c.pack(data)
	if err != nil {
		return 0, err
	}
	return len(packed), os.WriteFile(path+c.suffix, packed, 0o644)
}
