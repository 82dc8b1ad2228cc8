package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Sections and data segments of a WebAssembly module, core specification 5.5.
const (
	wasmHeader  = "\x00asm\x01\x00\x00\x00"
	dataSection = 11
	i32Const    = 0x41
	end         = 0x0b
)

// mostMemory bounds the initialised memory of a module: Go's has some 3 MB.
const mostMemory = 256 << 20

// segment is data that a module puts into its memory when it starts.
type segment struct {
	offset int
	data   []byte
}

// mergeSegments returns the module with all its data in one segment. Go's
// linker leaves out every run of eight zeros; the headers of the 80 000
// segments between them are larger than the zeros and do not compress: 85 KB of
// brotli. Memory is zero before it is filled, so it starts with the same bytes.
//
// It returns an error if the module is broken, or has data that are not placed
// at fixed addresses of its only memory.
func mergeSegments(module []byte) ([]byte, error) {
	if len(module) < len(wasmHeader) || string(module[:len(wasmHeader)]) != wasmHeader {
		return nil, errors.New("not a WebAssembly module of version 1")
	}
	out := []byte(wasmHeader)
	r := &wasmReader{rest: module[len(wasmHeader):]}
	for len(r.rest) > 0 {
		id := r.byte()
		content := r.bytes()
		if r.err == nil && id == dataSection {
			var segments []segment
			if segments, r.err = readSegments(content); r.err == nil {
				content, r.err = oneSegment(segments)
			}
		}
		if r.err != nil {
			return nil, r.err
		}
		out = binary.AppendUvarint(append(out, id), uint64(len(content)))
		out = append(out, content...)
	}
	return out, nil
}

// readSegments reads a data section.
func readSegments(content []byte) ([]segment, error) {
	r := &wasmReader{rest: content}
	var all []segment
	for range r.unsigned() {
		if kind := r.byte(); kind != 0 {
			r.fail("a data segment of kind %d, not one of memory 0", kind)
		}
		if op := r.byte(); op != i32Const {
			r.fail("a data segment whose address is not a constant (opcode %#x)", op)
		}
		offset := r.address()
		if op := r.byte(); op != end {
			r.fail("a data segment whose address is computed (opcode %#x)", op)
		}
		data := r.bytes()
		if r.err == nil && offset+len(data) > mostMemory {
			r.fail("data up to address %d, above %d", offset+len(data), mostMemory)
		}
		if r.err != nil {
			return nil, r.err
		}
		all = append(all, segment{offset, data})
	}
	if len(r.rest) > 0 {
		r.fail("%d bytes after the last data segment", len(r.rest))
	}
	return all, r.err
}

// oneSegment returns the content of a data section that fills memory like
// segments do, one after the other.
func oneSegment(segments []segment) ([]byte, error) {
	if len(segments) == 0 {
		return []byte{0}, nil
	}
	first, last := segments[0].offset, 0
	for _, s := range segments {
		first, last = min(first, s.offset), max(last, s.offset+len(s.data))
	}
	image := make([]byte, last-first)
	for _, s := range segments {
		copy(image[s.offset-first:], s.data)
	}
	out := appendAddress([]byte{1, 0, i32Const}, first)
	out = binary.AppendUvarint(append(out, end), uint64(len(image)))
	return slices.Concat(out, image), nil
}

// appendAddress appends n >= 0 as a signed LEB128 number.
func appendAddress(out []byte, n int) []byte {
	for n >= 0x40 {
		out = append(out, byte(n)|0x80)
		n >>= 7
	}
	return append(out, byte(n))
}

// wasmReader reads numbers and vectors, and zeros after its first error.
type wasmReader struct {
	rest []byte
	err  error
}

func (r *wasmReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("WebAssembly module: "+format, args...)
	}
	r.rest = nil
}

func (r *wasmReader) byte() byte {
	if len(r.rest) == 0 {
		r.fail("ends too early")
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// unsigned reads a LEB128 number of 32 bits.
func (r *wasmReader) unsigned() int {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > 1<<32-1 {
		r.fail("ends too early, or has a number above 32 bits")
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

// address reads a signed LEB128 number that is not negative: below 2 GB.
func (r *wasmReader) address() int {
	before := r.rest
	n := r.unsigned()
	if r.err == nil && before[len(before)-len(r.rest)-1]&0x40 != 0 {
		r.fail("an address above 2 GB")
		return 0
	}
	return n
}

func (r *wasmReader) bytes() []byte {
	n := r.unsigned()
	if n > len(r.rest) {
		r.fail("ends too early")
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}
