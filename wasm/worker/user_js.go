package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"syscall/js"
	"time"

	"github.com/dpscope/dpscope/audit"
)

const mostImports = 1000

// withUser adds the mechanism of the page's start message, and waits for its trial.
func withUser(cat audit.Catalogue) audit.Catalogue {
	options := js.Global().Get("dpscopeShell").Get("options")
	brought := options.Get("brought")
	if brought.Type() != js.TypeObject {
		return cat
	}
	return addUser(cat, text(brought, "json"), listenTo(brought.Get("port")), text(options, "role") == "task")
}

// listenTo makes a sandbox of the port to one. It posts
//
//	{id, values, columns, n, seed, module}   values: a dataset's bytes, a Uint8Array;
//	                                         module: with the first question
//
// and hears
//
//	{id, bytes, width}               bytes: the outputs', a Uint8Array
//	{id, fault, line}
//	{id, imports}                    of a module, which must have none: module.name
//	{id, invalid}                    why else a module is refused
//	{runtime}                        once, where the code needs an interpreter: it can run
//
// Nothing that it hears is trusted: the user's code may have sent it.
func listenTo(port js.Value) sandbox {
	type heard struct {
		id int
		answered
	}
	answers := make(chan heard, 1)
	runtime := make(chan string, 1)
	// Never released: the port is for life.
	port.Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		data := args[0].Get("data")
		if data.Type() != js.TypeObject {
			return nil
		}
		if name := text(data, "runtime"); name != "" {
			select {
			case runtime <- limited(name):
			default: // it is known
			}
			return nil
		}
		a := heard{number(data, "id"), answered{width: number(data, "width"), fault: text(data, "fault"), line: number(data, "line"), invalid: text(data, "invalid")}}
		if imports := data.Get("imports"); imports.InstanceOf(array) {
			for i := range min(imports.Length(), mostImports) {
				a.imports = append(a.imports, imports.Index(i).String())
			}
		}
		raw := bytesOf(data, "bytes")
		a.rows = make([]float64, 0, len(raw)/8)
		for i := 8; i <= len(raw); i += 8 {
			a.rows = append(a.rows, math.Float64frombits(binary.LittleEndian.Uint64(raw[i-8:])))
		}
		select {
		case answers <- a:
		default: // nobody asked
		}
		return nil
	}))
	last := 0
	started := func(within time.Duration) (string, bool) {
		select {
		case name := <-runtime:
			return name, true
		case <-time.After(within):
			return "", false
		}
	}
	ask := func(q question, within time.Duration) (answered, bool) {
		last++
		raw := make([]byte, 0, 8*len(q.dataset.Values))
		for _, v := range q.dataset.Values {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
		message := map[string]any{"id": last, "values": bytesToJS(raw), "columns": q.dataset.Columns, "n": q.n, "seed": float64(q.seed)}
		if q.module != nil {
			message["module"] = bytesToJS(q.module)
		}
		port.Call("postMessage", message)
		late := time.After(within)
		for {
			select {
			case a := <-answers:
				if a.id == last {
					return a.answered, true
				}
			case <-late:
				return answered{}, false
			}
		}
	}
	return sandbox{ask, started}
}

func limited(name string) string {
	const most = 60 // bytes
	name = strings.Map(func(r rune) rune { return audit.Pick(r < ' ' || r > '~', -1, r) }, name)
	return name[:min(len(name), most)]
}

// bytesOf are nil where there is no Uint8Array.
func bytesOf(v js.Value, field string) []byte {
	bytes := v.Get(field)
	if !bytes.InstanceOf(uint8Array) {
		return nil
	}
	raw := make([]byte, bytes.Length())
	js.CopyBytesToGo(raw, bytes)
	return raw
}

func bytesToJS(raw []byte) js.Value {
	values := uint8Array.New(len(raw))
	js.CopyBytesToJS(values, raw)
	return values
}

var uint8Array, array = js.Global().Get("Uint8Array"), js.Global().Get("Array")

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
