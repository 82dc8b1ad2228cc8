package main

import (
	"context"
	"encoding/json"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
)

// Canary audits. The file that some take comes with the request, in base64; it
// goes to the task workers as far as they need it, and nowhere else.

// canaryRequest is an audit to be done.
type canaryRequest struct {
	Plan   json.RawMessage `json:"plan,omitempty"`   // of an audit
	OneRun json.RawMessage `json:"oneRun,omitempty"` // of an audit in one run, instead of Plan
	Scores json.RawMessage `json:"scores,omitempty"` // of an audit of recorded scores, instead of Plan
	File   []byte          `json:"file,omitempty"`   // the user's, absent if there is none
	Files  []scoreFile     `json:"files,omitempty"`  // of scores: one, or those in and those out
}

// coursePoint are the bounds after so many certification runs.
type coursePoint struct {
	Runs   int                `json:"runs"`
	Bounds []canary.LiveBound `json:"bounds"`
}

// canaryProgress is a run on its way. Bounds come once, when they are new.
type canaryProgress struct {
	canary.Progress
	Planned int `json:"planned"` // certification runs
}

// Grains of tasks: smaller ones than a source's own, so that the course has about
// canary.Looks points, but no smaller than what a message is worth. Sources that
// take long, and those whose tasks carry much data, keep theirs.
const (
	leastGrain   = 8
	mostTaskData = 1 << 16
)

// grained are the sources with the grain for an audit of so many runs.
func grained(runs, data int) []source.Spec {
	sources := source.Sources()
	for i := range sources {
		if s := &sources[i]; data <= mostTaskData {
			n := runs
			if n <= 0 {
				n = s.Runs
			}
			s.ShardRuns = min(s.ShardRuns, max(leastGrain, n/canary.Looks))
		}
	}
	return sources
}

// canaries does a canary audit. A stop keeps what there is.
func (c *coordinator) canaries(ctx context.Context, m message) (message, error) {
	var req canaryRequest
	if err := audit.DecodeStrict([]byte(m.JSON), "canary request", &req); err != nil {
		return message{}, err
	}
	if len(req.OneRun) > 0 {
		return c.oneRun(ctx, m.ID, req)
	}
	if len(req.Scores) > 0 {
		return c.scores(m.ID, req)
	}
	plan, err := canary.ParsePlan(req.Plan)
	if err != nil {
		return message{}, err
	}
	t := canaryTeller{c: c, id: m.ID, at: math.Inf(-1)}
	run := canary.Run{Plan: plan, File: req.File, Sources: grained(plan.Runs, len(req.File)), Pool: c.crew.pool(c.crew), Generator: c.generator, Now: c.now, Progress: t.tell}
	a, err := plan.Resolve(run.Sources, req.File)
	if err != nil {
		return message{}, err
	}
	t.planned = a.Plan.Runs
	r, err := run.Do(ctx)
	return c.reportAnswer(r, t.course, err)
}

// canaryTeller posts progress, ten times a second at most but for news, and keeps
// the course.
type canaryTeller struct {
	c       *coordinator
	id      int
	planned int
	course  []coursePoint
	phase   canary.Phase
	at      float64
}

func (t *canaryTeller) tell(p canary.Progress) {
	fresh := p.Certified > 0 && len(p.Bounds) > 0 && (len(t.course) == 0 || p.Certified > t.course[len(t.course)-1].Runs && &p.Bounds[0] != &t.course[len(t.course)-1].Bounds[0])
	if fresh {
		t.course = append(t.course, coursePoint{p.Certified, p.Bounds})
	}
	now := t.c.now()
	if !fresh && p.Phase == t.phase && p.Message == "" && now-t.at < progressEvery {
		return
	}
	t.phase, t.at = p.Phase, now
	if !fresh {
		p.Bounds = nil
	}
	t.c.page.post(message{Type: msgProgress, ID: t.id, JSON: mustJSON(canaryProgress{p, t.planned})})
}
