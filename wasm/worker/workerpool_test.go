package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
)

// A worker that dies in mid-run costs time, never counts.
func TestWorkerDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cat := testCatalogue()
		plan := testPlan("slow", 100_000)
		want := alone(t, cat, plan)
		p := newPage(t, cat, 2)
		_, answer := p.ask("run", plan)
		time.Sleep(60 * time.Millisecond)
		p.port.post(message{Type: msgLost, Worker: 1, Reason: "ended by the test"})
		p.attach(1, cat)
		got := reportIn(t, valueOf[reported](p, <-answer))
		if *got.Deciding().Counts != *want.Deciding().Counts {
			t.Errorf("counts %+v, want %+v", got.Deciding().Counts, want.Deciding().Counts)
		}
		if !hasWarning(got, "ended by the test") || len(p.replaced) > 0 {
			t.Errorf("warnings %q, replaced %v", got.Warnings, p.replaced)
		}
	})
}

// A worker that hangs is replaced, and its task runs again elsewhere.
func TestWorkerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cat := testCatalogue()
		plan := testPlan("randomised-response", 50_000)
		want := alone(t, cat, plan)
		p := newPage(t, cat, 0)
		p.attachDeaf(0) // the first task goes to the first worker that is idle
		p.attach(7, cat)
		start := time.Now()
		got := reportIn(t, answerTo[reported](p, "run", plan))
		if *got.Deciding().Counts != *want.Deciding().Counts || !hasWarning(got, "worker 0") {
			t.Errorf("counts %+v, want %+v; warnings %q", got.Deciding().Counts, want.Deciding().Counts, got.Warnings)
		}
		if took := time.Since(start); took < hangAfter || took > hangAfter+2*hangAfter/hangTicks {
			t.Errorf("the hang was found after %v, want %v", took, hangAfter)
		}
		if len(p.replaced) != 1 || p.replaced[0].Worker != 0 {
			t.Errorf("replaced %+v", p.replaced)
		}
	})
}

// Signs of life keep a slow worker alive.
func TestSlowIsNotHung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPage(t, testCatalogue(), 0)
		b := p.attachDeaf(0)
		b.listen(func(m message) {
			if m.Type != msgTask {
				return
			}
			go func() {
				for range 3 {
					time.Sleep(hangAfter * 3 / 4)
					b.post(message{Type: msgRows, ID: m.ID})
				}
				b.post(message{Type: msgFailed, ID: m.ID, JSON: mustJSON(refusal{Message: "too late"})})
			}()
		})
		answer := answerTo[reported](p, "run", testPlan("randomised-response", 1000))
		if answer.Error != "too late" || len(p.replaced) > 0 {
			t.Errorf("error %q, replaced %v", answer.Error, p.replaced)
		}
	})
}

// A worker that does not answer a cancel is ended after half a second.
func TestCancelUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPage(t, testCatalogue(), 0)
		p.attachDeaf(0)
		id, answer := p.ask("run", testPlan("randomised-response", 1000))
		time.Sleep(time.Second)
		start := time.Now()
		p.port.post(message{Type: msgStop, ID: id})
		r := reportIn(t, valueOf[reported](p, <-answer))
		if took := time.Since(start); took < cancelAfter || took > cancelAfter+10*time.Millisecond {
			t.Errorf("stopped after %v", took)
		}
		synctest.Wait()
		if r.Termination.Reason != audit.Stopped || len(p.replaced) != 1 {
			t.Errorf("%+v, replaced %v", r.Termination, p.replaced)
		}
	})
}

// A place whose worker never came back does not hold the run up; without any
// worker it ends with an error.
func TestNoReplacement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cat := testCatalogue()
		p := newPage(t, cat, 0)
		p.attachDeaf(0)
		p.attach(1, cat)
		p.attach(2, cat)
		p.onReplace = func(int) {}
		got := reportIn(t, answerTo[reported](p, "run", testPlan("randomised-response", 50_000)))
		if got.Termination.Reason != audit.Completed || got.Timing.Workers != 3 {
			t.Errorf("%+v with %d workers", got.Termination, got.Timing.Workers)
		}
		time.Sleep(2 * attachAfter)
		p.port.post(message{Type: msgDetach, Worker: 1})
		got = reportIn(t, answerTo[reported](p, "run", testPlan("randomised-response", 50_000)))
		if got.Timing.Workers != 1 {
			t.Errorf("%d workers, want the one that is left", got.Timing.Workers)
		}
		p.port.post(message{Type: msgDetach, Worker: 2})
		start := time.Now()
		answer := answerTo[reported](p, "run", testPlan("randomised-response", 1000))
		if took := time.Since(start); !strings.Contains(answer.Error, "none was attached") || took > 3*attachAfter {
			t.Errorf("without workers: %q after %v", answer.Error, took)
		}
	})
}

// What a lost worker's port still says about its task is not heard.
func TestLateAnswerIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newWorkerPool(hangAfter, func(int, string) {})
		a, b := fakePorts(t)
		c.attach(0, a)
		failed := make(chan error, 1)
		go func() {
			_, err := c.Execute(t.Context(), pair.Bound{}, func(int) {}, func(any) {})
			failed <- err
		}()
		synctest.Wait()
		task := b.taken()[0]
		c.lose(0, "gone")
		b.post(message{Type: msgDone, ID: task.ID, JSON: "{}"})
		if err := <-failed; !errors.Is(err, engine.ErrWorkerLost) || !strings.Contains(err.Error(), "gone") {
			t.Errorf("error %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Execute(ctx, pair.Bound{}, func(int) {}, func(any) {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with no worker left: %v", err)
		}
	})
}
