package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/internal/cli"
)

// calibrationResult is all of it.
type calibrationResult struct {
	calibration.Result
	// Sharp is absent where only some learners, finders or mechanisms were
	// asked for.
	Sharp []sharpRow `json:"sharp,omitempty"`
}

// addSharp adds sharp cells to the judgement. Their tests, at sharpLevel each,
// are beside the others.
func (r *calibrationResult) addSharp(rows []sharpRow) {
	r.Sharp = append(r.Sharp, rows...)
	for _, row := range rows {
		if row.accused() {
			r.Above = append(r.Above, row.Name)
		}
	}
}

// calibrationQuick is the plan under -quick.
var calibrationQuick = calibration.Plan{Runs: 6, Samples: 1000, Explore: 1000}

// benchCalibration runs audits of claims that hold under many seeds and counts
// their false alarms.
func benchCalibration(c *call) (int, error) {
	var plan calibration.Plan
	asked := cli.Settings(c.Flags, calibration.Keys())
	sharpOnly := c.Bool("sharp", false, fmt.Sprintf("only the sharp cells: bounds at their exact claims with a fixed event, %d runs each, tested against sizes that are known", sharpRuns))
	workers := c.workersFlag()
	c.outputFlags()
	quick := c.Bool("quick", false, fmt.Sprintf("a minute: -runs %d -samples %d -explore %d where they are not given, without slow learners that -learners does not name",
		calibrationQuick.Runs, calibrationQuick.Samples, calibrationQuick.Explore))
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if err := asked.Read(&plan); err != nil {
		return 0, err
	}
	if *quick {
		plan.Cheap = true
		c.unlessGiven("runs", &plan.Runs, calibrationQuick.Runs)
		c.unlessGiven("samples", &plan.Samples, calibrationQuick.Samples)
		c.unlessGiven("explore", &plan.Explore, calibrationQuick.Explore)
	}
	if plan.Anytime {
		c.unlessGiven("samples", &plan.Samples, calibration.AnytimeSamples)
	}
	cells, left, err := plan.Cells(seeded)
	if err != nil {
		return 0, err
	}
	some := len(plan.Mechanisms)+len(plan.Learners)+len(plan.Finders)+len(plan.Only) > 0
	if *sharpOnly {
		if some {
			return 0, &audit.InputError{Field: "-sharp", Found: "beside -only, -mechanisms, -learners or -finders", Want: "one of them",
				Remedy: "sharp cells are of bounds, not of mechanisms or learners: leave the other flags out"}
		}
		cells, left = nil, nil
	}
	rows, err := calibrate(c.ctx, catalogue, plan.Seed, cells, *workers, c.say)
	if err != nil {
		return 0, err
	}
	result := calibrationResult{Result: plan.Judge(rows, left)}
	if !some {
		sharp, err := calibrateSharp(c.ctx, catalogue, plan.Seed, plan.Beta, *workers)
		if err != nil {
			return 0, err
		}
		result.addSharp(sharp)
	}
	return c.showCalibration(result)
}

// calibrateSharp does the runs of all sharp cells.
func calibrateSharp(ctx context.Context, cat audit.Catalogue, seed uint64, beta float64, workers int) ([]sharpRow, error) {
	cells, err := sharpCells(cat, beta)
	if err != nil {
		return nil, err
	}
	batches := sharpBatches(sharpRuns)
	alarms := make([]atomic.Int64, len(cells))
	err = each(ctx, workers, len(cells)*batches, func(_ context.Context, job int) error {
		alarms[job/batches].Add(int64(cells[job/batches].batch(seed, job%batches)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	rows := make([]sharpRow, len(cells))
	for i, c := range cells {
		rows[i] = c.row(int(alarms[i].Load()), batches, beta)
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
func (c *call) showCalibration(r calibrationResult) (int, error) {
	return code(len(r.Above) == 0), c.emit(r, func(w io.Writer) { printCalibration(w, r) })
}

// calibrate does all runs of all cells, each on one worker.
func calibrate(ctx context.Context, cat audit.Catalogue, seed uint64, cells []calibration.Cell, workers int, say func(string, ...any)) ([]calibration.Row, error) {
	type job struct{ cell, run int }
	var jobs []job
	outcomes := make([][]calibration.Outcome, len(cells))
	undone := make([]int, len(cells))
	for i, c := range cells {
		outcomes[i], undone[i] = make([]calibration.Outcome, c.Runs), c.Runs
		for run := range c.Runs {
			jobs = append(jobs, job{i, run})
		}
	}
	rows := make([]calibration.Row, len(cells))
	finished := 0
	var mu sync.Mutex
	err := each(ctx, workers, len(jobs), func(ctx context.Context, i int) error {
		j := jobs[i]
		c := cells[j.cell]
		o, err := c.Audit(ctx, cat, seed, j.run)
		if err != nil {
			return fmt.Errorf("%s, run %d: %w", c.Name, j.run, err)
		}
		mu.Lock()
		defer mu.Unlock()
		outcomes[j.cell][j.run] = o
		if undone[j.cell]--; undone[j.cell] == 0 {
			rows[j.cell] = calibration.Tally(c, outcomes[j.cell])
			finished++
			say("%s: %d false alarms in %d runs; %d of %d cells", c.Name, rows[j.cell].Alarms, rows[j.cell].Of, finished, len(cells))
		}
		return nil
	})
	return rows, err
}
