package main

import (
	"context"
	"flag"
	"fmt"
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

type planFlags struct {
	file string
	only []string
	// Once it is read:
	text []byte
	plan *suite.File
}

func (f *planFlags) register(s *cli.Flags) {
	f.registerFile(s)
	s.Several(&f.only, "only", "run only the audit of the plan with this `name`, with the same result as in the whole plan; may be given more than once")
}

func (f *planFlags) registerFile(s *cli.Flags) {
	s.StringVar(&f.file, "plan", "", "`file` with several audits, which share one error (docs/ci.md); - is standard input")
}

// withPlan are the flags that may stand beside -plan.
var withPlan = []string{"plan", "only", "all", "format", "output", "location", "strict", "workers", "shards", "search-only", "after", "partial"}

// read reads the plan, whose names of files are relative to its folder.
func (f *planFlags) read(s streams) (err error) {
	if f.file == "" {
		return absent("-plan", "the file that has the audits of -only")
	}
	if f.text, err = s.read(f.file); err != nil {
		return err
	}
	f.plan, err = suite.Parse(f.text, f.file)
	if err != nil || f.file == "-" {
		return err
	}
	beside := func(name *string) {
		if *name != "" && !filepath.IsAbs(*name) {
			*name = filepath.Join(filepath.Dir(f.file), filepath.FromSlash(*name))
		}
	}
	for i := range f.plan.Audits {
		e := &f.plan.Audits[i]
		beside(&e.Data)
		if e.User != nil {
			beside(&e.User.Wasm)
		}
		var files []string
		if e.Recorded != nil {
			files = e.Recorded.Files
		} else if e.Scores != nil {
			files = e.Scores.Files
		}
		for k := range files {
			beside(&files[k])
		}
	}
	return nil
}

// jobs are checked: nothing runs when one is wrong, but broken programs are noted where all are to run. All files are
// read before signals are heard, where there is something to end.
func (f *planFlags) jobs(s streams, chosen []int, workers int, run bool) (ctx context.Context, all []job, end func(), err error) {
	ctx, stop := context.Background(), func() {}
	end = func() {
		for _, j := range all {
			j.close()
		}
		stop()
	}
	heard := run
	at := func(k int, err error) error {
		if ctx.Err() != nil {
			return cli.ErrStopped
		}
		return fmt.Errorf("%s: audits[%d] (%s): %w", f.file, chosen[k], all[k].name, err)
	}
	for k, i := range chosen {
		e := f.plan.Audits[i]
		b := &brought{External: e.External(), files: []string{e.Data}, streams: streams{stderr: s.stderr}, Flags: training.Flags{Timeout: command.DefaultTimeout, Check: true}}
		j := newJob(b, f.plan.Audit(i), workers)
		j.name = e.Name
		if e.Scores != nil {
			b.files = e.Scores.Files
		}
		if t := core.Trainer(j.plan); t != nil {
			b.User.Exec, b.Timeout = t.Command, command.DefaultTrainingTimeout
		}
		heard = heard || b.userKind() != ""
		err := j.read()
		if all = append(all, j); err != nil {
			return ctx, all, end, at(k, err)
		}
	}
	if heard {
		ctx, stop = untilSignal()
	}
	for k := range chosen {
		j := &all[k]
		if j.broken = j.open(ctx, &meter{}); j.broken != nil {
			if run && ctx.Err() == nil {
				continue
			}
			return ctx, all, end, at(k, j.broken)
		}
		j.audit, err = core.Resolve(j.plan, j.env)
		if err == nil {
			_, err = f.placed(j.name, nil)
		}
		if err != nil {
			return ctx, all, end, at(k, err)
		}
	}
	return ctx, all, end, nil
}

// placed is where an audit is in the user's code, by default its line of the plan, if that is a file.
func (f *planFlags) placed(name string, given *format.Location) (*format.Location, error) {
	path, i := f.file, slices.Index(f.plan.Names(), name)
	if where := f.plan.Audits[i].Location; where != "" {
		l, err := format.ParseLocation(where)
		return &l, err
	}
	if given != nil || path == "-" {
		return given, nil
	}
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(path) {
		if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
	}
	return &format.Location{File: filepath.ToSlash(path), Line: f.plan.Lines[i]}, nil
}

func (f *auditFlags) auditPlan() error {
	var err error
	f.Visit(func(x *flag.Flag) {
		if !slices.Contains(withPlan, x.Name) && err == nil {
			err = given("-"+x.Name, "absent with -plan", "the plan says what is audited and how; the flags allowed with it are -"+strings.Join(withPlan[1:], ", -"))
		}
	})
	if err == nil {
		err = f.suite.read(f.streams)
	}
	var chosen []int
	if err == nil {
		chosen, err = f.suite.plan.Choose(f.suite.only)
	}
	if err == nil && f.shards.Given() {
		err = shares.Dividable(f.suite.plan, chosen)
	}
	if err != nil {
		return err
	}
	ctx, todo, end, err := f.suite.jobs(f.streams, chosen, *f.workers, true)
	defer end()
	if err != nil {
		return err
	}
	for _, j := range todo {
		if j.broken != nil && (f.shards.Given() || len(todo) == 1) {
			return fmt.Errorf("%s: audit %s: %w", f.suite.file, j.name, j.broken)
		}
	}
	if !f.shards.Given() {
		return f.runPlan(ctx, todo)
	}
	plan := shares.Several{File: f.suite.file, Only: f.suite.only, Text: f.suite.text, Data: map[string][]byte{}}
	for _, j := range todo {
		if j.env.File != nil {
			plan.Data[j.name] = j.env.File
		}
	}
	show := &meter{cli.NewMeter(f.stderr, false)}
	defer show.Clear()
	return f.shards.Do(ctx, suite.ReportKind, plan, nil, newJob(nil, nil, *f.workers).env, show.watch)
}

func (f *auditFlags) runPlan(ctx context.Context, todo []job) error {
	var audited []suite.Audited
	var broken []format.Broken
	for i, j := range todo {
		if j.broken != nil {
			f.fail(fmt.Errorf("audit %s: %w", j.name, j.broken))
			broken = append(broken, format.Broken{Name: j.name, Why: j.broken.Error()})
			continue
		}
		show := &meter{cli.NewMeter(f.stderr, false)}
		show.Before = fmt.Sprintf("%d/%d %.20q: ", i+1, len(todo), j.name)
		show.watch("", j.plan, &j.env)
		report, err := j.audit.Run(ctx, j.env)
		show.Clear()
		if err != nil {
			f.fail(fmt.Errorf("audit %s: %w", j.name, err))
		}
		audited = append(audited, suite.Audited{Name: j.name, Report: report})
	}
	if len(audited) == 0 {
		return exit(cli.ExitUsage)
	}
	err := f.out.finishPlan(f.streams, f.suite, audited, broken)
	if broken != nil && err != exit(cli.ExitViolation) {
		return exit(cli.ExitUsage)
	}
	return err
}

// finishPlan writes the report of a plan's audits.
func (f *formatFlags) finishPlan(s streams, of planFlags, audited []suite.Audited, broken []format.Broken) error {
	given, _ := f.place() // it was checked
	run := format.Run{Strict: f.strict, Broken: broken}
	end := audit.Completed
	for _, a := range audited {
		place, err := of.placed(a.Name, given)
		if err != nil {
			return err
		}
		if a.Report.Head().Termination.Reason == audit.Stopped {
			end = audit.Stopped
		}
		run.Audits = append(run.Audits, format.Audit{Name: a.Name, Report: a.Report, Location: place})
	}
	whole := suite.NewReport(of.plan, cli.Generator(), audited)
	run.Summary, run.Value = whole.Summary, whole
	files, printed := f.write(s.stdout, run)
	return s.told(whole.Summary, cli.VerdictCode(whole.Verdict, end, f.strict), files, printed)
}

func (s streams) verifyPlan(name string, data []byte, f planFlags, workers int, whole, all bool) error {
	report, err := suite.ParseReport(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	ctx := context.Background()
	todo := map[string]job{}
	if f.file != "" {
		if err = f.read(s); err != nil {
			return err
		}
		names := audit.Each(report.Audits, func(a suite.Audited) string { return a.Name })
		chosen, err := f.plan.Choose(names)
		if err != nil {
			return fmt.Errorf("%s is not of this plan: %w", name, err)
		}
		heard, all, end, err := f.jobs(s, chosen, workers, false)
		defer end()
		if err != nil {
			return err
		}
		ctx = heard
		for _, j := range all {
			todo[j.name] = j
		}
	}
	code := cli.ExitOK
	for _, a := range report.Audits {
		fmt.Fprintf(s.stdout, "== %s\n\n", a.Name)
		j, ok := todo[a.Name]
		if !ok {
			j, err = newJob(nil, nil, workers), needsPlan(a.Report)
		}
		var v engine.Verification
		if err == nil {
			v, err = core.Verify(ctx, a.Report, j.env, whole)
		}
		if ctx.Err() != nil {
			return cli.ErrStopped
		}
		if err != nil {
			return fmt.Errorf("%s: audit %s: %w", name, a.Name, err)
		}
		if ok {
			v.Same(audit.EqualJSON(core.PlanOf(a.Report), j.audit.Plan()), "what the plan asks for", "the report is of other settings")
		}
		code = max(code, printVerification(s.stdout, v, a.Report, all))
		fmt.Fprintln(s.stdout)
	}
	fmt.Fprint(s.stdout, "== all\n\n")
	v := report.Verify(f.plan)
	printLines(s.stdout, v, "drawn", all)
	if !v.OK() {
		code = cli.ExitViolation
	}
	if code != cli.ExitOK {
		fmt.Fprintln(s.stdout, differs)
		return exit(code)
	}
	fmt.Fprintln(s.stdout, "Replayed: all audits, their shares of the error and the verdict.")
	return nil
}

func needsPlan(r report.View) error {
	missing := core.Trainer(core.PlanOf(r)) != nil
	switch r := r.(type) {
	case pair.Report:
		missing = r.Inputs.Samples != nil || r.Inputs.User != nil
	case canary.Report:
		missing = missing || r.Plan.Data != ""
	}
	if missing {
		return absent("-plan", "the plan of this report, which names the files and programs of its audits")
	}
	return nil
}
