package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

// maxReportBytes bounds what is read as a report.
const maxReportBytes = 64 << 20

// verify is dpscope verify: it replays a report. It exits with 0 when the
// replay gives the same, whatever the verdict, and with 1 when it does not.
func verify(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	set := cli.NewFlags("dpscope verify", stderr)
	quick := set.Bool("quick", false, "only check that everything in the report follows from its counts: this runs and draws nothing, needs no program and no file, and cannot show that the counts come from the mechanism")
	set.Gone("counts", "-quick does the same")
	workers := set.Workers(0, "parallel workers; 0: one per processor")
	var files []string
	set.Func("data", "the `file` that an audit with canaries or of scores was given; twice for two files of scores", func(v string) error {
		files = append(files, v)
		return nil
	})
	outside := externalFlags{stdin: stdin, stdout: stdout, stderr: stderr}
	outside.register(set, settings.Only(pair.ExternalKeys(), "samples-file", "samples-file2", "exec", "wasm", "table"))
	var plan planFlags
	plan.registerFile(set)
	commitment := set.String("commitment", "", "`file` with the two lines that dpscope commit printed, or their text: the report must be of the plan that was committed")
	set.Gone("receipt", gone)
	set.Gone("log-key", gone)
	var out formatFlags
	out.registerFiles(set)
	if code, ok := set.Parse(args, 1); !ok {
		return code
	}
	if err := outside.read(); err != nil {
		return fail(stderr, err)
	}
	if *quick && outside.userKind() != "" {
		return fail(stderr, &audit.InputError{Field: "-exec or -wasm", Found: "given", Want: "absent with -quick, which runs nothing", Remedy: "leave one of the two out"})
	}
	n := *workers
	name := set.Arg(0)
	if outside.parent {
		stdout = stderr // standard output is for requests
	}
	data, err := readReport(name, stdin)
	if err != nil {
		return fail(stderr, err)
	}
	if *commitment != "" {
		if holds, err := checkCommitment(*commitment, data, stdin, stdout); err != nil {
			return fail(stderr, err)
		} else if !holds {
			return cli.ExitViolation
		}
	}
	if report.KindOf(data) == suite.ReportKind {
		return verifyPlan(name, data, plan, n, !*quick, stdin, stdout, stderr)
	}
	r, err := core.ParseReport(data)
	if err != nil {
		return fail(stderr, fmt.Errorf("%s: %w", name, err))
	}
	if plan.file != "" {
		return fail(stderr, &audit.InputError{Field: "-plan", Found: "given", Want: "absent except for a report of dpscope audit -plan", Remedy: "leave the flag out"})
	}
	ctx := context.Background()
	g := core.Env{Catalogue: catalogue}
	note, end := "", func() {}
	if own, ok := r.(pair.Report); ok {
		if len(files) > 0 {
			return fail(stderr, &audit.InputError{Field: "-data", Found: "given", Want: "absent except for a report of dpscope canaries, one-run or scores", Remedy: "leave the flag out"})
		}
		if *quick && !outside.given() {
			// What the report says of it is enough.
		} else if outside.userKind() != "" || own.Inputs.User != nil && len(outside.Recorded.Files) == 0 {
			var stop context.CancelFunc
			ctx, stop = untilSignal() // what was brought has to be ended
			defer stop()
			g.Catalogue, end, note, err = outside.replay(ctx, own)
		} else if outside.Table.File != "" || own.Inputs.Labelled != nil {
			g.Catalogue, note, err = outside.replayLabelled(own)
		} else {
			g.Catalogue, note, err = outside.replayRecorded(own)
		}
	} else if outside.User.Exec != "" {
		var stop context.CancelFunc
		ctx, stop = untilSignal()
		defer stop()
		if !set.Given("exec-timeout") {
			outside.timeout = command.DefaultTrainingTimeout
		}
		if !set.Given("workers") {
			n = 1
		}
		g.Sources, end, note, err = trained(ctx, core.Trainer(core.PlanOf(r)), outside.User.Exec, outside.timeout, parentOf(outside.parent, stdin, outside.stdout, false))
	} else {
		err = readGiven(&g, r, files, !*quick, stderr)
	}
	if err != nil {
		return fail(stderr, fmt.Errorf("%s: %w", name, err))
	}
	defer end()
	g.Pool = engine.LocalPool(n)
	v, err := core.Verify(ctx, r, g, !*quick)
	if ctx.Err() != nil {
		return fail(stderr, cli.ErrStopped)
	}
	if err != nil {
		return fail(stderr, fmt.Errorf("%s: %w", name, err))
	}
	if note != "" {
		v.Notes = append(v.Notes, note)
	}
	return out.written(printVerification(stdout, v, r), r, stderr)
}

// readGiven reads the files that the audit of r was given.
func readGiven(g *core.Env, r report.View, files []string, whole bool, stderr io.Writer) (err error) {
	own, ofScores := r.(scores.Report)
	switch {
	case !ofScores:
		g.File, err = readOneFile(files)
	case whole && len(files) == 0 && len(own.Plan.Data) > 0:
		return &audit.InputError{Field: "-data", Found: audit.Absent, Want: "the file of scores, or both", Remedy: "name it with -data FILE, twice for two files, or check the bounds from the report's counts alone with -quick"}
	case whole:
		g.Scores, err = intake{stderr: stderr}.scores(files, own.Plan.ScoreColumns)
	}
	return err
}

// printVerification says what the replay of an audit found, and returns the exit code.
func printVerification(stdout io.Writer, v engine.Verification, r report.View) int {
	if own, ok := r.(pair.Report); ok && v.OK() && !own.Certified() && own.Sequential == nil {
		printLines(stdout, v)
		fmt.Fprintln(stdout, "Nothing to replay: the run ended before certification. The rest follows from its settings.")
		return cli.ExitOK
	}
	return printReplay(stdout, v, r.Head().LowerBound != nil)
}

// printReplay says what a replay found, and returns the exit code.
func printReplay(stdout io.Writer, v engine.Verification, bounded bool) int {
	printLines(stdout, v)
	if !v.OK() {
		fmt.Fprintln(stdout, "Not replayed: the report does not match its own settings.")
		return cli.ExitViolation
	}
	if !bounded && v.Recomputed {
		fmt.Fprintln(stdout, "Recomputed: what the report says follows from its counts, which were not drawn again. There is no bound.")
		return cli.ExitOK
	}
	if !bounded {
		fmt.Fprintln(stdout, "Replayed: same counts. There is no bound, as the run did not complete.")
		return cli.ExitOK
	}
	if v.Recomputed {
		fmt.Fprintln(stdout, "Recomputed: bound and verdict follow from the report's counts. The counts themselves were not drawn again.")
		return cli.ExitOK
	}
	fmt.Fprintln(stdout, "Replayed: same counts, bound and verdict.")
	return cli.ExitOK
}

func printLines(stdout io.Writer, v engine.Verification) {
	fmt.Fprintln(stdout, phrase.Visible(v.Summary))
	if len(v.Checked) > 0 {
		fmt.Fprintf(stdout, "  same: %s\n", phrase.Line(strings.Join(v.Checked, ", ")))
	}
	for _, what := range v.Differences {
		fmt.Fprintf(stdout, "  DIFFERS: %s\n", phrase.Line(what))
	}
	for _, what := range v.Notes {
		fmt.Fprintf(stdout, "  note: %s\n", phrase.Line(what))
	}
}

func readReport(name string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxReportBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxReportBytes {
		return nil, &audit.InputError{Field: name, Found: "larger than 64 MiB", Want: "a report", Remedy: "check that this is the file that dpscope wrote"}
	}
	return data, nil
}
