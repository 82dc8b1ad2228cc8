package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/catalogue"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// TestDataPicture: the report of a learner has a picture of its tables, however it ended,
// and that of another mechanism has none; the report replays.
func TestDataPicture(t *testing.T) {
	p := newPage(t, catalogue.All(), 2)
	claim := audit.DPClaim(1, 0)
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: "naive-bayes-counts", Claim: &claim, Finder: "corner-flip", Seed: 7, Samples: 500, Explore: 2000, Trials: 2}
	answer := answerTo[reported](p, "run", plan)
	r := reportIn(t, answer)
	if e := r.Inputs.Examples; e == nil || !reflect.DeepEqual(e.Features, []string{"sepal length", "sepal width", "petal length", "petal width"}) || e.Classes != [2]string{"versicolor", "virginica"} || len(e.Lower) != 4 || e.Upper[3] != 1 {
		t.Fatalf("%+v", r.Inputs)
	}
	got := answerTo[picture](p, "picture", pictureRequest{Of: "report", View: "data", Text: answer.Text, Request: plot.Request{Width: 360}})
	if got.Title != "The data" || !strings.Contains(got.Words, "oisoned row, ") || len(got.SVG) < 3 || len(got.Table.Rows) < 50 {
		t.Errorf("mode %q: %.400v", plan.Mode, got)
	}
	if v := answerTo[verified](p, "verify", answer.Text); !v.OK {
		t.Errorf("verified: %+v", v)
	}
	r.Inputs.Examples.Lower[0] = -2
	if v := answerTo[verified](p, "verify", mustJSON(r)); v.OK || !strings.Contains(strings.Join(v.Differences, " "), "examples") {
		t.Errorf("forged bounds verified: %+v", v)
	}
	answer = answerTo[reported](p, "run", testPlan("randomised-response", 1000))
	if got := answerTo[picture](p, "picture", pictureRequest{Of: "report", View: "data", Text: answer.Text, Request: plot.Request{Width: 360}}); got.SVG != nil || got.Words == "" {
		t.Errorf("of no learner: %.400v", got)
	}
}
