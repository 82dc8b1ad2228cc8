package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// slim makes a program an eighth smaller to load. Go's linker leaves out zeros, so that the data has up to 100,000
// segments; zeros compress and addresses do not: slim makes one segment, and clears tables ([clearLines]).
func slim(program []byte) ([]byte, error) {
	const data = 11 // the section of that number
	out, rest := slices.Clone(program[:8]), program[8:]
	for len(rest) > 0 {
		id := take(&rest, 1)[0]
		section := take(&rest, number(&rest))
		if id == data {
			memory := memoryOf(section)
			if err := clearLines(memory); err != nil {
				return nil, err
			}
			// One segment, in memory 0, at address i32.const 0, end.
			section = binary.AppendUvarint([]byte{1, 0, 0x41, 0, 0x0b}, uint64(len(memory)))
			section = append(section, memory...)
		}
		out = append(binary.AppendUvarint(append(out, id), uint64(len(section))), section...)
	}
	return out, nil
}

func take(b *[]byte, n int) (first []byte) {
	first, *b = (*b)[:n], (*b)[n:]
	return first
}

// number cuts a number in LEB128 off b, not a negative one.
func number(b *[]byte) int {
	v, n := binary.Uvarint(*b)
	*b = (*b)[n:]
	return int(v)
}

// memoryOf is the memory that a section of data fills.
func memoryOf(section []byte) (memory []byte) {
	for range number(&section) {
		take(&section, 2) // memory 0, i32.const
		at := number(&section)
		take(&section, 1) // end
		data := take(&section, number(&section))
		memory = append(memory, make([]byte, max(0, at+len(data)-len(memory)))...)
		copy(memory[at:], data)
	}
	return memory
}

// clearLines clears the files and lines of instructions, so that a panic's trace names functions alone, and where a
// signal may stop a goroutine. The tables are those of Go 1.20 and later: pcHeader in runtime/symtab.go, _func in
// runtime/runtime2.go.
func clearLines(memory []byte) error {
	at := bytes.Index(memory, []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}) // abi.CurrentPCLnTabMagic
	if at < 0 {
		return errors.New("no table of functions as Go 1.20 and later write it")
	}
	word := func(b []byte, at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	table := memory[at:]
	places, functions := table[word(table, 56):word(table, 64)], table[word(table, 64):]
	clear(table[word(table, 40):word(table, 56)]) // names of files
	kept := make([]byte, len(places))
	keep := func(at int) {
		rest := places[at:]
		for first := at > 0; first || rest[0] != 0; first = false { // pairs of numbers, and a zero
			number(&rest)
			number(&rest)
		}
		copy(kept[at:], places[at:len(places)-len(rest)])
	}
	for i := range word(table, 8) {
		f := functions[word(functions, 8*i+4):]
		pcdata := f[44 : 44+4*word(f, 28)]
		clear(f[20:28])                     // pcfile, pcln
		clear(f[32:40])                     // cuOffset, startLine
		clear(pcdata[:min(4, len(pcdata))]) // abi.PCDATA_UnsafePoint
		keep(word(f, 16))                   // pcsp
		for d := range slices.Chunk(pcdata, 4) {
			keep(word(d, 0))
		}
	}
	copy(places, kept)
	return nil
}
