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
)

// The tool's own error rate: many whole audits, several at a time, each of which
// gives its tasks to the crew.

const (
	// mostAudits bounds a calibration on the page.
	mostAudits = 100_000
	// calibratedEvery is the time between two tables, in seconds.
	calibratedEvery = 0.25
)

func rateOf(c calibration.Count) rate {
	return rate{Alarms: c.Alarms, Of: c.Of, Rate: c.Rate, Lower: c.Lower, Upper: c.Upper, RateText: c.RateWords(), IntervalText: c.IntervalWords(), Above: c.Above}
}

// calibrate does audits with the default learners, as [calibration.Small] has them but
// for what it is asked. A stop, and an error in an audit, keep what there is.
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
	most := 0
	for _, cell := range cells {
		most = max(most, cell.Runs)
		s.total += cell.Runs
	}
	if s.total > mostAudits {
		return calibrated{}, &audit.InputError{Field: "runs", Found: fmt.Sprintf("%d, %d audits in all", plan.Runs, s.total), Want: fmt.Sprintf("at most %d audits", mostAudits),
			Remedy: "the command line has no such limit"}
	}
	for run := range most {
		for i, cell := range cells {
			if run < cell.Runs {
				s.jobs = append(s.jobs, calibrationJob{cell: i, run: run})
			}
		}
	}
	posted := c.now()
	c.tell(r.id, s.now(false))
	s.told = func() {
		if at := c.now(); at-posted >= calibratedEvery {
			posted = at
			c.tell(r.id, s.now(false))
		}
	}
	err = s.do(ctx, c.cat, c.crew)
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

// calibrating is a calibration under way.
type calibrating struct {
	plan  calibration.Plan
	cells []calibration.Cell
	jobs  []calibrationJob // one run of every cell after the other
	total int
	told  func() // after an audit; called one at a time

	mu       sync.Mutex
	begun    int // jobs given out
	next     int // jobs merged
	outcomes [][]calibration.Outcome
}

// calibrationJob is one audit.
type calibrationJob struct {
	cell, run int
	outcome   *calibration.Outcome // once it is done, until it is merged
}

// do does the jobs. Outcomes are merged in the order of the jobs, so that what
// is counted when it ends early does not depend on which audits are quick.
func (s *calibrating) do(ctx context.Context, cat audit.Catalogue, crew *crew) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	// One audit more than there are workers: none waits while the engine
	// reads what it has done.
	for range crew.pool(crew).Size() + 1 {
		wg.Go(func() {
			for ctx.Err() == nil {
				at, ok := s.take()
				if !ok {
					return
				}
				if err := s.audit(ctx, cat, engine.NewPool(crew), at); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (s *calibrating) take() (at int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun == len(s.jobs) {
		return 0, false
	}
	s.begun++
	return s.begun - 1, true
}

func (s *calibrating) audit(ctx context.Context, cat audit.Catalogue, pool *engine.Pool, at int) (err error) {
	job := s.jobs[at]
	cell := s.cells[job.cell]
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s, run %d: internal error: %v", cell.Name, job.run, p)
		}
	}()
	o, err := cell.AuditOn(ctx, cat, pool, s.plan.Seed, job.run)
	if err != nil {
		return fmt.Errorf("%s, run %d: %w", cell.Name, job.run, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[at].outcome = &o
	for s.next < len(s.jobs) && s.jobs[s.next].outcome != nil {
		j := &s.jobs[s.next]
		s.outcomes[j.cell] = append(s.outcomes[j.cell], *j.outcome)
		j.outcome = nil
		s.next++
	}
	s.told()
	return nil
}

// now is what there is; at the end it is judged.
func (s *calibrating) now(end bool) calibrated {
	rows := make([]calibration.Row, len(s.cells))
	for i, c := range s.cells {
		rows[i] = calibration.Tally(c, s.outcomes[i])
	}
	all := calibration.Total(rows)
	out := calibrated{Cells: make([]calibratedCell, len(rows)), All: rateOf(all), Total: s.total, Beta: s.plan.Beta, BetaText: calibration.Percent(s.plan.Beta),
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
		// Groups are of cells whose claims are met.
		if len(r.Above) > len(above) {
			out.All.Above = !slices.ContainsFunc(rows, func(r calibration.Row) bool { return !r.Met })
			above = append(above, map[bool]string{true: "all together", false: "those without ~ together"}[out.All.Above])
		}
		out.Above = len(above) > 0
		if all.Of > 0 {
			out.Judgement = judgement(out.BetaText, above)
		}
	}
	for i, r := range rows {
		out.Cells[i] = calibratedCell{Mechanism: r.Plan.Mechanism, Claim: r.Claim.String(), Met: r.Met, Runs: r.Runs, rate: rateOf(r.Count),
			Inconclusive: r.Inconclusive, Failed: r.Failed, Note: r.Note}
	}
	return out
}

// judgement is what the tests say.
func judgement(beta string, above []string) string {
	words := fmt.Sprintf("No rate is significantly above %s.", beta)
	if len(above) > 0 {
		words = fmt.Sprintf("Significantly above %s: %s.", beta, strings.Join(above, ", "))
	}
	return fmt.Sprintf("%s The exact binomial tests of the rates accuse a tool that keeps its error with probability %g at most.", words, calibration.JudgeError)
}
