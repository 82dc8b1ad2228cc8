// Package training lets a program of the user's train for audits with canaries.
package training

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

// Flags say how a program is run that trains.
type Flags struct {
	Timeout time.Duration // of one training
	Check   bool          // whether it is asked for its first training again
}

// Register defines the flags, and refuses what does not go together; only need -exec too.
func (f *Flags) Register(s *cli.Flags, only ...string) {
	s.DurationVar(&f.Timeout, "exec-timeout", command.DefaultTrainingTimeout, "how long -exec may take for one training")
	s.BoolVar(&f.Check, "exec-check", true, "before the audit, repeat the first training of -exec with the same seed and with another one: this shows whether trainings can be drawn again, and refuses trainings that ignore the seed. Costs two trainings")
	s.Check(func() error {
		if f.Timeout <= 0 {
			return &audit.InputError{Field: "-exec-timeout", Found: f.Timeout.String(), Want: "above 0", Remedy: "for example 2h"}
		}
		if s.Given("exec") && s.Given("source") {
			return &audit.InputError{Field: "-source", Found: "given with -exec", Want: "absent: the program of -exec is what is audited"}
		}
		for _, name := range append([]string{"exec-timeout", "exec-check"}, only...) {
			if s.Given(name) && !s.Given("exec") {
				return &audit.InputError{Field: "-" + name, Found: "given", Want: "absent without -exec", Remedy: "name the program that trains with -exec (docs/training.md)"}
			}
		}
		return nil
	})
}

// Open is a program that trains, and all sources, that of its trainings too.
func Open(ctx context.Context, line string, timeout time.Duration, parent *command.Parent) (*command.Trainer, []source.Spec, error) {
	program, err := command.OpenTrainer(ctx, line, timeout, parent)
	if err != nil {
		return nil, nil, err
	}
	return program, append(source.Sources(), source.TrainerSpec(program.Train)), nil
}

// Check has the program do a plan's first training again and puts what came of it into the plan. tell may be nil.
func Check(program *command.Trainer, plan any, g core.Env, tell command.Checked, notes io.Writer) error {
	a, err := core.Resolve(plan, g)
	if err != nil {
		return err
	}
	members, seed, err := a.FirstTraining()
	if err != nil {
		return err
	}
	same, err := program.Check(members, seed, tell)
	if err != nil {
		return err
	}
	core.Trainer(plan).Repeats = audit.Pick(same, source.SameScores, source.OtherScores)
	if !same {
		fmt.Fprintln(notes, "dpscope: note: the same request gave different scores, so a replay of the report recomputes everything from its counts but cannot draw them again")
	}
	return nil
}

// After puts into a plan what the search in the partial of that name says of its trainer.
func After(plan any, name string, open shares.Opener) error {
	s, err := shares.ReadSearch(name, open)
	if err != nil {
		return err
	}
	searched, err := s.Single()
	if t := core.Trainer(searched); err == nil && t != nil {
		core.Trainer(plan).Repeats = t.Repeats
	}
	return err
}
