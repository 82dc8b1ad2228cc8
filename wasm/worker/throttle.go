package main

import (
	"math"

	"github.com/dpscope/dpscope/core/pair"
)

// progressEvery is the time between two progress messages, in seconds.
const progressEvery = 0.1

// throttle lets progress pass that does not come too soon after the last, and news.
type throttle struct {
	now   func() float64
	every float64 // seconds
	at    float64
}

func newThrottle(now func() float64, every float64) *throttle {
	return &throttle{now, every, math.Inf(-1)}
}

func (t *throttle) passes(news bool) bool {
	now := t.now()
	if !news && now-t.at < t.every {
		return false
	}
	t.at = now
	return true
}

// pairTeller tells of an audit of a pair. A new phase, a lost worker and a refutation are news.
func pairTeller(now func() float64, pass func(pair.Progress)) func(pair.Progress) {
	t, last := newThrottle(now, progressEvery), pair.Progress{}
	return func(p pair.Progress) {
		if t.passes(p.Phase != last.Phase || p.Refuted != last.Refuted || p.Rows == p.Total || p.Message != "" && p.Message != last.Message) {
			last = p
			pass(p)
		}
	}
}
