package module

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/dpscope/dpscope/audit"
)

// Sections of a module and kinds of its imports and exports, WebAssembly core
// specification 5.5.
const (
	header = "\x00asm"

	typeSection, importSection, functionSection, tableSection, memorySection, exportSection, codeSection = 1, 2, 3, 4, 5, 7, 10

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
// imports, the names and types of what it exports, and how large its memory, its
// tables and its functions are. The module that it returns is to be run instead:
// the same one, whose memory and tables cannot grow above the limits. Check does
// not run it, nor does it validate its code, which whoever compiles it does. name
// is the file's.
func Check(name string, data []byte) ([]byte, error) {
	switch {
	case len(data) == 0:
		return nil, &audit.InputError{Field: name, Found: "empty", Want: "a WebAssembly module"}
	case len(data) > MostBytes:
		return nil, &audit.InputError{Field: name, Found: fmt.Sprintf("%d bytes", len(data)), Want: fmt.Sprintf("a module of at most %d", MostBytes)}
	case !strings.HasPrefix(string(data[:min(len(data), 4)]), header):
		remedy := ""
		if strings.Contains(string(data[:min(len(data), 4096)]), "(module") {
			remedy = "this is its text form: assemble it with wat2wasm"
		}
		return nil, &audit.InputError{Field: name, Found: "of another format: it does not begin with \\0asm", Want: "a WebAssembly module in binary form", Remedy: remedy}
	case len(data) < 8 || data[4] != 1 || string(data[5:8]) != "\x00\x00\x00":
		return nil, &audit.InputError{Field: name, Found: "of another version or kind", Want: "a WebAssembly module of version 1", Remedy: "components are wrapped modules: build a plain one"}
	}
	m, err := read(data)
	if err != nil {
		return nil, &audit.InputError{Field: name, Found: "broken: " + err.Error(), Want: "a whole WebAssembly module"}
	}
	return m.limited, m.check(name)
}

// contents is what the ABI is about.
type contents struct {
	types     []signature
	imports   []string // module.name
	functions []int    // types by index
	tables    []limits
	memories  []limits
	exports   map[string]export
	large     string // the first function that is too large, and in what
	limited   []byte // the module, with limits
}

type export struct{ kind, index int }

// limits are those of a memory in pages, of a table in elements.
type limits struct {
	flags byte
	least int
	most  int // where flags is odd
}

// encoded has at most so many.
func (l limits) encoded(most int) []byte {
	if l.flags&1 != 0 {
		most = min(most, l.most)
	}
	return binary.AppendUvarint(binary.AppendUvarint([]byte{l.flags | 1}, uint64(l.least)), uint64(most))
}

func (m contents) check(name string) error {
	bad := func(what, found, want, remedy string) error {
		return &audit.InputError{Field: name + ": " + what, Found: found, Want: want, Remedy: remedy}
	}
	if len(m.imports) > 0 {
		return bad("imports", listed(m.imports, 5), "none: a mechanism computes and reaches nothing", remedyOf(m.imports))
	}
	if m.large != "" {
		return bad("code", m.large, fmt.Sprintf("of functions with at most %d parameters, as many results, %d locals and %d bytes each", mostParams, mostLocals, mostCode), "")
	}
	if len(m.tables) > mostTables {
		return bad("tables", fmt.Sprint(len(m.tables)), fmt.Sprintf("at most %d", mostTables), "")
	}
	for _, t := range m.tables {
		if t.flags > 1 {
			return bad("table", "shared, or addressed with 64 bits", "plain, addressed with 32 bits", "")
		} else if t.least > mostElements {
			return bad("table", fmt.Sprintf("%d elements at the start", t.least), fmt.Sprintf("at most %d", mostElements), "")
		}
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
	in := &audit.InputError{Field: file + ": export " + name, Want: "a function " + want.String()}
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
	return "it exports " + listed(names, 12)
}

// listed names some of the names.
func listed(names []string, most int) string {
	var out []string
	for _, name := range names[:min(most, len(names))] {
		out = append(out, shown(name))
	}
	text := strings.Join(out, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// shown is a text of the module's as it stands in a message: not long, and without
// what a terminal would obey.
func shown(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
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

// read reads the sections that the ABI is about, and writes the module anew with
// limits on its memory and tables.
func read(data []byte) (contents, error) {
	m := contents{exports: map[string]export{}, limited: slices.Clone(data[:8])}
	r := &reader{rest: data[8:]}
	for len(r.rest) > 0 && r.err == nil {
		id := r.byte()
		content := r.bytes()
		s := &reader{rest: content, err: r.err}
		switch id {
		case typeSection:
			s.vector(func() {
				if form := s.byte(); form != 0x60 {
					s.fail("a type of form %#x, not of a function", form)
				}
				t := signature{string(s.bytes()), string(s.bytes())}
				if len(t.params) > mostParams || len(t.results) > mostParams {
					m.tooLarge("of a function with %d parameters and %d results", len(t.params), len(t.results))
				}
				m.types = append(m.types, t)
			})
		case importSection:
			s.vector(func() {
				m.imports = append(m.imports, string(s.bytes())+"."+string(s.bytes()))
				switch kind := s.byte(); kind {
				case kindFunction:
					s.unsigned()
				case kindTable:
					s.byte()
					s.limits()
				case kindMemory:
					s.limits()
				case kindGlobal:
					s.byte()
					s.byte()
				default:
					s.fail("an import of kind %d", kind)
				}
			})
		case functionSection:
			s.vector(func() { m.functions = append(m.functions, s.unsigned()) })
		case tableSection:
			var again []byte
			s.vector(func() {
				kind := s.byte()
				if kind != 0x70 && kind != 0x6f {
					s.fail("a table of type %#x", kind)
				}
				t := s.limits()
				m.tables = append(m.tables, t)
				again = append(append(again, kind), t.encoded(mostElements)...)
			})
			content = append(binary.AppendUvarint(nil, uint64(len(m.tables))), again...)
		case memorySection:
			var again []byte
			s.vector(func() {
				l := s.limits()
				m.memories = append(m.memories, l)
				again = append(again, l.encoded(mostPages)...)
			})
			content = append(binary.AppendUvarint(nil, uint64(len(m.memories))), again...)
		case exportSection:
			s.vector(func() { m.exports[string(s.bytes())] = export{int(s.byte()), s.unsigned()} })
		case codeSection:
			i := 0
			s.vector(func() {
				m.body(i, &reader{rest: s.bytes()})
				i++
			})
		default:
			s.rest = nil
		}
		if s.err == nil && len(s.rest) > 0 {
			s.fail("%d bytes more than section %d has", len(s.rest), id)
		}
		if s.err != nil {
			return m, s.err
		}
		m.limited = append(binary.AppendUvarint(append(m.limited, id), uint64(len(content))), content...)
	}
	return m, r.err
}

// body looks at how large the i-th function is. What is wrong with it whoever
// compiles it says.
func (m *contents) body(i int, r *reader) {
	if len(r.rest) > mostCode {
		m.tooLarge("of function %d with %d bytes", i, len(r.rest))
	}
	locals := 0
	r.vector(func() {
		locals += r.unsigned()
		r.byte()
	})
	if locals > mostLocals {
		m.tooLarge("of function %d with %d locals", i, locals)
	}
}

func (m *contents) tooLarge(format string, args ...any) {
	m.large = cmp.Or(m.large, fmt.Sprintf(format, args...))
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
	n, size := binary.Uvarint(r.rest[:min(len(r.rest), 5)])
	if size <= 0 || n > math.MaxUint32 {
		r.fail("it ends too early, or has a number above 32 bits")
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

// vector reads a count and as many elements, up to the first error.
func (r *reader) vector(element func()) {
	n := r.unsigned()
	if n > mostEntries {
		r.fail("a section has %d entries, more than %d", n, mostEntries)
	}
	for i := 0; i < n && r.err == nil; i++ {
		element()
	}
}

func (r *reader) bytes() []byte { return r.take(r.unsigned()) }

func (r *reader) limits() limits {
	l := limits{flags: r.byte(), least: r.unsigned()}
	if l.flags&1 != 0 {
		l.most = r.unsigned()
	}
	return l
}
