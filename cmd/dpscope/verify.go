package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/report"
)

// maxReportBytes bounds what is read as a report.
const maxReportBytes = 64 << 20

// verify is dpscope verify: it replays a report. It exits with 0 when the
// replay gives the same, whatever the verdict, and with 1 when it does not.
func verify(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	set := cli.NewFlags("dpscope verify", stderr)
	quick := set.Bool("quick", false, "only certify the report's own witness again; this cannot show that the witness was chosen before the samples were drawn")
	workers := set.Workers(0, "parallel workers; 0: one a processor")
	var files []string
	set.Func("data", "the `file` that an audit with canaries or of scores was given; twice for two files of scores", func(v string) error {
		files = append(files, v)
		return nil
	})
	outside := outsideFlags{stdin: stdin}
	outside.register(set, settings.Only(pair.OutsideKeys(), "samples-file", "samples-file2", "exec", "wasm"))
	var plan planFlags
	plan.registerFile(set)
	if code, ok := set.Parse(args, 1); !ok {
		return code
	}
	if err := outside.read(); err != nil {
		return fail(stderr, err)
	}
	n := *workers
	name := set.Arg(0)
	data, err := readReport(name, stdin)
	if err != nil {
		return fail(stderr, err)
	}
	switch report.ReportKindOf(data) {
	case suite.ReportKind:
		return verifyPlan(name, data, plan, n, !*quick, stdin, stdout, stderr)
	case canary.Kind:
		return verifySource(canary.ParseReport, canary.Verify, name, data, files, n, !*quick, stdout, stderr)
	case onerun.Kind:
		return verifySource(onerun.ParseReport, onerun.Verify, name, data, files, n, !*quick, stdout, stderr)
	case scores.Kind:
		return verifyScores(name, data, files, !*quick, stdout, stderr)
	}
	if len(files) > 0 {
		return fail(stderr, &audit.InputError{Field: "-data", Found: "given", Want: "absent but for a report of dpscope canaries, one-run or scores", Remedy: "leave the flag out"})
	}
	if plan.file != "" {
		return fail(stderr, &audit.InputError{Field: "-plan", Found: "given", Want: "absent but for a report of dpscope audit -plan", Remedy: "leave the flag out"})
	}
	report, newer, err := pair.ParseReport(data)
	if err != nil {
		return fail(stderr, fmt.Errorf("%s: %w", name, err))
	}
	if newer {
		return fail(stderr, &audit.InputError{Field: name + ": schemaVersion", Found: fmt.Sprint(report.SchemaVersion),
			Want: fmt.Sprintf("at most %d", pair.SchemaVersion), Remedy: "verify it with the version of dpscope that wrote it"})
	}
	var cat audit.Catalogue
	ctx, end := context.Background(), func() {}
	note := ""
	if outside.brought() != "" || report.Inputs.Brought != nil && len(outside.Recorded.Files) == 0 {
		var stop context.CancelFunc
		ctx, stop = untilSignal() // what was brought has to be ended
		defer stop()
		cat, end, note, err = outside.replay(ctx, report)
	} else {
		cat, note, err = outside.replayRecorded(report)
	}
	if err != nil {
		return fail(stderr, fmt.Errorf("%s: %w", name, err))
	}
	defer end()
	v, err := pair.Verify(ctx, cat, core.LocalPool(cat, n), report, !*quick)
	if ctx.Err() != nil {
		return fail(stderr, cli.ErrStopped)
	}
	if err != nil {
		return fail(stderr, fmt.Errorf("%s: %w", name, err))
	}
	if note != "" {
		v.Notes = append(v.Notes, note)
	}
	return printVerification(stdout, v, report)
}

// printVerification says what the replay of an audit found, and returns the exit code.
func printVerification(stdout io.Writer, v engine.Verification, r report.View) int {
	if own, ok := r.(pair.Report); ok && v.OK() && !own.Certified() {
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
	for _, what := range v.Checked {
		fmt.Fprintf(stdout, "  same: %s\n", phrase.Line(what))
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
