package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"

	"github.com/dpscope/dpscope/internal/cli"
)

// broughtFlags name a mechanism that the user brings, and say where its datasets
// live.
type broughtFlags struct {
	wasm, exec   string
	timeout      time.Duration // of exec
	domain, rows string
	integer      bool
	reach        float64
}

// outsider is a mechanism from outside that runs.
type outsider interface {
	audit.Mechanism
	Brought() audit.Brought
	Close()
}

// broughtKind is one way of bringing a mechanism.
type broughtKind struct {
	kind audit.BroughtKind
	flag string
	// file is the flag's value, "" where it is not given.
	file func(f *broughtFlags) string
	open func(ctx context.Context, f *broughtFlags, o opening) (outsider, error)
}

// opening is what a mechanism is opened with.
type opening struct {
	space     audit.Space
	pair      *audit.Pair
	kinds     map[string]audit.ColumnKind
	nonFinite string
	// Of a report that is replayed, instead of kinds:
	columns []audit.Column
	sha256  string
}

var broughtKinds = []broughtKind{
	{audit.BroughtModule, "wasm", func(f *broughtFlags) string { return f.wasm }, openModule},
	{audit.BroughtCommand, "exec", func(f *broughtFlags) string { return f.exec }, openCommand},
}

// registerNames are the flags that a replay needs.
func (f *broughtFlags) registerNames(s *cli.Flags) {
	f.registerModule(s)
	f.registerCommand(s)
}

func (f *broughtFlags) register(s *cli.Flags) {
	f.registerNames(s)
	s.StringVar(&f.domain, "domain", "", "ranges of the columns of datasets for -exec and -wasm, as lower:upper with commas between; default 0:1")
	s.StringVar(&f.rows, "rows", "", "least and most rows of datasets for -exec and -wasm, as 0:10 or 3; default 0:5, 1:5 where rows are not added")
	s.BoolVar(&f.integer, "integer", false, "datasets for -exec and -wasm hold whole numbers only")
	s.Float64Var(&f.reach, "reach", 0, "for -exec and -wasm with -relation bounded-replace or l-infinity: how far a value may move; default 1")
}

// chosen is the kind that the flags name; nil: none.
func (f *broughtFlags) chosen() *broughtKind {
	for i, k := range broughtKinds {
		if k.file(f) != "" {
			return &broughtKinds[i]
		}
	}
	return nil
}

func (f *broughtFlags) given() bool { return f.chosen() != nil }

// check refuses flags that belong to other mechanisms.
func (f *broughtFlags) check(given map[string]bool) error {
	k := f.chosen()
	refused := []string{"mechanism", "param", "samples-file", "samples-file2", "header", "dataset", "outputs", "decimal"}
	for _, other := range broughtKinds {
		if other.flag != k.flag {
			refused = append(refused, other.flag)
		}
	}
	return refuseFlags(given, "absent with -"+k.flag, "that audits a mechanism of yours", refused...)
}

// checkUnused refuses flags of a mechanism that is brought where none is.
func (f *broughtFlags) checkUnused(given map[string]bool) error {
	for _, k := range broughtKinds {
		if given[k.flag] {
			return &audit.InputError{Field: "-" + k.flag, Found: `""`, Want: "the command or the module of your mechanism (docs/command.md, docs/abi.md)"}
		}
	}
	return refuseFlags(given, "absent without a mechanism of yours", "name yours with -exec or -wasm (docs/command.md, docs/abi.md)", "exec-timeout", "domain", "rows", "integer", "reach")
}

// refuseFlags refuses the flags that are given of those that are named.
func refuseFlags(given map[string]bool, want, remedy string, names ...string) error {
	for _, name := range names {
		if given[name] {
			return &audit.InputError{Field: "-" + name, Found: "given", Want: want, Remedy: remedy}
		}
	}
	return nil
}

// catalogue is what is registered, and the mechanism, which runs until it is
// closed. What the user should know of it goes to notes.
func (f *broughtFlags) catalogue(ctx context.Context, p pair.Plan, read *sampleFlags, notes io.Writer) (audit.Catalogue, func(), error) {
	space, err := audit.ParseSpace(f.domain, f.rows, p.Relation, f.integer, f.reach)
	if err != nil {
		return audit.Catalogue{}, nil, err
	}
	if p.Pair != nil {
		if err := space.Relation.Check(*p.Pair, space.Domain()); err != nil {
			return audit.Catalogue{}, nil, err
		}
	}
	cat, m, err := f.open(ctx, opening{space: space, pair: p.Pair, kinds: read.kinds, nonFinite: read.nonFinite})
	if err != nil {
		return cat, nil, err
	}
	if why := m.Brought().Unseeded; why != "" {
		fmt.Fprintf(notes, "dpscope: note: %s: a replay of the report recomputes all from its counts, but cannot draw them again\n", why)
	}
	return cat, m.Close, nil
}

func (f *broughtFlags) open(ctx context.Context, o opening) (audit.Catalogue, outsider, error) {
	m, err := f.chosen().open(ctx, f, o)
	if err != nil {
		return audit.Catalogue{}, nil, err
	}
	return withBrought(m.Brought(), m), m, nil
}

func withBrought(b audit.Brought, m audit.Mechanism) audit.Catalogue {
	return cli.With(catalogue, b.Spec(m))
}

// replay is the catalogue to replay the report of such a mechanism with. Nothing
// that a report names is run: the user says again what to run.
func (f *broughtFlags) replay(ctx context.Context, r pair.Report) (cat audit.Catalogue, end func(), note string, err error) {
	b := r.Inputs.Brought
	i := slices.IndexFunc(broughtKinds, func(k broughtKind) bool { return b != nil && k.kind == b.Kind })
	switch k := f.chosen(); {
	case b == nil:
		return cat, nil, "", &audit.InputError{Field: "-" + k.flag, Found: "given", Want: "absent: the report is of the mechanism " + r.Plan.Mechanism, Remedy: "leave the flag out"}
	case b.Kind == audit.BroughtScript:
		return cat, nil, "", &audit.InputError{Field: "inputs.brought.kind", Found: string(b.Kind), Want: "one that the command line can run", Remedy: "open the report in the page and press Verify"}
	case i < 0:
		return cat, nil, "", audit.UnknownName("inputs.brought.kind", string(b.Kind), []string{string(audit.BroughtCommand), string(audit.BroughtModule)})
	case k == nil || k.kind != b.Kind:
		return cat, nil, "", &audit.InputError{Field: "-" + broughtKinds[i].flag, Found: "absent",
			Want: fmt.Sprintf("given again, as a replay runs nothing that only a report names; this one names %q", b.Name), Remedy: "if you trust it, add the flag"}
	}
	if err := b.Datasets.Validate(); err != nil {
		return cat, nil, "", err
	}
	cat, m, err := f.open(ctx, opening{space: b.Datasets, pair: r.Plan.Pair, nonFinite: b.NonFinite, columns: b.Columns, sha256: b.SHA256})
	if err != nil {
		return cat, nil, "", err
	}
	now := m.Brought()
	if now.Name != b.Name { // it may have moved
		note = fmt.Sprintf("the report names %q; this replay ran %q", b.Name, now.Name)
		now.Name = b.Name
		cat = withBrought(now, m)
	}
	return cat, m.Close, note, nil
}
