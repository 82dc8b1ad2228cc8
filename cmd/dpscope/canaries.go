package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
)

// canaryFlags are the flags of dpscope canaries, and of dpscope one-run.
type canaryFlags struct {
	*cli.Flags

	mode    canary.Mode // of one-run
	asked   cli.Asked[canary.Plan]
	data    string
	from    string
	trainer trainerFlags
	shards  shares.Flags
	out     formatFlags
}

func newCanaryFlags(mode canary.Mode, stderr io.Writer) *canaryFlags {
	name, keys, examples := "canaries", canary.Keys(), "vectors, one a line, for the designs that need them, or examples for dp-sgd"
	if mode == canary.OneRun {
		name, keys, examples = "one-run", canary.OneRunKeys(), "examples, for dp-sgd"
	}
	f := &canaryFlags{Flags: cli.NewFlags("dpscope "+name, stderr), mode: mode}
	s := f.Flags
	f.asked = cli.Settings(s, append(keys, canary.TrainerKey()))
	if mode != canary.OneRun {
		f.Gone("single", "the second audit with a single canary was removed; for equation 10 run an audit with -k 1 -interval wilson-1")
		s.Func("d", "dimension, short for -param d=", func(v string) error { return s.Set("param", "d="+v) })
		s.StringVar(&f.from, "continue", "", "continue a sequential audit from its report, a JSON `file`: with the same plan and seed, and -n runs in all")
	}
	s.StringVar(&f.data, "data", "", "CSV `file`: "+examples)
	f.trainer.register(s)
	f.shards.Register(s)
	f.out.register(s)
	return f
}

// maxDataBytes bounds what is read as a file of vectors.
const maxDataBytes = 64 << 20

// readData reads the user's file; nil for no name.
func readData(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDataBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxDataBytes {
		return nil, &audit.InputError{Field: name, Found: "larger than 64 MiB", Want: "at most that large", Remedy: "take fewer rows of it"}
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// plan is what was asked for, and the report that it goes on from, if any.
func (f *canaryFlags) plan() (canary.Plan, *canary.Parent, error) {
	plan := canary.Plan{Version: canary.PlanVersion, Mode: f.mode}
	if f.from == "" {
		return plan, nil, f.asked.Read(&plan)
	}
	data, err := os.ReadFile(f.from)
	if err != nil {
		return plan, nil, err
	}
	from, err := canary.Continue(data)
	if err != nil {
		return plan, nil, err
	}
	// The report says all else.
	keys, free, given := canary.Keys(), []string{"n", "sequential", "until-refuted"}, settings.Texts{}
	f.Visit(func(x *flag.Flag) {
		setting := x.Name == "d" || slices.ContainsFunc(keys, func(k settings.Key[canary.Plan]) bool { return k.Name == x.Name })
		switch {
		case setting && slices.Contains(free, x.Name):
			given[x.Name] = x.Value.String()
		case setting && err == nil:
			err = &audit.InputError{Field: "-" + x.Name, Found: "given beside -continue", Want: "absent: the plan is the report's", Remedy: "-n says how many runs there are to be in all"}
		}
	})
	if err != nil {
		return plan, nil, err
	}
	plan = from.Plan()
	usual := plan.Mode
	plan.Mode = ""
	err = settings.Read(slices.DeleteFunc(keys, func(k settings.Key[canary.Plan]) bool { return !slices.Contains(free, k.Name) }), given, &plan)
	plan.Mode = cmp.Or(plan.Mode, usual)
	return plan, from, err
}

// canaries is dpscope canaries, or dpscope one-run.
func canaries(mode canary.Mode, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f := newCanaryFlags(mode, stderr)
	if code, ok := f.Parse(args, 0); !ok {
		return code
	}
	plan, from, err := f.plan()
	if err != nil {
		return fail(stderr, err)
	}
	file, err := readData(f.data)
	if err != nil {
		return fail(stderr, err)
	}
	if f.shards.Given() && from != nil {
		return fail(stderr, &audit.InputError{Field: "-shards", Found: "given with -continue", Want: "an audit that begins", Remedy: "go on from a report on one machine"})
	}
	ctx, stop := untilSignal()
	defer stop()
	exec := f.Lookup("exec").Value.String()
	switch t := plan.Trainer; {
	case from != nil && t != nil && exec == "":
		return fail(stderr, t.Undrawn())
	case from != nil && t == nil && exec != "":
		return fail(stderr, &audit.InputError{Field: "-exec", Found: "given beside -continue", Want: "absent: the report is of the source " + plan.Source})
	}
	sources, program, end, err := f.trainer.open(ctx, exec, stdin, stdout)
	if err != nil {
		return fail(stderr, err)
	}
	defer end()
	if f.trainer.parent {
		stdout = io.Discard // it is for requests
	}
	show := f.trainer.meter(stderr)
	if program != nil && from == nil {
		err := f.trainer.know(program, plan, core.Env{Sources: sources, File: file}, f.shards.After, show, stderr)
		if ctx.Err() != nil {
			return fail(stderr, cli.ErrStopped)
		} else if err != nil {
			return fail(stderr, err)
		}
	}
	g := given(catalogue, *f.trainer.workers)
	g.Sources, g.File, g.Continue = sources, file, from
	return one{plan, g, file, f.shards, &f.out}.do(ctx, show, stdout, stderr)
}

// canaries shows the progress of a canary audit.
func (m *meter) canaries(p canary.Plan) func(canary.Progress) {
	kind := p.Interval
	if kind == "" {
		kind = bounds.CanaryPairedBetting
	}
	return func(g canary.Progress) {
		if m.now()-m.last < 0.1 {
			return
		}
		m.last = m.now()
		line := fmt.Sprintf("%s %3.0f %%", g.Phase, 100*float64(g.Runs)/float64(max(1, g.Total)))
		if p.Trainer != nil {
			line = fmt.Sprintf("%s: run %d of %d", g.Phase, g.Runs, g.Total)
		}
		line += timeLeft(g.Left, false)
		for _, b := range g.Bounds {
			if b.Interval == kind {
				line += fmt.Sprintf(", epsilon >= %.3f so far%s", phrase.Floor(b.Epsilon, 3), map[bool]string{false: " (not certified)"}[g.Holds])
			}
		}
		m.show(line)
	}
}
