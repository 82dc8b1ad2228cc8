//go:build !js

package module

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

// many is a number as it is written in a module.
func many(n uint64) []byte { return binary.AppendUvarint(nil, n) }

// changed is a plain module with a change.
func changed(change func(*assembly)) []byte {
	a := plain()
	change(&a)
	return a.bytes()
}

// nested is a module with so many blocks, each inside the one before.
func nested(n int) []byte {
	return plain().with("sample", slices.Concat(bytes.Repeat(code(0x02, 0x40), n), bytes.Repeat(code(0x0b), n), code(0x41, 0))...).bytes()
}

// doubling is a module whose sample calls itself twice with a seed that is one
// less, down to 0: no loop, and no end.
func doubling() []byte {
	twice := code(0x20, 0, 0x42, 1, 0x7d, 0x20, 1, 0x20, 2, 0x20, 3, 0x20, 4, 0x20, 5, 0x10, 1)
	return plain().with("sample", slices.Concat(code(0x20, 0, 0x50, 0x04, 0x7f, 0x41, 0, 0x05), twice, code(0x1a), twice, code(0x0b))...).bytes()
}

// TestHostile: modules that would take this process down cost no more than their own
// process may.
func TestHostile(t *testing.T) {
	// A thousand calls with a thousand results each.
	results := plain().with("sample", append(bytes.Repeat(code(0x10, 1), 1000), 0)...)
	results.parts["many"] = part{functype{"", strings.Repeat(i32, 1000)}, code(0)}
	const beyond = "taking more than 1024 MiB to be compiled and run"
	for _, c := range []struct {
		name string
		data []byte
		o    Options
		says string
	}{
		{"locals", changed(func(a *assembly) {
			a.locals = map[string][]byte{"sample": slices.Concat(code(1), many(1<<32-1), code(0x7f))}
		}), Options{}, beyond},
		{"long function", plain().with("sample", append(bytes.Repeat(code(1), 8_000_000), 0)...).bytes(), Options{Host: small, CompilePatience: 5 * time.Minute}, beyond},
		{"table", changed(func(a *assembly) { a.tables = slices.Concat(code(1, 0x70, 0), many(1<<27)) }), Options{}, beyond},
		{"table that grows", changed(func(a *assembly) {
			a.tables = code(1, 0x70, 0, 1)
			a.parts["width"] = part{functype{"", i32}, slices.Concat(code(0xd0, 0x70, 0x41), many(1<<27), code(0xfc, 15, 0))}
		}), Options{}, beyond},
		{"tables", changed(func(a *assembly) {
			a.tables = append(code(9), bytes.Repeat(slices.Concat(code(0x70, 0), many(1<<24)), 9)...)
		}), Options{}, beyond},
		{"types", append([]byte("\x00asm\x01\x00\x00\x00\x01"), vector(append(many(5_000_000), bytes.Repeat(code(0x60, 0, 0), 5_000_000)...))...), Options{}, beyond},
		{"no types", append([]byte("\x00asm\x01\x00\x00\x00\x01"), vector(append(many(10_000_000), make([]byte, 10_000_000)...))...), Options{}, "not valid"},
		{"control characters", changed(func(a *assembly) {
			a.renamed = map[string]string{"sample": "\x1b[2Jsample" + strings.Repeat("x", 1000)}
		}), Options{}, `it exports \x1b[2Jsamplexxx`},
		{"nested blocks", nested(50_000), Options{CompilePatience: 500 * time.Millisecond}, "not compiled and started after 500ms"},
		{"doubling", doubling(), Options{Patience: 200 * time.Millisecond}, "still running after 200ms"},
		{"much memory to compile", results.bytes(), Options{Host: small, CompilePatience: 5 * time.Minute}, beyond},
	} {
		if c.says == beyond && runtime.GOOS != "linux" {
			continue // nobody limits it
		}
		if c.o.Host == nil {
			c.o.Host = self
		}
		c.o.Space = space(t)
		m, err := Open(t.Context(), "m.wasm", c.data, c.o)
		if err == nil {
			m.Close()
		}
		if !audit.IsInput(err) || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 1000 {
			t.Errorf("%s: %.2000v\nwant %q", c.name, err, c.says)
		}
	}
}

// Whoever waits for a module to be compiled need not wait to the end.
func TestStoppedCompilation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, "m.wasm", nested(50_000), Options{Host: self, Space: space(t)}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Memory has its limit, whatever the module says of its own: growing past it fails as it
// does at any limit.
func TestLimits(t *testing.T) {
	// out[0] = memory.grow(4095), out[1] = memory.grow(1)
	grow := plain().with("width", 0x41, 2).with("sample",
		0x20, 5, 0x41, 0xff, 0x1f, 0x40, 0, 0xb7, 0x39, 3, 0, 0x20, 5, 0x41, 1, 0x40, 0, 0xb7, 0x39, 3, 8, 0x41, 0)
	more := plain()
	more.parts, more.memory = grow.parts, code(1, 1, 0x80, 0x80, 4) // to 65536 pages
	for name, a := range map[string]assembly{"memory": grow, "memory with a maximum": more} {
		m := open(t, name, a.bytes(), Options{})
		for range 4 { // what is behind is given back
			out := make([]float64, 2)
			if err := m.call(audit.Records(), 1, out); err != nil || out[0] != 1 || out[1] != -1 {
				t.Errorf("%s: %v %v", name, out, err)
			}
		}
	}
}

// TestEndsWithStdin: a host ends when whoever started it is gone, in the middle of
// a call that has no end.
func TestEndsWithStdin(t *testing.T) {
	m := &Module{o: Options{Host: self, CompilePatience: time.Minute}, ctx: t.Context(), job: job{"m.wasm", doubling(), time.Minute}}
	h := must.Get(m.start())(t)
	defer h.End(0)
	time.AfterFunc(100*time.Millisecond, func() { h.In.Close() })
	if err := h.Ask(t.Context(), question{Columns: 1, N: 1, Seed: 60}, &answer{}); err == nil || err.Error() != "it ended with exit code 0" {
		t.Error(err)
	}
}
