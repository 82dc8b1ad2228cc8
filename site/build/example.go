package main

import (
	"encoding/json"
	"os"
	"slices"

	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/site/pages"
	"github.com/dpscope/dpscope/wasm/scene"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// exampleWidths, in px, are those of a picture that is shown until the core draws.
var exampleWidths = []float64{290, 420, 560, 700}

func examplePicture(files []pages.File) (drawn []pages.File, err error) {
	defer try.To(&err)
	i := slices.IndexFunc(files, func(f pages.File) bool { return f.Name == "example.json" })
	if i < 0 {
		return nil, nil
	}
	r, err := pair.ParseReport(files[i].Data)
	try.Of("the example", err)
	in := scene.InputOf(r)
	picture := try.Get(drawnAs("example-picture.json", func() *plot.View { return scene.NewOutputs(in.Report) }))
	var planted scene.CanaryReport
	data, err := os.ReadFile("docs/pictures/canaries.json") // which the docs show, too
	if err == nil {
		err = json.Unmarshal(data, &planted)
	}
	try.Of("the example of trainings", err)
	trainings, err := drawnAs("example-trainings.json", func() *plot.View { return scene.NewStill(&planted, nil) })
	return []pages.File{picture, trainings}, err
}

func drawnAs(name string, view func() *plot.View) (pages.File, error) {
	var drawn []plot.Picture
	for _, width := range exampleWidths {
		if v := view(); v != nil {
			p := plot.Draw(v, plot.Request{Width: width})
			p.Table = plot.Table{} // the page shows no numbers of what was drawn beforehand
			drawn = append(drawn, p)
		}
	}
	data, err := json.Marshal(drawn)
	return pages.File{Name: name, Data: data}, err
}
