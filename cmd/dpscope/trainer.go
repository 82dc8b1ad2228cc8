package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
	"github.com/dpscope/dpscope/internal/training"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

// trainerFlags say how a program is run that trains.
type trainerFlags struct {
	training.Flags
	parent  bool // who started this answers for -exec
	workers *int
}

func (f *trainerFlags) register(s *cli.Flags) {
	f.Flags.Register(s, "exec-parent")
	s.BoolVar(&f.parent, "exec-parent", false, "the program that started dpscope trains: requests go to standard output and answers come from standard input, a line each; progress and errors go to standard error, and reports go to the files of -output. -exec is then only the name in the report")
	f.workers = s.Workers(0, "parallel workers; 0: one per processor, with -exec one. The result does not depend on this")
	s.Check(func() error {
		if !s.Given("workers") && s.Given("exec") {
			*f.workers = 1 // a training has the machine to itself unless somebody knows better
		}
		return nil
	})
}

// open is what the flags say. An empty line is no program, and gives the sources that
// dpscope has.
func (f *trainerFlags) open(ctx context.Context, line string, stdin io.Reader, stdout io.Writer) (sources []source.Spec, program *command.Trainer, end func(), err error) {
	if line == "" {
		return source.Sources(), nil, func() {}, nil
	}
	program, sources, err = training.Open(ctx, line, f.Timeout, parentOf(f.parent, stdin, stdout, false))
	if err != nil {
		return nil, nil, nil, err
	}
	return sources, program, program.Close, nil
}

// know puts into a plan what its report says of the program that trains: what the search in
// the partial after says, or what asking it twice gives, if it is to be asked.
func (f *trainerFlags) know(program *command.Trainer, plan any, g core.Env, after string, show *meter, notes io.Writer) error {
	switch {
	case after != "":
		return training.After(plan, after, shares.Open)
	case f.Check:
		defer show.clear()
		return training.Check(program, plan, g, show.checking(), notes)
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
	program, sources, err := training.Open(ctx, line, timeout, parent)
	if err != nil {
		return nil, nil, "", err
	}
	if line != t.Command { // it may have moved
		note = fmt.Sprintf("the report names %q; this replay ran %q", t.Command, line)
	}
	return sources, program.Close, note, nil
}
