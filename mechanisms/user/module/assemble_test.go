//go:build !js

package module

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
)

// Types, the ids of sections, and the kinds of imports and exports, WebAssembly core
// specification 5.3 and 5.5.
const (
	i32 = "\x7f"
	i64 = "\x7e"

	typeSection, importSection, functionSection, tableSection, memorySection, exportSection = 1, 2, 3, 4, 5, 7

	kindFunction, kindMemory, kindGlobal = 0, 2, 3
)

// functype is the type of a function: a byte for each parameter and result.
type functype struct{ params, results string }

// part is one function of a module put together by hand: its type and its code,
// without the end.
type part struct {
	functype
	code []byte
}

// assembly is a module: functions by the names under which they are exported,
// and what differs from a plain one.
type assembly struct {
	parts   map[string]part
	imports []byte            // content of the section, its count included
	memory  []byte            // limits; nil: none of its own
	tables  []byte            // content of the section, its count included
	locals  map[string][]byte // groups of a function's, their count included; default none
	renamed map[string]string
	start   string // function that is called on instantiation
}

// plain follows the ABI and gives zeros.
func plain() assembly {
	return assembly{parts: map[string]part{
		// The number at address 16 says how much is taken of the memory after 1024.
		"alloc": {functype{i32, i32}, code(0x41, 16, 0x41, 16, 0x28, 2, 0, 0x20, 0, 0x41, 7, 0x6a, 0x41, 0x78, 0x71, 0x6a, 0x36, 2, 0,
			0x41, 16, 0x28, 2, 0, 0x20, 0, 0x41, 7, 0x6a, 0x41, 0x78, 0x71, 0x6b, 0x41, 0x80, 8, 0x6a)},
		"sample": {functype{i64 + i32 + i32 + i32 + i32 + i32, i32}, code(0x41, 0)}, // i32.const 0
		"width":  {functype{"", i32}, code(0x41, 1)},                                // i32.const 1
	}, memory: code(0, 1)}
}

func code(b ...byte) []byte { return b }

// with replaces a function's code.
func (a assembly) with(name string, c ...byte) assembly {
	a.parts[name] = part{a.parts[name].functype, c}
	return a
}

func vector(b []byte) []byte { return append(binary.AppendUvarint(nil, uint64(len(b))), b...) }

// exported is the name under which something is exported.
func (a assembly) exported(name string) []byte { return []byte(cmp.Or(a.renamed[name], name)) }

func (a assembly) bytes() []byte {
	names := slices.Sorted(maps.Keys(a.parts))
	count := byte(len(names))
	types, functions, bodies := code(count), code(count), code(count)
	exports := code(count + 1)
	section := func(id byte, content []byte) []byte { return append([]byte{id}, vector(content)...) }
	for i, name := range names {
		p := a.parts[name]
		types = slices.Concat(types, code(0x60), vector([]byte(p.params)), vector([]byte(p.results)))
		functions = append(functions, byte(i))
		locals := code(0)
		if l, ok := a.locals[name]; ok {
			locals = l
		}
		bodies = append(bodies, vector(slices.Concat(locals, p.code, code(0x0b)))...)
		exports = slices.Concat(exports, vector(a.exported(name)), code(kindFunction, byte(i)))
	}
	exports = slices.Concat(exports, vector(a.exported("memory")), code(kindMemory, 0))
	out := slices.Concat([]byte(header), code(1, 0, 0, 0), section(typeSection, types))
	if a.imports != nil {
		out = append(out, section(importSection, a.imports)...)
	}
	out = slices.Concat(out, section(functionSection, functions))
	if a.tables != nil {
		out = append(out, section(tableSection, a.tables)...)
	}
	if a.memory != nil {
		out = append(out, section(memorySection, append(code(1), a.memory...))...)
	}
	out = append(out, section(exportSection, exports)...)
	if i := slices.Index(names, a.start); i >= 0 {
		out = append(out, section(8, code(byte(i)))...)
	}
	return append(out, section(10, bodies)...)
}

// imported is an import section with one function of type 0.
func imported(module, name string) []byte {
	return slices.Concat(code(1), vector([]byte(module)), vector([]byte(name)), code(kindFunction, 0))
}
