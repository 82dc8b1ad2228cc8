package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/wasm/scene"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// reportJSON is a report as an answer has it: null.
type reportJSON []struct{}

// reported is a report of any kind as the page gets it.
type reported struct {
	// Report is read by the page out of Text: it is large, and goes over once.
	Report reportJSON `json:"report"`
	// Text is the canonical form, to be saved as it is.
	Text string `json:"text"`
	// Title and Detail are the verdict at a glance.
	Title  string `json:"title"`
	Detail string `json:"detail"`
	// LinkSummary is what a link holds of an audit of a pair.
	LinkSummary *pair.LinkSummary `json:"glimpse,omitempty"`
	// Say is what its picture says.
	Say *plot.Said `json:"say,omitempty"`
	// Mended is the address of the audit without the fault; absent where there is none.
	Mended string              `json:"mended,omitempty"`
	Facts  []audit.FactRow     `json:"facts"`
	Tables []report.TableWords `json:"tables"`
	Curves pair.Curves         `json:"curves"` // of an audit of a pair
	// Course are the provisional bounds of an audit with canaries; empty for a report that was opened.
	Course []coursePoint `json:"course"`
	Error  string        `json:"error"` // of a run that failed
}

// report gives the page a report, of a failure too unless the run never began.
func (c *coordinator) report(r report.View, course []coursePoint, failure error) (reported, error) {
	head := r.Head()
	if failure != nil && head.Schema == "" {
		return reported{}, failure
	}
	text, err := audit.Canonical(r)
	if err != nil {
		return reported{}, err
	}
	out := reported{Text: string(text), Facts: r.Facts(), Tables: head.Words(), Course: append([]coursePoint{}, course...)}
	out.Title, out.Detail = head.Banner()
	if p, ok := r.(pair.Report); ok {
		in := scene.InputOf(p)
		c.last.Store(&answeredReport{out.Text, in})
		if v := scene.NewOutputs(in.Report); v != nil {
			out.Say = &v.Said
		}
		out.Curves, out.LinkSummary, out.Mended = in.Curves, new(p.LinkSummary()), p.Mended(c.known())
	} else {
		out.Say = new(scene.CanaryReportOf(r).Says())
	}
	if failure != nil {
		out.Error = failure.Error()
	}
	return out, nil
}

// previewRequest is the result in a link, and its settings.
type previewRequest struct {
	Settings settings.Texts   `json:"settings"`
	Result   pair.LinkSummary `json:"result"`
	// User is the user's mechanism, whose outputs have Width numbers. Nothing of it runs.
	User  *userRequest `json:"brought,omitempty"`
	Width int          `json:"width,omitempty"`
}

type previewed struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
	// Odd says why it cannot be the result of its settings; empty where it can.
	Odd string `json:"odd"`
	// Picture is the text of a report as far as the link has it; absent where there is nothing to draw.
	Picture string `json:"picture,omitempty"`
}

func (c *coordinator) preview(_ context.Context, asks request[previewRequest]) (out previewed, err error) {
	req, cat := asks.asked, c.known()
	if b := req.User; b != nil {
		spec, err := b.unseen(req.Width)
		if err != nil {
			return out, err
		}
		cat = cat.With(spec)
	}
	plan, err := pairPlan(req.Settings)
	if err != nil {
		return out, err
	}
	a, err := plan.Resolve(cat)
	if err != nil {
		return out, err
	}
	r, err := req.Result.Report(a)
	out.Title, out.Detail = r.Banner()
	switch {
	case err != nil:
		out.Odd = err.Error()
	case req.Result.Chart != nil:
		out.Picture = string(mustJSON(r))
	}
	return out, nil
}

// open says what a report's numbers do, whatever its words.
func (c *coordinator) open(_ context.Context, r request[reportText]) (reported, error) {
	text, err := core.ParseReport([]byte(r.asked))
	if err != nil {
		return reported{}, err
	}
	return c.report(core.Reworded(text), nil, nil)
}

// replayProgress is in outputs of a pair, or runs.
type replayProgress struct {
	Rows  int `json:"rows"`
	Total int `json:"total"`
	// Left is how many seconds it still takes at this pace; absent while too little was done.
	Left *float64 `json:"left,omitempty"`
}

type verified struct {
	OK          bool     `json:"ok"`
	Recomputed  bool     `json:"recomputed,omitempty"` // the counts are the report's own
	Summary     string   `json:"summary"`              // the verdict as the replay makes it
	Checked     []string `json:"checked"`
	Differences []string `json:"differences"`
	Notes       []string `json:"notes"`
}

// verify replays a report, with the user's files that it is of.
func (c *coordinator) verify(ctx context.Context, asks request[reportText]) (verified, error) {
	r, err := core.ParseReport([]byte(asks.asked))
	if err != nil {
		return verified{}, err
	}
	given, err := c.given(core.PlanOf(r), asks.files, true)
	if err != nil {
		return verified{}, err
	}
	p := replayProgress{Total: 1}
	switch r := r.(type) {
	case pair.Report:
		if c.own != nil {
			if given.Catalogue, err = c.own.replay(ctx, asks.id, r); err != nil {
				return verified{}, err
			}
		}
		p.Total = max(1, r.Termination.Outputs*audit.Pick(r.Inputs.Samples != nil, 2, 1)) // both stages read the rows of a recording
	case canary.Report:
		p.Total = r.Plan.Explore + r.Plan.Runs
	}
	watch := &watched{Worker: c.worker, p: p, throttle: newThrottle(c.now, progressEvery), tell: func(p replayProgress) { c.tell(asks.id, p) }}
	watch.passes(true)
	watch.tell(p)
	given.Pool = c.pool(watch)
	// Programs run on the command line only: of their trainings what follows from the counts is checked.
	trained := core.Trainer(core.PlanOf(r)) != nil
	v, err := core.Verify(ctx, r, given, !trained)
	if ctx.Err() != nil {
		return verified{}, errStopped
	}
	if err != nil {
		return verified{}, err
	}
	if trained {
		v.Notes = append(v.Notes, "a program trained, which runs on the command line only: dpscope verify -exec draws the trainings again")
	}
	return verified{
		OK: v.OK(), Recomputed: v.Recomputed, Summary: v.Summary, Differences: append([]string{}, v.Differences...),
		Checked: audit.Each(v.Groups(), func(g engine.Part) string { return fmt.Sprintf("%s: %s", g.Name, phrase.Count(g.Fields, "field")) }),
		Notes:   append(audit.Each(v.Skipped, func(s engine.Skipped) string { return s.Words(false) }), v.Notes...),
	}, nil
}

// watched tells the progress of a replay.
type watched struct {
	engine.Worker
	*throttle
	tell func(replayProgress)

	mu   sync.Mutex
	p    replayProgress
	pace engine.Pace
}

func (w *watched) Execute(ctx context.Context, t engine.Task, progress func(rows int), part func(any)) (any, error) {
	return w.Worker.Execute(ctx, t, func(rows int) {
		progress(rows)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.p.Rows = min(w.p.Rows+rows, w.p.Total)
		if w.passes(false) {
			w.p.Left = nil
			if left, ok := w.pace.Left(w.at, "", w.p.Rows, w.p.Total); ok && left > 0 {
				w.p.Left = &left
			}
			w.tell(w.p)
		}
	}, part)
}
