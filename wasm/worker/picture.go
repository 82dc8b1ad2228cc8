package main

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/dpscope/dpscope/accounting"
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/wasm/scene"
)

// pictureRequest asks for a picture of what the page shows.
type pictureRequest struct {
	Of   string `json:"of"`   // what Text is
	Text string `json:"text"` // JSON
	View string `json:"view"` // of a report: "outputs", "tradeoff" or "renyi"
	scene.Request
}

// What there are pictures of.
const (
	ofReport      = "report"      // the text of a report about a pair
	ofAccount     = "account"     // accountAnswer
	ofCalibration = "calibration" // calibrated
	ofCanaries    = "canaries"    // scene.CanaryCourse
	ofColumn      = "column"      // columnHistogram, of the user's samples
	ofCourse      = "course"      // scene.Course, of a run on its way
)

// widest bounds the width of a picture, in px.
const widest = 4096

// pictured keeps the report that was drawn last: its pictures are asked for one by
// one, and anew when the page changes its width.
type pictured struct {
	mu   sync.Mutex
	text string
	in   scene.Input
}

func (p *pictured) report(text string) (scene.Input, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text == text && text != "" {
		return p.in, nil
	}
	r, _, err := pair.ParseReport([]byte(text))
	if err != nil {
		return scene.Input{}, err
	}
	p.text, p.in = text, scene.Input{Report: &r, Curves: pair.ReportCurves(r)}
	return p.in, nil
}

// picture draws what the page shows.
func (c *coordinator) picture(m message) (message, error) {
	var req pictureRequest
	if err := json.Unmarshal([]byte(m.JSON), &req); err != nil {
		return message{}, fmt.Errorf("no request for a picture: %w", err)
	}
	if !(req.Width >= 1 && req.Width <= widest) {
		return message{}, &audit.InputError{Field: "width", Found: fmt.Sprint(req.Width), Want: fmt.Sprintf("in [1, %d]", widest)}
	}
	if len(req.Theme) != 0 && len(req.Theme) != int(scene.Roles) {
		return message{}, &audit.InputError{Field: "theme", Found: fmt.Sprintf("%d colours", len(req.Theme)), Want: fmt.Sprint(int(scene.Roles))}
	}
	view, none, err := c.view(req)
	if err != nil {
		return message{}, err
	}
	if view == nil {
		return message{Type: msgPictured, JSON: mustJSON(scene.Picture{Words: none, Choices: []scene.Choice{}})}, nil
	}
	return message{Type: msgPictured, JSON: mustJSON(scene.Draw(view, req.Request))}, nil
}

// view is what is to be drawn; where there is nothing, it says why.
func (c *coordinator) view(req pictureRequest) (view scene.View, none string, err error) {
	read := func(into any) error {
		if err := json.Unmarshal([]byte(req.Text), into); err != nil {
			return fmt.Errorf("no %s to draw: %w", req.Of, err)
		}
		return nil
	}
	switch req.Of {
	case ofReport:
		in, err := c.drawn.report(req.Text)
		if err != nil {
			return nil, "", err
		}
		return reportView(in, req.View)
	case ofAccount:
		var a accounting.Account
		if err := read(&a); err != nil {
			return nil, "", err
		}
		if v := scene.NewAccount(accountCurve(a)); v != nil {
			return v, "", nil
		}
		return nil, "There is no Rényi curve.", nil
	case ofCalibration:
		var v calibrated
		if err := read(&v); err != nil {
			return nil, "", err
		}
		return scene.NewRates(v.rates(), v.Beta), "", nil
	case ofCanaries:
		var course scene.CanaryCourse
		if err := read(&course); err != nil {
			return nil, "", err
		}
		if v := scene.NewCanariesOverRuns(&course); v != nil {
			return v, "", nil
		}
		return nil, "No interval gives a bound yet.", nil
	case ofColumn:
		var column struct {
			Column string            `json:"column"`
			Bins   []scene.ColumnBin `json:"bins"`
		}
		if err := read(&column); err != nil {
			return nil, "", err
		}
		if v := scene.NewColumn(column.Column, column.Bins); v != nil {
			return v, "", nil
		}
		return nil, "The column holds nothing that can be drawn.", nil
	case ofCourse:
		var course scene.Course
		if err := read(&course); err != nil {
			return nil, "", err
		}
		if v := scene.NewLiveLine(&course); v != nil {
			return v, "", nil
		}
		return nil, "Nothing is counted yet.", nil
	}
	return nil, "", &audit.InputError{Field: "of", Found: fmt.Sprintf("%q", req.Of), Want: "what there are pictures of"}
}

func reportView(in scene.Input, name string) (view scene.View, none string, err error) {
	switch name {
	case "outputs":
		if e := in.Report.Evidence; e != nil {
			reversed := len(in.Report.Results) > 0 && in.Report.Results[0].Direction == pair.SecondOverFirst
			if v := scene.NewOutputs(e.Chart, in.Report.Claim, reversed); v != nil {
				return v, "", nil
			}
			if n := max(len(e.Chart.Edges), len(e.Chart.Outcomes)) + 1; n > scene.MostBins {
				return nil, fmt.Sprintf("%s bins are too many to draw.", scene.Grouped(n)), nil
			}
		}
		return nil, "No outputs were counted for the chart.", nil
	case "tradeoff":
		if v := scene.NewTradeoff(in.Curves.Tradeoff, in.Report.Claim); v != nil {
			return v, "", nil
		}
		return nil, "The report has no trade-off curve.", nil
	case "renyi":
		if v := scene.NewRenyi(in.Curves.Renyi); v != nil {
			return v, "", nil
		}
		return nil, "The report has no Rényi bounds.", nil
	}
	return nil, "", &audit.InputError{Field: "view", Found: fmt.Sprintf("%q", name), Want: `"outputs", "tradeoff" or "renyi"`}
}

func accountCurve(a accounting.Account) scene.AccountCurve {
	c := scene.AccountCurve{KL: a.KL, Limit: a.MaxDivergence}
	for _, p := range a.Curve {
		c.Points = append(c.Points, scene.OrderPoint{Alpha: p.Alpha, Divergence: p.Divergence})
	}
	for _, g := range a.Epsilons {
		if g.Method == accounting.MethodTight {
			c.Best = g.Order
		}
	}
	return c
}
