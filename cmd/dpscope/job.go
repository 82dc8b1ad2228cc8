package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
	"github.com/dpscope/dpscope/internal/training"
)

type job struct {
	*brought
	plan any // of the kind's type
	env  core.Env
	end  func() // of a user's program; nil: there is none

	// Of a file of audits:
	name   string
	audit  core.Audit // of the plan, once it was checked
	broken error      // why the user's program cannot be audited: the others run
}

func newJob(b *brought, plan any, workers int) job {
	return job{brought: b, plan: plan, env: core.Env{Catalogue: catalogue, Pool: engine.LocalPool(workers), Generator: cli.Generator(), Now: cli.Clock()}}
}

func (j *job) close() {
	if j.end != nil {
		j.end()
	}
}

func (j *job) read() (err error) {
	switch p := j.plan.(type) {
	case scores.Plan:
		j.env.Scores, err = j.readScores(j.files, p.ScoreColumns)
	case pair.Plan:
		if j.Table.File != "" {
			err = j.readTable(p)
		} else if len(j.Recorded.Files) > 0 {
			err = j.readRecorded()
		}
	default:
		j.env.File, err = readOneFile(j.files)
	}
	return err
}

// open starts the user's program or module. One that trains is asked for its first training twice, unless the partial
// of a search says what came of that.
func (j *job) open(ctx context.Context, show *meter) (err error) {
	if p, ok := j.plan.(pair.Plan); ok {
		if j.userKind() != "" {
			err = j.start(ctx, p)
		}
		return err
	}
	if j.User.Exec == "" {
		return nil
	}
	program, sources, err := training.Open(ctx, j.User.Exec, j.Timeout, j.answers(false))
	if err != nil {
		return err
	}
	j.env.Sources, j.end = sources, program.Close
	switch {
	case j.env.Continue != nil:
	case j.after != "":
		err = training.After(j.plan, j.after, shares.Open)
	case j.Check:
		err = training.Check(program, j.plan, j.env, show.checking(), j.stderr)
		show.Clear()
	}
	return err
}

// data is what shares need besides the plan, see [shares.New].
func (j *job) data() ([]byte, error) {
	p, ok := j.plan.(pair.Plan)
	if !ok {
		return j.env.File, nil
	}
	spec, err := j.env.Catalogue.Mechanism(p.Mechanism)
	if err != nil || spec.User == nil {
		return nil, nil // the audit says what is wrong with its name
	}
	return json.Marshal(spec.User)
}

// does makes the audit of a plan, or the part that is asked for; from, which may be nil, is what it goes on from.
func (f *kindFlags[P]) does(plan P, from *canary.Parent) error {
	j := newJob(&f.brought, plan, *f.workers)
	j.env.Continue = from
	f.after = f.shards.After
	if err := j.read(); err != nil {
		return err
	}
	show := &meter{cli.NewMeter(f.stderr, f.parent)}
	ctx, stop := context.Background(), func() {}
	if _, ok := j.plan.(scores.Plan); !ok { // which a signal may end at once: it has nothing to tell
		ctx, stop = untilSignal()
	}
	defer stop()
	err := j.open(ctx, show)
	defer j.close()
	if err != nil && ctx.Err() != nil {
		f.fail(cli.ErrStopped)
		return exit(cli.ExitInconclusive)
	}
	if err != nil {
		return err
	}
	if f.shards.Given() {
		data, err := j.data()
		if err == nil {
			err = f.shards.Do(ctx, core.KindOf(j.plan).Name, plan, data, j.env, show.watch)
		}
		show.Clear()
		return err
	}
	a, err := core.Resolve(j.plan, j.env)
	if err != nil {
		return err
	}
	if small := a.TooSmall(); small != "" {
		fmt.Fprintln(f.stderr, "dpscope: "+small)
	}
	show.watch("", plan, &j.env)
	r, err := a.Run(ctx, j.env)
	show.Clear()
	name := r.Head().Subject
	if own, ok := r.(pair.Report); ok && own.Inputs.Samples != nil {
		name = own.Inputs.Samples.Files[0].Name
	}
	s := f.streams
	if f.parent {
		s.stdout = io.Discard // it is for requests
	}
	return f.out.finish(s, name, r, err)
}

func mergeCommand(s streams, args []string) error {
	set := cli.NewFlags("dpscope merge", s.stderr)
	var out formatFlags
	out.register(set)
	set.Func("o", "short for -output", func(v string) error { return set.Set("output", v) })
	names, code, ok := set.ParseNames(args)
	if !ok {
		return exit(code)
	}
	ctx, stop := untilSignal()
	defer stop()
	g := core.Env{Catalogue: catalogue, Generator: cli.Generator(), Now: cli.Clock()}
	audits, err := shares.Merge(ctx, shares.Names(names, s.stdin), shares.Open, g)
	if ctx.Err() != nil {
		err = cli.ErrStopped
	}
	if err != nil {
		return err
	}
	if audits.File == nil {
		r := audits.Audited[0].Report
		return out.finish(s, r.Head().Subject, r, nil)
	}
	return out.finishPlan(s, planFlags{file: audits.Name, plan: audits.File}, audits.Audited, nil)
}
