package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/partial"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
)

// endShare writes the part of an audit that ended with err, and returns the exit code.
func endShare(ctx context.Context, f *shares.Flags, err error, stderr io.Writer) int {
	if err := f.End(ctx, err); err != nil {
		return fail(stderr, err)
	}
	return cli.ExitOK
}

// mergeGarbage is how much a merge lets its memory grow between collections, in percent.
const mergeGarbage = 30

// mergeCommand is dpscope merge: the report of one machine, of the parts that several
// drew.
func mergeCommand(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := cli.NewFlags("dpscope merge", stderr)
	workers := s.Workers(0, "parallel workers; 0: one a processor")
	var out formatFlags
	out.register(s)
	s.Func("o", "short for -output", func(v string) error { return s.Set("output", v) })
	names, code, ok := s.ParseNames(args)
	if !ok {
		return code
	}
	// What is alive is the search and some tens of bytes a partial; what is read between is
	// let go of soon.
	defer debug.SetGCPercent(debug.SetGCPercent(mergeGarbage))
	m, err := partial.NewMerge(cli.Generator().Version, shares.Names(names, stdin), shares.Open)
	if err != nil {
		return fail(stderr, err)
	}
	ctx, stop := untilSignal()
	defer stop()
	pool := core.LocalPool(catalogue, *workers).ForDivision(m.Division())
	if m.Header.Kind == suite.ReportKind {
		return mergePlan(ctx, m, pool, out, stdout, stderr)
	}
	plan, err := mergedPlan(m.Header.Kind, m.Search.Plan)
	if err != nil {
		return fail(stderr, err)
	}
	g := core.Given{Catalogue: catalogue, Pool: pool, File: m.Search.Data, Generator: cli.Generator(), Now: cli.Clock()}
	r, err := core.Run(ctx, plan, g)
	if err != nil {
		return fail(stderr, err)
	}
	return out.finish(stdout, stderr, r.Head().Subject, r)
}

// mergedPlan reads the plan of a partial.
func mergedPlan(kind string, data []byte) (any, error) {
	switch kind {
	case core.KindOf(pair.Plan{}):
		return pair.ParsePlan(data)
	case canary.Kind:
		return canary.ParsePlan(data)
	case onerun.Kind:
		return onerun.ParsePlan(data)
	}
	return nil, audit.UnknownName("partial: field kind", kind, []string{core.KindOf(pair.Plan{}), canary.Kind, onerun.Kind, suite.ReportKind})
}

// planPart is what a part of a file of audits is of.
type planPart struct {
	File string   `json:"file"` // name
	Only []string `json:"only,omitempty"`
	Text []byte   `json:"text"`
}

// mergePlan is mergeCommand of a file of audits.
func mergePlan(ctx context.Context, m *partial.Merge, pool *engine.Pool, out formatFlags, stdout, stderr io.Writer) int {
	var p planPart
	if err := audit.DecodeStrict(m.Search.Plan, "partial: plan", &p); err != nil {
		return fail(stderr, err)
	}
	f := &auditFlags{out: out, suite: planFlags{file: p.File, only: p.Only}}
	file, err := f.suite.parse(p.Text)
	if err != nil {
		return fail(stderr, err)
	}
	if err := dividable(file); err != nil {
		return fail(stderr, err)
	}
	chosen, err := file.Choose(p.Only)
	if err != nil {
		return fail(stderr, err)
	}
	_, todo, endAll, err := f.suite.prepare(file, chosen, false, stderr)
	if err != nil {
		return fail(stderr, err)
	}
	defer endAll()
	for i := range todo {
		todo[i].pool = pool.Named(todo[i].name)
	}
	return f.runPlan(ctx, file, chosen, todo, stdout, stderr)
}

// dividable refuses a file with audits that need a program or outputs of the user's on
// every machine: a merge starts nothing that only a partial names.
func dividable(file *suite.File) error {
	for _, e := range file.Audits {
		if e.Brought != nil || e.Recorded != nil || e.Scores != nil {
			return &audit.InputError{Field: "-shards", Found: "an audit of a program, of outputs or of scores of yours (" + e.Name + ")", Want: "mechanisms and sources that dpscope has", Remedy: "run that audit alone, with -only, on one machine"}
		}
	}
	return nil
}

// dividePlan does a part of a file of audits.
func (f *auditFlags) dividePlan(ctx context.Context, file *suite.File, text []byte, todo []planned, stdout, stderr io.Writer) int {
	if err := dividable(file); err != nil {
		return fail(stderr, err)
	}
	pool, err := f.shards.Begin(suite.ReportKind, planPart{f.suite.file, f.suite.only, text}, nil, core.LocalPool(catalogue, *f.workers))
	if err != nil {
		return fail(stderr, err)
	}
	for _, p := range todo {
		p.pool = pool.Named(p.name)
		if _, err := p.run(ctx, *f.workers, newMeter(stderr)); err != nil && !errors.Is(err, engine.ErrDivided) {
			return fail(stderr, fmt.Errorf("audit %s: %w", p.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return endShare(ctx, &f.shards, nil, stderr)
}
