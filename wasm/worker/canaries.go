package main

import (
	"context"
	"math"

	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
)

// Canary audits. The file that some take goes to the task workers as far as they need
// it, and nowhere else.

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
func (c *coordinator) canaries(ctx context.Context, id int, texts settings.Texts, files []userFile) (reported, error) {
	plan, err := read(canary.Keys(), texts, canary.Plan{Version: canary.PlanVersion})
	if err != nil {
		return reported{}, err
	}
	file, err := oneFile(files)
	if err != nil {
		return reported{}, err
	}
	t := canaryTeller{c: c, id: id, at: math.Inf(-1)}
	run := canary.Run{Plan: plan, File: file, Sources: grained(plan.Runs, len(file)), Pool: c.crew.pool(c.crew), Generator: c.generator, Now: c.now, Progress: t.tell}
	a, err := plan.Resolve(run.Sources, file)
	if err != nil {
		return reported{}, err
	}
	t.planned = a.Plan.Runs
	r, err := run.Do(ctx)
	return c.report(r, t.course, err)
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
	t.c.tell(t.id, canaryProgress{p, t.planned})
}
