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

type pictureRequest struct {
	Of   string `json:"of"`   // what Text is
	Text string `json:"text"` // JSON; "" of a report: the one that was answered with last
	View string `json:"view"` // of a report: "outputs", "data", "tradeoff" or "renyi"; of membership: "roc" or "scores"; of an account: "" (its Rényi curve), "ways", "ways to delta", "steps" or "deltas"
	plot.Request
}

// widest is of a picture, px.
const widest = 4096

// answeredReport is one that was answered with: its pictures are asked for one by one.
type answeredReport struct {
	text string
	in   scene.Input
}

// trainings are those of the run with canaries that began last.
type trainings struct {
	mu    sync.Mutex
	cloud scene.Cloud
	of    string // the text of its report, once it ended
}

// gather takes trainings of the run under way, and returns all so far.
func (t *trainings) gather(runs []membership.Scored) scene.Cloud {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of != "" {
		t.cloud, t.of = scene.Cloud{}, ""
	}
	for _, r := range runs {
		t.cloud.Add(r)
	}
	return t.cloud
}

// gathered are the trainings of a report's text, "" so far; nil where they are of another run.
func (t *trainings) gathered(text string) *scene.Cloud {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text != t.of {
		return nil
	}
	return new(t.cloud)
}

// end keeps what report the trainings made.
func (t *trainings) end(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of = cmp.Or(text, "none")
}

func (c *coordinator) picture(_ context.Context, r request[pictureRequest]) (plot.Picture, error) {
	req := r.asked
	if !(req.Width >= 1 && req.Width <= widest) {
		return plot.Picture{}, &audit.InputError{Field: "width", Found: fmt.Sprint(req.Width), Want: fmt.Sprintf("in [1, %d]", widest)}
	}
	if len(req.Theme) != 0 && len(req.Theme) != plot.Roles {
		return plot.Picture{}, &audit.InputError{Field: "theme", Found: fmt.Sprintf("%d colours", len(req.Theme)), Want: fmt.Sprint(plot.Roles)}
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
	case "report": // about a pair
		return c.reportView(req)
	case "linked": // a report as far as a link has it
		return drawing(req, scene.NewOutputs)
	case "live": // pair.Progress, of a run on its way
		return drawing(req, scene.NewLiveOutputs)
	case "spark": // scene.Course, very small
		return drawing(req, scene.NewSpark)
	case "canaries": // scene.Course, of an audit with canaries
		return drawing(req, func(c *scene.Course) *plot.View { return scene.NewOverTime(c, nil, 0) })
	case "trainings": // nothing: the trainings so far, of a run on its way
		return c.trainings.gathered("").Live(scene.MostInStill), nil
	case "planted": // a report of canaries or scores
		cloud := c.trainings.gathered(req.Text)
		return drawing(req, func(r *scene.CanaryReport) *plot.View { return scene.NewStill(r, cloud) })
	case "membership": // the same
		switch req.View {
		case "roc", "":
			return drawing(req, scene.NewROC)
		case "scores":
			return drawing(req, scene.NewScores)
		}
		return nil, &audit.InputError{Field: "view", Found: fmt.Sprintf("%q", req.View), Want: `"roc" or "scores"`}
	case "account": // accountAnswer, for steps and deltas with its trace
		var a scene.Accounted
		if err := req.read(&a); err != nil {
			return nil, err
		}
		switch {
		case req.View == "":
			return scene.NewAccount(a.Account), nil
		case a.Query.Delta == nil:
			return nil, &audit.InputError{Field: "query.delta", Found: "none", Want: "that of the account"}
		case req.View == "steps":
			return scene.NewSteps(a, req.At), nil
		case req.View == "deltas":
			return scene.NewDeltas(a), nil
		}
		return scene.NewWays(a.Account, req.View == "ways to delta"), nil
	}
	return nil, &audit.InputError{Field: "of", Found: fmt.Sprintf("%q", req.Of), Want: "what there are pictures of"}
}

func (c *coordinator) reportView(req pictureRequest) (*plot.View, error) {
	last := c.last.Load()
	if last == nil || req.Text != "" && req.Text != last.text {
		r, err := pair.ParseReport([]byte(req.Text))
		if err != nil {
			return nil, err
		}
		last = &answeredReport{in: scene.InputOf(r)}
	}
	in, r := last.in, last.in.Report
	switch req.View {
	case "outputs":
		if r.Evidence != nil {
			if n := max(len(r.Evidence.Chart.Edges), len(r.Evidence.Chart.Outcomes)) + 1; n > scene.MostBins {
				return nil, fmt.Errorf("%s bins are too many to draw: %s at most", plot.Grouped(n), plot.Grouped(scene.MostBins))
			}
		}
		return scene.NewOutputs(r), nil
	case "data":
		return scene.DataOf(r), nil
	case "tradeoff":
		return scene.NewTradeoff(in.Curves.Tradeoff), nil
	case "renyi":
		return scene.NewRenyi(in.Curves.Renyi), nil
	}
	return nil, &audit.InputError{Field: "view", Found: fmt.Sprintf("%q", req.View), Want: `"outputs", "data", "tradeoff" or "renyi"`}
}

func drawing[T any](req pictureRequest, view func(*T) *plot.View) (*plot.View, error) {
	var v T
	err := req.read(&v)
	return view(&v), err
}

func (r pictureRequest) read(v any) error {
	if err := json.Unmarshal([]byte(r.Text), v); err != nil {
		return fmt.Errorf("no %s to draw: %w", r.Of, err)
	}
	return nil
}
