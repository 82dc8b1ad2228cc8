package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// scoresFlags are the flags of dpscope scores.
type scoresFlags struct {
	*cli.Flags

	asked cli.Asked[scores.Plan]
	out   formatFlags
}

func newScoresFlags(stderr io.Writer) *scoresFlags {
	f := &scoresFlags{Flags: cli.NewFlags("dpscope scores", stderr)}
	f.asked = cli.Settings(f.Flags, scores.Keys())
	f.out.register(f.Flags)
	return f
}

// scoresCommand is dpscope scores. Flags may stand before and behind the files.
func scoresCommand(args []string, stdout, stderr io.Writer) int {
	f := newScoresFlags(stderr)
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
	show := newMeter(stderr)
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
