package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/report"
)

// Canary audits. The file that some take comes with the request, in base64; it
// goes to the task workers as far as they need it, and nowhere else.

// canaryRequest is an audit to be done, or a report to be replayed.
type canaryRequest struct {
	Plan   json.RawMessage `json:"plan,omitempty"`   // of an audit
	OneRun json.RawMessage `json:"oneRun,omitempty"` // of an audit in one run, instead of Plan
	Scores json.RawMessage `json:"scores,omitempty"` // of an audit of recorded scores, instead of Plan
	Report string          `json:"report,omitempty"` // of a replay: its text
	File   []byte          `json:"file,omitempty"`   // the user's, absent if there is none
	Files  []scoreFile     `json:"files,omitempty"`  // of scores: one, or those in and those out
}

func requestOf(m message) (canaryRequest, error) {
	var r canaryRequest
	err := audit.DecodeStrict([]byte(m.JSON), "canary request", &r)
	return r, err
}

// canaryReported is a canary report as the page gets it.
type canaryReported struct {
	Report json.RawMessage `json:"report"`
	// Text is the report in canonical form, to be saved as it is.
	Text      string               `json:"text"`
	Facts     []audit.FactRow      `json:"facts"`
	Intervals []canary.IntervalRow `json:"intervals"`
	Methods   []report.MethodRow   `json:"methods"` // of one run, or of scores
	// Course are the provisional bounds of the run on its way; empty for a report
	// that was opened.
	Course []coursePoint `json:"course"`
	Error  string        `json:"error"` // of a run that failed
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

func canaryAnswer(r canary.Report, course []coursePoint, failure error) (message, error) {
	// A report that was written by hand may lack lists; the page relies on them.
	for _, list := range []*[]string{&r.Warnings, &r.Limitations, &r.References} {
		if *list == nil {
			*list = []string{}
		}
	}
	if r.Intervals == nil {
		r.Intervals = []report.Row{}
	}
	text, err := audit.Canonical(r)
	if err != nil {
		return message{}, err
	}
	out := canaryReported{Report: text, Text: string(text), Facts: r.Facts(), Intervals: canary.IntervalRows(r), Course: course, Methods: []report.MethodRow{}}
	if out.Course == nil {
		out.Course = []coursePoint{}
	}
	if failure != nil {
		out.Error = failure.Error()
	}
	return message{Type: msgCanaried, JSON: mustJSON(out)}, nil
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
	req, err := requestOf(m)
	if err != nil {
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
	if err != nil && r.Schema == "" {
		return message{}, err // it never began
	}
	return canaryAnswer(r, t.course, err)
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

// openCanaries reads a canary report.
func (c *coordinator) openCanaries(m message) (message, error) {
	if kind := findingsKind([]byte(m.JSON)); kind != "" {
		return openFindings(kind, []byte(m.JSON))
	}
	r, err := canary.ParseReport([]byte(m.JSON))
	if err != nil {
		return message{}, err
	}
	r.Summary = canary.Headline(r) // what its numbers say, whatever its words
	return canaryAnswer(r, nil, nil)
}

// verifyCanaries replays a canary report.
func (c *coordinator) verifyCanaries(ctx context.Context, m message) (message, error) {
	req, err := requestOf(m)
	if err != nil {
		return message{}, err
	}
	if kind := findingsKind([]byte(req.Report)); kind != "" {
		return c.verifyFindings(ctx, m.ID, kind, req)
	}
	r, err := canary.ParseReport([]byte(req.Report))
	if err != nil {
		return message{}, err
	}
	total := r.Plan.Explore + r.Plan.Runs
	if *r.Plan.Single {
		total *= 2
	}
	watch := &watchedCanaries{Worker: c.crew, c: c, id: m.ID, p: canaryProgress{canary.Progress{Phase: canary.Certifying, Total: total}, r.Plan.Runs}, at: math.Inf(-1)}
	v, err := canary.Verify(ctx, grained(r.Plan.Runs, len(req.File)), c.crew.pool(watch), r, req.File, true)
	if ctx.Err() != nil {
		return message{}, errors.New("stopped before the end")
	}
	if err != nil {
		return message{}, err
	}
	return verifiedAnswer(v), nil
}

// watchedCanaries is a worker whose runs are counted, for a replay, which tells no
// progress of its own.
type watchedCanaries struct {
	engine.Worker
	c  *coordinator
	id int

	mu sync.Mutex
	p  canaryProgress
	at float64
}

// Execute implements [engine.Worker].
func (w *watchedCanaries) Execute(ctx context.Context, t engine.Task, progress func(rows int)) (any, error) {
	return w.Worker.Execute(ctx, t, func(rows int) {
		progress(rows)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.p.Runs = min(w.p.Runs+rows, w.p.Total)
		if now := w.c.now(); now-w.at >= progressEvery {
			w.at = now
			w.c.page.post(message{Type: msgProgress, ID: w.id, JSON: mustJSON(w.p)})
		}
	})
}
