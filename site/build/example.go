package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/wasm/scene"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// exampleWidths are those that the example's picture is drawn for beforehand, in px:
// the page shows one of them until its core draws.
var exampleWidths = []float64{290, 420, 560, 700}

// examplePicture draws the outputs of the example among the files of the site; there
// may be none.
func examplePicture(files []file) ([]file, error) {
	i := slices.IndexFunc(files, func(f file) bool { return f.name == "example.json" })
	if i < 0 {
		return nil, nil
	}
	r, err := pair.ParseReport(files[i].data)
	if err != nil {
		return nil, fmt.Errorf("the example: %w", err)
	}
	in := scene.InputOf(r)
	picture, err := drawnAs("example-picture.json", func() *plot.View { return scene.NewOutputs(in.Report) })
	if err != nil {
		return nil, err
	}
	planted, err := exampleTrainings()
	if err != nil {
		return nil, fmt.Errorf("the example of trainings: %w", err)
	}
	trainings, err := drawnAs("example-trainings.json", func() *plot.View { return scene.NewStill(planted, nil) })
	return []file{picture, trainings}, err
}

// drawnAs is a view at all widths.
func drawnAs(name string, view func() *plot.View) (file, error) {
	var drawn []plot.Picture
	for _, width := range exampleWidths {
		if v := view(); v != nil {
			p := plot.Draw(v, plot.Request{Width: width})
			p.Table = plot.Table{} // the page shows no numbers of what was drawn beforehand
			drawn = append(drawn, p)
		}
	}
	data, err := json.Marshal(drawn)
	return file{name, data}, err
}

// exampleTrainings is the audit that the door of training begins with.
func exampleTrainings() (*scene.CanaryReport, error) {
	claim := audit.DPClaim(2, 1e-5)
	a, err := canary.Plan{Version: canary.PlanVersion, Subject: canary.Subject{Source: "gaussian-sum", Claim: &claim}, Seed: 42}.Resolve(source.Sources(), nil)
	if err != nil {
		return nil, err
	}
	r, err := report.Do(context.Background(), a, &engine.Runner{Pool: engine.LocalPool(runtime.GOMAXPROCS(0))}, nil, audit.Generator{})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(r)
	var planted scene.CanaryReport
	return &planted, errors.Join(err, json.Unmarshal(data, &planted))
}
