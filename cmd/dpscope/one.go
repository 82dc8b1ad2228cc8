package main

import (
	"context"
	"fmt"
	"io"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
)

// one is a single audit of any kind.
type one struct {
	plan   any // of the kind's type
	given  core.Env
	data   []byte // that a share of it needs, see [shares.Search]
	shards shares.Flags
	out    *formatFlags
}

// given is what audits of the catalogue's mechanisms need, with so many workers.
func given(cat audit.Catalogue, workers int) core.Env {
	return core.Env{Catalogue: cat, Pool: engine.LocalPool(workers), Generator: cli.Generator(), Now: cli.Clock()}
}

// do does the audit, or the part of it that is asked for, and returns the exit code.
func (o one) do(ctx context.Context, show *meter, stdout, stderr io.Writer) int {
	if o.shards.Given() {
		err := o.shards.Do(ctx, core.KindOf(o.plan).Name, o.plan, o.data, o.given, show.watch)
		return endShare(err, show, stderr)
	}
	a, err := core.Resolve(o.plan, o.given)
	if err != nil {
		return fail(stderr, err)
	}
	if small := a.TooSmall(); small != "" {
		fmt.Fprintln(stderr, "dpscope: "+small)
	}
	show.watch("", o.plan, &o.given)
	r, err := a.Run(ctx, o.given)
	show.clear()
	name := r.Head().Subject
	if own, ok := r.(pair.Report); ok && own.Inputs.Samples != nil {
		name = own.Inputs.Samples.Files[0].Name
	}
	return o.out.finish(stdout, stderr, name, r, err)
}

// endShare ends the drawing of a share, and returns the exit code.
func endShare(err error, show *meter, stderr io.Writer) int {
	show.clear()
	if err != nil {
		return fail(stderr, err)
	}
	return cli.ExitOK
}
