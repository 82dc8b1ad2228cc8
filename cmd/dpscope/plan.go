package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
	"github.com/dpscope/dpscope/internal/training"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

// planFlags ask for the audits of a file.
type planFlags struct {
	file string
	only []string
	text []byte // of the file, once it is read
}

func (f *planFlags) register(s *cli.Flags) {
	f.registerFile(s)
	s.Func("only", "run only the audit of the plan with this `name`, with the same result as in the whole plan; may be given more than once", func(v string) error {
		f.only = append(f.only, v)
		return nil
	})
}

func (f *planFlags) registerFile(s *cli.Flags) {
	s.StringVar(&f.file, "plan", "", "`file` with several audits, which share one error (docs/ci.md); - is standard input")
}

func (f *planFlags) given() bool { return f.file != "" || len(f.only) > 0 }

// withPlan are the flags that may stand beside -plan; the file says all else.
var withPlan = []string{"plan", "only", "format", "output", "location", "strict", "workers", "shards", "search-only", "after", "partial"}

// read reads the plan. Its names of files are relative to its folder.
func (f *planFlags) read(stdin io.Reader) (*suite.File, error) {
	if f.file == "" {
		return nil, &audit.InputError{Field: "-plan", Found: audit.Absent, Want: "the file that has the audits of -only"}
	}
	data, err := readReport(f.file, stdin)
	if err != nil {
		return nil, err
	}
	f.text = data
	return f.parse(data)
}

// parse reads a plan that was the file's.
func (f *planFlags) parse(data []byte) (*suite.File, error) {
	file, err := suite.Parse(data, f.file)
	if err != nil || f.file == "-" {
		return file, err
	}
	beside := func(name *string) {
		if *name != "" && !filepath.IsAbs(*name) {
			*name = filepath.Join(filepath.Dir(f.file), filepath.FromSlash(*name))
		}
	}
	for _, e := range file.Audits {
		if e.Recorded != nil {
			for i := range e.Recorded.Files {
				beside(&e.Recorded.Files[i])
			}
		}
		if e.User != nil {
			beside(&e.User.Wasm)
		}
		if e.Scores != nil {
			for i := range e.Scores.Files {
				beside(&e.Scores.Files[i])
			}
		}
	}
	for i := range file.Audits {
		beside(&file.Audits[i].Data)
	}
	return file, nil
}

// planned is one audit of a plan, ready to run.
type planned struct {
	name  string
	plan  any // of the kind's type
	given core.Env
	audit core.Audit // of the plan, once it was checked
	place *format.Location
	end   func() // ends what the user brought; nil where there is nothing to end
	// broken is why the user's program cannot be audited: the other audits of the plan run.
	broken error
}

// run does the audit.
func (p *planned) run(ctx context.Context, workers int, show *meter) (report.View, error) {
	g := p.given
	g.Pool, g.Generator, g.Now = engine.LocalPool(workers), cli.Generator(), cli.Clock()
	show.watch("", p.plan, &g)
	return p.audit.Run(ctx, g)
}

// endAll ends what the audits hold.
func endAll(all []planned) {
	for _, p := range all {
		if p.end != nil {
			p.end()
		}
	}
}

// prepare checks the audits with those indices: nothing runs when one of them is
// wrong, but where they are to be run, programs that are broken are noted. All files are read before signals are heard; then, where the user brought
// something that has to be ended or with heard, ctx ends with the first one.
func (f *planFlags) prepare(file *suite.File, chosen []int, heard bool, notes io.Writer) (ctx context.Context, all []planned, end func(), err error) {
	all = make([]planned, len(chosen))
	run := heard
	at := func(k int, err error) error {
		return fmt.Errorf("%s: audits[%d] (%s): %w", f.file, chosen[k], all[k].name, err)
	}
	for k, i := range chosen {
		e := file.Audits[i]
		all[k] = planned{name: e.Name, plan: file.Audit(i), given: core.Env{Catalogue: catalogue}}
		heard = heard || e.User != nil || e.Trains()
		if err := all[k].read(e, intake{stderr: notes}); err != nil {
			return nil, nil, nil, at(k, err)
		}
	}
	ctx, stop := context.Background(), func() {}
	if heard {
		ctx, stop = untilSignal()
	}
	end = func() {
		endAll(all)
		stop()
	}
	for k, i := range chosen {
		p := &all[k]
		err := p.complete(ctx, file.Audits[i], notes)
		if run && p.broken != nil && ctx.Err() == nil {
			err = nil
		}
		if err == nil {
			p.place, err = f.placed(file, i)
		}
		if err != nil {
			stopped := ctx.Err() != nil
			end()
			if stopped {
				return nil, nil, nil, cli.ErrStopped
			}
			return nil, nil, nil, at(k, err)
		}
	}
	return ctx, all, end, nil
}

// read reads the audit's files.
func (p *planned) read(e suite.Entry, in intake) (err error) {
	switch {
	case e.Scores != nil:
		p.given.Scores, err = in.scores(e.Scores.Files, e.Scores.Plan.ScoreColumns)
		return err
	case e.Data != "":
		p.given.File, err = readData(e.Data)
		return err
	case e.Recorded == nil:
		return nil
	}
	p.given.Catalogue, err = recordedCatalogue(*e.Recorded, in)
	return err
}

// complete starts what the audit needs, and checks it.
func (p *planned) complete(ctx context.Context, e suite.Entry, notes io.Writer) (err error) {
	if e.User != nil {
		flags := externalFlags{External: e.External(), timeout: command.DefaultTimeout}
		if p.given.Catalogue, p.end, p.broken = flags.catalogue(ctx, p.plan.(pair.Plan), notes); p.broken != nil {
			return p.broken
		}
	}
	if p.broken = p.openTrainer(ctx, notes); p.broken != nil {
		return p.broken
	}
	p.audit, err = core.Resolve(p.plan, p.given)
	return err
}

// placed is where audit i is in the user's code, by default its line of the plan.
func (f *planFlags) placed(file *suite.File, i int) (*format.Location, error) {
	if where := file.Audits[i].Location; where != "" {
		l, err := format.ParseLocation(where)
		return &l, err
	}
	return f.place(file.Lines[i]), nil
}

// openTrainer starts the program that trains for the audit, where one does, and asks for its
// first training twice.
func (p *planned) openTrainer(ctx context.Context, notes io.Writer) error {
	t := core.Trainer(p.plan)
	if t == nil {
		return nil
	}
	program, sources, err := training.Open(ctx, t.Command, command.DefaultTrainingTimeout, nil)
	if err != nil {
		return err
	}
	p.given.Sources, p.end = sources, program.Close
	return training.Check(program, p.plan, p.given, nil, notes)
}

// place is a line of the plan, as seen from the folder in which the command
// runs; nil for standard input.
func (f *planFlags) place(line int) *format.Location {
	if f.file == "-" {
		return nil
	}
	path := f.file
	if filepath.IsAbs(path) {
		if here, err := os.Getwd(); err == nil {
			if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
				path = rel
			}
		}
	}
	return &format.Location{File: filepath.ToSlash(path), Line: line}
}

// auditPlan is dpscope audit -plan.
func auditPlan(f *auditFlags, stdin io.Reader, stdout, stderr io.Writer) int {
	var alien error
	f.Visit(func(x *flag.Flag) {
		if !slices.Contains(withPlan, x.Name) && alien == nil {
			alien = &audit.InputError{Field: "-" + x.Name, Found: "given", Want: "absent with -plan", Remedy: "the plan says what is audited and how; the flags allowed with it are -" + strings.Join(withPlan[1:], ", -")}
		}
	})
	if alien != nil {
		return fail(stderr, alien)
	}
	file, err := f.suite.read(stdin)
	if err != nil {
		return fail(stderr, err)
	}
	chosen, err := file.Choose(f.suite.only)
	if err == nil && f.shards.Given() {
		err = shares.Dividable(file, chosen)
	}
	if err != nil {
		return fail(stderr, err)
	}
	ctx, todo, endAll, err := f.suite.prepare(file, chosen, true, stderr)
	if err != nil {
		return fail(stderr, err)
	}
	defer endAll()
	for _, p := range todo {
		if p.broken != nil && (f.shards.Given() || len(todo) == 1) {
			return fail(stderr, fmt.Errorf("%s: audit %s: %w", f.suite.file, p.name, p.broken))
		}
	}
	if f.shards.Given() {
		return f.dividePlan(ctx, todo, stderr)
	}
	return f.runPlan(ctx, file, chosen, todo, stdout, stderr)
}

// runPlan runs the audits of a plan and writes their report.
func (f *auditFlags) runPlan(ctx context.Context, file *suite.File, chosen []int, todo []planned, stdout, stderr io.Writer) int {
	var audited []suite.Audited
	var places []*format.Location
	var ran []int
	var broken []format.Broken
	for i, p := range todo {
		if p.broken != nil {
			fail(stderr, fmt.Errorf("audit %s: %w", p.name, p.broken))
			broken = append(broken, format.Broken{Name: p.name, Why: p.broken.Error()})
			continue
		}
		show := newMeter(stderr)
		show.before = fmt.Sprintf("%d/%d %.20q: ", i+1, len(todo), p.name)
		report, err := p.run(ctx, *f.workers, show)
		show.clear()
		if err != nil {
			fail(stderr, fmt.Errorf("audit %s: %w", p.name, err))
		}
		audited = append(audited, suite.Audited{Name: p.name, Report: report})
		places, ran = append(places, p.place), append(ran, chosen[i])
	}
	if len(audited) == 0 {
		return cli.ExitUsage
	}
	code := f.out.finishPlan(stdout, stderr, file, ran, audited, places, broken)
	if broken != nil && code != cli.ExitViolation {
		return cli.ExitUsage
	}
	return code
}

// finishPlan writes the report of the chosen audits of a file in all forms, and returns
// the exit code. places say where each is in the user's code; broken are those that could
// not be audited.
func (f *formatFlags) finishPlan(stdout, stderr io.Writer, file *suite.File, chosen []int, audited []suite.Audited, places []*format.Location, broken []format.Broken) int {
	given, _ := f.place() // it was checked
	run := format.Run{Strict: f.strict, Broken: broken}
	end := audit.Completed
	for k, a := range audited {
		place := places[k]
		if given != nil && file.Audits[chosen[k]].Location == "" {
			place = given
		}
		if a.Report.Head().Termination.Reason == audit.Stopped {
			end = audit.Stopped
		}
		run.Audits = append(run.Audits, format.Audit{Name: a.Name, Report: a.Report, Location: place})
	}
	whole := suite.NewReport(file, cli.Generator(), audited)
	run.Summary, run.Value = whole.Summary, whole
	files, printed := f.write(stdout, run)
	return told(stderr, whole.Summary, cli.VerdictCode(whole.Verdict, end, f.strict), files, printed)
}

// verifyPlan is dpscope verify of a plan's report.
func verifyPlan(name string, data []byte, f planFlags, workers int, whole bool, stdin io.Reader, stdout, stderr io.Writer) int {
	report, err := suite.ParseReport(data)
	if err != nil {
		return fail(stderr, fmt.Errorf("%s: %w", name, err))
	}
	ctx := context.Background()
	var file *suite.File
	todo := map[string]planned{}
	if f.file != "" {
		if file, err = f.read(stdin); err != nil {
			return fail(stderr, err)
		}
		var names []string
		for _, a := range report.Audits {
			names = append(names, a.Name)
		}
		chosen, err := file.Choose(names)
		if err != nil {
			return fail(stderr, fmt.Errorf("%s is not of this plan: %w", name, err))
		}
		heard, all, endAll, err := f.prepare(file, chosen, false, stderr)
		if err != nil {
			return fail(stderr, err)
		}
		ctx = heard
		defer endAll()
		for _, p := range all {
			todo[p.name] = p
		}
	}
	code := cli.ExitOK
	for _, a := range report.Audits {
		fmt.Fprintf(stdout, "== %s\n\n", a.Name)
		v, err := verifyAudit(ctx, a, todo, workers, whole)
		if ctx.Err() != nil {
			return fail(stderr, cli.ErrStopped)
		}
		if err != nil {
			return fail(stderr, fmt.Errorf("%s: audit %s: %w", name, a.Name, err))
		}
		code = max(code, printVerification(stdout, v, a.Report))
		fmt.Fprintln(stdout)
	}
	fmt.Fprint(stdout, "== all\n\n")
	v := report.Verify(file)
	printLines(stdout, v)
	if !v.OK() {
		code = cli.ExitViolation
	}
	if code != cli.ExitOK {
		fmt.Fprintln(stdout, "Not replayed: the report does not match its own settings.")
		return code
	}
	fmt.Fprintln(stdout, "Replayed: all audits, their shares of the error and the verdict.")
	return code
}

// verifyAudit replays one audit.
func verifyAudit(ctx context.Context, a suite.Audited, todo map[string]planned, workers int, whole bool) (v engine.Verification, err error) {
	p, ok := todo[a.Name]
	if !ok {
		if err := needsPlan(a.Report); err != nil {
			return v, err
		}
		p.given.Catalogue = catalogue
	}
	p.given.Pool = engine.LocalPool(workers)
	v, err = core.Verify(ctx, a.Report, p.given, whole)
	if err != nil || !ok {
		return v, err
	}
	v.Same(audit.EqualJSON(core.PlanOf(a.Report), p.audit.Plan()), "what the plan asks for", "the report is of other settings")
	return v, nil
}

// needsPlan refuses a report that only the plan's own files replay.
func needsPlan(r report.View) error {
	missing := false
	switch r := r.(type) {
	case pair.Report:
		missing = r.Inputs.Samples != nil || r.Inputs.User != nil
	case canary.Report:
		missing = r.Plan.Data != "" || r.Plan.Trainer != nil
	}
	if missing {
		return &audit.InputError{Field: "-plan", Found: audit.Absent, Want: "the plan of this report, which names the files of its audits and what you brought"}
	}
	return nil
}
