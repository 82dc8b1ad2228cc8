package main

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
)

// serverFor starts a task worker and returns its port, whose messages are
// collected.
func serverFor(t *testing.T, pause func()) (port *fakePort, heard func() []message) {
	page, worker := fakePorts(t)
	port, served := fakePorts(t)
	serveTasks(testCatalogue(), worker, 3, pause)
	page.post(message{Type: msgServe, Port: served})
	synctest.Wait()
	if m := page.taken(); len(m) != 1 || m[0].Type != msgReady || m[0].Worker != 3 {
		t.Errorf("greeting %+v", m)
	}
	return port, func() []message { synctest.Wait(); return port.taken() }
}

func exploreTask(t *testing.T, mechanism string, rows int) string {
	t.Helper()
	plan := testPlan(mechanism, 1000)
	plan.Explore = rows
	a := must.Get(plan.Resolve(testCatalogue()))(t)
	neighbours := a.Spec.Pairs(a.Plan.Parameters, a.Plan.Relation)[0]
	task := must.Get(engine.EncodeTask(a.Explore(0, neighbours, a.Plan.Explore)))(t)
	return string(task)
}

func TestTaskServerGivesSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pauses := 0
		port, heard := serverFor(t, func() { pauses++ })
		task := exploreTask(t, "slow", 20*pair.BlockRows)
		port.post(message{Type: msgTask, ID: 5, JSON: task})
		time.Sleep(time.Second)
		all := heard()
		rows := 0
		for _, m := range all[:len(all)-1] {
			if m.Type != msgRows || m.ID != 5 {
				t.Errorf("message %+v", m)
			}
			rows += m.Rows
		}
		last := all[len(all)-1]
		if rows != 2*20*pair.BlockRows || last.Type != msgDone || last.ID != 5 {
			t.Errorf("%d rows, then %q", rows, last.Type)
		}
		// 40 blocks of 5 ms in slices of 16 ms, which end with a block.
		if pauses != 10 {
			t.Errorf("%d pauses, want 10", pauses)
		}
		var e pair.Explored
		if err := json.Unmarshal([]byte(last.JSON), &e); err != nil || len(e.Witness.Model) == 0 {
			t.Errorf("result %s, %v", last.JSON, err)
		}
	})
}

func TestTaskServerCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port, heard := serverFor(t, func() { time.Sleep(time.Microsecond) })
		task := exploreTask(t, "slow", 1_000_000)
		port.post(message{Type: msgTask, ID: 1, JSON: task})
		time.Sleep(100 * time.Millisecond)
		heard()
		port.post(message{Type: msgCancel, ID: 9}) // of no task
		port.post(message{Type: msgCancel, ID: 1})
		time.Sleep(sliceTime + 2*slowBlock)
		all := heard()
		if last := all[len(all)-1]; last.Type != msgFailed || last.ID != 1 {
			t.Errorf("after a cancel: %+v", last)
		}
		// The next task runs as if nothing had been.
		port.post(message{Type: msgTask, ID: 2, JSON: exploreTask(t, "randomised-response", 1000)})
		all = heard()
		if last := all[len(all)-1]; last.Type != msgDone || last.ID != 2 {
			t.Errorf("after that: %+v", last)
		}
	})
}

func TestTaskServerRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port, heard := serverFor(t, func() {})
		bursting := exploreTask(t, "bursting", 1000)
		for i, c := range []struct{ task, words string }{
			{"", "task is empty"},
			{"{", "cut off"},
			{`{"version":3,"kind":"pair/explore","task":{}}`, "version is 3"},
			{`{"version":2,"kind":"dance","task":{}}`, "field kind"},
			{`{"version":2,"kind":"pair/certify","task":{"plan":{"version":1,"mechanism":"randomised-response","seed":1}}}`, "edges"},
			{bursting, "burst"},
		} {
			port.post(message{Type: msgTask, ID: i, JSON: c.task})
			all := heard()
			if len(all) != 1 || all[0].Type != msgFailed || all[0].ID != i || !strings.Contains(all[0].JSON, c.words) {
				t.Errorf("task %.30q: %+v, want %q", c.task, all, c.words)
			}
		}
	})
}
