package scene

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/child"
	"github.com/dpscope/dpscope/internal/must"
)

// TestPure: pictures are laid out without a browser and without the drawing
// library. The view carries the values of reports, and nothing that makes them.
func TestPure(t *testing.T) {
	out := must.Get(child.Go(t, "list", "-deps", "./wasm/scene").Output())(t)
	for dep := range strings.FieldsSeq(string(out)) {
		if dep == "syscall/js" || dep == "net" || dep == "os/exec" || strings.HasPrefix(dep, "github.com/hajimehoshi/") || slices.ContainsFunc([]string{"core/canary", "mechanisms", "estimators", "finders"}, func(room string) bool {
			// The values of a sequential stage name the learners that it bets by.
			return strings.HasPrefix(dep, "github.com/dpscope/dpscope/"+room) && dep != "github.com/dpscope/dpscope/estimators/classifier"
		}) {
			t.Errorf("scene depends on %s", dep)
		}
	}
}

// reports are some that are kept: a histogram, outcomes, a score.
func reports(t *testing.T) map[string]pair.Report {
	t.Helper()
	files, err := filepath.Glob("../../core/testdata/reports/pair/*.json")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	all := map[string]pair.Report{}
	for _, f := range files {
		data := must.Get(os.ReadFile(f))(t)
		r := must.Get(pair.ParseReport(data))(t)
		all[filepath.Base(f)] = r
	}
	return all
}

// input is what the page sends of a report.
func input(t *testing.T, r pair.Report) Input {
	t.Helper()
	course := Course{Claimed: 1, Quantity: "epsilon", Moments: []Moment{{100, 0}, {900, 0.4}, {2500, 1.1}, {9000, 1.3}}, Valid: len(r.Trials)%2 == 0}
	data := must.Get(json.Marshal(map[string]any{"report": r, "curves": pair.ReportCurves(r), "course": course}))(t)
	return must.Get(Parse(string(data)))(t)
}

// TestEveryViewOfEveryReport: what the reports are of has its pictures, all sound.
func TestEveryViewOfEveryReport(t *testing.T) {
	seen := map[string]int{}
	for name, r := range reports(t) {
		views := Views(input(t, r))
		everyChoice(t, name, views...)
		for _, v := range views {
			if seen[v.ID]++; v.Caption == "" || v.ID == "divergence" && len(v.Panels) != 3 {
				t.Errorf("%s, %s: %d panels, words %q", name, v.ID, len(v.Panels), v.Caption)
			}
		}
	}
	if seen["divergence"] != 6 || seen["tradeoff"] < 4 || seen["search"] != 6 || seen["bound"] != 6 {
		t.Errorf("pictures %v", seen)
	}
}

// everyChoice lays views out by every choice, at every width and zoom: a picture stays in its
// frame, holds no number that is none, every item can be hit and read, and the table has a
// cell for every head.
func everyChoice(t *testing.T, name string, views ...*plot.View) {
	t.Helper()
	for _, v := range views {
		for i, c := range append(v.Choices, plot.Choice{}) {
			if i > 5 && i < len(v.Choices)-1 {
				continue
			}
			v.Choose(c.ID)
			what := name + " " + v.ID + " " + c.ID
			for _, width := range []float64{280, 340, 570, 650, 760, 1400} {
				for _, cam := range []plot.Camera{plot.Everything, {X: plot.Window{Lo: 0.3, Hi: 0.5}, Y: plot.Window{Lo: 0.4, Hi: 0.7}}, {X: plot.Window{Lo: 0, Hi: plot.Narrowest}, Y: plot.Window{Lo: 1 - plot.Narrowest, Hi: 1}}} {
					if x, y := v.Zooms(); cam == plot.Everything || x || y {
						sound(t, what, v, v.Layout(plot.Frame{Width: width, Camera: cam}))
					}
				}
			}
			for _, fig := range []plot.Figures{plot.Rounded, plot.Exact} {
				table := v.Table(fig)
				for _, row := range table.Rows {
					if len(row) != len(table.Head) || strings.Contains(strings.Join(row, " "), "NaN") || row[0] == "" {
						t.Errorf("%s: %q under %q", what, row, table.Head)
					}
				}
				if len(table.Rows) == 0 || table.Title == "" || v.Title == "" || strings.Contains(v.Caption, "NaN") {
					t.Errorf("%s: %d rows, %q", what, len(table.Rows), v.Caption)
				}
			}
		}
		v.Choose("")
	}
}

// finite: no point lies beyond the most px, no word is a number that is none, and no item lies
// nowhere.
func finite(t must.TB, what string, v *plot.View, s *plot.Scene, most float64) {
	t.Helper()
	for _, sh := range s.Shapes {
		for _, p := range sh.Points {
			if !(math.Abs(p.X) <= most && math.Abs(p.Y) <= most) {
				t.Fatal(what, "a point", p)
			}
		}
	}
	for i, it := range s.Items {
		if words := v.Tooltip(i); words == "" || strings.Contains(words, "NaN") || it.Box.W < 0 || it.Box.H < 0 {
			t.Fatal(what, "item", i, it.Box, words)
		}
		if x, y := v.Position(i); !(x >= 0 && x <= 1 && y >= 0 && y <= 1) {
			t.Fatal(what, "item", i, "lies at", x, y)
		}
	}
}

func sound(t *testing.T, what string, v *plot.View, s *plot.Scene) {
	t.Helper()
	if !(s.Height > 60 && s.Height < 1000) || !(s.Plot.W > 0 && s.Plot.H > 0) || s.Plot.Right() > s.Width+0.5 || s.Plot.Bottom() > s.Height {
		t.Fatalf("%s: %v by %v, plot %v", what, s.Width, s.Height, s.Plot)
	}
	finite(t, what, v, s, math.MaxFloat64)
	for _, sh := range s.Shapes {
		if sh.Paint.Alpha <= 0 || sh.Paint.Alpha > 1 {
			t.Fatalf("%s: a paint %+v", what, sh.Paint)
		}
	}
	for _, l := range s.Labels {
		x := l.X - []float64{0, 0.5, 1}[l.Align]*plot.Roughly(l.Words)
		if math.IsNaN(l.X+l.Y) || strings.Contains(l.Words, "NaN") || l.Y < 0 || l.Y > s.Height || x < -12 || x+plot.Roughly(l.Words) > s.Width+14 {
			t.Errorf("%s, %v wide: label %q at %v, %v", what, s.Width, l.Words, x, l.Y)
		}
	}
	left := func(l plot.Label) float64 { return l.X - []float64{0, 0.5, 1}[l.Align]*plot.Roughly(l.Words) }
	for i, a := range s.Labels {
		for _, b := range s.Labels[:i] {
			if math.Abs(a.Y-b.Y) < 9 && left(a) < left(b)+plot.Roughly(b.Words)-1 && left(b) < left(a)+plot.Roughly(a.Words)-1 {
				t.Errorf("%s, %v wide: labels %q and %q lie on one another", what, s.Width, a.Words, b.Words)
			}
		}
	}
	for i, it := range s.Items {
		p := plot.Point{X: it.Box.X + it.Box.W/2, Y: it.Box.Y + it.Box.H/2}
		if it.Box.W > 0 && it.Box.H > 0 && s.Plot.Has(p) {
			if hit := s.Hit(p); hit < 0 || s.Items[hit].Box != it.Box && hit != i {
				t.Errorf("%s: the middle of item %d hits %d", what, i, hit)
			}
		}
	}
}

// A chart of two bins whose figures are worked by hand: shares 0.75 and 0.25
// against 0.25 and 0.75.
func TestDivergenceByHand(t *testing.T) {
	ch := chart.Chart{Kind: "outcomes", Outcomes: [][]float64{{0}, {1}}, Labels: []string{"no", "yes"}, First: []int{25, 75, 0}, FirstIn: []int{0, 75, 0}, Second: []int{75, 25, 0}, SecondIn: []int{0, 25, 0}}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 && got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	yes := Bin{n: [2]int{75, 25}, of: [2]int{100, 100}}
	near("log ratio", yes.LogRatio(), math.Log(3))
	near("its spread", yes.Spread(), 1.959963984540054*math.Sqrt(0.25/75+0.75/25))
	sums := func(ch chart.Chart, claim audit.Claim, direction string, want ...float64) {
		t.Helper()
		v := newOutputs(outputsOf{Live: pair.Live{Chart: ch, Claim: claim, Beta: 0.05, Direction: direction}})
		for i, k := range kinds(claim)[:len(want)] {
			_, sum := v.parts(k)
			near(k.words, sum, want[i])
		}
	}
	sums(ch, pure(0.5), "", 0.75-math.Exp(0.5)*0.25, 0.5, 0.5*math.Log(3))
	half := chart.Chart{Kind: "outcomes", Outcomes: [][]float64{{0}, {1}}, First: []int{25, 75, 0}, Second: []int{50, 50, 0}}
	sums(half, audit.Claim{Kind: "renyi", Alpha: 2, Epsilon: 1}, report.SecondOverFirst, 0.5*0.5/0.25+0.5*0.5/0.75)
	sums(chart.Chart{Kind: "outcomes", Outcomes: [][]float64{{0}}, First: []int{9, 1}, Second: []int{10, 0}}, audit.Claim{Kind: "zcdp", Rho: 1}, "", math.Inf(1), 0.1)
	for _, empty := range []chart.Chart{{Kind: "outcomes"}, {Kind: "histogram", Edges: []float64{0}}, {Kind: "histogram", Edges: []float64{0, 1}, First: []int{0, 0, 0}}} {
		if newOutputs(outputsOf{Live: pair.Live{Chart: empty, Beta: 0.05}}).divergence("") != nil {
			t.Errorf("%+v is drawn", empty)
		}
	}
}

// What hand and keys do, and undo.
func TestViewer(t *testing.T) {
	var v plot.Viewer
	v.Pan(3, 3)
	v.Zoom(2, plot.Point{})
	v.Step(1)
	v.Show("divergence")
	if i, words := v.Read(); i != -1 || words != "" || v.View() != nil {
		t.Fatalf("an empty viewer reads %d, %q", i, words)
	}
	all := reports(t)
	v.Resize(800)
	v.Take(Views(input(t, all["histogram.json"])), false)
	whole := len(v.Scene.Labels)
	if v.Scene == nil || !v.Whole() {
		t.Fatal("no picture")
	}
	middle := plot.Point{X: v.Scene.Plot.X + v.Scene.Plot.W*0.45, Y: v.Scene.Plot.Y + 10}
	if !v.Point(middle) {
		t.Fatal("the middle reads nothing")
	}
	at, _ := v.Read()
	before := v.Scene.Items[at].Box
	if !v.Zoom(0.5, middle) || v.Whole() {
		t.Fatal("it does not zoom")
	}
	if now := v.Scene.Items[at].Box; math.Abs(now.W-2*before.W) > 1e-6 || !now.Has(middle) {
		t.Errorf("zoomed about its place, the box %v became %v", before, now)
	}
	v.Pan(50, 20)
	if now := v.Scene.Items[at].Box; math.Abs(now.X+now.W/2-50-(middle.X+2*(before.X+before.W/2-middle.X))) > 1e-6 {
		t.Errorf("panned by 50, the box lies at %v", now)
	}
	// Reading on, the picture follows.
	for range 100 {
		v.Step(1)
		i, _ := v.Read()
		if b := v.Scene.Items[i].Box; b.Right() < v.Scene.Plot.X || b.X > v.Scene.Plot.Right() {
			t.Fatalf("item %d lies at %v, the picture shows %v", i, b, v.Scene.Plot)
		}
	}
	if i, _ := v.Read(); i != len(v.Scene.Items)-1 {
		t.Errorf("the last item is %d of %d", i, len(v.Scene.Items))
	}
	for range 20 {
		v.ZoomRead(0.2)
	}
	if v.ZoomRead(0.2); v.Camera.X.Hi-v.Camera.X.Lo < plot.Narrowest*0.999 {
		t.Errorf("it zooms to %v", v.Camera.X)
	}
	v.Reset()
	if !v.Whole() || len(v.Scene.Labels) != whole || v.Zoom(2, middle) {
		t.Error("it does not show the whole again")
	}
	v.Choose("kl")
	v.Take(Views(input(t, all["outcomes.json"])), false)
	if v.Chosen() != "kl" || !strings.Contains(v.View().Caption, "Kullback") {
		t.Error("another report forgets the choice")
	}
	if i, _ := v.Read(); i != -1 {
		t.Error("another report keeps what was read")
	}
	// A run that has counted nothing leaves what is shown; one that has takes its place.
	if v.Take(Views(Input{Progress: &pair.Progress{}}), true) || v.View() == nil {
		t.Error("a run's beginning takes the picture away")
	}
	r := all["histogram.json"]
	data := must.Get(json.Marshal(pair.Progress{Phase: pair.Certifying, Live: &pair.Live{Chart: r.Evidence.Chart, Claim: r.Claim, Direction: report.FirstOverSecond, Rows: 1000, Samples: 5000}}))(t)
	in := must.Get(Parse(`{"progress":` + string(data) + `}`))(t)
	v.Take(Views(in), true)
	if !strings.HasPrefix(v.View().Caption, "So far, 1\u202f000 of 5\u202f000 outputs a side.") {
		t.Errorf("live, it says %q", v.View().Caption)
	}
	// What is read stays so while a run goes on.
	v.Step(3)
	v.Step(3)
	at, _ = v.Read()
	v.ZoomRead(0.5)
	v.Take(Views(in), true)
	if now, words := v.Read(); at < 0 || now != at || words == "" || v.Whole() {
		t.Errorf("live, it reads %d after %d, %q", now, at, words)
	}
	if _, err := Parse("nonsense"); err == nil {
		t.Error("nonsense is read")
	}
}
