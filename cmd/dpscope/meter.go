package main

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/recordings"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

type meter struct{ cli.Meter }

func (m *meter) watch(_ string, plan any, g *core.Env) {
	if m.W == nil {
		return
	}
	switch p := plan.(type) {
	case pair.Plan:
		g.Pair = m.pair
	case canary.Plan:
		g.Canaries = m.canaries(p)
	case scores.Plan:
		m.Show("auditing the scores")
	}
}

func (m *meter) pair(p pair.Progress) {
	line := done(string(p.Phase), p.Rows, p.Total) + timeLeft(p.Left, p.AtMost)
	if p.Refuted > 0 {
		line += fmt.Sprintf(", refuted after %s outputs", phrase.Grouped(p.Refuted))
	}
	if p.Provisional != nil {
		line += fmt.Sprintf(", %s >= %.3f so far%s", p.Letter, *p.Provisional, uncertain(p.Valid))
	} else if p.Betted != nil && p.Refuted == 0 {
		line += fmt.Sprintf(", p %.2g", p.Betted.PValue)
	}
	if p.Phase == pair.Exploring {
		line += fmt.Sprintf(", trial %d of %d", p.Trial, p.Trials)
	}
	m.Sometimes(line)
}

func (m *meter) canaries(p canary.Plan) func(canary.Progress) {
	kind := cmp.Or(p.Interval, bounds.CanaryPairedBetting)
	return func(g canary.Progress) {
		line := done(string(g.Phase), g.Runs, g.Total)
		if p.Trainer != nil {
			line = fmt.Sprintf("%s: run %d of %d", g.Phase, g.Runs, g.Total)
		}
		line += timeLeft(g.Left, false)
		for _, b := range g.Bounds {
			if b.Interval == kind {
				line += fmt.Sprintf(", ε >= %.3f so far%s", phrase.Floor(b.Epsilon, 3), uncertain(g.Holds))
			}
		}
		m.Sometimes(line)
	}
}

func (m *meter) reading(p recordings.Progress) {
	const mb = 1e6
	line := fmt.Sprintf("reading %s, %.0f MB", p.Name, float64(p.Bytes)/mb)
	if p.Of > 0 {
		line += fmt.Sprintf(" of %.0f", float64(p.Of)/mb)
	}
	if p.Seconds > 0.5 {
		line += fmt.Sprintf(", %.0f MB/s", float64(p.Bytes)/mb/p.Seconds)
	}
	m.Sometimes(line)
}

func (m *meter) checking() command.Checked {
	begun := cli.Clock()
	return func(training, of int) {
		line := fmt.Sprintf("check of the program: training %d of %d", training, of)
		if took := begun(); training > 1 && took >= 1 {
			left := took / float64(training-1) * float64(of-training+1)
			line += timeLeft(&left, false)
		}
		m.Show(line)
	}
}

func done(phase string, n, of int) string {
	return fmt.Sprintf("%s %3.0f %%", phase, 100*float64(n)/float64(max(1, of)))
}

func uncertain(holds bool) string { return audit.Pick(holds, "", " (not certified)") }

func timeLeft(seconds *float64, most bool) string {
	if seconds == nil {
		return ""
	}
	return fmt.Sprintf(", %s %s left", audit.Pick(most, "at most", "about"), time.Duration(math.Ceil(*seconds))*time.Second)
}
