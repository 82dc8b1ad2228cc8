package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/core/pair"
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
	var drawn []plot.Picture
	for _, width := range exampleWidths {
		if v := scene.NewOutputs(in.Report); v != nil {
			drawn = append(drawn, plot.Draw(v, plot.Request{Width: width}))
		}
	}
	data, err := json.Marshal(drawn)
	return []file{{"example-picture.json", data}}, err
}
