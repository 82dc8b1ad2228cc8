package main

import (
	"cmp"
	"flag"
	"os"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
)

// kindFlags are the flags of a command whose plans are of type P.
type kindFlags[P any] struct {
	*cli.Flags
	brought
	workers *int
	shards  shares.Flags
	out     formatFlags
	asked   cli.Asked[P]
	from    string // report that the audit goes on from
}

func newKindFlags[P any](name string, keys []settings.Key[P], s streams) kindFlags[P] {
	flags := cli.NewFlags("dpscope "+name, s.stderr)
	return kindFlags[P]{Flags: flags, brought: brought{streams: s}, workers: new(1), asked: cli.Settings(flags, keys)}
}

func (f *kindFlags[P]) trains(data string) {
	f.files = []string{""}
	f.StringVar(&f.files[0], "data", "", data)
	f.brought.Flags.Register(f.Flags, "exec-parent")
	f.registerParent(f.Flags)
	f.workers = f.Workers(0, "parallel workers; 0: one per processor, with -exec one. The result does not depend on this")
	f.Check(func() error {
		if f.User.Exec = f.Lookup("exec").Value.String(); f.User.Exec != "" && !f.Given("workers") {
			*f.workers = 1 // a training has the machine to itself unless somebody knows better
		}
		return nil
	})
	f.shards.Register(f.Flags)
	f.out.register(f.Flags)
}

func newCanaryFlags(s streams) *kindFlags[canary.Plan] {
	f := newKindFlags("canaries", append(canary.Keys(), canary.TrainerKey()), s)
	f.Gone("single", "the second audit with a single canary was removed; for equation 10 run an audit with -k 1 -interval wilson-1")
	f.Func("d", "dimension, short for -param d=", func(v string) error { return f.Set("param", "d="+v) })
	f.trains("CSV `file`: examples for dp-sgd, or vectors for the design vectors")
	f.StringVar(&f.from, "continue", "", "continue a sequential audit from its report, a JSON `file`, with the same plan and seed; -n is then the total number of runs")
	return &f
}

func canaries(s streams, args []string) error { return auditTraining(newCanaryFlags(s), args, "") }

func oneRun(s streams, args []string) error {
	return auditTraining(newOneRunFlags(s), args, canary.OneRun)
}

func auditTraining(f *kindFlags[canary.Plan], args []string, mode canary.Mode) error {
	if code, ok := f.Parse(args, 0); !ok {
		return exit(code)
	}
	plan, from := canary.Plan{Version: canary.PlanVersion, Mode: mode}, (*canary.Parent)(nil)
	var err error
	if f.from == "" {
		err = f.asked.Read(&plan)
	} else {
		plan, from, err = continued(f)
	}
	if err != nil {
		return err
	}
	return f.does(plan, from)
}

// continued is the plan of a report that is gone on from, with more runs.
func continued(f *kindFlags[canary.Plan]) (plan canary.Plan, from *canary.Parent, err error) {
	data, err := os.ReadFile(f.from)
	if err != nil {
		return plan, nil, err
	}
	if from, err = canary.Continue(data); err != nil {
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
			err = audit.Fault("-"+x.Name, "given beside -continue", "absent: the plan is the report's", "-n is the total number of runs")
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
	switch t := plan.Trainer; {
	case err != nil:
	case f.shards.Given():
		err = audit.Fault("-shards", "given with -continue", "an audit that begins", "continue from a report on one machine")
	case t != nil && f.User.Exec == "":
		err = t.Undrawn()
	case t == nil && f.User.Exec != "":
		err = audit.Fault("-exec", "given beside -continue", "absent: the report is of the source "+plan.Source)
	}
	return plan, from, err
}

func newOneRunFlags(s streams) *kindFlags[canary.Plan] {
	f := newKindFlags("one-run", append(canary.OneRunKeys(), canary.TrainerKey()), s)
	f.trains("CSV `file` of examples, for dp-sgd")
	return &f
}

func newScoreFlags(s streams) *kindFlags[scores.Plan] {
	f := newKindFlags("scores", scores.Keys(), s)
	f.out.register(f.Flags)
	return &f
}

func scoresCommand(s streams, args []string) error {
	f := newScoreFlags(s)
	var code int
	var ok bool
	if f.files, code, ok = f.ParseNames(args); !ok {
		return exit(code)
	}
	plan := scores.Plan{Version: scores.PlanVersion}
	if err := f.asked.Read(&plan); err != nil {
		return err
	}
	return f.does(plan, nil)
}
