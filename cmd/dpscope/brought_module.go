package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/outside/module"
)

func (f *broughtFlags) registerModule(s *flag.FlagSet) {
	s.StringVar(&f.wasm, "wasm", "", "`file` with a mechanism of yours as a WebAssembly module (docs/abi.md)")
}

// openModule reads a module and tries it. For a replay it has to be the report's
// own.
func openModule(_ context.Context, f *broughtFlags, o opening) (outsider, error) {
	if o.nonFinite == "symbol" {
		return nil, &core.InputError{Field: "-nonfinite", Found: "symbol", Want: "refuse with -wasm", Remedy: "let the module put another number in the place of NaN and infinities"}
	}
	info, err := os.Stat(f.wasm)
	if err != nil {
		return nil, err
	}
	if info.IsDir() || info.Size() > module.MostBytes {
		return nil, &core.InputError{Field: f.wasm, Found: map[bool]string{true: "a folder", false: fmt.Sprintf("of %d bytes", info.Size())}[info.IsDir()], Want: fmt.Sprintf("a module of at most %d bytes", module.MostBytes)}
	}
	data, err := os.ReadFile(f.wasm)
	if err != nil {
		return nil, err
	}
	kinds := o.kinds
	for _, c := range o.columns {
		if kinds == nil {
			kinds = map[string]core.ColumnKind{}
		}
		kinds[c.Name] = c.Kind
	}
	m, err := module.Open(filepath.Base(f.wasm), data, module.Options{Space: o.space, Pair: o.pair, Kinds: kinds, SHA256: o.sha256})
	if err != nil {
		return nil, err
	}
	return m, nil
}
