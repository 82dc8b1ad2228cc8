package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// oneFlags are the flags of an audit with one text for all that it finds: an audit in
// one run, and one of scores.
type oneFlags[P any] struct {
	*cli.Flags

	asked cli.Asked[P]
	out   formatFlags
}

func newOneFlags[P any](name string, keys []settings.Key[P], stderr io.Writer) *oneFlags[P] {
	f := &oneFlags[P]{Flags: cli.NewFlags("dpscope "+name, stderr)}
	f.asked = cli.Settings(f.Flags, keys)
	f.out.register(f.Flags)
	return f
}

// oneRun is dpscope one-run.
func oneRun(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f := newOneFlags("one-run", onerun.TrainerKeys(), stderr)
	data := f.String("data", "", "CSV `file` of examples, for dp-sgd")
	var trainer trainerFlags
	trainer.register(f.Flags)
	var shards shares.Flags
	shards.Register(f.Flags)
	if code, ok := f.Parse(args, 0); !ok {
		return code
	}
	plan := onerun.Plan{Version: onerun.PlanVersion}
	if err := f.asked.Read(&plan); err != nil {
		return fail(stderr, err)
	}
	file, err := readData(*data)
	if err != nil {
		return fail(stderr, err)
	}
	ctx, stop := untilSignal()
	defer stop()
	sources, program, end, err := trainer.open(ctx, f.Lookup("exec").Value.String(), stdin, stdout)
	if err != nil {
		return fail(stderr, err)
	}
	defer end()
	if trainer.parent {
		stdout = io.Discard // it is for requests
	}
	show := newMeter(stderr, trainer.parent)
	if program != nil {
		err := trainer.know(program, plan, core.Env{Sources: sources, File: file}, shards.After, show, stderr)
		if ctx.Err() != nil {
			return fail(stderr, cli.ErrStopped)
		} else if err != nil {
			return fail(stderr, err)
		}
	}
	if program != nil {
		show.show("training")
	}
	g := given(catalogue, 1)
	g.Sources, g.File = sources, file
	return one{plan, g, file, shards, &f.out}.do(ctx, show, stdout, stderr)
}

// scores is dpscope scores. Flags may stand before and behind the files.
func scoresCommand(args []string, stdout, stderr io.Writer) int {
	f := newOneFlags("scores", scores.Keys(), stderr)
	files, code, ok := f.ParseNames(args)
	if !ok {
		return code
	}
	plan := scores.Plan{Version: scores.PlanVersion}
	if err := f.asked.Read(&plan); err != nil {
		return fail(stderr, err)
	}
	in, err := intake{stderr: stderr}.scores(files, plan.ScoreColumns)
	if err != nil {
		return fail(stderr, err)
	}
	show := newMeter(stderr, false)
	show.show("auditing the scores")
	g := given(catalogue, 1)
	g.Scores = in
	return one{plan: plan, given: g, out: &f.out}.do(context.Background(), show, stdout, stderr)
}

// scores reads one or two files of scores.
func (in intake) scores(names []string, columns recorded.ScoreColumns) (*scores.Scores, error) {
	if len(names) < 1 || len(names) > 2 {
		return nil, &audit.InputError{Field: "files of scores", Found: strconv.Itoa(len(names)), Want: "one with both classes, or two: canaries that were in, and those that were out"}
	}
	r, show := in.reader()
	defer show.clear()
	var parsed []*recorded.File
	for _, name := range names {
		f, err := r.Read(name, recorded.ScoreOptions(recorded.Options{Name: filepath.Base(name)}))
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
	}
	show.show("putting the scores in order")
	return scores.ReadScores(parsed, columns)
}

// readOneFile reads the one file that most audits take, nil for none.
func readOneFile(names []string) ([]byte, error) {
	switch len(names) {
	case 0:
		return nil, nil
	case 1:
		return readData(names[0])
	}
	return nil, &audit.InputError{Field: "-data", Found: fmt.Sprintf("given %d times", len(names)), Want: "given once"}
}
