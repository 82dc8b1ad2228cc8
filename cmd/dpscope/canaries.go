package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/canary/train"
	"github.com/dpscope/dpscope/report"
)

// canaryFlags are the flags of dpscope canaries.
type canaryFlags struct {
	set *flag.FlagSet

	source, relation, design, scale, interval string
	data, format                              string
	label, bounds, scaling                    string
	epsilon, delta, beta, quantile            float64
	runs, k, m, explore, tail, workers        int
	d                                         int
	seed                                      uint64
	distinct, single, strict                  bool
	params                                    audit.Params
}

func newCanaryFlags(stderr io.Writer) *canaryFlags {
	f := &canaryFlags{set: flag.NewFlagSet("dpscope canaries", flag.ContinueOnError), params: audit.Params{}}
	s := f.set
	s.SetOutput(stderr)
	sources := source.Sources()
	names := make([]string, len(sources))
	for i, x := range sources {
		names[i] = x.Name
	}
	s.StringVar(&f.source, "source", names[0], "what is audited: "+strings.Join(names, ", "))
	s.Float64Var(&f.epsilon, "epsilon", 0, "claimed epsilon, above 0; the source's own noise follows it unless -param sets it")
	s.Float64Var(&f.delta, "delta", report.DefaultDelta, "claimed delta, in [0, 1); no noise of Gaussian kind keeps a claim of 0")
	s.StringVar(&f.relation, "relation", "", "neighbouring relation of the claim: add-remove or replace; default: the source's first")
	s.StringVar(&f.design, "design", "", "distribution of the canaries: sphere, orthogonal, random-gradients, tail-singular, vectors, data-poisoning; default: the source's first")
	countVar(s, &f.d, "d", 0, "dimension, short for -param d=")
	countVar(s, &f.runs, "n", 0, "certification runs; 0: the source's default")
	countVar(s, &f.k, "k", 0, "canaries inside a run; 0: the square root of -n")
	countVar(s, &f.m, "m", 0, "fresh canaries a run; 0: as many as -k")
	countVar(s, &f.explore, "explore", 0, "exploration runs, for the threshold; 0: as many as -n")
	s.StringVar(&f.interval, "interval", "", "how the bound is computed; default paired-betting. The report has all")
	s.Float64Var(&f.quantile, "quantile", 0, "keep the threshold between this quantile of the scores inside and its mirror image; 0: anywhere")
	s.StringVar(&f.data, "data", "", "CSV `file`: vectors, one a line, for the designs that need them, or examples for dp-sgd")
	s.StringVar(&f.label, "label", "", "column of the labels in a file of examples, its name or number; default the last")
	s.StringVar(&f.bounds, "bounds", "", "declared bounds of all features of a file of examples, as LOW,HIGH; default -1,1")
	s.StringVar(&f.scaling, "scaling", "", "of a file of examples: box (each feature into [-1, 1] by the bounds) or unit (each row to norm 1); default box")
	countVar(s, &f.tail, "tail", 0, "how many singular vectors; 0: half of all")
	s.StringVar(&f.scale, "scale", "", "norm of vectors from a file: unit, median (of its rows) or own; default unit")
	s.BoolVar(&f.distinct, "distinct", false, "no vector of the file comes twice in a run")
	s.BoolVar(&f.single, "single", false, "run the audit with one canary too, for equation 10; default: where runs are cheap")
	s.Func("param", "parameter of the source as name=value; may be given more than once", func(v string) error {
		name, value, err := audit.ParseParam(v)
		if err == nil {
			f.params[name] = value
		}
		return err
	})
	s.Float64Var(&f.beta, "beta", 0.05, "allowed error of the bound; its confidence is 1 - beta")
	f.seed = 42
	s.Var((*seedValue)(&f.seed), "seed", "seed of all randomness, a whole `number`")
	s.IntVar(&f.workers, "workers", 0, "parallel workers; 0: one a processor. The result does not depend on it")
	s.StringVar(&f.format, "format", "text", "text or json")
	s.BoolVar(&f.strict, "strict", false, "exit with 3 when the run is inconclusive")
	return f
}

// plan makes the plan that the flags ask for.
func (f *canaryFlags) plan() (canary.Plan, error) {
	given := map[string]bool{}
	f.set.Visit(func(x *flag.Flag) { given[x.Name] = true })
	p := canary.Plan{Version: canary.PlanVersion, Source: f.source, Parameters: f.params, Relation: audit.Relation(f.relation), Design: source.Design(f.design),
		Runs: f.runs, K: f.k, M: f.m, Explore: f.explore, Interval: bounds.CanaryInterval(f.interval), Quantile: f.quantile, Beta: f.beta, Seed: f.seed}
	// Zero means the default in a plan; a user who typed it meant it.
	for _, n := range []struct {
		name  string
		value float64
		least float64
	}{{"n", float64(f.runs), 1}, {"k", float64(f.k), 1}, {"m", float64(f.m), 1}, {"d", float64(f.d), 1}, {"explore", float64(f.explore), 1}, {"tail", float64(f.tail), 1}, {"beta", f.beta, 1e-9}} {
		if given[n.name] && !(n.value >= n.least) {
			return p, &audit.InputError{Field: "-" + n.name, Found: fmt.Sprint(n.value), Want: fmt.Sprintf("at least %v", n.least)}
		}
	}
	if !given["epsilon"] {
		return p, &audit.InputError{Field: "-epsilon", Found: "absent", Want: "the epsilon that is claimed", Remedy: "for example -epsilon 2 -delta 1e-5"}
	}
	if !(f.epsilon > 0) || math.IsInf(f.epsilon, 1) {
		return p, &audit.InputError{Field: "epsilon", Found: fmt.Sprint(f.epsilon), Want: "a finite number above 0"}
	}
	if math.IsNaN(f.delta) || f.delta < 0 || f.delta >= 1 {
		return p, audit.DPClaim(1, f.delta).Validate()
	}
	claim := audit.DPClaim(f.epsilon, f.delta)
	p.Claim, p.DeltaDefaulted = &claim, !given["delta"]
	if given["d"] {
		f.params["d"] = audit.ParamValue{Number: float64(f.d)}
	}
	if given["tail"] || given["scale"] || given["distinct"] {
		p.Pool = &source.Pool{Tail: f.tail, Scale: source.Scale(f.scale), Distinct: f.distinct}
	}
	if given["label"] || given["bounds"] || given["scaling"] {
		p.CSV = &train.CSV{Label: f.label, Scaling: f.scaling}
		if given["bounds"] {
			if n, err := fmt.Sscanf(f.bounds, "%g,%g", &p.CSV.Lower, &p.CSV.Upper); n != 2 || err != nil {
				return p, &audit.InputError{Field: "-bounds", Found: fmt.Sprintf("%q", f.bounds), Want: "two numbers with a comma between", Remedy: "for example -bounds 0,255"}
			}
		}
	}
	if given["single"] {
		p.Single = &f.single
	}
	return p, nil
}

// maxDataBytes bounds what is read as a file of vectors.
const maxDataBytes = 64 << 20

// readData reads the user's file; nil for no name.
func readData(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDataBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxDataBytes {
		return nil, &audit.InputError{Field: name, Found: "larger than 64 MiB", Want: "smaller"}
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// canaries is dpscope canaries.
func canaries(args []string, stdout, stderr io.Writer) int {
	f := newCanaryFlags(stderr)
	if code, ok := parse(f.set, args, stderr, 0); !ok {
		return code
	}
	if err := checkFormat(f.format, "text", "json"); err != nil {
		return fail(stderr, err)
	}
	plan, err := f.plan()
	if err != nil {
		return fail(stderr, err)
	}
	workers, err := workerCount(f.workers)
	if err != nil {
		return fail(stderr, err)
	}
	file, err := readData(f.data)
	if err != nil {
		return fail(stderr, err)
	}
	ctx, stop := untilSignal()
	defer stop()
	show := newMeter(stderr)
	run := canary.Run{Plan: plan, File: file, Sources: source.Sources(), Pool: core.LocalPool(catalogue, workers), Generator: generator(), Now: clock()}
	if show.w != nil {
		run.Progress = show.canaries(plan)
	}
	report, err := run.Do(ctx)
	show.clear()
	if err != nil && report.Schema == "" {
		return fail(stderr, err)
	}
	if err != nil {
		fail(stderr, err)
	}
	printed := printCanaries(stdout, report, f.format)
	return told(stderr, report.Summary, verdictCode(report.Verdict, report.Ended.Reason, f.strict), nil, printed)
}

func printCanaries(w io.Writer, r canary.Report, format string) error {
	if format == "text" {
		_, err := io.WriteString(w, r.Text())
		return err
	}
	data, err := audit.Canonical(r)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// canaries shows the progress of a canary audit.
func (m *meter) canaries(p canary.Plan) func(canary.Progress) {
	kind := p.Interval
	if kind == "" {
		kind = bounds.CanaryPairedBetting
	}
	return func(g canary.Progress) {
		if m.now()-m.last < 0.1 {
			return
		}
		m.last = m.now()
		line := fmt.Sprintf("%s %3.0f %%, %.2g runs/s", g.Phase, 100*float64(g.Runs)/float64(max(1, g.Total)), float64(g.Runs)/max(m.last, 1e-3))
		for _, b := range g.Bounds {
			if b.Interval == kind {
				line += fmt.Sprintf(", epsilon >= %.3f so far (not certified)", b.Epsilon)
			}
		}
		m.show(line)
	}
}
