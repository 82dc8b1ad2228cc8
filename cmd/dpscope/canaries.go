package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/internal/cli"
)

// canaryFlags are the flags of dpscope canaries.
type canaryFlags struct {
	*cli.Flags

	source, relation, design, scale, interval string
	format                                    string
	beta, quantile                            float64
	runs, k, m, explore, tail, d              int
	workers                                   *int
	seed                                      uint64
	distinct, single, strict                  bool
	params                                    audit.Params
	claimed                                   claimFlags
	file                                      dataFlags
}

func newCanaryFlags(stderr io.Writer) *canaryFlags {
	f := &canaryFlags{Flags: cli.NewFlags("dpscope canaries", stderr)}
	s := f.Flags
	sources := source.Sources()
	names := make([]string, len(sources))
	for i, x := range sources {
		names[i] = x.Name
	}
	s.StringVar(&f.source, "source", names[0], "what is audited: "+strings.Join(names, ", "))
	f.claimed.register(s, "; the source's own noise follows it unless -param sets it", "no noise of Gaussian kind keeps a claim of 0")
	s.StringVar(&f.relation, "relation", "", "neighbouring relation of the claim: add-remove or replace; default: the source's first")
	s.StringVar(&f.design, "design", "", "distribution of the canaries: sphere, orthogonal, random-gradients, tail-singular, vectors, data-poisoning; default: the source's first")
	s.Count(&f.d, "d", 0, "dimension, short for -param d=")
	s.Count(&f.runs, "n", 0, "certification runs; 0: the source's default")
	s.Count(&f.k, "k", 0, "canaries inside a run; 0: the square root of -n")
	s.Count(&f.m, "m", 0, "fresh canaries a run; 0: as many as -k")
	s.Count(&f.explore, "explore", 0, "exploration runs, for the threshold; 0: as many as -n")
	s.StringVar(&f.interval, "interval", "", "how the bound is computed; default paired-betting. The report has all")
	s.Float64Var(&f.quantile, "quantile", 0, "keep the threshold between this quantile of the scores inside and its mirror image; 0: anywhere")
	f.file.register(s, "CSV `file`: vectors, one a line, for the designs that need them, or examples for dp-sgd", "a file of examples")
	s.Count(&f.tail, "tail", 0, "how many singular vectors; 0: half of all")
	s.StringVar(&f.scale, "scale", "", "norm of vectors from a file: unit, median (of its rows) or own; default unit")
	s.BoolVar(&f.distinct, "distinct", false, "no vector of the file comes twice in a run")
	s.BoolVar(&f.single, "single", false, "run the audit with one canary too, for equation 10; default: where runs are cheap")
	f.params = s.Params("source")
	s.Float64Var(&f.beta, "beta", 0.05, "allowed error of the bound; its confidence is 1 - beta")
	s.Seed(&f.seed, 42, "seed of all randomness")
	f.workers = s.Workers(0, "parallel workers; 0: one a processor. The result does not depend on it")
	s.TextOrJSON(&f.format)
	s.BoolVar(&f.strict, "strict", false, "exit with 3 when the run is inconclusive")
	return f
}

// plan makes the plan that the flags ask for.
func (f *canaryFlags) plan() (canary.Plan, error) {
	p := canary.Plan{Version: canary.PlanVersion, Source: f.source, Parameters: f.params, Relation: audit.Relation(f.relation), Design: source.Design(f.design),
		Runs: f.runs, K: f.k, M: f.m, Explore: f.explore, Interval: bounds.CanaryInterval(f.interval), Quantile: f.quantile, Beta: f.beta, Seed: f.seed}
	for _, n := range []struct {
		name  string
		value float64
		least float64
	}{{"n", float64(f.runs), 1}, {"k", float64(f.k), 1}, {"m", float64(f.m), 1}, {"d", float64(f.d), 1}, {"explore", float64(f.explore), 1}, {"tail", float64(f.tail), 1}, {"beta", f.beta, 1e-9}} {
		if err := atLeast(f.Flags, n.name, n.value, n.least); err != nil {
			return p, err
		}
	}
	claim, defaulted, err := f.claimed.claim(f.Flags)
	if err != nil {
		return p, err
	}
	p.Claim, p.DeltaDefaulted = &claim, defaulted
	if f.Given("d") {
		f.params["d"] = audit.ParamValue{Number: float64(f.d)}
	}
	if f.Given("tail") || f.Given("scale") || f.Given("distinct") {
		p.Pool = &source.Pool{Tail: f.tail, Scale: source.Scale(f.scale), Distinct: f.distinct}
	}
	if f.Given("single") {
		p.Single = &f.single
	}
	p.CSV, err = f.file.csv(f.Flags)
	return p, err
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
	if code, ok := f.Parse(args, 0); !ok {
		return code
	}
	plan, err := f.plan()
	if err != nil {
		return fail(stderr, err)
	}
	file, err := readData(f.file.data)
	if err != nil {
		return fail(stderr, err)
	}
	ctx, stop := untilSignal()
	defer stop()
	show := newMeter(stderr)
	run := canary.Run{Plan: plan, File: file, Sources: source.Sources(), Pool: core.LocalPool(catalogue, *f.workers), Generator: cli.Generator(), Now: cli.Clock()}
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
	printed := cli.Print(stdout, f.format, report.Text, report)
	return told(stderr, report.Summary, verdictCode(report.Verdict, report.Ended.Reason, f.strict), nil, printed)
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
