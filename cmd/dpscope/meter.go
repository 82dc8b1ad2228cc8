package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

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

// meter shows progress on one line of a terminal, and nothing elsewhere.
type meter struct {
	w    io.Writer // nil: nobody sees it
	now  func() float64
	last float64 // when a line was shown
	wide int     // of that line

	before string // stands before every line
	lines  bool   // each is a line of its own, for the program that started this one
}

// meterWidth keeps the line on one line of a usual terminal.
const meterWidth = 79

// newMeter is the meter of a terminal or, with parent, of the program that started this one.
func newMeter(w io.Writer, parent bool) *meter {
	if !parent && !cli.IsTerminal(w) {
		return &meter{}
	}
	return &meter{w: w, now: cli.Clock(), last: math.Inf(-1), lines: parent}
}

// watch shows the progress of the audit of a plan.
func (m *meter) watch(_ string, plan any, g *core.Env) {
	if m.w == nil {
		return
	}
	switch p := plan.(type) {
	case pair.Plan:
		g.Pair = m.pair
	case canary.Plan:
		g.Canaries = m.canaries(p)
	case scores.Plan:
		m.show("auditing the scores")
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
	m.sometimes(line)
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
		m.sometimes(line)
	}
}

// reading shows how far a file is read.
func (m *meter) reading(p recordings.Progress) {
	const mb = 1e6
	line := fmt.Sprintf("reading %s, %.0f MB", p.Name, float64(p.Bytes)/mb)
	if p.Of > 0 {
		line += fmt.Sprintf(" of %.0f", float64(p.Of)/mb)
	}
	if p.Seconds > 0.5 {
		line += fmt.Sprintf(", %.0f MB/s", float64(p.Bytes)/mb/p.Seconds)
	}
	m.sometimes(line)
}

// checking shows the trainings that a program is asked for before an audit.
func (m *meter) checking() command.Checked {
	begun := cli.Clock()
	return func(training, of int) {
		line := fmt.Sprintf("check of the program: training %d of %d", training, of)
		if took := begun(); training > 1 && took >= 1 {
			left := took / float64(training-1) * float64(of-training+1)
			line += timeLeft(&left, false)
		}
		m.show(line)
	}
}

func done(phase string, n, of int) string {
	return fmt.Sprintf("%s %3.0f %%", phase, 100*float64(n)/float64(max(1, of)))
}

// uncertain marks a bound that is none yet.
func uncertain(holds bool) string {
	if holds {
		return ""
	}
	return " (not certified)"
}

// timeLeft says how long a run still takes, once that is known.
func timeLeft(seconds *float64, most bool) string {
	if seconds == nil {
		return ""
	}
	about := "about"
	if most {
		about = "at most"
	}
	return fmt.Sprintf(", %s %s left", about, time.Duration(math.Ceil(*seconds))*time.Second)
}

// sometimes shows a line if the last one has been there for a while.
func (m *meter) sometimes(line string) {
	if m.w != nil && m.now()-m.last >= 0.1 {
		m.last = m.now()
		m.show(line)
	}
}

// show puts a line in place of the last.
func (m *meter) show(line string) {
	if m.w == nil {
		return
	}
	line = m.before + line
	if m.lines {
		fmt.Fprintf(m.w, "\r%s\n", line)
		return
	}
	letters := []rune(line)
	letters = letters[:min(len(letters), meterWidth)]
	fmt.Fprintf(m.w, "\r%s%s", string(letters), strings.Repeat(" ", max(0, m.wide-len(letters))))
	m.wide = len(letters)
}

func (m *meter) clear() {
	if m.w != nil && m.wide > 0 {
		fmt.Fprintf(m.w, "\r%s\r", strings.Repeat(" ", m.wide))
	}
}
