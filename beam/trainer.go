package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/internal/cli"
	brought "github.com/dpscope/dpscope/mechanisms/user/command"
)

// trainer is a program of the user's that trains for an audit with canaries, on every
// worker; the zero value is none.
type trainer struct {
	Exec    string
	Timeout time.Duration
}

// programs are those that this process runs.
var programs struct {
	sync.Mutex
	open map[trainer]*brought.Trainer
}

// program runs until [closePrograms]. It may train for several shares at once.
func (t trainer) program() (*brought.Trainer, error) {
	programs.Lock()
	defer programs.Unlock()
	if p := programs.open[t]; p != nil {
		return p, nil
	}
	p, err := brought.OpenTrainer(context.Background(), brought.TrainerOptions{Command: t.Exec, Timeout: t.Timeout})
	if err != nil {
		return nil, err
	}
	if programs.open == nil {
		programs.open = map[trainer]*brought.Trainer{}
	}
	programs.open[t] = p
	return p, nil
}

func closePrograms() {
	programs.Lock()
	defer programs.Unlock()
	for _, p := range programs.open {
		p.Close()
	}
	programs.open = nil
}

// sources are all that audits with canaries are of; nil: those that dpscope has.
func (t trainer) sources() ([]source.Spec, error) {
	if t.Exec == "" {
		return nil, nil
	}
	p, err := t.program()
	if err != nil {
		return nil, err
	}
	return append(source.Sources(), source.TrainerSpec(p.Train)), nil
}

// register defines the flags of a program that trains.
func (t *trainer) register(s *cli.Flags, check *bool) {
	s.DurationVar(&t.Timeout, "exec-timeout", brought.DefaultTrainingTimeout, "how long -exec may take for one training")
	s.BoolVar(check, "exec-check", true, "ask -exec for the first training twice, in two processes, and once with another seed, before the audit")
	s.Check(func() error {
		t.Exec = s.Lookup("exec").Value.String()
		if t.Timeout <= 0 {
			return &audit.InputError{Field: "-exec-timeout", Found: t.Timeout.String(), Want: "above 0", Remedy: "for example 2h"}
		}
		return nil
	})
}

// repeats puts into the plan what asking the program twice gave: the search that is there
// says it, or the program is asked.
func (j *job) repeats(ctx context.Context) error {
	plan, err := canary.ParsePlan(j.plan)
	if err != nil {
		return err
	}
	s, err := readSearch(ctx, j.store, j.flags.trainer)
	switch {
	case err == nil:
		if old, err := canary.ParsePlan(s.search.Plan); err == nil && old.Trainer != nil {
			plan.Trainer.Repeats = old.Trainer.Repeats
		}
	case !missing(err):
		return err
	case j.flags.check:
		sources, err := j.flags.trainer.sources()
		if err != nil {
			return err
		}
		a, err := plan.Resolve(sources, j.data)
		if err != nil {
			return err
		}
		members, seed, err := a.FirstTraining()
		if err != nil {
			return err
		}
		program, err := j.flags.trainer.program()
		if err != nil {
			return err
		}
		same, err := program.Check(members, seed, func(training, of int) {
			j.show.line(fmt.Sprintf("check of the program: training %d of %d", training, of))
		})
		if err != nil {
			return err
		}
		if plan.Trainer.Repeats = source.SameScores; !same {
			plan.Trainer.Repeats = source.OtherScores
			fmt.Fprintln(j.stderr, "dpscope-beam: note: the same request gave other scores: a replay of the report recomputes all from its counts, but cannot draw them again")
		}
	}
	j.plan, err = json.Marshal(plan)
	return err
}
