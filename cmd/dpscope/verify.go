package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

const differs = "Not replayed: the report does not match its own settings."

// verify exits with 0 when the replay gives the same, whatever the verdict, else with 1.
func verify(s streams, args []string) error {
	set := cli.NewFlags("dpscope verify", s.stderr)
	quick := set.Bool("quick", false, "only check that everything in the report follows from its counts. This draws nothing, needs no program and no file, and cannot show that the counts come from the mechanism")
	set.Gone("counts", "-quick does the same")
	workers := set.Workers(0, "parallel workers; 0: one per processor")
	b := brought{streams: s}
	set.Several(&b.files, "data", "the data `file` of an audit with canaries or of scores; repeat it for two files of scores")
	b.register(set, settings.Only(pair.ExternalKeys(), "samples-file", "samples-file2", "exec", "wasm", "table"))
	var plan planFlags
	plan.registerFile(set)
	commitment := set.String("commitment", "", "`file` with the two lines that dpscope commit printed, or their text: the report must be of the plan that was committed")
	set.Gone("receipt", gone)
	set.Gone("log-key", gone)
	out := formatFlags{format: format.Text}
	out.registerFiles(set)
	set.BoolVar(&out.all, "all", false, "name every part of the report that is equal, and every field that differs or is not compared")
	if code, ok := set.Parse(args, 1); !ok {
		return exit(code)
	}
	name := set.Arg(0)
	err := b.ask()
	if err == nil && *quick && b.userKind() != "" {
		err = given("-exec or -wasm", "absent with -quick, which runs nothing", "leave one of the two out")
	}
	var data []byte
	if err == nil {
		data, err = s.read(name)
	}
	if b.parent {
		s.stdout = s.stderr // standard output is for requests
	}
	if err == nil && *commitment != "" {
		err = s.checkCommitment(*commitment, data)
	}
	if err != nil {
		return err
	}
	if report.KindOf(data) == suite.ReportKind {
		return s.verifyPlan(name, data, plan, *workers, !*quick, out.all)
	}
	r, err := core.ParseReport(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if plan.file != "" {
		return given("-plan", "absent except for a report of dpscope audit -plan", "leave the flag out")
	}
	ctx, stop := context.Background(), func() {}
	_, ofPair := r.(pair.Report)
	if b.userKind() != "" { // what was brought has to be ended
		ctx, stop = untilSignal()
		if !ofPair && !set.Given("exec-timeout") {
			b.Timeout = command.DefaultTrainingTimeout
		}
		if !ofPair && !set.Given("workers") {
			*workers = 1
		}
	}
	defer stop()
	j := newJob(&b, core.PlanOf(r), *workers)
	note, err := j.again(ctx, r, !*quick)
	defer j.close()
	var v engine.Verification
	if err == nil {
		v, err = core.Verify(ctx, r, j.env, !*quick)
	}
	if ctx.Err() != nil {
		return cli.ErrStopped
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if note != "" {
		v.Notes = append(v.Notes, note)
	}
	code := printVerification(s.stdout, v, r, out.all)
	if code == cli.ExitOK && len(out.files) > 0 {
		err, _ = out.write(io.Discard, format.Run{Audits: []format.Audit{{Name: r.Head().Subject, Report: r}}})
	}
	return s.told("", code, err, nil)
}

// again gives a report's job what the user brings. note: something has another name now.
func (j *job) again(ctx context.Context, r report.View, whole bool) (note string, err error) {
	switch r := r.(type) {
	case pair.Report:
		switch {
		case len(j.files) > 0:
			return "", given("-data", "absent except for a report of dpscope canaries, one-run or scores", "leave the flag out")
		case !whole && j.Mechanism() == "" && j.Table.File == "": // what the report says of it is enough
		case j.userKind() != "" || r.Inputs.User != nil && len(j.Recorded.Files) == 0:
			return j.replayUser(ctx, r)
		case j.Table.File != "" || r.Inputs.Labelled != nil:
			return j.replayTable(r)
		default:
			return j.replayRecorded(r)
		}
		return "", nil
	case scores.Report:
		if whole && len(j.files) == 0 && len(r.Plan.Data) > 0 {
			return "", absent("-data", "the file of scores, or both", "name it with -data FILE, twice for two files, or check the bounds from the report's counts alone with -quick")
		}
		if whole {
			j.env.Scores, err = j.readScores(j.files, r.Plan.ScoreColumns)
		}
		return "", err
	}
	if j.User.Exec == "" {
		return "", j.read()
	}
	t := core.Trainer(j.plan)
	if t == nil {
		return "", given("-exec", "absent: the report is of a source that dpscope has", "leave the flag out")
	}
	if t.Command != j.User.Exec { // it may have moved
		note = fmt.Sprintf("the report names %q; this replay ran %q", t.Command, j.User.Exec)
	}
	return note, j.open(ctx, &meter{})
}

func printVerification(stdout io.Writer, v engine.Verification, r report.View, all bool) int {
	_, ofScores := r.(scores.Report)
	printLines(stdout, v, audit.Pick(ofScores, "read", "drawn"), all)
	own, ofPair := r.(pair.Report)
	bounded := r.Head().LowerBound != nil
	switch {
	case !v.OK():
		fmt.Fprintln(stdout, differs)
		return cli.ExitViolation
	case ofPair && !own.Certified() && own.Sequential == nil:
		fmt.Fprintln(stdout, "Nothing to replay: the run ended before certification. The rest follows from its settings.")
	case !bounded && v.Recomputed:
		fmt.Fprintln(stdout, "Recomputed: what the report says follows from its counts, which were not drawn again. There is no bound.")
	case !bounded:
		fmt.Fprintln(stdout, "Replayed: same counts. There is no bound, as the run did not complete.")
	case v.Recomputed:
		fmt.Fprintln(stdout, "Recomputed: bound and verdict follow from the report's counts. The counts themselves were not drawn again.")
	default:
		fmt.Fprintln(stdout, "Replayed: same counts, bound and verdict.")
	}
	return cli.ExitOK
}

const mostDifferences = 6

// printLines says what was found. Equal fields are counted in groups unless all are asked for.
func printLines(stdout io.Writer, v engine.Verification, drawn string, all bool) {
	fmt.Fprintln(stdout, phrase.Visible(v.Summary))
	say := func(format string, args ...any) { fmt.Fprintln(stdout, "  "+phrase.Line(fmt.Sprintf(format, args...))) }
	equal := func(how string, parts []engine.Part) {
		fields, names := 0, []string{}
		for _, p := range parts {
			fields += p.Fields
			names = append(names, fmt.Sprintf("%s %d", p.Name, p.Fields))
		}
		if fields > 0 {
			say("%s again, equal: %s (%s)", how, phrase.Count(fields, "field"), strings.Join(names, ", "))
		}
	}
	var draws, follows []engine.Part
	for _, g := range v.Groups() {
		if !v.Recomputed && (g.Name == engine.Search || g.Name == engine.Counts) {
			draws = append(draws, g)
		} else {
			follows = append(follows, g)
		}
	}
	equal(drawn, draws)
	equal("computed", follows)
	for i, what := range v.Differences {
		if i == mostDifferences && !all {
			say("DIFFERS: %d more, which dpscope verify -all names", len(v.Differences)-i)
			break
		}
		say("DIFFERS: %s", what)
	}
	for _, s := range v.Skipped {
		say("%s", s.Words(all))
	}
	for _, what := range v.Notes {
		say("note: %s", what)
	}
	if all {
		for _, p := range v.Checked {
			say("equal: %s (%s)", p.Name, phrase.Count(p.Fields, "field"))
		}
	}
}
