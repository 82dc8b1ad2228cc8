package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

func pairPlan(texts settings.Texts) (pair.Plan, error) {
	return read(pair.Keys(), texts, pair.Plan{Version: pair.PlanVersion})
}

func (w wanted) plan() (any, error) {
	switch w.Kind {
	case report.Pair:
		return pairPlan(w.Settings)
	case canary.Kind:
		return read(canary.Keys(), w.Settings, canary.Plan{Version: canary.PlanVersion})
	case string(canary.OneRun):
		return read(canary.OneRunKeys(), w.Settings, canary.Plan{Version: canary.PlanVersion, Mode: canary.OneRun})
	case scores.Kind:
		return read(scores.Keys(), w.Settings, scores.Plan{Version: scores.PlanVersion})
	}
	return nil, audit.UnknownName("kind", w.Kind, []string{report.Pair, canary.Kind, string(canary.OneRun), scores.Kind})
}

// given is what there is for an audit, or for its replay, which can do without scores.
func (c *coordinator) given(plan any, files []userFile, replay bool) (g core.Env, err error) {
	g = core.Env{Catalogue: c.known(), Generator: c.generator, Now: c.now}
	if p, ok := plan.(scores.Plan); ok {
		if c.own != nil {
			g.Scores, err = c.own.scores(p.ScoreColumns)
		} else if !replay {
			err = errors.New("scores are audited by a coordinator of their own")
		}
		return g, err
	}
	if len(files) > 0 {
		g.File, err = io.ReadAll(&userReader{files[0], 0})
	}
	if p, ok := plan.(canary.Plan); ok {
		g.Sources = grained(p.Runs, len(g.File))
	}
	return g, err
}

// Grains of tasks: small, so that the course has about canary.Looks points, but worth a message. Slow
// sources, and tasks that carry much data, keep theirs.
const (
	leastGrain   = 8
	mostTaskData = 1 << 16
)

func grained(runs, data int) []source.Spec {
	sources := source.Sources()
	for i := range sources {
		if s := &sources[i]; data <= mostTaskData {
			s.ShardRuns = min(s.ShardRuns, max(leastGrain, cmp.Or(max(0, runs), s.Runs)/canary.Looks))
		}
	}
	return sources
}

// run does an audit of any kind. A stop keeps what there is.
func (c *coordinator) run(ctx context.Context, r request[wanted]) (reported, error) {
	plan, err := r.asked.plan()
	if err != nil {
		return reported{}, err
	}
	if r.asked.Kind == string(canary.OneRun) { // it has one step
		c.tell(r.id, canaryProgress{Progress: canary.Progress{Phase: canary.Phase(r.asked.Kind), Total: 1}, Planned: 1})
	}
	given, err := c.given(plan, r.files, false)
	if err != nil {
		return reported{}, err
	}
	given.Pool = c.pool(c.worker)
	given.Pair = pairTeller(c.now, func(p pair.Progress) { c.tell(r.id, p) })
	t := canaryTeller{c: c, id: r.id, throttle: newThrottle(c.now, progressEvery)}
	given.Canaries = t.tell
	a, err := core.Resolve(plan, given)
	if err != nil {
		return reported{}, err
	}
	if p, ok := a.Plan().(canary.Plan); ok {
		t.planned = p.Runs
	}
	done, err := a.Run(ctx, given)
	out, err := c.report(done, t.course, err)
	c.trainings.end(out.Text)
	return out, err
}

// coursePoint are the bounds after so many certification runs.
type coursePoint struct {
	Runs   int                `json:"runs"`
	Bounds []canary.LiveBound `json:"bounds"`
}

// canaryProgress is an audit with canaries, or of scores, on its way. Bounds come once.
type canaryProgress struct {
	canary.Progress
	Planned int        `json:"planned"`       // certification runs
	Say     *plot.Said `json:"say,omitempty"` // of the trainings that were told so far
}

type canaryTeller struct {
	*throttle
	c       *coordinator
	id      int
	planned int
	course  []coursePoint
	phase   canary.Phase
	scored  []membership.Scored // that the page does not have yet
}

func (t *canaryTeller) tell(p canary.Progress) {
	fresh := p.Certified > 0 && len(p.Bounds) > 0 && (len(t.course) == 0 || p.Certified > t.course[len(t.course)-1].Runs && &p.Bounds[0] != &t.course[len(t.course)-1].Bounds[0])
	if fresh {
		t.course = append(t.course, coursePoint{p.Certified, p.Bounds})
	}
	t.scored = append(t.scored, p.Scored...)
	if !t.passes(fresh || p.Phase != t.phase || p.Message != "") {
		return
	}
	t.phase = p.Phase
	if !fresh {
		p.Bounds = nil
	}
	p.Scored, t.scored = t.scored, nil
	t.c.tell(t.id, canaryProgress{p, t.planned, t.c.trainings.gather(p.Scored).Says()})
}

// progressEvery is between two progress messages, s.
const progressEvery = 0.1

// throttle lets progress pass that does not come too soon, and news.
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

// pairTeller takes a new phase, a lost worker and a refutation for news.
func pairTeller(now func() float64, pass func(pair.Progress)) func(pair.Progress) {
	t, last := newThrottle(now, progressEvery), pair.Progress{}
	return func(p pair.Progress) {
		if t.passes(p.Phase != last.Phase || p.Refuted != last.Refuted || p.Rows == p.Total || p.Message != "" && p.Message != last.Message) {
			last = p
			pass(p)
		}
	}
}
