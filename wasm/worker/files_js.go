package main

import (
	"fmt"
	"io"
	"syscall/js"

	"github.com/dpscope/dpscope/audit"
)

// filesOf are the files of a message, whose bytes stay with the browser.
func filesOf(v js.Value) []userFile {
	if v.Type() != js.TypeObject {
		return nil
	}
	var out []userFile
	for i := range v.Length() {
		f := v.Index(i)
		out = append(out, userFile{browserFile(f), text(f, "name"), int64(f.Get("size").Float())})
	}
	return out
}

// withTable has the learners over the table of the page's start message.
func withTable(cat audit.Catalogue) audit.Catalogue {
	table := js.Global().Get("dpscopeShell").Get("options").Get("table")
	if table.Type() != js.TypeObject {
		return cat
	}
	return addTable(cat, text(table, "json"), bytesOf(table, "text"))
}

// browserFile reads a Blob, synchronously as only workers may.
type browserFile js.Value

// ReadAt implements [io.ReaderAt], with errors for the user.
func (b browserFile) ReadAt(p []byte, at int64) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, fmt.Errorf("the browser cannot read it (%v); was it changed or moved since it was chosen?", r)
		}
	}()
	part := js.Value(b).Call("slice", at, at+int64(len(p)))
	reader := js.Global().Get("FileReaderSync").New()
	n = js.CopyBytesToGo(p, uint8Array.New(reader.Call("readAsArrayBuffer", part)))
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}
