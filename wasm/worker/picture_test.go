package main

import (
	"os"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// TestPictures: every picture of the page is drawn from what the page has, at the
// width it asks for, as elements or as a file.
func TestPictures(t *testing.T) {
	report := must.Get(os.ReadFile("../../core/testdata/reports/recorded.json"))(t)
	alpha := 2.0
	account := must.Get(accounting.Answer(accounting.Query{Mechanism: "laplace", Scale: &alpha}))(t)
	texts := map[string]string{
		"report":   string(report),
		"account":  mustJSON(account),
		"canaries": `{"moments": [{"pairs": 9, "bound": 0.5}], "claimed": 1, "quantity": "epsilon", "counted": "runs"}`,
		"spark":    `{"moments": [{"pairs": 100, "bound": 0.1}, {"pairs": 400, "bound": 0.4}], "valid": true, "claimed": 1}`,
		"live":     `{"phase": "bet", "quantity": "epsilon", "claimed": 1, "refuted": 2000, "live": {"chart": {"kind": "outcomes", "axis": "outcome", "outcomes": [[0], [1]], "labels": ["no", "yes"], "first": [900, 100, 0], "second": [100, 900, 0]}, "claim": {"kind": "pure", "epsilon": 1}, "direction": "", "rows": 1000, "samples": 5000, "beta": 0.05, "share": 0.45}}`,
	}
	const scored = `{"claim": {"kind": "pure", "epsilon": 1}, "plan": {"beta": 0.1}, "evidence": {"membership": {"roc": {"in": 2, "out": 1, "steps": [{"at": 3, "in": 1, "out": 0}], "wins": 1, "ties": 0}, "histogram": {"edges": [1, 2, 3], "in": [0, 1, 0, 1], "out": [0, 0, 1, 0]}}}}`
	texts["membership"] = scored
	theme := make([][3]uint8, plot.Roles)
	p := newPage(t, testCatalogue(), 0)
	for of, text := range texts {
		views := []string{""}
		if of == "report" {
			views = []string{"outputs", "tradeoff", "renyi"}
		} else if of == "membership" {
			views = []string{"roc", "scores"}
		}
		for _, view := range views {
			got := answerTo[picture](p, "picture", pictureRequest{Of: of, View: view, Text: text, Request: plot.Request{Width: 360}})
			if len(got.SVG) < 3 || got.SVG[0] != "svg" || got.SVG[1].(map[string]any)["width"] != "360" || got.Title == "" || len(got.Table.Rows) == 0 {
				t.Errorf("of %s, %q: %.300v", of, view, got)
			}
			if said := got.Sentence != "" && got.Small != ""; said != (of == "live" || of == "report" && view == "outputs") || got.Lit != said {
				t.Errorf("of %s, %q, it says %+v", of, view, got.Said)
			}
			file := answerTo[picture](p, "picture", pictureRequest{Of: of, View: view, Text: text, Request: plot.Request{Width: 360, Theme: theme, Heading: "stem"}})
			if !strings.HasPrefix(file.Markup, "<svg ") || !strings.Contains(file.Markup, "· stem</text>") {
				t.Errorf("of %s, %q: the file is %.300q", of, view, file.Markup)
			}
		}
	}
	for of, text := range map[string]string{"account": `{"curve": []}`, "canaries": `{}`, "membership": `{}`, "spark": `{}`, "live": `{"phase": "explore"}`} {
		got := answerTo[picture](p, "picture", pictureRequest{Of: of, Text: text, Request: plot.Request{Width: 360}})
		if got.Words == "" || got.SVG != nil || len(got.Table.Rows) > 0 {
			t.Errorf("of %s without anything to draw: %+v", of, got)
		}
	}
	for name, bad := range map[string]pictureRequest{
		"width":  {Of: "report", View: "outputs", Text: string(report)},
		"huge":   {Of: "report", View: "outputs", Text: string(report), Request: plot.Request{Width: 1e9}},
		"theme":  {Of: "report", View: "outputs", Text: string(report), Request: plot.Request{Width: 360, Theme: theme[:3]}},
		"view":   {Of: "report", View: "plane", Text: string(report), Request: plot.Request{Width: 360}},
		"of":     {Of: "nothing", Request: plot.Request{Width: 360}},
		"text":   {Of: "account", Text: "no JSON", Request: plot.Request{Width: 360}},
		"scores": {Of: "membership", View: "plane", Text: scored, Request: plot.Request{Width: 360}},
		"report": {Of: "report", View: "outputs", Text: "{}", Request: plot.Request{Width: 360}},
	} {
		if _, err := (&coordinator{}).picture(t.Context(), request[pictureRequest]{asked: bad}); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

// picture is plot.Picture as the page reads it.
type picture struct {
	Title  string     `json:"title"`
	Words  string     `json:"words"`
	SVG    []any      `json:"svg"`
	Markup string     `json:"markup"`
	Table  plot.Table `json:"table"`
	plot.Said
}
