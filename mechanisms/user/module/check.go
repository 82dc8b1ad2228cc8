package module

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
)

const header = "\x00asm"

// Check refuses a file that is too large or no WebAssembly module. Compiling says what else is
// wrong with it.
func Check(name string, data []byte) error {
	switch {
	case len(data) == 0:
		return audit.Fault(name, "empty", "a WebAssembly module")
	case len(data) > MostBytes:
		return audit.Fault(name, fmt.Sprintf("%d bytes", len(data)), fmt.Sprintf("a module of at most %d", MostBytes))
	case !strings.HasPrefix(string(data[:min(len(data), 4)]), header):
		remedy := audit.Pick(strings.Contains(string(data[:min(len(data), 4096)]), "(module"), "this is its text form: assemble it with wat2wasm", "")
		return audit.Fault(name, "of another format: it does not begin with \\0asm", "a WebAssembly module in binary form", remedy)
	case len(data) < 8 || data[4] != 1 || string(data[5:8]) != "\x00\x00\x00":
		return audit.Fault(name, "of another version or kind", "a WebAssembly module of version 1", "components are wrapped modules: build a plain one")
	}
	return nil
}

func listed(names []string, most int) string {
	text := strings.Join(audit.Each(names[:min(most, len(names))], shown), ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// shown is a text of the module's for a message: not long, and without what a terminal obeys.
func shown(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "..."
	}
	return phrase.Line(text)
}

// remedies say how to build a module without imports whose names begin so.
var remedies = [][2]string{
	{"wasi_", "build it without WASI: C with --target=wasm32 -nostdlib, Rust for wasm32-unknown-unknown, and without printing, files, clocks or random devices: randomness must follow from the seed (docs/abi.md)"},
	{"go", "the Go toolchain's modules need its runtime in JavaScript; use -exec for a Go program"},
	{"__wbindgen", withoutBindgen},
	{"wbg.", withoutBindgen},
	{"env.memory", "let the module define and export its memory: without --import-memory"},
	{"", "link what it needs into the module (docs/abi.md)"},
}

const withoutBindgen = "build it without wasm-bindgen: plain extern \"C\" functions (docs/abi.md)"

// Imports refuses a module that imports something.
func Imports(name string, imports []string) error {
	for _, r := range remedies {
		if slices.ContainsFunc(imports, func(name string) bool { return strings.HasPrefix(name, r[0]) }) {
			return audit.Fault(name+": imports", listed(imports, 5), "none: a mechanism has no access to anything outside", r[1])
		}
	}
	return nil
}
