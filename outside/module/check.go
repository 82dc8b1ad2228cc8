package module

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/core"
)

// Sections of a module and kinds of its imports and exports, WebAssembly core
// specification 5.5.
const (
	header = "\x00asm"

	typeSection, importSection, functionSection, memorySection, exportSection = 1, 2, 3, 5, 7

	kindFunction, kindTable, kindMemory, kindGlobal = 0, 1, 2, 3
)

// signature is the type of a function: a byte for each parameter and result.
type signature struct{ params, results string }

const (
	i32 = "\x7f"
	i64 = "\x7e"
)

// wanted are the functions that a module exports.
var wanted = []struct {
	name string
	signature
}{
	{"alloc", signature{i32, i32}},
	{"sample", signature{i64 + i32 + i32 + i32 + i32 + i32, i32}},
	{"width", signature{"", i32}},
}

// initialize is called first where a module exports it, as compilers make it.
const initialize = "_initialize"

func (s signature) String() string {
	return "(" + typeNames(s.params) + ") -> (" + typeNames(s.results) + ")"
}

func typeNames(types string) string {
	out := ""
	for i := range len(types) {
		if i > 0 {
			out += ", "
		}
		switch t := types[i]; t {
		case 0x7f:
			out += "i32"
		case 0x7e:
			out += "i64"
		case 0x7d:
			out += "f32"
		case 0x7c:
			out += "f64"
		default:
			out += fmt.Sprintf("type %#x", t)
		}
	}
	return out
}

// Check reports what about a module is not as the ABI wants it: its size, its
// imports, and the names and types of what it exports. It does not run it, nor
// does it validate its code, which whoever compiles it does. name is the file's.
func Check(name string, data []byte) error {
	switch {
	case len(data) == 0:
		return &core.InputError{Field: name, Found: "empty", Want: "a WebAssembly module"}
	case len(data) > MostBytes:
		return &core.InputError{Field: name, Found: fmt.Sprintf("%d bytes", len(data)), Want: fmt.Sprintf("a module of at most %d", MostBytes)}
	case !strings.HasPrefix(string(data), header):
		remedy := ""
		if strings.Contains(string(data[:min(len(data), 4096)]), "(module") {
			remedy = "this is its text form: assemble it with wat2wasm"
		}
		return &core.InputError{Field: name, Found: "of another format: it does not begin with \\0asm", Want: "a WebAssembly module in binary form", Remedy: remedy}
	case len(data) < 8 || data[4] != 1 || string(data[5:8]) != "\x00\x00\x00":
		return &core.InputError{Field: name, Found: "of another version or kind", Want: "a WebAssembly module of version 1", Remedy: "components are wrapped modules: build a plain one"}
	}
	m, err := read(data[8:])
	if err != nil {
		return &core.InputError{Field: name, Found: "broken: " + err.Error(), Want: "a whole WebAssembly module"}
	}
	return m.check(name)
}

// contents is what the ABI is about.
type contents struct {
	types     []signature
	imports   []string // module.name
	functions []int    // types by index
	memories  []memory
	exports   map[string]export
}

type export struct{ kind, index int }

type memory struct {
	flags byte
	least int // pages
}

func (m contents) check(name string) error {
	bad := func(what, found, want, remedy string) error {
		return &core.InputError{Field: name + ": " + what, Found: found, Want: want, Remedy: remedy}
	}
	if len(m.imports) > 0 {
		const most = 5
		found := strings.Join(m.imports[:min(most, len(m.imports))], ", ")
		if more := len(m.imports) - most; more > 0 {
			found += fmt.Sprintf(" and %d more", more)
		}
		return bad("imports", found, "none: a mechanism computes and reaches nothing", remedyOf(m.imports))
	}
	if len(m.memories) != 1 {
		return bad("memory", fmt.Sprintf("defined %d times", len(m.memories)), "defined once", "")
	}
	switch e, ok := m.exports["memory"]; {
	case !ok:
		return bad("export memory", "absent", "there", m.remedy())
	case e.kind != kindMemory:
		return bad("export memory", "no memory", "the module's memory", "")
	}
	if mem := m.memories[0]; mem.flags > 1 {
		return bad("memory", "shared, or addressed with 64 bits", "plain, addressed with 32 bits", "build it without threads and memory64")
	} else if mem.least > mostPages {
		return bad("memory", fmt.Sprintf("%d pages of 64 KiB at the start", mem.least), fmt.Sprintf("at most %d", mostPages), "")
	}
	for _, w := range wanted {
		if err := m.function(name, w.name, w.signature, true); err != nil {
			return err
		}
	}
	return m.function(name, initialize, signature{}, false)
}

// function checks one exported function.
func (m contents) function(file, name string, want signature, needed bool) error {
	e, ok := m.exports[name]
	if !ok && !needed {
		return nil
	}
	in := &core.InputError{Field: file + ": export " + name, Want: "a function " + want.String()}
	switch {
	case !ok:
		in.Found, in.Remedy = "absent", m.remedy()
	case e.kind != kindFunction:
		in.Found = "no function"
	case e.index >= len(m.functions) || m.functions[e.index] >= len(m.types):
		in.Found = "a function that is not defined"
	case m.types[m.functions[e.index]] != want:
		in.Found = "a function " + m.types[m.functions[e.index]].String()
	default:
		return nil
	}
	return in
}

// remedy says what the module exports instead.
func (m contents) remedy() string {
	if len(m.exports) == 0 {
		return "it exports nothing: mark the functions for export (docs/abi.md)"
	}
	var names []string
	for name := range m.exports {
		names = append(names, name)
	}
	slices.Sort(names)
	return "it exports " + strings.Join(names[:min(len(names), 12)], ", ")
}

// remedies say how to build a module without imports whose names begin so.
var remedies = [][2]string{
	{"wasi_", "build it without WASI: C with --target=wasm32 -nostdlib, Rust for wasm32-unknown-unknown, and no printing, files, clocks or random devices: randomness follows from the seed (docs/abi.md)"},
	{"go", "the Go toolchain's modules need its runtime in JavaScript; use -exec for a Go program"},
	{"__wbindgen", withoutBindgen},
	{"wbg.", withoutBindgen},
	{"env.memory", "let the module define and export its memory: without --import-memory"},
	{"", "link what it needs into the module (docs/abi.md)"},
}

const withoutBindgen = "build it without wasm-bindgen: plain extern \"C\" functions (docs/abi.md)"

func remedyOf(imports []string) string {
	for _, r := range remedies {
		for _, name := range imports {
			if strings.HasPrefix(name, r[0]) {
				return r[1]
			}
		}
	}
	return ""
}

// read reads the sections that the ABI is about.
func read(data []byte) (contents, error) {
	m := contents{exports: map[string]export{}}
	r := &reader{rest: data}
	for len(r.rest) > 0 && r.err == nil {
		id := r.byte()
		s := &reader{rest: r.bytes(), err: r.err}
		switch id {
		case typeSection:
			for range s.count() {
				if form := s.byte(); form != 0x60 {
					s.fail("a type of form %#x, not of a function", form)
				}
				m.types = append(m.types, signature{string(s.bytes()), string(s.bytes())})
			}
		case importSection:
			for range s.count() {
				m.imports = append(m.imports, string(s.bytes())+"."+string(s.bytes()))
				switch kind := s.byte(); kind {
				case kindFunction:
					s.unsigned()
				case kindTable:
					s.byte()
					s.memory()
				case kindMemory:
					s.memory()
				case kindGlobal:
					s.byte()
					s.byte()
				default:
					s.fail("an import of kind %d", kind)
				}
			}
		case functionSection:
			for range s.count() {
				m.functions = append(m.functions, s.unsigned())
			}
		case memorySection:
			for range s.count() {
				m.memories = append(m.memories, s.memory())
			}
		case exportSection:
			for range s.count() {
				m.exports[string(s.bytes())] = export{int(s.byte()), s.unsigned()}
			}
		default:
			continue
		}
		if s.err == nil && len(s.rest) > 0 {
			s.fail("%d bytes more than section %d has", len(s.rest), id)
		}
		if s.err != nil {
			return m, s.err
		}
	}
	return m, r.err
}

// reader reads numbers and vectors, and zeros after its first error.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.rest = nil
}

func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.fail("it ends too early")
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// unsigned reads a LEB128 number of 32 bits.
func (r *reader) unsigned() int {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > 1<<31 {
		r.fail("it ends too early, or has a number above 31 bits")
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

// count reads how many elements follow, of one byte at least.
func (r *reader) count() int {
	n := r.unsigned()
	if n > len(r.rest) {
		r.fail("it ends too early")
		return 0
	}
	return n
}

func (r *reader) bytes() []byte { return r.take(r.unsigned()) }

// memory reads limits.
func (r *reader) memory() memory {
	m := memory{flags: r.byte(), least: r.unsigned()}
	if m.flags&1 != 0 {
		r.unsigned()
	}
	return m
}
