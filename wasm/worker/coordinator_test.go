package main

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// A run through messages gives the report of a run without, with any number of
// workers.
func TestRunThroughMessages(t *testing.T) {
	cat := testCatalogue()
	plan := testPlan("randomised-response", 50_000)
	want := alone(t, cat, plan)
	for _, workers := range []int{1, 3} {
		p := newPage(t, cat, workers)
		answer := answerTo[reported](p, "run", plan)
		got := reportIn(t, answer)
		if *got.Deciding().Counts != *want.Deciding().Counts || got.Verdict != want.Verdict || got.Summary != want.Summary {
			t.Errorf("%d workers: %s %+v, want %s %+v", workers, got.Summary, got.Deciding().Counts, want.Summary, want.Deciding().Counts)
		}
		if got.Timing.Workers != workers || got.Generator.CoreSHA256 != "sum" || answer.Error != "" || len(answer.Facts) == 0 {
			t.Errorf("%d workers: timing %+v, generator %+v, error %q, %d facts", workers, got.Timing, got.Generator, answer.Error, len(answer.Facts))
		}
		last := p.progress[len(p.progress)-1]
		if last.Phase != pair.Bounding || last.Rows != last.Total || last.Total != 2*(explored(want)+50_000) {
			t.Errorf("%d workers: the last progress is %+v", workers, last)
		}
	}
}

// explored is how many outputs a side the trials of a report had.
func explored(r pair.Report) int {
	n := 0
	for _, trial := range r.Trials {
		n += trial.Outputs
	}
	return n
}

func TestCheck(t *testing.T) {
	p := newPage(t, testCatalogue(), 0)
	if r := valueOf[ready](p, <-p.ready); r.Version != audit.Version {
		t.Errorf("ready: %+v", r)
	}
	c := answerTo[checked](p, "check", pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4", Claim: &audit.Claim{Kind: audit.Pure, Epsilon: 0.5}, Seed: 3})
	if c.Plan.Samples != 200_000 || c.Claim.Epsilon != 0.5 || c.OwnClaim.Epsilon != 0.5 || len(c.Relations) == 0 || len(c.Columns) == 0 {
		t.Errorf("checked: %+v", c)
	}
	if c.CLI != "dpscope audit -mechanism svt4 -epsilon 0.5 -seed 3" || c.URL != "#v=1&mechanism=svt4&epsilon=0.5&seed=3" {
		t.Errorf("cli %q, url %q", c.CLI, c.URL)
	}
}

// What is asked wrongly is refused with its field, whatever the call.
func TestRefuses(t *testing.T) {
	p := newPage(t, testCatalogue(), 1)
	canaries := func(change func(*canary.Plan)) canary.Plan {
		plan := canaryPlan(100, 3)
		change(&plan)
		return plan
	}
	rates := func(change func(*calibration.Plan)) calibration.Plan {
		plan := smallCalibration(10, "randomised-response")
		change(&plan)
		return plan
	}
	for _, c := range []struct {
		calls       string
		asks        any
		field, says string
	}{
		{"check run", "", "", "empty"},
		{"check", settings.Texts{"mechanism": "svt4", "colour": "1"}, "setting", "colour"},
		{"run", wanted{report.Pair, settings.Texts{"mechanism": "svt4", "colour": "1"}}, "setting", "colour"},
		{"check run", pair.Plan{Version: pair.PlanVersion, Mechanism: "svt9"}, "mechanism", "svt9"},
		{"check run", pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4", Samples: 5}, "samples", "in ["},
		{"run", canaries(func(p *canary.Plan) { p.Runs = 2 }), "runs", "at least"},
		{"run", canaries(func(p *canary.Plan) { p.Source = "sums" }), "source", "gaussian-sum"},
		{"run", canaries(func(p *canary.Plan) { p.Design = source.Vectors }), "data", "a file"},
		{"run", canaries(func(p *canary.Plan) { p.Claim = nil }), "epsilon", "above 0"},
		{"run", wanted{canary.Kind, nil}, "epsilon", "missing"},
		{"run", wanted{canary.Kind, settings.Texts{"epsilon": "1", "colour": "2"}}, "setting", "colour"},
		{"run", wanted{canary.Kind, settings.Texts{"epsilon": "1", "exec": "python3 train.py"}}, "setting", "exec"}, // nothing runs that only a page names
		{"run", wanted{"canaries", nil}, "kind", "canary"},
		{"run", wanted{scores.Kind, settings.Texts{"epsilon": "1", "relation": "replace"}}, "", "a coordinator of their own"},
		{"calibrate", rates(func(p *calibration.Plan) { p.Runs = 0 }), "runs", "in [1, 1000000]"},
		{"calibrate", rates(func(p *calibration.Plan) { p.Runs = 200_000 }), "runs", "at most 100000 audits"},
		{"calibrate", rates(func(p *calibration.Plan) { p.Mechanisms = []string{"svt4"} }), "mechanisms", "keep their claim"},
		{"calibrate", rates(func(p *calibration.Plan) { p.Mechanisms = []string{"svt9"} }), "mechanism", "svt9"},
		{"calibrate", rates(func(p *calibration.Plan) { p.Learners = []string{"auto", "sign"} }), "learners", "one learner"},
		{"calibrate", rates(func(p *calibration.Plan) { p.Samples = 5 }), "samples", "in [100"},
		{"calibrate", settings.Texts{"colour": "2"}, "setting", "colour"},
		{"calibrate", "", "calibrate", "empty"},
		{"account", `{"mechanism":"gaussian","sigma":"0"}`, "sigma", "above 0"},
		{"account", `{"mechanism":"gaussian"}`, "sigma", "missing"},
		{"account", `{"mechanism":"gaussian","sigma":"1","rate":"2"}`, "rate", "at most 1"},
		{"account", `{"mechanism":"gauss","sigma":"1"}`, "mechanism", "gaussian"},
		{"account", `{"mechanism":"zcdp","rho":"1","sigma":"1"}`, "sigma", "absent for zcdp"},
		{"account", `{"mechanism":"zcdp","rho":"1","Steps":"1"}`, "setting", "Steps"},
		{"account", `{"mechanism":"zcdp","rho":"1","steps":"1.5"}`, "steps", "a whole number"},
		{"account", `{"mechanism":"zcdp","rho":"1"} {}`, "account", "more text"},
		{"account", ``, "account", "empty"},
		{"look", lookRequest{Text: "1\n"}, "", "one column"},
		{"inspect", "{}", "", "no such request"}, // with a crew there are no samples
		{"dance", "", "", "dance"},
	} {
		for call := range strings.FieldsSeq(c.calls) {
			if r := answerTo[refusal](p, call, c.asks); !strings.Contains(r.Field, c.field) || !strings.Contains(r.Message, c.says) {
				t.Errorf("%s %+v: %+v, want field %s and %q", call, c.asks, r, c.field, c.says)
			}
		}
	}
}

func TestOpenAndVerify(t *testing.T) {
	cat := testCatalogue()
	p := newPage(t, cat, 2)
	first := answerTo[reported](p, "run", testPlan("randomised-response", 20_000))

	opened := answerTo[reported](p, "open", first.Text)
	if opened.Text != first.Text || !reflect.DeepEqual(opened, first) || len(opened.Tables) == 0 || opened.Curves.Tradeoff == nil {
		t.Error("a report changes by being opened")
	}
	if v := answerTo[verified](p, "verify", first.Text); !v.OK || len(v.Differences) > 0 || len(v.Checked) < 4 {
		t.Errorf("verified: %+v", v)
	}
	r := reportIn(t, first)
	r.Deciding().Counts.X++
	if v := answerTo[verified](p, "verify", mustJSON(r)); v.OK || !strings.Contains(strings.Join(v.Differences, " "), "counts") {
		t.Errorf("a forged count verified: %+v", v)
	}
	if last := p.progress[len(p.progress)-1]; last.Total != 2*(len(r.Trials)*4000+20_000) {
		t.Errorf("the last progress is %+v", last)
	}
	newer := strings.Replace(first.Text, `"schemaVersion": 1`, `"schemaVersion": 2`, 1)
	for _, bad := range []string{"", "{", "[1]", `{"a":1}`, `{"kind":"canary","schemaVersion":99}`, first.Text[:len(first.Text)/2], newer, strings.Replace(first.Text, `"warnings"`, `"hue"`, 1)} {
		for _, call := range []string{"open", "verify"} {
			if r := answerTo[refusal](p, call, bad); !strings.HasPrefix(r.Field, "report") || r.Found == "" {
				t.Errorf("%s %.20q: %+v", call, bad, r)
			}
		}
	}
}

func TestErrorsOfTasksKeepTheirFields(t *testing.T) {
	p := newPage(t, testCatalogue(), 1)
	for name, words := range map[string]string{"touchy": "mood is bad, must be good; wait", "bursting": "panicked: burst"} {
		answer := answerTo[reported](p, "run", testPlan(name, 1000))
		r := reportIn(t, answer)
		if !strings.Contains(answer.Error, words) || r.Verdict != audit.Invalid || r.Termination.Reason != audit.Failed {
			t.Errorf("%s: error %q, verdict %s, %+v", name, answer.Error, r.Verdict, r.Termination)
		}
	}
	err := remoteError{refusalOf(&audit.InputError{Field: "mood", Found: "bad", Want: "good", Remedy: "wait"})}
	if !audit.IsInput(err) || audit.IsInput(remoteError{refusal{Message: "no"}}) {
		t.Error("an error about the input must stay one, and no other become one")
	}
}

func TestPanic(t *testing.T) {
	got := replyTo(message{ID: 3}, msgAnswer, msgRefused, "open", func() (any, error) { panic("gone") })
	if got.Type != msgRefused || got.ID != 3 || !strings.Contains(got.JSON, "internal error in open: gone") {
		t.Errorf("a panic: %+v", got)
	}
}

// Stop answers with a partial report after one slice, whatever the phase, and
// a second run is refused until then.
func TestStop(t *testing.T) {
	for _, phase := range []pair.Phase{pair.Exploring, pair.Certifying} {
		synctest.Test(t, func(t *testing.T) {
			p := newPage(t, testCatalogue(), 2)
			plan := testPlan("slow", 10_000_000)
			if phase == pair.Exploring {
				plan.Explore = 1_000_000
			}
			id, answer := p.ask("run", plan)
			time.Sleep(300 * time.Millisecond)
			p.mu.Lock()
			if last := p.progress[len(p.progress)-1]; last.Phase != phase || last.Rows == 0 {
				t.Errorf("before the stop: %+v, want phase %s", last, phase)
			}
			p.mu.Unlock()
			if r := answerTo[refusal](p, "run", plan); r.Message != errBusy.Error() {
				t.Errorf("a second run: %+v", r)
			}
			start := time.Now()
			p.port.post(message{Type: msgStop, ID: id + 5}) // of no run
			p.port.post(message{Type: msgStop, ID: id})
			r := reportIn(t, valueOf[reported](p, <-answer))
			// Real time may pass in between, but the clock of the test counts
			// the mechanism's sleeps only.
			if took := time.Since(start); took > sliceTime+2*slowBlock {
				t.Errorf("%s: stopped after %v", phase, took)
			}
			if r.Verdict != audit.Inconclusive || r.Termination.Reason != audit.Stopped || len(p.replaced) > 0 {
				t.Errorf("%s: %s, %+v, replaced %v", phase, r.Verdict, r.Termination, p.replaced)
			}
			plan.Samples, plan.Explore = 1000, 1000
			answerTo[reported](p, "run", plan)
		})
	}
}

// Progress comes ten times a second at most, but for news.
func TestThrottle(t *testing.T) {
	now := 0.0
	var got []pair.Progress
	tell := pairTeller(func() float64 { return now }, func(p pair.Progress) { got = append(got, p) })
	for i := range 1000 { // ten seconds
		now = float64(i) / 100
		phase := pair.Exploring
		if i >= 505 {
			phase = pair.Certifying
		}
		message := ""
		if i == 301 {
			message = "lost"
		}
		tell(pair.Progress{Phase: phase, Rows: i, Message: message})
	}
	if len(got) < 90 || len(got) > 105 {
		t.Errorf("%d messages in ten seconds", len(got))
	}
	lost, began := false, false
	for _, p := range got {
		lost = lost || p.Message == "lost" && p.Rows == 301
		began = began || p.Rows == 505
	}
	if !lost || !began {
		t.Errorf("held back: lost worker told %v, start of a phase told %v", lost, began)
	}
}
