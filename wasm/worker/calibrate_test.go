package main

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/internal/must"
)

func smallCalibration(runs int, mechanisms ...string) calibration.Plan {
	p := calibration.Small()
	p.Runs, p.Samples, p.Explore, p.Mechanisms = runs, 400, 400, mechanisms
	return p
}

// native does the first audits of a plan, one run of every cell after the other.
func native(t *testing.T, cat audit.Catalogue, p calibration.Plan, audits int) []calibration.Row {
	t.Helper()
	cells, _ := must.Get2(p.Cells(cat))(t)
	outcomes := make([][]calibration.Outcome, len(cells))
	for at := range audits {
		i, run := at%len(cells), at/len(cells)
		o := must.Get(cells[i].Audit(context.Background(), cat, engine.LocalPool(1), p.Seed, run))(t)
		outcomes[i] = append(outcomes[i], o)
	}
	rows := make([]calibration.Row, len(cells))
	for i, c := range cells {
		rows[i] = calibration.Tally(c, outcomes[i])
	}
	return rows
}

// same compares what was counted through messages with rows that were counted
// without.
func same(t *testing.T, what string, got calibrated, rows []calibration.Row) {
	t.Helper()
	if len(got.Cells) != len(rows) || got.All != rateOf(calibration.Total(rows)) {
		t.Fatalf("%s: %d cells with %+v in all, want %d with %+v", what, len(got.Cells), got.All, len(rows), calibration.Total(rows))
	}
	for i, r := range rows {
		if c := got.Cells[i]; c.Mechanism != r.Plan.Mechanism || c.falseAlarms != rateOf(r.Count) || c.Failed != r.Failed || c.Inconclusive != r.Inconclusive || c.Met != r.Met || c.Runs != r.Runs {
			t.Errorf("%s: %+v, want %+v", what, c, r)
		}
	}
}

// Audits whose tasks go through messages count what audits in this process do,
// with any number of workers. The seed is fixed: there is no chance in it.
func TestCalibrationThroughMessages(t *testing.T) {
	cat := testCatalogue()
	plan := smallCalibration(12, "randomised-response", "rappor-once")
	plan.Beta = 0.3 // so that some audits alarm
	rows := plan.Judge(native(t, cat, plan, 24), nil).Rows
	for _, workers := range []int{1, 3} {
		p := newPage(t, cat, workers)
		got := answerTo[calibrated](p, "calibrate", plan)
		same(t, "through messages", got, rows)
		if got.All.Alarms == 0 || got.All.Of != 24 || got.Total != 24 || got.Stopped || got.Error != "" || got.Above || !strings.HasPrefix(got.Judgement, "No rate is significantly above 30") {
			t.Errorf("%d workers: %+v", workers, got)
		}
		if want := calibration.Total(rows).Sentence(0.3); got.Sentence != want {
			t.Errorf("it says %q, want %q", got.Sentence, want)
		}
		if want := "go run github.com/dpscope/dpscope/bench calibration -learners auto -mechanisms randomised-response,rappor-once -runs 12 -samples 400 -explore 400 -trials 3 -beta 0.3 -seed 1"; got.CLI != want {
			t.Errorf("cli %q, want %q", got.CLI, want)
		}
		// What is told on the way is not judged, and grows.
		before := -1
		for _, m := range p.told {
			var v calibrated
			must.Do(t, json.Unmarshal([]byte(m.JSON), &v))
			if v.All.Of < before || v.All.Of > 24 || v.Judgement != "" || v.Total != 24 || len(v.Cells) != 2 {
				t.Errorf("told %+v", v)
			}
			before = v.All.Of
		}
		if before < 0 {
			t.Error("nothing was told on the way")
		}
	}
}

// A stop keeps the first audits, and the crew is free for the next request.
func TestCalibrationStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cat := testCatalogue()
		p := newPage(t, cat, 2)
		plan := smallCalibration(500, "randomised-response", "slow")
		id, answer := p.ask("calibrate", plan)
		time.Sleep(2 * time.Second)
		if r := answerTo[refusal](p, "run", testPlan("slow", 1000)); r.Message != errBusy.Error() {
			t.Errorf("a run meanwhile: %+v", r)
		}
		start := time.Now()
		p.port.post(message{Type: msgStop, ID: id})
		got := valueOf[calibrated](p, <-answer)
		if took := time.Since(start); took > sliceTime+2*slowBlock {
			t.Errorf("stopped after %v", took)
		}
		if !got.Stopped || got.Error != "" || got.All.Of < 4 || got.All.Of >= 1000 || got.Judgement == "" || len(p.replaced) > 0 {
			t.Errorf("%+v, replaced %v", got, p.replaced)
		}
		same(t, "stopped", got, plan.Judge(native(t, cat, plan, got.All.Of), nil).Rows)
		if len(p.told) < 5 || len(p.told) > 10 {
			t.Errorf("told %d times in two seconds", len(p.told))
		}
		answerTo[reported](p, "run", testPlan("randomised-response", 1000))
	})
}

// Without any worker what was counted stays, with the error.
func TestCalibrationLosesWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cat := testCatalogue()
		p := newPage(t, cat, 2)
		plan := smallCalibration(300, "slow")
		p.onReplace = func(int) {}
		_, answer := p.ask("calibrate", plan)
		time.Sleep(300 * time.Millisecond)
		p.port.post(message{Type: msgDetach, Worker: 0})
		p.port.post(message{Type: msgDetach, Worker: 1})
		got := valueOf[calibrated](p, <-answer)
		if got.Stopped || !strings.Contains(got.Error, "worker lost") || got.All.Of == 0 || got.All.Of == 300 {
			t.Errorf("without workers: %+v", got)
		}
		same(t, "without workers", got, plan.Judge(native(t, cat, plan, got.All.Of), nil).Rows)
		if r := answerTo[refusal](p, "calibrate", plan); !strings.Contains(r.Message, "none was attached") {
			t.Errorf("begun without workers: %+v", r)
		}
	})
}

// Audits that fail are told as such: they are no false alarms.
func TestCalibrationOfFailures(t *testing.T) {
	p := newPage(t, testCatalogue(), 2)
	got := answerTo[calibrated](p, "calibrate", smallCalibration(4, "bursting"))
	if c := got.Cells[0]; c.Failed != 4 || c.Of != 4 || c.Alarms != 0 || !strings.Contains(c.Note, "burst") {
		t.Errorf("%+v", c)
	}
}

// A tool that errs is accused in words, by its mechanisms' names.
func TestCalibrationAccuses(t *testing.T) {
	plan := smallCalibration(100, "randomised-response", "rappor-once")
	s := &calibrating{plan: plan, total: 200}
	var err error
	if s.cells, _, err = plan.Cells(testCatalogue()); err != nil {
		t.Fatal(err)
	}
	s.outcomes = make([][]calibration.Outcome, 2)
	if empty := s.now(true); empty.Judgement != "" || empty.Above || empty.All.RateText != "–" {
		t.Errorf("without audits: %+v", empty)
	}
	for i := range 100 {
		for c, alarms := range []int{5, 40} {
			o := calibration.Outcome{Verdict: audit.NoViolation}
			if i < alarms {
				o.Verdict = audit.Violation
			}
			s.outcomes[c] = append(s.outcomes[c], o)
		}
	}
	got := s.now(true)
	if !got.Above || !got.All.Above || got.Cells[0].Above || !got.Cells[1].Above || !strings.HasPrefix(got.Judgement, "Significantly above 5\u00a0%: rappor-once, all together.") {
		t.Errorf("%+v", got)
	}
	s.cells[0].Met = false
	s.cells = append(s.cells, s.cells[1])
	s.outcomes = append(s.outcomes, s.outcomes[1])
	if mixed := s.now(true); mixed.All.Above || !strings.Contains(mixed.Judgement, "rappor-once, those without ~ together.") {
		t.Errorf("with a claim that is not met: %+v", mixed)
	}
	s.cells, s.outcomes = s.cells[:2], s.outcomes[:2]
	s.cells[0].Met = true
	if again := s.now(true); !reflect.DeepEqual(again, got) {
		t.Error("asked twice it says something else")
	}
}
