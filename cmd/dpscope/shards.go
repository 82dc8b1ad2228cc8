package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/partial"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
)

// shardFlags ask for a part of an audit that several machines do.
type shardFlags struct {
	shards string // "I/N"
	search bool
	after  string // partial that has the search
	to     string

	header   partial.Header
	whole    partial.Search
	division *engine.Division
}

func (f *shardFlags) register(s *cli.Flags) {
	s.StringVar(&f.shards, "shards", "", "draw share `I/N` of what is certified, I from 0 to N-1, into the file of -partial; dpscope merge joins the shares (docs/scale.md)")
	s.BoolVar(&f.search, "search-only", false, "search, and choose what is certified, into the file of -partial; the shares go on from it with -after")
	s.StringVar(&f.after, "after", "", "partial `file` of -search-only: a share does not search again")
	s.StringVar(&f.to, "partial", "", "`file` that -shards or -search-only writes")
}

func (f *shardFlags) given() bool { return f.shards != "" || f.search || f.after != "" || f.to != "" }

// begin divides the audit of this plan; without the flags pool is returned as it is.
func (f *shardFlags) begin(kind string, plan any, data []byte, pool *engine.Pool) (*engine.Pool, error) {
	if !f.given() {
		return pool, nil
	}
	f.division = &engine.Division{}
	switch {
	case f.to == "":
		return nil, &audit.InputError{Field: "-partial", Found: audit.Absent, Want: "the file that this part is written to", Remedy: "for example -partial part-0"}
	case f.search == (f.shards != ""):
		return nil, &audit.InputError{Field: "-shards", Found: fmt.Sprintf("%q with search-only %v", f.shards, f.search), Want: "one of -shards I/N and -search-only"}
	case f.search && f.after != "":
		return nil, &audit.InputError{Field: "-after", Found: "given with -search-only", Want: "absent: it names the search that is done"}
	case !f.search:
		i, n, ok := strings.Cut(f.shards, "/")
		index, err := strconv.Atoi(i)
		of, err2 := strconv.Atoi(n)
		if !ok || err != nil || err2 != nil || index < 0 || of < 1 || of > maxShards || index >= of {
			return nil, &audit.InputError{Field: "-shards", Found: strconv.Quote(f.shards), Want: fmt.Sprintf("I/N with N from 1 to %d and I from 0 to N-1", maxShards), Remedy: "-shards 0/64 is the first of 64 shares, -shards 63/64 the last"}
		}
		f.division.Index, f.division.Of = index, of
	}
	var err error
	if f.whole.Plan, err = json.Marshal(plan); err != nil {
		return nil, err
	}
	f.whole.Data = data
	f.header = partial.Header{Product: cli.Generator().Version, Kind: kind, Index: f.division.Index, Of: f.division.Of}
	if f.after != "" {
		h, s, err := partial.ReadSearch(f.after, openFile)
		if err != nil {
			return nil, err
		}
		if h.Product != f.header.Product || h.Kind != kind || !audit.EqualJSON(s.Plan, f.whole.Plan) || !bytes.Equal(s.Data, data) {
			return nil, &audit.InputError{Field: "-after", Found: fmt.Sprintf("%s, of another audit or of version %s", f.after, h.Product), Want: "the search of this audit by version " + f.header.Product, Remedy: "give the flags that the search was given"}
		}
		f.division.Answer(s.Answers)
	}
	return pool.ForDivision(f.division), nil
}

// maxShards is how many shares an audit has at most.
const maxShards = 10_000_000

// end writes the part of a run that ended with err, and returns the exit code.
func (f *shardFlags) end(ctx context.Context, err error, stdout, stderr io.Writer) int {
	if ctx.Err() != nil {
		return fail(stderr, cli.ErrStopped)
	}
	if err != nil && !errors.Is(err, engine.ErrDivided) {
		return fail(stderr, err)
	}
	f.whole.Answers = f.division.Answers()
	var data bytes.Buffer
	if err := partial.Write(&data, f.header, f.whole, f.division.Drawn()); err != nil {
		return fail(stderr, err)
	}
	if err := writeWhole(f.to, data.Bytes()); err != nil {
		return fail(stderr, fmt.Errorf("-partial was not written: %w", err))
	}
	return cli.ExitOK
}

func openFile(name string) (io.ReadCloser, error) { return os.Open(name) }

// partialNames are the files that arguments name: a file, all files of a folder, or the
// lines of standard input.
func partialNames(args []string, stdin io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, arg := range args {
			if arg == "-" {
				lines := bufio.NewScanner(stdin)
				for lines.Scan() {
					if name := lines.Text(); name != "" && !yield(name, nil) {
						return
					}
				}
				if err := lines.Err(); err != nil {
					yield("", fmt.Errorf("standard input: %w", err))
					return
				}
				continue
			}
			info, err := os.Stat(arg)
			if err != nil || !info.IsDir() {
				if !yield(arg, err) {
					return
				}
				continue
			}
			entries, err := os.ReadDir(arg)
			if err != nil && !yield(arg, err) {
				return
			}
			for _, e := range entries {
				// A file that is being written has such a name until it is whole.
				if !e.IsDir() && !strings.HasPrefix(e.Name(), ".dpscope-") && !yield(filepath.Join(arg, e.Name()), nil) {
					return
				}
			}
		}
	}
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
	m, err := partial.NewMerge(cli.Generator().Version, partialNames(names, stdin), openFile)
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
		if e.Brought != nil || e.Recorded != nil || e.Scores != nil || trains(e) {
			return &audit.InputError{Field: "-shards", Found: "an audit of a program, of outputs or of scores of yours (" + e.Name + ")", Want: "mechanisms and sources that dpscope has", Remedy: "run that audit alone, with -only, on one machine"}
		}
	}
	return nil
}

// dividePlan does a part of a file of audits.
func (f *auditFlags) dividePlan(ctx context.Context, file *suite.File, text []byte, todo []planned, stdout, stderr io.Writer) int {
	pool, err := f.shards.begin(suite.ReportKind, planPart{f.suite.file, f.suite.only, text}, nil, core.LocalPool(catalogue, *f.workers))
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
	return f.shards.end(ctx, nil, stdout, stderr)
}
