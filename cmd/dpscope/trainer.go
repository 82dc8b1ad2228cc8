package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/partial"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

// trainerFlags say how a program is run that trains.
type trainerFlags struct {
	timeout time.Duration
	check   bool
	parent  bool // who started this answers for -exec
	workers *int
}

func (f *trainerFlags) register(s *cli.Flags) {
	s.DurationVar(&f.timeout, "exec-timeout", command.DefaultTrainingTimeout, "how long -exec may take for one training")
	s.BoolVar(&f.check, "exec-check", true, "before the audit, have -exec do its first training again, and with another seed: says whether trainings can be drawn again, and refuses those that do not depend on the seed. Costs two trainings")
	s.BoolVar(&f.parent, "exec-parent", false, "the program that started dpscope trains: requests of -exec, which is then only what the report calls it, go to standard output, answers come from standard input, a line each; progress and errors go to standard error, and reports to the files of -output")
	f.workers = s.Workers(0, "parallel workers; 0: one a processor, with -exec one. The result does not depend on it")
	s.Check(func() error {
		if !s.Given("workers") && s.Given("exec") {
			*f.workers = 1 // a training has the machine to itself unless somebody knows better
		}
		if f.timeout <= 0 {
			return &audit.InputError{Field: "-exec-timeout", Found: f.timeout.String(), Want: "above 0", Remedy: "for example 2h"}
		}
		if s.Given("exec") && s.Given("source") {
			return &audit.InputError{Field: "-source", Found: "given with -exec", Want: "absent: the program of -exec is what is audited"}
		}
		for _, name := range []string{"exec-timeout", "exec-check", "exec-parent"} {
			if s.Given(name) && !s.Given("exec") {
				return &audit.InputError{Field: "-" + name, Found: "given", Want: "absent without -exec", Remedy: "name the program that trains with -exec (docs/trainers.md)"}
			}
		}
		return nil
	})
}

// meter shows progress, to the program that started this one where that trains.
func (f *trainerFlags) meter(stderr io.Writer) *meter {
	if f.parent {
		return &meter{w: stderr, now: cli.Clock(), last: math.Inf(-1), lines: true}
	}
	return newMeter(stderr)
}

// openTrainer is all sources, and that of a program of the user's, which runs until end.
func openTrainer(ctx context.Context, line string, timeout time.Duration, parent *command.Parent) (sources []source.Spec, program *command.Trainer, err error) {
	program, err = command.OpenTrainer(ctx, command.TrainerOptions{Command: line, Timeout: timeout, Parent: parent})
	if err != nil {
		return nil, nil, err
	}
	return append(source.Sources(), source.TrainerSpec(program.Train)), program, nil
}

// open is [openTrainer] for what the flags say. An empty line is no program, and gives the
// sources that dpscope has.
func (f *trainerFlags) open(ctx context.Context, line string, stdin io.Reader, stdout io.Writer) (sources []source.Spec, program *command.Trainer, end func(), err error) {
	if line == "" {
		return source.Sources(), nil, func() {}, nil
	}
	sources, program, err = openTrainer(ctx, line, f.timeout, parentOf(f.parent, stdin, stdout, false))
	if err != nil {
		return nil, nil, nil, err
	}
	return sources, program, program.Close, nil
}

// checkTrainer has the program do its first training more than once, and writes down what
// came of it. first is what that training is asked.
func checkTrainer(program *command.Trainer, t *source.Trainer, first func() ([]bool, uint64, error), show *meter, notes io.Writer) error {
	members, seed, err := first()
	if err != nil {
		return err
	}
	begun := cli.Clock()
	same, err := program.Check(members, seed, func(training, of int) {
		if show.w == nil {
			return
		}
		line := fmt.Sprintf("check of the program: training %d of %d", training, of)
		if took := begun(); training > 1 && took >= 1 {
			left := took / float64(training-1) * float64(of-training+1)
			line += timeLeft(&left, false)
		}
		show.show(line)
	})
	show.clear()
	if err != nil {
		return err
	}
	if t.Repeats = source.SameScores; !same {
		t.Repeats = source.OtherScores
		fmt.Fprintln(notes, "dpscope: note: the same request gave other scores: a replay of the report recomputes all from its counts, but cannot draw them again")
	}
	return nil
}

// trained are the sources that replay a report of trainings by a program: of one that
// names t, nil where it is of another source. What a report names is not run: line is what
// the user says again, empty where nothing was said.
func trained(ctx context.Context, t *source.Trainer, line string, timeout time.Duration, parent *command.Parent) (sources []source.Spec, end func(), note string, err error) {
	if line == "" {
		return source.Sources(), func() {}, "", nil
	}
	if t == nil {
		return nil, nil, "", &audit.InputError{Field: "-exec", Found: "given", Want: "absent: the report is of a source that dpscope has", Remedy: "leave the flag out"}
	}
	sources, program, err := openTrainer(ctx, line, timeout, parent)
	if err != nil {
		return nil, nil, "", err
	}
	if line != t.Command { // it may have moved
		note = fmt.Sprintf("the report names %q; this replay ran %q", t.Command, line)
	}
	return sources, program.Close, note, nil
}

// searchedBy is what the partial of a search says of its trainer; empty where it says
// nothing.
func searchedBy[P any](after string, parse func([]byte) (P, error), trainer func(P) *source.Trainer) (source.Repeats, error) {
	_, s, err := partial.ReadSearch(after, shares.Open)
	if err != nil {
		return "", err
	}
	plan, err := parse(s.Plan)
	if err != nil {
		return "", err
	}
	if t := trainer(plan); t != nil {
		return t.Repeats, nil
	}
	return "", nil
}
