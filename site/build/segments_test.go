package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is one of the given sections, a memory among them or not: only its
// framing counts here.
func module(sections ...[]byte) []byte {
	return slices.Concat([]byte(wasmHeader), slices.Concat(sections...))
}

func section(id byte, content ...byte) []byte {
	return append(binary.AppendUvarint([]byte{id}, uint64(len(content))), content...)
}

func dataOf(segments ...segment) []byte {
	content := binary.AppendUvarint(nil, uint64(len(segments)))
	for _, s := range segments {
		content = append(appendAddress(append(content, 0, i32Const), s.offset), end)
		content = append(binary.AppendUvarint(content, uint64(len(s.data))), s.data...)
	}
	return section(dataSection, content...)
}

// image is the memory that a module's data make.
func image(t *testing.T, module []byte) (memory []byte, segments int) {
	t.Helper()
	r := &wasmReader{rest: module[len(wasmHeader):]}
	for len(r.rest) > 0 {
		id, content := r.byte(), r.bytes()
		if id != dataSection {
			continue
		}
		all, err := readSegments(content)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if grow := s.offset + len(s.data) - len(memory); grow > 0 {
				memory = append(memory, make([]byte, grow)...)
			}
			copy(memory[s.offset:], s.data)
		}
		segments += len(all)
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	return memory, segments
}

func TestMergeSegments(t *testing.T) {
	code, name := section(10, 0), section(0, 4, 'n', 'a', 'm', 'e', 7)
	for _, c := range []struct {
		what     string
		segments []segment
		want     segment
	}{
		{"zeros between", []segment{{64, []byte("ab")}, {70, []byte("c")}}, segment{64, []byte("ab\x00\x00\x00\x00c")}},
		{"out of order", []segment{{8192, []byte("z")}, {8190, []byte("y")}}, segment{8190, []byte("y\x00z")}},
		{"the later one wins", []segment{{5, []byte("abc")}, {6, []byte("X")}}, segment{5, []byte("aXc")}},
		{"address 0", []segment{{0, []byte("a")}}, segment{0, []byte("a")}},
		{"empty", []segment{{63, nil}}, segment{63, nil}},
	} {
		got, err := mergeSegments(module(code, dataOf(c.segments...), name))
		if want := module(code, dataOf(c.want), name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", c.what, got, err, want)
		}
	}
	for _, same := range [][]byte{module(), module(code), module(code, dataOf())} {
		if got, err := mergeSegments(same); err != nil || !bytes.Equal(got, same) {
			t.Errorf("%q became %q, %v", same, got, err)
		}
	}
}

func TestMergeSegmentsRefuses(t *testing.T) {
	whole := module(section(10, 0), dataOf(segment{300, []byte("abc")}, segment{1 << 20, []byte("d")}))
	for n := range whole {
		if n == len(wasmHeader) || n == len(wasmHeader)+3 {
			continue // the end of a section
		}
		if _, err := mergeSegments(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes passed", n, len(whole))
		}
	}
	for what, c := range map[string][]byte{
		"of kind 1":           section(dataSection, 1, 1, 1, 'a'),
		"not a constant":      section(dataSection, 1, 0, 0x23, 0, end, 1, 'a'),
		"is computed":         section(dataSection, 1, 0, i32Const, 1, i32Const, 1, end, 1, 'a'),
		"above 2 GB":          section(dataSection, 1, 0, i32Const, 0x7f, end, 1, 'a'),
		"above 268435456":     dataOf(segment{mostMemory, []byte("a")}),
		"after the last data": section(dataSection, 0, 0),
		"above 32 bits":       {dataSection, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
	} {
		if _, err := mergeSegments(module(c)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// linkedProgram is a program for the browser as Go links it.
func linkedProgram(t *testing.T, text string) []byte {
	t.Helper()
	dir := t.TempDir()
	source, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "main.wasm")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", out, source)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	linked, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return linked
}

// A program as Go links it starts with the same memory, in one segment; Go's
// own have thousands, so that merging is worth it.
func TestMergeSegmentsOfGo(t *testing.T) {
	linked := linkedProgram(t, "package main\n\nfunc main() { println(\"started\") }\n")
	merged, err := mergeSegments(linked)
	if err != nil {
		t.Fatal(err)
	}
	was, before := image(t, linked)
	is, after := image(t, merged)
	if !bytes.Equal(was, is) || before < 1000 || after != 1 {
		t.Errorf("%d segments of %d bytes became %d of %d", before, len(was), after, len(is))
	}
}
