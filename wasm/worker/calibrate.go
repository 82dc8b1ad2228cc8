package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/core/engine"
	"golang.org/x/sync/errgroup"
)

const (
	mostAudits      = 100_000 // of a calibration on the page
	calibratedEvery = 0.25    // s between two tables
)

// calibrated is a calibration under way, or at its end.
type calibrated struct {
	Cells    []calibratedCell `json:"cells"`
	All      falseAlarms      `json:"all"`
	Total    int              `json:"total"` // audits to be done; All.Of are
	Beta     float64          `json:"beta"`
	BetaText string           `json:"betaText"`
	Sentence string           `json:"sentence"`
	// The rest is of the end only.
	Judgement string `json:"judgement,omitempty"`
	Above     bool   `json:"above,omitempty"` // the judgement accuses
	Stopped   bool   `json:"stopped,omitempty"`
	Error     string `json:"error,omitempty"` // that ended it
	CLI       string `json:"cli,omitempty"`
}

// falseAlarms are how many audits of a mechanism that keeps its claim raised an alarm.
type falseAlarms struct {
	Alarms       int    `json:"alarms"`
	Of           int    `json:"of"`
	RateText     string `json:"rateText"`
	IntervalText string `json:"intervalText"`
	Above        bool   `json:"above,omitempty"` // significantly above beta; at the end only
}

type calibratedCell struct {
	Mechanism string `json:"mechanism"`
	Claim     string `json:"claim"`
	Met       bool   `json:"met"`
	Runs      int    `json:"runs"` // to be done; Of are
	falseAlarms
	Inconclusive int    `json:"inconclusive,omitempty"`
	Failed       int    `json:"failed,omitempty"`
	Note         string `json:"note,omitempty"`
}

func rateOf(c calibration.Count) falseAlarms {
	return falseAlarms{Alarms: c.Alarms, Of: c.Of, RateText: c.RateWords(), IntervalText: c.IntervalWords(), Above: c.Above}
}

// calibrate does audits as [calibration.Small] has them but for what it is asked. A stop, and an error
// in an audit, keep what there is.
func (c *coordinator) calibrate(ctx context.Context, r request[settings.Texts]) (calibrated, error) {
	plan := calibration.Small()
	texts := settings.Texts{}
	for _, x := range settings.Written(calibration.Keys(), plan, calibration.Plan{}) {
		texts[x.Name] = x.Value
	}
	maps.Copy(texts, r.asked)
	plan, err := read(calibration.Keys(), texts, plan)
	if err != nil {
		return calibrated{}, err
	}
	if len(plan.Learners) != 1 || len(plan.Finders) > 0 {
		return calibrated{}, &audit.InputError{Field: "learners", Found: fmt.Sprintf("%d, and %d finders", len(plan.Learners), len(plan.Finders)), Want: "one learner"}
	}
	cells, _, err := plan.Cells(c.cat)
	if err != nil {
		return calibrated{}, err
	}
	s := &calibrating{plan: plan, cells: cells, outcomes: make([][]calibration.Outcome, len(cells))}
	for _, cell := range cells {
		s.total += cell.Runs
	}
	if s.total > mostAudits {
		return calibrated{}, &audit.InputError{Field: "runs", Found: fmt.Sprintf("%d, %d audits in all", plan.Runs, s.total), Want: fmt.Sprintf("at most %d audits", mostAudits),
			Remedy: "the command line has no such limit"}
	}
	t := newThrottle(c.now, calibratedEvery)
	s.told = func() {
		if t.passes(false) {
			c.tell(r.id, s.now(false))
		}
	}
	s.told()
	err = s.do(ctx, c.cat, c.workers)
	if err != nil && ctx.Err() == nil && s.next == 0 {
		return calibrated{}, err
	}
	out := s.now(true)
	if ctx.Err() != nil && s.next < s.total {
		out.Stopped = true
	} else if err != nil {
		out.Error = err.Error()
	}
	return out, nil
}

type calibrating struct {
	plan     calibration.Plan
	cells    []calibration.Cell
	total    int    // audits to be done
	told     func() // after an audit; called one at a time
	next     int    // audits merged
	outcomes [][]calibration.Outcome
}

// do does one run of every cell after the other; one that fails ends the others. They are merged in
// order: what an early end counts does not depend on which audits are quick.
func (s *calibrating) do(ctx context.Context, cat audit.Catalogue, crew *workerPool) error {
	type audit struct{ cell, run int }
	var all []audit
	for run := 0; len(all) < s.total; run++ {
		for i, cell := range s.cells {
			if run < cell.Runs {
				all = append(all, audit{i, run})
			}
		}
	}
	audits, ctx := errgroup.WithContext(ctx)
	// One audit more than workers: none waits while the engine reads what it has done.
	audits.SetLimit(crew.pool(crew).Size() + 1)
	var mu sync.Mutex
	done := make([]*calibration.Outcome, len(all))
	for i, a := range all {
		if ctx.Err() != nil {
			break
		}
		audits.Go(func() (err error) {
			defer func() { // the engine guards its tasks; this is all else
				if x := recover(); x != nil {
					err = fmt.Errorf("%s, run %d: %v", s.cells[a.cell].Name, a.run, x)
				}
			}()
			o, err := s.cells[a.cell].Audit(ctx, cat, engine.NewPool(crew), s.plan.Seed, a.run)
			if err != nil {
				return fmt.Errorf("%s, run %d: %w", s.cells[a.cell].Name, a.run, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for done[i] = &o; s.next < len(done) && done[s.next] != nil; s.next++ {
				cell := all[s.next].cell
				s.outcomes[cell] = append(s.outcomes[cell], *done[s.next])
			}
			s.told()
			return nil
		})
	}
	return audits.Wait()
}

func (s *calibrating) now(end bool) calibrated {
	rows := audit.Listed(len(s.cells), func(i int) calibration.Row { return calibration.Tally(s.cells[i], s.outcomes[i]) })
	all := calibration.Total(rows)
	out := calibrated{All: rateOf(all), Total: s.total, Beta: s.plan.Beta, BetaText: calibration.Percent(s.plan.Beta),
		Sentence: all.Sentence(s.plan.Beta)}
	if end {
		r := s.plan.Judge(rows, nil)
		rows = r.Rows
		out.CLI = s.plan.Command()
		var above []string
		for _, row := range rows {
			if row.Above {
				above = append(above, row.Plan.Mechanism)
			}
		}
		if len(r.Above) > len(above) {
			out.All.Above = !slices.ContainsFunc(rows, func(r calibration.Row) bool { return !r.Met })
			above = append(above, map[bool]string{true: "all together", false: "those without ~ together"}[out.All.Above])
		}
		out.Above = len(above) > 0
		if all.Of > 0 {
			words := audit.Pick(out.Above, fmt.Sprintf("Significantly above %s: %s.", out.BetaText, strings.Join(above, ", ")), fmt.Sprintf("No rate is significantly above %s.", out.BetaText))
			out.Judgement = fmt.Sprintf("%s The exact binomial tests of the rates accuse a tool that keeps its error with probability %g at most.", words, calibration.JudgeError)
		}
	}
	out.Cells = audit.Each(rows, func(r calibration.Row) calibratedCell {
		return calibratedCell{Mechanism: r.Plan.Mechanism, Claim: r.Claim.String(), Met: r.Met, Runs: r.Runs, falseAlarms: rateOf(r.Count),
			Inconclusive: r.Inconclusive, Failed: r.Failed, Note: r.Note}
	})
	return out
}
