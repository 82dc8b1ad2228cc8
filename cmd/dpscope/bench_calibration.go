package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/calibration"
)

// calibrationQuick is the plan under -quick.
var calibrationQuick = calibration.Plan{Runs: 6, Samples: 1000, Explore: 1000}

// benchCalibration runs audits of claims that hold under many seeds and counts
// their false alarms.
func benchCalibration(args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("dpscope bench calibration", flag.ContinueOnError)
	set.SetOutput(stderr)
	plan := calibration.Plan{Seed: 1}
	countVar(set, &plan.Runs, "runs", 150, "runs of a learner on a mechanism; a third as many of a finder, a fifth or a twenty-fifth of a slow learner, four times as many of a guarantee, twice of an anytime one")
	countVar(set, &plan.Samples, "samples", 2000, fmt.Sprintf("certification outputs a side; with -anytime the default is %d, five looks", calibration.AnytimeSamples))
	countVar(set, &plan.Explore, "explore", 2000, "exploration outputs a side and trial; 0: as many as -samples")
	countVar(set, &plan.Trials, "trials", 3, "pairs to explore, at least: a grid may need more")
	set.Float64Var(&plan.Beta, "beta", 0.05, "allowed error of an audit")
	set.Var((*seedValue)(&plan.Seed), "seed", "seed of all randomness, a whole `number`")
	set.BoolVar(&plan.Anytime, "anytime", false, "audits of learners and finders are anytime-valid; guarantees are audited both ways in any case")
	set.StringVar(&plan.Only, "only", "", "only mechanisms whose name contains this")
	mechanisms := set.String("mechanisms", "", "only these mechanisms, by their whole names, comma between")
	learners := set.String("learners", "", "only cells of these learners, comma between")
	finders := set.String("finders", "", "only cells of these finders, comma between")
	sharpOnly := set.Bool("sharp", false, fmt.Sprintf("only the sharp cells: bounds at their exact claims with a fixed event, %d runs each, tested against sizes that are known", calibration.SharpRuns))
	workers := set.Int("workers", 0, "parallel workers; 0: one a processor. The result does not depend on it")
	out := outputFlags(set)
	quick := set.Bool("quick", false, fmt.Sprintf("a minute: -runs %d -samples %d -explore %d where they are not given, without slow learners that -learners does not name",
		calibrationQuick.Runs, calibrationQuick.Samples, calibrationQuick.Explore))
	if code, ok := parse(set, args, stderr, 0); !ok {
		return code
	}
	if err := out.check(); err != nil {
		return fail(stderr, err)
	}
	n, err := workerCount(*workers)
	if err != nil {
		return fail(stderr, err)
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if *quick {
		plan.Cheap = true
		for name, to := range map[string][2]*int{"runs": {&plan.Runs, &calibrationQuick.Runs}, "samples": {&plan.Samples, &calibrationQuick.Samples}, "explore": {&plan.Explore, &calibrationQuick.Explore}} {
			if !given[name] {
				*to[0] = *to[1]
			}
		}
	}
	if plan.Anytime && !given["samples"] {
		plan.Samples = calibration.AnytimeSamples
	}
	plan.Mechanisms, plan.Learners, plan.Finders = namesOf(*mechanisms), namesOf(*learners), namesOf(*finders)
	cells, left, err := plan.Cells(seeded)
	if err != nil {
		return fail(stderr, err)
	}
	some := len(plan.Mechanisms)+len(plan.Learners)+len(plan.Finders)+len(plan.Only) > 0
	if *sharpOnly {
		if some {
			return fail(stderr, &audit.InputError{Field: "-sharp", Found: "beside -only, -mechanisms, -learners or -finders", Want: "one of them",
				Remedy: "sharp cells are of bounds, not of mechanisms or learners: leave the other flags out"})
		}
		cells, left = nil, nil
	}
	say := func(string, ...any) {}
	if isTerminal(stderr) {
		say = func(format string, a ...any) { fmt.Fprintf(stderr, format+"\n", a...) }
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	rows, err := calibrate(ctx, catalogue, plan.Seed, cells, n, say)
	if err != nil {
		return fail(stderr, err)
	}
	result := plan.Judge(rows, left)
	if !some {
		sharp, err := calibrateSharp(ctx, catalogue, plan.Seed, plan.Beta, n)
		if err != nil {
			return fail(stderr, err)
		}
		result.AddSharp(sharp)
	}
	return showCalibration(result, *out, stdout, stderr)
}

// calibrateSharp does the runs of all sharp cells.
func calibrateSharp(ctx context.Context, cat audit.Catalogue, seed uint64, beta float64, workers int) ([]calibration.SharpRow, error) {
	cells, err := calibration.SharpCells(cat, beta)
	if err != nil {
		return nil, err
	}
	batches := calibration.Batches(calibration.SharpRuns)
	alarms := make([]atomic.Int64, len(cells))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				job := int(next.Add(1)) - 1
				if job >= len(cells)*batches {
					return
				}
				alarms[job/batches].Add(int64(cells[job/batches].Batch(seed, job%batches)))
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, errStopped
	}
	rows := make([]calibration.SharpRow, len(cells))
	for i, c := range cells {
		rows[i] = c.Row(int(alarms[i].Load()), batches, beta)
	}
	return rows, nil
}

// namesOf are the names of a list with commas.
func namesOf(list string) (names []string) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// showCalibration prints the result; the exit code says whether a cell is
// accused.
func showCalibration(r calibration.Result, out output, stdout, stderr io.Writer) int {
	if err := out.emit(stdout, r, func(w io.Writer) { printCalibration(w, r) }); err != nil {
		return fail(stderr, err)
	}
	if len(r.Above) > 0 {
		return exitViolation
	}
	return exitOK
}

// calibrate does all runs of all cells, each on one worker.
func calibrate(ctx context.Context, cat audit.Catalogue, seed uint64, cells []calibration.Cell, workers int, say func(string, ...any)) ([]calibration.Row, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type job struct{ cell, run int }
	jobs := make(chan job)
	outcomes := make([][]calibration.Outcome, len(cells))
	undone := make([]int, len(cells))
	for i, c := range cells {
		outcomes[i], undone[i] = make([]calibration.Outcome, c.Runs), c.Runs
	}
	rows := make([]calibration.Row, len(cells))
	finished := 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				o, err := cells[j.cell].Audit(ctx, cat, seed, j.run)
				if err != nil {
					cancel(fmt.Errorf("%s, run %d: %w", cells[j.cell].Name, j.run, err))
					continue
				}
				mu.Lock()
				outcomes[j.cell][j.run] = o
				if undone[j.cell]--; undone[j.cell] == 0 {
					rows[j.cell] = calibration.Tally(cells[j.cell], outcomes[j.cell])
					finished++
					say("%s: %d false alarms in %d runs; %d of %d cells", cells[j.cell].Name, rows[j.cell].Alarms, rows[j.cell].Of, finished, len(cells))
				}
				mu.Unlock()
			}
		})
	}
feed:
	for i, c := range cells {
		for run := range c.Runs {
			select {
			case jobs <- job{i, run}:
			case <-ctx.Done():
				break feed
			}
		}
	}
	close(jobs)
	wg.Wait()
	if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
		return nil, errStopped
	} else if err != nil {
		return nil, err
	}
	return rows, nil
}
