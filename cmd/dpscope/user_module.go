package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/user/module"
)

// moduleHost is the command, of no use to others, with which this program runs a
// module in a process of its own.
const moduleHost = "host-module"

// openModule reads a module and tries it. For a replay it has to be the report's
// own.
func openModule(ctx context.Context, o opening) (externalMechanism, error) {
	if o.NonFinite == "symbol" {
		return nil, &audit.InputError{Field: "-nonfinite", Found: "symbol", Want: "refuse with -wasm", Remedy: "let the module put another number in the place of NaN and infinities"}
	}
	info, err := os.Stat(o.Wasm)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > module.MostBytes {
		found := fmt.Sprintf("of %d bytes", info.Size())
		if info.IsDir() {
			found = "a folder"
		} else if !info.Mode().IsRegular() {
			found = "no plain file"
		}
		return nil, &audit.InputError{Field: o.Wasm, Found: found, Want: fmt.Sprintf("a module of at most %d bytes", module.MostBytes)}
	}
	data, err := os.ReadFile(o.Wasm)
	if err != nil {
		return nil, err
	}
	kinds := o.Kinds
	for _, c := range o.columns {
		if kinds == nil {
			kinds = map[string]audit.ColumnKind{}
		}
		kinds[c.Name] = c.Kind
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return module.Open(ctx, filepath.Base(o.Wasm), data, module.Options{Host: []string{self, moduleHost}, Space: o.space, Pair: o.pair, Kinds: kinds, SHA256: o.sha256})
}
