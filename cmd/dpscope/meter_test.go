package main

import (
	"strings"
	"testing"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// The line of a terminal says the time left as the run tells it, on one line, and nothing
// of it while the run does not know.
func TestMeter(t *testing.T) {
	var out strings.Builder
	now := 0.0
	m := &meter{cli.Meter{W: &out, Now: func() float64 { now++; return now }}}
	bound := 1.25
	line := func(p pair.Progress) string {
		out.Reset()
		m.pair(p)
		return strings.TrimRight(strings.TrimPrefix(out.String(), "\r"), " ")
	}
	for _, c := range []struct {
		p    pair.Progress
		want string
	}{
		{pair.Progress{Phase: pair.Exploring, Rows: 10, Total: 100, Trial: 1, Trials: 4}, "explore  10 %, trial 1 of 4"},
		{pair.Progress{Phase: pair.Exploring, Rows: 40, Total: 100, Trial: 3, Trials: 4, Left: new(71.2), AtMost: true}, "explore  40 %, at most 1m12s left, trial 3 of 4"},
		{pair.Progress{Phase: pair.Certifying, Rows: 80, Total: 100, Left: new(3.0), Provisional: &bound, Letter: "ε"}, "certify  80 %, about 3s left, ε >= 1.250 so far (not certified)"},
		{pair.Progress{Phase: pair.Betting, Rows: 80, Total: 100, Left: new(0.2), AtMost: true, Betted: &pair.Betted{PValue: 0.25}}, "bet  80 %, at most 1s left, p 0.25"},
		{pair.Progress{Phase: pair.Bounding, Rows: 100, Total: 100}, "bound 100 %"},
	} {
		if got := line(c.p); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	long := pair.Progress{Phase: pair.Exploring, Rows: 40, Total: 100, Trial: 3, Trials: 4, Left: new(7e5), AtMost: true, Refuted: 123456789, Provisional: &bound}
	if got := line(long); len([]rune(got)) > cli.MeterWidth || !strings.HasPrefix(got, "explore  40 %, at most 194h26m40s left, refuted after 123 456 789 outputs") {
		t.Errorf("%q", got)
	}
	out.Reset()
	m.canaries(canary.Plan{Trainer: &source.Trainer{}})(canary.Progress{Phase: canary.Betting, Runs: 3, Total: 200, Left: new(2400.0), Bounds: []canary.LiveBound{{Interval: bounds.CanaryPairedBetting, Epsilon: 0.25}}, Holds: true})
	if got := strings.TrimSpace(out.String()); got != "bet: run 3 of 200, about 40m0s left, ε >= 0.250 so far" {
		t.Errorf("%q", got)
	}
	out.Reset()
	m.canaries(canary.Plan{})(canary.Progress{Phase: canary.Exploring, Runs: 30, Total: 100, Left: new(3601.0)})
	if got := strings.TrimSpace(out.String()); got != "explore  30 %, about 1h0m1s left" {
		t.Errorf("%q", got)
	}
}
