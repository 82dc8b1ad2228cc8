package main

import "github.com/dpscope/dpscope/core/pair"

// progressEvery is the time between two progress messages, in seconds.
const progressEvery = 0.1

// throttle passes progress on, ten times a second at most, but never holds
// back the start of a phase, the news of a lost worker, or that the claim is refuted.
type throttle struct {
	now  func() float64
	pass func(pair.Progress)
	last pair.Progress
	at   float64
}

func newThrottle(now func() float64, pass func(pair.Progress)) *throttle {
	return &throttle{now: now, pass: pass, at: -progressEvery}
}

func (t *throttle) tell(p pair.Progress) {
	at := t.now()
	news := p.Phase != t.last.Phase || p.Refuted != t.last.Refuted || p.Rows == p.Total || p.Message != "" && p.Message != t.last.Message
	if !news && at-t.at < progressEvery {
		return
	}
	t.last, t.at = p, at
	t.pass(p)
}
