//go:build !js

package module

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/user"
)

// engine is a module compiled in this process, the one that it may hang or bring down.
type engine struct {
	name     string
	patience time.Duration
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	width    int
}

// wanted are a module's functions; the last may be absent.
var wanted = []struct{ name, is string }{
	{"alloc", "(i32) -> (i32)"},
	{"sample", "(i64, i32, i32, i32, i32, i32) -> (i32)"},
	{"width", "() -> (i32)"},
	{initialize, "() -> ()"},
}

// initialize is called first where a module exports it, as compilers make it.
const initialize = "_initialize"

// compile compiles a module, checks it, and asks how wide its outputs are.
func compile(name string, data []byte, patience time.Duration) (m *engine, err error) {
	ctx := context.Background()
	m = &engine{name: name, patience: patience, runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(mostPages))}
	defer func() {
		if why := recover(); why != nil {
			m, err = nil, audit.Fault(name, "more than its compiler can take: "+firstLine(fmt.Errorf("%v", why)), "a module of WebAssembly 2.0")
		}
	}()
	if m.compiled, err = m.runtime.CompileModule(ctx, data); err != nil {
		return nil, audit.Fault(name, "not valid: "+firstLine(err), fmt.Sprintf("a module of WebAssembly 2.0 with one memory, not shared and of at most %d pages", mostPages))
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	err = m.instance(func(in *instance) error {
		n, err := in.call("width")
		m.width = int(int32(n))
		return err
	})
	return m, err
}

// check refuses imports, and exports that are not as the ABI wants them.
func (m *engine) check() error {
	var imports []string
	add := func(module, name string, _ bool) { imports = append(imports, module+"."+name) }
	for _, f := range m.compiled.ImportedFunctions() {
		add(f.Import())
	}
	for _, memory := range m.compiled.ImportedMemories() {
		add(memory.Import())
	}
	if err := Imports(m.name, imports); err != nil {
		return err
	}
	functions, memories := m.compiled.ExportedFunctions(), m.compiled.ExportedMemories()
	remedy := "it exports nothing: mark the functions for export (docs/abi.md)"
	if names := slices.Concat(slices.Collect(maps.Keys(functions)), slices.Collect(maps.Keys(memories))); len(names) > 0 {
		slices.Sort(names)
		remedy = "it exports " + listed(names, 12)
	}
	if memories["memory"] == nil {
		return audit.Fault(m.name+": export memory", audit.Absent, "the module's memory", remedy)
	}
	for _, w := range wanted {
		f := functions[w.name]
		if f == nil && w.name != initialize {
			return audit.Fault(m.name+": export "+w.name, audit.Absent, "a function "+w.is, remedy)
		}
		if f != nil && signature(f) != w.is {
			return audit.Fault(m.name+": export "+w.name, "a function "+signature(f), "a function "+w.is)
		}
	}
	return nil
}

func signature(f api.FunctionDefinition) string {
	types := func(values []api.ValueType) string {
		return "(" + strings.Join(audit.Each(values, api.ValueTypeName), ", ") + ")"
	}
	return shown(types(f.ParamTypes()) + " -> " + types(f.ResultTypes()))
}

// call draws outputs on a fresh instance, so that they depend on the arguments alone.
func (m *engine) call(d audit.Dataset, seed uint64, out []float64) error {
	n := len(out) / m.width
	return m.instance(func(in *instance) error {
		rows, err := in.alloc(8*len(d.Values), 0, 0)
		if err != nil {
			return err
		}
		place, err := in.alloc(8*len(out), rows, 8*len(d.Values))
		if err != nil {
			return err
		}
		bytes, _ := in.memory().Read(rows, uint32(8*len(d.Values)))
		binary.Encode(bytes, binary.LittleEndian, d.Values)
		code, err := in.call("sample", seed, uint64(rows), uint64(d.Len()), uint64(d.Columns), uint64(n), uint64(place))
		if err != nil {
			return err
		}
		if code := int32(code); code != 0 {
			return audit.Fault(m.name+": sample", fmt.Sprintf("the error code %d, for %d rows of %d columns", code, d.Len(), d.Columns), "0", "the module defines its meaning; check that the domain is what the module expects")
		}
		bytes, _ = in.memory().Read(place, uint32(8*len(out))) // memories never shrink
		_, err = binary.Decode(bytes, binary.LittleEndian, out)
		return err
	})
}

type instance struct {
	m   *engine
	ctx context.Context
	api.Module
}

func (in *instance) memory() api.Memory { return in.ExportedMemory("memory") }

// instance makes an instance, has do use it, and frees it.
func (m *engine) instance(do func(*instance) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), m.patience)
	defer cancel()
	in := &instance{m: m, ctx: ctx}
	var err error
	in.Module, err = m.runtime.InstantiateModule(ctx, m.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return in.failure("its start", err)
	}
	defer in.Close(context.Background())
	if in.ExportedFunction(initialize) != nil {
		if _, err := in.call(initialize); err != nil {
			return err
		}
	}
	return do(in)
}

func (in *instance) call(name string, args ...uint64) (uint64, error) {
	out, err := in.ExportedFunction(name).Call(in.ctx, args...)
	if err != nil {
		return 0, in.failure(name, err)
	}
	if len(out) == 0 {
		return 0, nil
	}
	return out[0], nil
}

// alloc asks for memory apart from what was given already.
func (in *instance) alloc(bytes int, given uint32, size int) (uint32, error) {
	at, err := in.call("alloc", uint64(max(8, bytes)))
	at = uint64(uint32(at))
	have := uint64(in.memory().Size())
	if err == nil && (at == 0 || at%8 != 0 || at+uint64(bytes) > have || at < uint64(given)+uint64(size) && at+uint64(bytes) > uint64(given)) {
		want := "the address, a multiple of 8 and not 0, of so many bytes inside the memory"
		if given != 0 {
			want += fmt.Sprintf(", apart from the %d at %d", size, given)
		}
		err = audit.Fault(in.m.name+": alloc", fmt.Sprintf("the address %d for %d bytes, in a memory of %d", at, bytes, have), want, "docs/abi.md describes alloc")
	}
	return uint32(at), err
}

// failure puts a trap or the end of patience into words.
func (in *instance) failure(what string, err error) error {
	var exit *sys.ExitError
	if errors.As(err, &exit) && in.ctx.Err() != nil {
		return audit.Fault(in.m.name+": "+what, fmt.Sprintf("still running after %v", in.m.patience), fmt.Sprintf("done sooner: a request is for at most %d outputs", audit.BlockRows), "is there an endless loop?")
	}
	if in.Module == nil && strings.Contains(err.Error(), "not instantiated") { // a table or a global that is imported
		return audit.Fault(in.m.name+": "+what, "not possible: "+firstLine(err), "possible without imports", remedies[len(remedies)-1][1])
	}
	return &user.Failed{Err: audit.Fault(in.m.name+": "+what, "ended by a trap: "+firstLine(err), "a result")}
}

// firstLine is an error without its stack, but with the function where it happened.
func firstLine(err error) string {
	text, trace, found := strings.Cut(err.Error(), "\nwasm stack trace:\n\t")
	text, _, _ = strings.Cut(text, "\n")
	if where, _, _ := strings.Cut(trace, "\n"); found && where != "" {
		text += " in " + where
	}
	return shown(strings.TrimPrefix(text, "wasm error: "))
}
