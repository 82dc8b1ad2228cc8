// Command dpscope-beam audits as dpscope does, and lets Apache Beam draw what is certified: on this machine by Beam's
// runner prism, or on Dataflow, Flink or Spark by Beam's flags. It is a module of its own: Beam needs much.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
	"github.com/dpscope/dpscope/internal/training"
	"github.com/dpscope/dpscope/wasm/stills"
)

const usage = `dpscope-beam audits as dpscope does, and lets Apache Beam draw what is certified.

Usage:
  dpscope-beam audit -mechanism NAME [-epsilon E] [flags]   an audit of outputs
  dpscope-beam audit -plan FILE [-only NAME] [flags]        several audits
  dpscope-beam canaries -epsilon E -delta D [flags]         an audit by planted records

The settings are those of dpscope. Beam's flags choose the runner: without -runner it is
prism, in this process. Other runners need -work with a folder that their workers see.
Flags of a command: dpscope-beam COMMAND -h.
Exit codes: 0 no violation found, 1 violation, 2 usage or input error, 3 inconclusive (with -strict, or stopped).
`

func main() {
	if slices.ContainsFunc(os.Args[1:], func(a string) bool {
		return strings.TrimLeft(a, "-") == "worker" || strings.HasPrefix(strings.TrimLeft(a, "-"), "worker=")
	}) {
		endWithParent()
		flag.Parse()
		beam.Init() // a runner started this process as a worker: it does not return
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return cli.ExitUsage
	}
	code, err := dispatch(args[0], args[1:], stdout, stderr)
	if err != nil {
		return cli.Fail("dpscope-beam", stderr, err)
	}
	return code
}

func dispatch(name string, args []string, stdout, stderr io.Writer) (int, error) {
	f := &jobFlags{Flags: cli.NewFlags("dpscope-beam "+name, stderr), stdout: stdout, stderr: stderr}
	switch name {
	case "audit":
		return f.audit(args)
	case "canaries":
		return f.canaries(args)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return cli.ExitOK, nil
	}
	return 0, audit.UnknownName("command", name, []string{"audit", "canaries"})
}

type jobFlags struct {
	*cli.Flags
	stdout, stderr io.Writer

	work    string
	shares  int
	tries   int
	workers *int
	process bool
	format  string
	out     string
	strict  bool
	verbose bool
	exec    training.Flags
	trainer trainer

	own [2]string // endpoint and environment_type as the user gave them; prism sets them too
}

func (f *jobFlags) register() {
	s := f.Flags
	s.StringVar(&f.work, "work", "", "`folder` for the parts of the audit, gs://BUCKET/FOLDER or one of a disk that all workers see; run again with the same one, the command goes on. Default: a folder of this run's own, with a runner on this machine")
	s.Count(&f.shares, "shares", 0, "shares that the audit is cut into; 0: as many as there are, or 64")
	s.IntVar(&f.tries, "tries", 3, "how `often` a job that fails is begun without having drawn a further share")
	f.workers = s.Int("workers", 0, "`goroutines` of a share; 0: one per processor where the runner is in this process, else one. The result does not depend on it")
	s.BoolVar(&f.process, "process", false, "with prism, draw in a process of its own: where it dies, another one draws what is missing")
	s.Format(&f.format, "what standard output gets: "+strings.Join(format.Formats, ", "), format.Formats...)
	s.StringVar(&f.out, "o", "", "JSON `file` of the report, beside standard output")
	s.BoolVar(&f.strict, "strict", false, "exit with 3 when the run is inconclusive")
	s.BoolVar(&f.verbose, "verbose", false, "show what Beam logs")
	s.Check(f.valid)
	flag.CommandLine.VisitAll(func(own *flag.Flag) {
		if s.Lookup(own.Name) == nil {
			s.Var(beamValue{own}, own.Name, "of Beam: "+own.Usage)
		}
	})
}

func (f *jobFlags) valid() error {
	f.own = [2]string{f.beam("endpoint"), f.beam("environment_type")}
	process := audit.Require(!f.process || f.prism(), "-process",
		"given with another runner or with -endpoint or -environment_type", "prism, which runs in this process")
	seen := f.work != "" || f.prism() || f.inProcess()
	work := audit.Require(seen, "-work", audit.Absent, "a folder that the workers of %s see", beamFlag("runner"))
	return audit.First(
		audit.Within("-shares", f.shares, 0, shares.Most),
		audit.Require(f.tries >= 1, "-tries", f.tries, "at least 1"),
		audit.Within("-workers", *f.workers, 0, 1024),
		audit.Remedy("leave it out: other runners start workers themselves, and again where they die", process),
		audit.Remedy("for example -work gs://BUCKET/FOLDER", work),
	)
}

func (f *jobFlags) dry() bool { return beamFlag("dry_run") == "true" }

func (f *jobFlags) prism() bool {
	return slices.Contains([]string{"", "prism", "PrismRunner"}, beamFlag("runner")) && f.own[0] == "" && f.own[1] == ""
}

// inProcess: a runner that is elsewhere sends its work to this process.
func (f *jobFlags) inProcess() bool { return strings.EqualFold(f.own[1], "loopback") }

func (f *jobFlags) goroutines() int {
	if f.prism() || f.inProcess() {
		return f.threads()
	}
	return max(1, *f.workers)
}

// threads are one where a program trains: a training has the machine to itself.
func (f *jobFlags) threads() int {
	if *f.workers == 0 && f.trainer.Exec == "" {
		return runtime.GOMAXPROCS(0)
	}
	return max(1, *f.workers)
}

// lanes are how many shares prism begins at once.
func (f *jobFlags) lanes() int {
	return audit.Pick(f.prism() && f.trainer.Exec == "", 2*runtime.GOMAXPROCS(0), 1)
}

// beamValue is a flag of Beam's, which Beam reads where it defined it.
type beamValue struct{ *flag.Flag }

func (b beamValue) String() string {
	if b.Flag == nil {
		return ""
	}
	return b.DefValue
}

func (b beamValue) Set(v string) error { return flag.Set(b.Name, v) }

func (b beamValue) IsBoolFlag() bool {
	own, ok := b.Value.(interface{ IsBoolFlag() bool })
	return ok && own.IsBoolFlag()
}

func (f *jobFlags) beam(name string) string {
	if !f.Given(name) {
		return ""
	}
	return beamFlag(name)
}

func beamFlag(name string) string { return flag.Lookup(name).Value.String() }

func (f *jobFlags) audit(args []string) (int, error) {
	asked := cli.Settings(f.Flags, pair.Keys())
	name := f.String("plan", "", "`file` with several audits, which share one error")
	var only []string
	f.Several(&only, "only", "run the audit of this `name` of the plan only; may be given more than once")
	f.register()
	if code, ok := f.Parse(args, 0); !ok {
		return code, nil
	}
	if *name == "" {
		plan := pair.Plan{Version: pair.PlanVersion}
		if err := asked.Read(&plan); err != nil {
			return 0, err
		}
		if plan.Mechanism == "" {
			return 0, &audit.InputError{Field: "-mechanism", Found: audit.Absent, Want: "a mechanism's name, or -plan with a file of audits", Remedy: "dpscope list shows all"}
		}
		return f.do(report.Pair, plan, nil)
	}
	for _, k := range pair.Keys() {
		if f.Given(k.Name) {
			return 0, &audit.InputError{Field: "-" + k.Name, Found: "given", Want: "absent with -plan", Remedy: "the plan says what is audited and how"}
		}
	}
	plan, err := readPlan(*name, only)
	if err != nil {
		return 0, err
	}
	return f.do(suite.ReportKind, plan, nil)
}

func readPlan(name string, only []string) (shares.Several, error) {
	s := shares.Several{File: name, Only: only, Data: map[string][]byte{}}
	var err error
	if s.Text, err = os.ReadFile(name); err != nil {
		return s, err
	}
	file, err := suite.Parse(s.Text, name)
	if err != nil {
		return s, err
	}
	for _, e := range file.Audits {
		data := e.Data
		if data != "" && !filepath.IsAbs(data) {
			data = filepath.Join(filepath.Dir(name), filepath.FromSlash(data))
		}
		if data != "" && err == nil {
			s.Data[e.Name], err = os.ReadFile(data)
		}
	}
	return s, err
}

func (f *jobFlags) canaries(args []string) (int, error) {
	asked := cli.Settings(f.Flags, append(canary.Keys(), canary.TrainerKey()))
	f.exec.Register(f.Flags)
	f.Check(func() error {
		f.trainer = trainer{f.Lookup("exec").Value.String(), f.exec.Timeout}
		return nil
	})
	f.Func("d", "dimension, short for -param d=", func(v string) error { return f.Set("param", "d="+v) })
	name := f.String("data", "", "CSV `file`: examples for dp-sgd, or vectors for the design vectors")
	f.register()
	if code, ok := f.Parse(args, 0); !ok {
		return code, nil
	}
	plan := canary.Plan{Version: canary.PlanVersion}
	err := asked.Read(&plan)
	var data []byte
	if err == nil && *name != "" {
		data, err = os.ReadFile(*name)
	}
	if err != nil {
		return 0, err
	}
	return f.do(canary.Kind, plan, data)
}

// workAs makes this program what workers run: Beam would compile one, from sources.
func workAs() error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	if runtime.GOOS == "linux" && beamFlag("worker_binary") == "" {
		return flag.Set("worker_binary", own)
	}
	return nil
}

// do audits, and returns the exit code. plan is of the kind, or [shares.Several].
func (f *jobFlags) do(kind string, plan any, data []byte) (int, error) {
	if err := workAs(); err != nil {
		return 0, err
	}
	if !beam.Initialized() {
		beam.Init()
	}
	if !f.verbose && !f.dry() { // what went wrong comes as an error too
		slog.SetDefault(slog.New(slog.DiscardHandler))
		log.SetLogger(quiet{})
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second one ends the process
	asked, err := shares.New(kind, plan, data)
	if err != nil {
		return 0, err
	}
	j := &job{audit: asked, store: store(f.work), jobFlags: f, show: cli.NewMeter(f.stderr, false)}
	if f.dry() {
		return cli.ExitOK, j.showOnly(ctx)
	}
	if f.work == "" {
		dir, err := os.MkdirTemp("", "dpscope-beam-*")
		if err != nil {
			return 0, err
		}
		j.store = store(filepath.ToSlash(dir))
	}
	found, err := j.do(ctx)
	j.show.Clear()
	if ctx.Err() != nil {
		err = cli.ErrStopped
	}
	if err != nil && j.begun {
		fmt.Fprintf(f.stderr, "dpscope-beam: what was drawn is kept; the same command with -work %s goes on\n", j.store)
	}
	if err != nil {
		return 0, err
	}
	if f.work == "" {
		os.RemoveAll(string(j.store))
	}
	return f.finish(found)
}

type quiet struct{}

func (quiet) Log(context.Context, log.Severity, int, string) {}

func (f *jobFlags) finish(data []byte) (int, error) {
	audits, whole, err := suite.AuditsIn(data)
	if err != nil {
		return 0, err
	}
	run := format.Run{Strict: f.strict, Pictures: stills.Of}
	verdict, end := audits[0].Report.Head().Verdict, audit.Completed
	for _, a := range audits {
		h := a.Report.Head()
		run.Audits = append(run.Audits, format.Audit{Name: cmp.Or(a.Name, h.Subject), Report: a.Report})
		if h.Termination.Reason == audit.Stopped {
			end = audit.Stopped
		}
	}
	if whole != nil {
		run.Summary, run.Value, verdict = whole.Summary, *whole, whole.Verdict
	}
	code := cli.VerdictCode(verdict, end, f.strict)
	err = format.Write(f.stdout, f.format, run)
	if f.out != "" {
		err = errors.Join(err, cli.WriteWhole(f.out, data))
	}
	if err != nil && code == cli.ExitViolation { // which keeps its exit code
		cli.Fail("dpscope-beam", f.stderr, err)
		err = nil
	}
	return code, err
}
