package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/wasm/scene"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// pictureRequest asks for a picture of what the page shows.
type pictureRequest struct {
	Of   string `json:"of"`   // what Text is
	Text string `json:"text"` // JSON; "" of a report: the one that was answered with last
	View string `json:"view"` // of a report: "outputs", "data", "tradeoff" or "renyi"; of membership: "roc" or "scores"; of an account: "" (its Rényi curve), "ways", "ways to delta", "steps" or "deltas"
	plot.Request
}

const (
	ofReport     = "report"     // the text of a report about a pair
	ofLinked     = "linked"     // the text of a report as far as a link has it
	ofAccount    = "account"    // accountAnswer, for steps and deltas with its trace
	ofCanaries   = "canaries"   // scene.Course, of an audit with canaries
	ofMembership = "membership" // the text of a report of canaries or scores
	ofSpark      = "spark"      // scene.Course, of a run on its way or of one that ended, very small
	ofLive       = "live"       // pair.Progress, of a run on its way
	ofPlanted    = "planted"    // the text of a report of canaries or scores
	ofTrainings  = "trainings"  // nothing: the trainings so far, of a run on its way
)

// widest bounds the width of a picture, in px.
const widest = 4096

// pictured keeps the report that was answered with last: its pictures are asked for one by one.
type pictured struct {
	mu   sync.Mutex
	text string
	in   scene.Input

	cloud scene.Cloud // trainings of the run with canaries that began last
	of    string      // the text of its report, once it ended
}

// gather takes trainings of the run under way, and returns all so far.
func (p *pictured) gather(runs []membership.Scored) scene.Cloud {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of != "" {
		p.cloud, p.of = scene.Cloud{}, ""
	}
	for _, r := range runs {
		p.cloud.Add(r)
	}
	return p.cloud
}

// gathered are the trainings of a report's text, "" so far; nil where they are of another run.
func (p *pictured) gathered(text string) *scene.Cloud {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text != p.of {
		return nil
	}
	return new(p.cloud)
}

// end keeps what report the trainings made.
func (p *pictured) end(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of = cmp.Or(text, "none")
}

func (p *pictured) hold(text string, in scene.Input) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.in = text, in
}

func (p *pictured) report(text string) (scene.Input, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text != "" && (text == "" || text == p.text) {
		return p.in, nil
	}
	r, err := pair.ParseReport([]byte(text))
	if err != nil {
		return scene.Input{}, err
	}
	return scene.InputOf(r), nil
}

func (c *coordinator) picture(_ context.Context, r request[pictureRequest]) (plot.Picture, error) {
	req := r.asked
	if !(req.Width >= 1 && req.Width <= widest) {
		return plot.Picture{}, &audit.InputError{Field: "width", Found: fmt.Sprint(req.Width), Want: fmt.Sprintf("in [1, %d]", widest)}
	}
	if len(req.Theme) != 0 && len(req.Theme) != int(plot.Roles) {
		return plot.Picture{}, &audit.InputError{Field: "theme", Found: fmt.Sprintf("%d colours", len(req.Theme)), Want: fmt.Sprint(int(plot.Roles))}
	}
	view, err := c.view(req)
	if err != nil {
		return plot.Picture{}, err
	}
	if view == nil {
		return plot.Picture{Words: "There is nothing to draw.", Choices: []plot.Choice{}}, nil
	}
	return plot.Draw(view, req.Request), nil
}

func (c *coordinator) view(req pictureRequest) (*plot.View, error) {
	switch req.Of {
	case ofReport:
		in, err := c.drawn.report(req.Text)
		if err != nil {
			return nil, err
		}
		return reportView(in, req.View)
	case ofLinked:
		r, err := drawable[scene.Report](req)
		return scene.NewOutputs(&r), err
	case ofAccount:
		a, err := drawable[scene.Accounted](req)
		switch {
		case err != nil || req.View == "":
			return scene.NewAccount(a.Account), err
		case a.Query.Delta == nil:
			return nil, &audit.InputError{Field: "query.delta", Found: "none", Want: "that of the account"}
		case req.View == "steps":
			return scene.NewSteps(a, req.At), nil
		case req.View == "deltas":
			return scene.NewDeltas(a), nil
		}
		return scene.NewWays(a.Account, req.View == "ways to delta"), nil
	case ofCanaries:
		course, err := drawable[scene.Course](req)
		return scene.NewOverTime(&course, nil, 0), err
	case ofMembership:
		r, err := drawable[scene.CanaryReport](req)
		switch req.View {
		case "roc", "":
			return scene.NewROC(&r), err
		case "scores":
			return scene.NewScores(&r), err
		}
		return nil, &audit.InputError{Field: "view", Found: fmt.Sprintf("%q", req.View), Want: `"roc" or "scores"`}
	case ofSpark:
		course, err := drawable[scene.Course](req)
		return scene.NewSpark(&course), err
	case ofLive:
		p, err := drawable[pair.Progress](req)
		return scene.NewLiveOutputs(&p), err
	case ofPlanted:
		r, err := drawable[scene.CanaryReport](req)
		return scene.NewStill(&r, c.drawn.gathered(req.Text)), err
	case ofTrainings:
		return c.drawn.gathered("").Live(scene.MostInStill), nil
	}
	return nil, &audit.InputError{Field: "of", Found: fmt.Sprintf("%q", req.Of), Want: "what there are pictures of"}
}

func reportView(in scene.Input, name string) (*plot.View, error) {
	r := in.Report
	switch {
	case name == "outputs":
		if r.Evidence != nil {
			if n := max(len(r.Evidence.Chart.Edges), len(r.Evidence.Chart.Outcomes)) + 1; n > scene.MostBins {
				return nil, fmt.Errorf("%s bins are too many to draw: %s at most", plot.Grouped(n), plot.Grouped(scene.MostBins))
			}
		}
		return scene.NewOutputs(r), nil
	case name == "data":
		return scene.DataOf(r), nil
	case name == "tradeoff":
		return scene.NewTradeoff(in.Curves.Tradeoff), nil
	case name == "renyi":
		return scene.NewRenyi(in.Curves.Renyi), nil
	}
	return nil, &audit.InputError{Field: "view", Found: fmt.Sprintf("%q", name), Want: `"outputs", "data", "tradeoff" or "renyi"`}
}

func drawable[T any](req pictureRequest) (v T, err error) {
	if err = json.Unmarshal([]byte(req.Text), &v); err != nil {
		err = fmt.Errorf("no %s to draw: %w", req.Of, err)
	}
	return v, err
}
