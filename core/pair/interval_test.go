package pair

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// parabola scores by the distance from 1.
type parabola struct{}

func (parabola) Score(rows, out []float64) {
	for i, x := range rows {
		out[i] = float64((x - 1) * (x - 1))
	}
}

func (parabola) Describe(float64, bool) string { return "score of a parabola" }

func TestEventWords(t *testing.T) {
	columns := []audit.Column{{Name: "x", Kind: audit.Real}}
	ch := chart.Chart{Kind: chart.Histogram, Edges: []float64{-2, 0, 3}}
	for _, c := range []struct {
		threshold float64
		above     bool
		want      string
	}{
		{4, true, "about x < -1 or x > 3"},
		{4, false, "about x in (-1, 3)"},
		{2500, true, "about x < -49 or x > 51"},
		{-1, true, "about any x"},
		{-1, false, "score of a parabola"}, // no output at all
	} {
		if got := described(columns, ch, parabola{}, []float64{c.threshold}, threshold.Event{Above: c.above}).Words; got != c.want {
			t.Errorf("threshold %v above %v: %q, want %q", c.threshold, c.above, got, c.want)
		}
	}
	for _, edges := range [][]float64{ch.Edges, {-1e14, -2, 0, 3, 1e14}} { // heavy tails move no end near 0
		if all := intervals(edges, parabola{}, 2, false); len(all) != 1 || math.Abs(all[0][0]-(1-math.Sqrt2)) > 1e-9 || math.Abs(all[0][1]-(1+math.Sqrt2)) > 1e-9 {
			t.Errorf("edges %v: intervals %v", edges, all)
		}
	}
	if got := described([]audit.Column{{Name: "x", Kind: audit.Symbol}}, ch, parabola{}, []float64{4}, threshold.Event{Above: true}).Words; got != "score of a parabola" {
		t.Errorf("a symbol is described as %q", got)
	}
}

// Many words for an event are printed in part, with how many more there are; the
// report holds all of them.
func TestShortened(t *testing.T) {
	list := func(n int, between string) string {
		return "x in " + strings.Repeat("(1.25, 2.5]"+between, n-1) + "(1.25, 2.5]"
	}
	for _, c := range []struct{ words, end string }{
		{list(20, " or "), "(1.25, 2.5] or (1.25, 2.5]"},
		{list(500, " or "), "(1.25, 2.5] or 474 more"},
		{"one of 9 outcomes: (" + strings.Repeat("no, ", 999) + "yes)", "no, no and 905 more"},
		{"x is " + strings.Repeat("ü", 500), "ü..."},
	} {
		limit := 5.0
		r := Report{Report: report.Report{Tables: []report.Table{{Name: report.Bounds, Rows: []report.Row{{ID: report.Epsilon, Chosen: true, LowerBound: &limit, Event: &report.Event{Words: c.words}}}}}}}
		for _, row := range r.Facts() {
			if row.Name == "Event" && (!strings.HasSuffix(row.Value, c.end) || len(row.Value) > eventMost+20 || !utf8.ValidString(row.Value)) {
				t.Errorf("%s", row.Value)
			}
		}
		for line := range strings.Lines(report.Text(r)) {
			if len(line) > eventMost+60 {
				t.Errorf("a line of %d bytes: %s", len(line), line)
			}
		}
	}
}
