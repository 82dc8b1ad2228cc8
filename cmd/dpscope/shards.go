package main

import (
	"context"
	"io"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
)

// mergeCommand is dpscope merge: the report of one machine, of the parts that several
// drew.
func mergeCommand(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := cli.NewFlags("dpscope merge", stderr)
	var out formatFlags
	out.register(s)
	s.Func("o", "short for -output", func(v string) error { return s.Set("output", v) })
	names, code, ok := s.ParseNames(args)
	if !ok {
		return code
	}
	ctx, stop := untilSignal()
	defer stop()
	g := core.Env{Catalogue: catalogue, Generator: cli.Generator(), Now: cli.Clock()}
	audits, err := shares.Merge(ctx, shares.Names(names, stdin), shares.Open, g)
	if ctx.Err() != nil {
		err = cli.ErrStopped
	}
	if err != nil {
		return fail(stderr, err)
	}
	if audits.File == nil {
		r := audits.Audited[0].Report
		return out.finish(stdout, stderr, r.Head().Subject, r, nil)
	}
	f := planFlags{file: audits.Name}
	var places []*format.Location
	for _, i := range audits.Chosen {
		place, err := f.placed(audits.File, i)
		if err != nil {
			return fail(stderr, err)
		}
		places = append(places, place)
	}
	return out.finishPlan(stdout, stderr, audits.File, audits.Chosen, audits.Audited, places, nil)
}

// dividePlan does a part of a file of audits.
func (f *auditFlags) dividePlan(ctx context.Context, todo []planned, stderr io.Writer) int {
	plan := shares.Several{File: f.suite.file, Only: f.suite.only, Text: f.suite.text, Data: map[string][]byte{}}
	for _, p := range todo {
		if p.given.File != nil {
			plan.Data[p.name] = p.given.File
		}
	}
	show := newMeter(stderr, false)
	return endShare(f.shards.Do(ctx, suite.ReportKind, plan, nil, given(catalogue, *f.workers), show.watch), show, stderr)
}
