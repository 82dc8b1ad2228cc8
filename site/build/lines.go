package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ownCode are functions whose lines stay in the core: what a message of a panic
// may point at.
var ownCode = []string{"main.", "github.com/dpscope/"}

// The table of functions in a Go program, pcHeader and _func of Go's package
// runtime; for wasm pointers have eight bytes.
const (
	tableMagic = "\xf1\xff\xff\xff\x00\x00\x01\x08"
	tableHead  = 72
	funcHead   = 44
)

// dropLines takes from the memory of a Go program for wasm the numbers of lines of
// all functions but those that keep says: zeros stand in their place, which compress
// to nothing. A stack shows such a function by its name. It returns an error if there
// is no table of functions of the form that is known.
func dropLines(memory []byte, keep func(name string) bool) error {
	at := bytes.Index(memory, []byte(tableMagic))
	if at < 0 || bytes.Contains(memory[at+1:], []byte(tableMagic)) {
		return errors.New("not one table of functions of the form that is known")
	}
	table := memory[at:]
	broken := fmt.Errorf("the table of functions at %d is broken", at)
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(table[i:]) }
	if len(table) < tableHead {
		return broken
	}
	count, names, positions, functions := word(8), word(32), word(56), word(64)
	if !slices.IsSorted([]uint64{tableHead, names, positions, functions, uint64(len(table))}) || count > (uint64(len(table))-functions)/8 {
		return broken
	}
	steps := table[positions:functions]
	kept := make([]bool, len(steps))
	mark := func(offset uint32) bool {
		if offset == 0 {
			return true
		}
		n := stepsLength(steps, offset)
		if n < 0 {
			return false
		}
		for i := range n {
			kept[int(offset)+i] = true
		}
		return true
	}
	for i := range count {
		offset := functions + uint64(binary.LittleEndian.Uint32(table[functions+8*i+4:]))
		if offset > uint64(len(table)) || uint64(len(table))-offset < funcHead {
			return broken
		}
		f := table[offset:]
		field := func(i int) uint32 { return binary.LittleEndian.Uint32(f[4*i:]) }
		name, data := names+uint64(field(1)), int(field(7))
		end := -1
		if name < uint64(len(table)) {
			end = bytes.IndexByte(table[name:], 0)
		}
		if end < 0 || data > (len(f)-funcHead)/4 || !mark(field(4)) {
			return broken
		}
		for k := range data {
			if !mark(field(funcHead/4 + k)) {
				return broken
			}
		}
		if keep(string(table[name : name+uint64(end)])) {
			if !mark(field(5)) || !mark(field(6)) {
				return broken
			}
			continue
		}
		clear(f[20:28]) // file and line: none
		clear(f[36:40]) // the line on which it begins
	}
	for i := 1; i < len(steps); i++ {
		if !kept[i] {
			steps[i] = 0
		}
	}
	return nil
}

// stepsLength is how many bytes a table of steps has: pairs of numbers up to a value
// of zero behind the first. It is -1 if the table does not end.
func stepsLength(steps []byte, offset uint32) int {
	if uint64(offset) >= uint64(len(steps)) {
		return -1
	}
	rest := steps[offset:]
	for first := true; ; first = false {
		value, n := binary.Uvarint(rest)
		if n <= 0 {
			return -1
		}
		if rest = rest[n:]; value == 0 && !first {
			return len(steps[offset:]) - len(rest)
		}
		if _, n = binary.Uvarint(rest); n <= 0 {
			return -1
		}
		rest = rest[n:]
	}
}

// isOwn reports whether a function is of this program, not of a library.
func isOwn(name string) bool {
	return slices.ContainsFunc(ownCode, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
