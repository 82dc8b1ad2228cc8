package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/dpscope/dpscope/internal/try"
)

type coding struct {
	suffix string
	begin  func(io.Writer) (io.WriteCloser, error)
}

var brotliCoding = coding{".br", func(w io.Writer) (io.WriteCloser, error) {
	// The window of 16 MB, the largest that browsers take, sees the whole core.
	return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24}), nil
}}

var gzipCoding = coding{".gz", func(w io.Writer) (io.WriteCloser, error) {
	return gzip.NewWriterLevel(w, gzip.BestCompression) // its header has no name and no time
}}

func (c coding) pack(data []byte) (packed []byte, err error) {
	defer try.To(&err)
	var out bytes.Buffer
	w := try.Get(c.begin(&out))
	try.Get(w.Write(data))
	try.Do(w.Close())
	return out.Bytes(), nil
}

// sibling writes the compressed form of data beside path. One is kept that was there when a build of the same data
// ended: brotli takes seconds.
func (c coding) sibling(path string, data []byte, ended time.Time) (size int, err error) {
	defer try.To(&err)
	if old, err := os.Stat(path + c.suffix); err == nil && !old.ModTime().After(ended) {
		return int(old.Size()), nil
	}
	packed := try.Get(c.pack(data))
	return len(packed), os.WriteFile(path+c.suffix, packed, 0o644)
}
