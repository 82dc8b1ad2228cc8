// Package stills draws reports for pages that stand still: reports as HTML, and docs.
package stills

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/wasm/scene"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// Of draws all pictures of a report.
func Of(r report.View) (all []format.Picture, _ error) {
	for _, v := range scene.ReportViews(r) {
		all = append(all, drawn(v, ""))
	}
	return all, nil
}

// Sentence is what a report's first picture says.
func Sentence(r report.View) string {
	if views := scene.ReportViews(r); len(views) > 0 {
		return views[0].Sentence
	}
	return ""
}

func drawn(v *plot.View, choice string) (out format.Picture) {
	draw := func(width float64) template.HTML {
		p := plot.Draw(v, plot.Request{Width: width, Choice: choice})
		out.Title, out.Table = p.Title, format.PictureTable(p.Table)
		out.Words = strings.TrimSpace(strings.Join([]string{p.Sentence, p.Small, p.Words}, " "))
		out.MiddleHeight, _ = strconv.ParseFloat(p.SVG.Attrs["height"], 64) // of the last
		return template.HTML(p.SVG.Markup())                                // which escapes what the report brought
	}
	out.Narrow, out.Wide, out.Middle = draw(format.NarrowWidth), draw(format.WideWidth), draw(format.MiddleWidth)
	return out
}

// dropped are members that no picture is drawn of.
var dropped = map[string][]string{
	"":         {"$schema", "generator", "limitations", "reproduce", "references", "sequential", "timing", "warnings"},
	"evidence": {"explored", "learners", "table", "witness"},
}

// Keep is what pictures are drawn of, a line for each member. It is no report.
func Keep(r report.View) []byte {
	all := without(r, dropped[""])
	if evidence := all["evidence"]; evidence != nil && string(evidence) != "null" {
		rest := without(evidence, dropped["evidence"])
		if rest["sequential"] != nil {
			rest["sequential"] = json.RawMessage("{}") // that there was one is said
		}
		all["evidence"] = marshal(rest)
	} else if p, ok := r.(pair.Report); ok && p.Sequential != nil {
		rest := map[string]any{}
		if chart, shown := p.Sequential.Chart, pair.Shown(nil, p.Sequential); chart != nil && shown != nil {
			one := *chart
			one.Pair = 0
			rest["chart"], rest["pairs"] = one, []any{shown}
		}
		all["sequential"] = marshal(rest)
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		lines = append(lines, fmt.Sprintf("\n%q: %s", name, all[name]))
	}
	return []byte("{" + strings.Join(lines, ",") + "\n}\n")
}

func without(value any, names []string) (all map[string]json.RawMessage) {
	if err := json.Unmarshal(marshal(value), &all); err != nil {
		panic(err)
	}
	for _, name := range names {
		delete(all, name)
	}
	return all
}

func marshal(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}

func read(kept []byte) (report.View, error) {
	var head struct{ Kind string }
	if err := json.Unmarshal(kept, &head); err != nil {
		return nil, err
	}
	switch head.Kind {
	case report.Pair:
		return of[pair.Report](kept)
	case canary.Kind:
		return of[canary.Report](kept)
	case scores.Kind:
		return of[scores.Report](kept)
	}
	return nil, fmt.Errorf("the kept report is of kind %q, which has no pictures", head.Kind)
}

func of[R report.View](kept []byte) (report.View, error) {
	var r R
	err := json.Unmarshal(kept, &r)
	return r, err
}

// Draw draws a kept report's view, by the name view or view:choice.
func Draw(kept []byte, view string) (format.Picture, error) {
	r, err := read(kept)
	if err != nil {
		return format.Picture{}, err
	}
	views := scene.ReportViews(r)
	id, choice, _ := strings.Cut(view, ":")
	i := slices.IndexFunc(views, func(v *plot.View) bool { return v.ID == id })
	if i < 0 {
		var known []string
		for _, v := range views {
			known = append(known, v.ID)
		}
		return format.Picture{}, fmt.Errorf("the report has no picture %q, must be one of %s", id, strings.Join(known, ", "))
	}
	if choices := views[i].Choices; choice != "" && !slices.ContainsFunc(choices, func(c plot.Choice) bool { return c.ID == choice }) {
		return format.Picture{}, fmt.Errorf("the picture %s has no choice %q, must be one of %v", id, choice, choices)
	}
	p := drawn(views[i], choice)
	p.Headline = r.Head().Headline
	return p, nil
}
