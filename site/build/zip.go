package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dpscope/dpscope/internal/try"
)

// packTime is of all files in the zip: the same site is the same zip.
var packTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// pack writes a zip of the site in out and its compressed siblings.
func pack(out, name string, stdout io.Writer) (err error) {
	defer try.To(&err)
	data := try.Get(os.ReadFile(filepath.Join(out, infoName)))
	var info buildInfo
	try.Of(infoName, json.Unmarshal(data, &info))
	names := []string{infoName}
	for _, f := range info.Files {
		names = append(names, f.Name, f.Name+gzipCoding.suffix, f.Name+brotliCoding.suffix)
	}
	slices.Sort(names)
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, name := range names {
		data := try.Get(os.ReadFile(filepath.Join(out, filepath.FromSlash(name))))
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: packTime}
		if ext := filepath.Ext(name); ext == gzipCoding.suffix || ext == brotliCoding.suffix {
			h.Method = zip.Store
		}
		h.SetMode(0o644)
		try.Get(try.Get(w.CreateHeader(h)).Write(data))
	}
	try.Do(w.Close())
	try.Do(os.WriteFile(name, packed.Bytes(), 0o644))
	fmt.Fprintf(stdout, "%s: %d files, %d bytes\n", name, len(names), packed.Len())
	return nil
}
