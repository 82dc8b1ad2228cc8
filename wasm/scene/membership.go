package scene

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// NewScores shows where scores of canaries in, and out, lie; nil for none.
func NewScores(r *CanaryReport) *plot.View {
	e := r.Evidence.Membership
	if e == nil || len(e.Histogram.Edges) == 0 || e.Check(0, 0) != nil {
		return nil
	}
	v := histogram{e.Histogram, e.ROC.In, e.ROC.Out, [2]string{"canaries in (up)", "canaries out (down)"}}
	return plot.View{ID: "scores", Title: "Scores", ChoiceLabel: "Heights", Choices: plot.LinearOrLog}.Of(v.plot)
}

type histogram struct {
	membership.Histogram
	in, out int
	keys    [2]string
}

func (v histogram) plot(choice string) plot.Plot {
	log := choice == "log"
	tall := func(n, of int) float64 { // of n scores of a class
		return plot.If(log, math.Log10(math.Max(0.1, float64(n)))+1, share(n, of)) // one score is seen
	}
	p := plot.Plot{Height: plot.Height{220, 0.5, 340}}
	p.Numbers = plot.Numbers{Title: "Scores by where they lie", Head: []string{"scores", "in", "share", "out", "share"}}
	p.Caption = plot.Say("%s scores of canaries that were in, upwards, and %s of canaries that were out, downwards. If nothing leaked, both would be distributed alike.", v.in, v.out)
	p.Y = plot.Axis{Title: "share of the class in a bin", Scale: plot.Scale{Lo: -tall(slices.Max(v.Out), v.out) * 1.05, Hi: tall(slices.Max(v.In), v.in) * 1.05}, Words: func(at float64) string { return plot.Percent(math.Abs(at)) }}
	if log {
		p.Y.Title, p.Y.Words = "scores in a bin, of each class", func(at float64) string {
			if at = math.Abs(at); at == 0 || at != math.Round(at) {
				return plot.If(at == 0, "0", "")
			}
			return plot.Grouped(int(math.Pow(10, at-1)))
		}
	}
	e := v.Edges
	values := plot.Window{Lo: e[0], Hi: e[len(e)-1]}
	wide := plot.If(len(e) == 1, max(1, math.Abs(e[0])), (values.Hi-values.Lo)/float64(max(1, len(e)-1)))
	p.X = plot.Linear("score", values.Lo-wide, values.Hi+wide).Zooming()
	p.X.Values = &values
	up, down := plot.Bars{Key: v.keys[0], Paint: plot.First}, plot.Bars{Key: v.keys[1], Paint: plot.Second}
	for i := range v.In {
		a, b := ends(v.Edges, i)
		from, to := max(a, p.X.Lo), min(b, p.X.Hi)
		up.Boxes = append(up.Boxes, plot.Span(from, to, 0, tall(v.In[i], v.in)))
		down.Boxes = append(down.Boxes, plot.Span(from, to, -tall(v.Out[i], v.out), 0))
		p.Add((from+to)/2, 0, plot.Span(from, to, p.Y.Lo, p.Y.Hi),
			plot.Range{A: a, B: b}, v.In[i], plot.Share(share(v.In[i], v.in)), v.Out[i], plot.Share(share(v.Out[i], v.out)))
	}
	p.Marks = []plot.Mark{up, down}
	return p
}

type roc struct {
	bounds.ROC
	points []bounds.ROCPoint // as those of [bounds.ROC.Band]
	claim  audit.Claim
	rates  []string // in words
	level  string   // of the band, "" where there is none
}

// NewROC shows a report's curve; nil for none.
func NewROC(r *CanaryReport) *plot.View {
	if v := newROC(r); v != nil {
		return plot.View{ID: "roc", Title: "ROC", ChoiceLabel: "Axes", Choices: []plot.Choice{plot.LinearOrLog[1], plot.LinearOrLog[0]}}.Of(v.plot)
	}
	return nil
}

func newROC(r *CanaryReport) *roc {
	e := r.Evidence.Membership
	if e == nil || e.Check(0, 0) != nil || bounds.CheckBeta(r.Plan.Beta) != nil {
		return nil
	}
	v := &roc{ROC: e.ROC, claim: r.Claim}
	v.points = e.ROC.Band(r.Plan.Beta)
	for _, x := range report.Report(r.head).Rows(report.Membership) {
		if x.ID != report.TPR || x.Value == nil {
			continue
		}
		if x.UpperBound != nil {
			v.level = plot.Percent(1 - r.Plan.Beta)
		}
		v.rates = append(v.rates, plot.Percent(*x.Value)+" at a false positive rate of at most "+plot.Percent(x.FPR))
	}
	return v
}

func (v *roc) certain() bool {
	return v.level != "" && slices.ContainsFunc(v.points, func(p bounds.ROCPoint) bool { return p.TPRLower > v.limit(p.FPRUpper) })
}

func (v *roc) limit(fpr float64) float64 {
	return bounds.ROCLimit(fpr, v.claim.Epsilon, v.claim.Delta)
}

func (v *roc) caption() string {
	words := plot.Say("How well a threshold on the scores tells canaries that were in, its true positives, from those that were out. The area under the curve is %s", plot.Floor(v.AUROC(), 3))
	if last := len(v.rates) - 1; last >= 0 {
		words += "; the true positive rate is " + strings.Join(v.rates[:last], ", ") + plot.If(last > 0, " and ", "") + v.rates[last]
	}
	if v.level == "" {
		return words + ". There is no band: these scores depend on each other."
	}
	words += fmt.Sprintf(". The %s band holds at all thresholds at once, if each score is from a separate training.", v.level)
	if v.certain() {
		words += " Where it is barred, the whole band lies above what the claim allows."
	}
	return words
}

func (v *roc) at(i int) string {
	switch i {
	case 0:
		return "above all scores"
	case len(v.points) - 1:
		return "all scores"
	}
	p := v.points[i]
	for _, s := range v.Steps { // those that take none, or all, are the ends
		if share(s.In, v.In) == p.TPR && share(s.Out, v.Out) == p.FPR {
			return "score ≥ " + plot.Short(s.At)
		}
	}
	return ""
}

const leastRate = 1e-4

func (v *roc) band() plot.Band {
	return plot.Band{Key: v.level + " band", Paint: plot.First, Within: audit.Each(v.points, func(p bounds.ROCPoint) plot.Box {
		return plot.Span(p.FPRLower, p.FPRUpper, p.TPRLower, p.TPRUpper)
	})}
}

func (v *roc) plot(choice string) plot.Plot {
	p := rates("true positive rate", choice != "linear", leastRate)
	p.Caption, p.Outline = v.caption(), 10
	p.Items = audit.Each(v.points, func(q bounds.ROCPoint) [2]float64 { return [2]float64{q.FPR, q.TPR} })
	p.Marks = []plot.Mark{plot.Line{Key: "as seen", Paint: plot.First, Points: p.Items}}
	p.Numbers = plot.Numbers{Title: "The ROC curve", Head: []string{"threshold", "false positive rate", "true positive rate"}}
	band := v.band()
	if v.level != "" {
		p.Head = []string{"threshold", "false positive rate", "at least", "at most", "true positive rate", "at least", "at most", "claim allows"}
		p.Mark(band)
	}
	for i, q := range v.points {
		row := []any{v.at(i), q.FPR, q.TPR}
		if v.level != "" {
			row = []any{v.at(i), q.FPR, plot.Down(q.FPRLower), plot.Up(q.FPRUpper), q.TPR, plot.Down(q.TPRLower), plot.Up(q.TPRUpper), v.limit(q.FPRUpper)}
		}
		p.Rows = append(p.Rows, row)
	}
	p.Mark(plot.Line{Key: "the claim's limit (dashed)", Of: v.limit, Width: 1.8, Dash: true},
		plot.Line{Key: "guessing", Paint: plot.Muted, Of: func(x float64) float64 { return x }, Width: 1.2})
	if v.certain() {
		p.Mark(plot.Over{Key: "above the limit (barred)", Of: func(x float64) (above, below float64) {
			lower, _ := band.Limits(x)
			return lower, v.limit(x)
		}})
	}
	return p
}
