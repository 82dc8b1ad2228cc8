package scene

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

var lightTheme = func() [][3]uint8 {
	theme := make([][3]uint8, plot.Roles)
	for r := range theme {
		theme[r] = [3]uint8{uint8(16 * r), uint8(255 - 16*r), 128}
	}
	return theme
}()

// account is of ten pure steps.
func account(t *testing.T) accounting.Account {
	t.Helper()
	return must.Get(accounting.Answer(accounting.Query{Mechanism: accounting.KindPure, Epsilon: new(0.25), Steps: new(10), Delta: new(1e-4)}))(t)
}

// stillViews are the pictures that stand in the page and not in the instrument.
func stillViews(t *testing.T) map[string]*plot.View {
	t.Helper()
	kl, limit, best := 0.25, 2.5, 4.0
	views := map[string]*plot.View{
		"canaries": NewOverTime(&Course{Moments: []Moment{{10, 0.1}, {40, 1.2345}}, Claimed: 1, Quantity: "epsilon", Counted: "certification runs"}, nil, 0),
		"account":  NewAccount(accounting.Account{Curve: []accounting.Point{{Alpha: 1.5, Divergence: 0.1}, {Alpha: 4, Divergence: 0.5}, {Alpha: 64, Divergence: 2.25}}, KL: &kl, MaxDivergence: &limit, Epsilons: []accounting.Guarantee{{Method: accounting.MethodTight, Order: &best}}}),
		"ways":     NewWays(account(t), false),
		"deltas":   NewDeltas(Accounted{Account: account(t), Trace: must.Get(accounting.Follow(account(t).Query, func() bool { return true }))(t)}),
		"steps":    NewSteps(Accounted{account(t), must.Get(accounting.Follow(account(t).Query, func() bool { return true }))(t)}, new(0.6)),
		"spark":    NewSpark(&Course{Moments: []Moment{{100, 0}, {900, 0.4}, {2500, 1.1}}, Valid: true, Claimed: 1, Quantity: "epsilon"}),
		"renyi":    NewRenyi(&pair.RenyiCurve{Points: []report.Row{{Alpha: 1.1, LowerBound: new(0.1)}, {Alpha: 2, LowerBound: new(0.7)}, {Alpha: 8, LowerBound: new(0.6)}, {Alpha: 64, LowerBound: new(2.0)}}, Claimed: [][2]float64{{1.1, 0.3}, {8, 1.5}}, ClaimWords: "a", Confidence: "95 %"}),
	}
	for name, r := range reports(t) {
		in := input(t, r)
		if v := NewOutputs(in.Report); v != nil {
			views["outputs of "+name] = v
		}
		if v := NewRenyi(in.Curves.Renyi); v != nil {
			views["renyi of "+name] = v
		}
	}
	return views
}

// TestStillViews: what holds for every view of the instrument holds for the
// pictures of the page, and they can be told what they are called.
func TestStillViews(t *testing.T) {
	views := stillViews(t)
	if len(views) < 3+3 {
		t.Fatalf("%d pictures", len(views))
	}
	for name, v := range views {
		everyChoice(t, name, v)
		if p := plot.Draw(v, plot.Request{Width: 570}); p.Title == "" || !strings.Contains(p.SVG.Attrs["aria-label"], p.Title) {
			t.Errorf("%s is called %q", name, p.SVG.Attrs["aria-label"])
		}
	}
}

// TestMarkup: a picture as a file is XML that needs no styles, in which a stranger's
// names stay text; as JSON it is the same tree.
func TestMarkup(t *testing.T) {
	evil := "<script>\"&'\x01</script>"
	chart := chart.Chart{Kind: "outcomes", Outcomes: [][]float64{{0}, {1}}, Labels: []string{evil, "b"}, First: []int{30, 10, 0}, Second: []int{10, 30, 0}, FirstIn: []int{30, 0, 0}, SecondIn: []int{10, 0, 0}}
	v := newOutputs(outputsOf{Live: pair.Live{Chart: chart, Claim: audit.Claim{Kind: "pure", Epsilon: 0.5}, Beta: 0.05}}).view()
	p := plot.Draw(v, plot.Request{Width: 640, Theme: lightTheme, Heading: evil})
	elements, texts := 0, ""
	for d := xml.NewDecoder(strings.NewReader(p.Markup)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			elements++
			if e.Name.Local == "script" {
				t.Error("a label became an element")
			}
			for _, a := range e.Attr {
				if a.Name.Local == "class" || strings.Contains(a.Value, "var(") {
					t.Errorf("<%s %s=%q> needs styles", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			texts += string(e)
		}
	}
	if elements < 20 || strings.Count(texts, "<script>") < 2 {
		t.Errorf("%d elements with the text %q", elements, texts)
	}
	page := plot.Draw(v, plot.Request{Width: 640})
	data := must.Get(json.Marshal(page.SVG))(t)
	var tree []any
	if err := json.Unmarshal(data, &tree); err != nil || tree[0] != "svg" || tree[1].(map[string]any)["width"] != "640" || len(tree) != 2+len(page.SVG.Children) {
		t.Errorf("as JSON it is %.200s, %v", data, err)
	}
	if !strings.Contains(string(data), "var(--first)") || page.Markup != "" {
		t.Error("the page's picture does not follow its styles")
	}
}

// TestChoice: a picture takes a choice of its view's, and the first for another one.
func TestChoice(t *testing.T) {
	v := NewTradeoff(&pair.TradeoffCurve{Points: []bounds.TradeoffPoint{{FPRUpper: 0.1, FNRUpper: 1, FNR: 1, FNRLower: 1}, {FPR: 0.5, FPRLower: 0.4, FPRUpper: 0.6, FNR: 0.1, FNRUpper: 0.2}}})
	for choice, want := range map[string]string{"log": "log", "": "linear", "nothing": "linear"} {
		if p := plot.Draw(v, plot.Request{Choice: choice, Width: 500}); p.Chosen != want || !strings.Contains(p.SVG.Attrs["aria-label"], map[string]string{"log": "logarithmic", "linear": "linear"}[want]) {
			t.Errorf("of %q it drew %q, called %q", choice, p.Chosen, p.SVG.Attrs["aria-label"])
		}
	}
}

// TestHandle: where a hand puts the target of an account, there it is, and the picture says what it allows.
func TestHandle(t *testing.T) {
	a := Accounted{account(t), must.Get(accounting.Follow(account(t).Query, func() bool { return true }))(t)}
	for at, want := range map[float64]string{0: "epsilon = 0.192 allows no step", 0.5: "epsilon = 1.35 allows about 5 steps", 1: "epsilon = 9.54 allows more than 50 steps"} {
		p := plot.Draw(NewSteps(a, &at), plot.Request{Width: 360})
		if h := p.Handle; h.Words != want || math.Abs(h.At-at) > 0.01 || h.Within[3] < 100 || !strings.HasSuffix(p.Words, want+".") {
			t.Errorf("at %v: %+v, %q", at, h, p.Words)
		}
	}
}

// TestGoldenPictures: the same bytes for the same numbers.
func TestGoldenPictures(t *testing.T) {
	views := stillViews(t)
	chart := chart.Chart{Kind: "outcomes", Outcomes: [][]float64{{0}, {1}}, Labels: []string{"no", "yes"}, First: []int{70, 30, 0}, Second: []int{90, 10, 0}, FirstIn: []int{0, 30, 0}, SecondIn: []int{0, 10, 0}}
	views["outputs"] = newOutputs(outputsOf{Live: pair.Live{Chart: chart, Claim: audit.Claim{Kind: "pure", Epsilon: 1}, Beta: 0.05}}).view()
	views["histogram"], views["answers"] = newOutputs(someHistogram(true, 1.5)).view(), newOutputs(someAnswers(true, 1.5)).view()
	for _, name := range []string{"outputs", "renyi", "canaries", "histogram", "answers", "spark"} {
		got := strings.ReplaceAll(plot.Draw(views[name], plot.Request{Width: 360, Theme: lightTheme, Heading: name}).Markup, "><", ">\n<") + "\n"
		file := filepath.Join("testdata", name+".svg")
		if *update {
			must.Do(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want := must.Get(os.ReadFile(file))(t)
		if got != string(want) {
			t.Errorf("%s is drawn otherwise; if that is meant, run go test -update and look at it", name)
		}
	}
}
