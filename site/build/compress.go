package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"

	"github.com/andybalholm/brotli"
)

// coding is a way to compress a file. Its output depends on the input alone.
type coding struct {
	suffix string
	pack   func([]byte) ([]byte, error)
	unpack func([]byte) ([]byte, error)
}

var brotliCoding = coding{
	suffix: ".br",
	pack: func(data []byte) ([]byte, error) {
		var out bytes.Buffer
		// The window of 16 MB, the largest that browsers take, sees the whole core.
		w := brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24})
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
		err := w.Close()
		return out.Bytes(), err
	},
	unpack: func(data []byte) ([]byte, error) { return io.ReadAll(brotli.NewReader(bytes.NewReader(data))) },
}

var gzipCoding = coding{
	suffix: ".gz",
	pack: func(data []byte) ([]byte, error) {
		var out bytes.Buffer
		w, err := gzip.NewWriterLevel(&out, gzip.BestCompression) // its header has no name and no time
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
		err = w.Close()
		return out.Bytes(), err
	},
	unpack: func(data []byte) ([]byte, error) {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	},
}

// sibling writes the compressed form of data beside path and returns its size.
// One that is there and unpacks to data is kept: brotli takes seconds.
func (c coding) sibling(path string, data []byte) (int, error) {
	if old, err := os.ReadFile(path + c.suffix); err == nil {
		if was, err := c.unpack(old); err == nil && bytes.Equal(was, data) {
			return len(old), nil
		}
	}
	packed, err := c.pack(data)
	if err != nil {
		return 0, err
	}
	return len(packed), os.WriteFile(path+c.suffix, packed, 0o644)
}
