package scene

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/report"
)

// Scores shows how many scores of canaries that were in, and that were out, lie where.
type Scores struct {
	still
	h       membership.Histogram
	in, out int
	log     bool
}

// NewScores shows a report's scores, nil where there are none.
func NewScores(r *CanaryReport) *Scores {
	e := r.membership()
	if e == nil || len(e.Histogram.Edges) == 0 || e.Check(0, 0) != nil {
		return nil
	}
	return &Scores{still{"scores", "Scores", true, false, "Heights", linearOrLog}, e.Histogram, e.ROC.In, e.ROC.Out, false}
}

func (r *CanaryReport) membership() *membership.Evidence {
	if r.Evidence == nil {
		return nil
	}
	return r.Evidence.Membership
}

func (v *Scores) Choose(id string) { v.log = id == "log" }

func (v *Scores) Words() string {
	return fmt.Sprintf("%s scores of canaries that were in, upwards, and %s of such that were out, downwards. Were nothing leaked, both would lie alike.", Grouped(v.in), Grouped(v.out))
}

func (v *Scores) bin(i int) string {
	e := v.h.Edges
	switch {
	case i == 0:
		return "below " + Short(e[0])
	case i == len(e):
		return Short(e[i-1]) + " and above"
	}
	return Short(e[i-1]) + " to " + Short(e[i])
}

func (v *Scores) Reading(i int) string {
	in, out := v.h.In[i], v.h.Out[i]
	return fmt.Sprintf("scores %s: %s in (%s), %s out (%s)", v.bin(i), Grouped(in), Percent(share(in, v.in)), Grouped(out), Percent(share(out, v.out)))
}

func (v *Scores) Place(i int) (x, y float64) { return (float64(i) + 0.5) / float64(len(v.h.In)), 0.5 }

func (v *Scores) Facts(fig Figures) Table {
	t := Table{Title: "Scores by where they lie", Head: []string{"from", "to below", "in", "out"}}
	for i := range v.h.In {
		from, to := math.Inf(-1), math.Inf(1)
		if i > 0 {
			from = v.h.Edges[i-1]
		}
		if i < len(v.h.Edges) {
			to = v.h.Edges[i]
		}
		t.Rows = append(t.Rows, []string{fig.of(from), fig.of(to), fmt.Sprint(v.h.In[i]), fmt.Sprint(v.h.Out[i])})
	}
	return t
}

// tall is the height of n scores of a class.
func (v *Scores) tall(n, of int) float64 {
	if v.log {
		return math.Log10(math.Max(0.1, float64(n))) + 1 // one score is seen
	}
	return share(n, of)
}

func (v *Scores) Layout(f Frame) *Scene {
	s := f.scene(0)
	top := s.legend([]key{{words: "canaries in (up)", paint: Ink(First), form: keyBox}, {words: "canaries out (down)", paint: Ink(Second), form: keyBox}}, 4) + 22
	height := min(340, max(220, f.Width*0.5))
	s.Height = top + height + 44
	most := v.tall(slices.Max(v.h.In), v.in)
	least := -v.tall(slices.Max(v.h.Out), v.out)
	y := Scale{Lo: least * 1.05, Hi: most * 1.05, From: top + height, To: top}
	words := func(at float64) string {
		at = math.Abs(at)
		switch {
		case !v.log:
			return Percent(at)
		case at == 0 || at != math.Round(at):
			return choose(at == 0, "0", "")
		}
		return Grouped(int(math.Pow(10, at-1)))
	}
	x := Scale{From: s.gutter(y, 5, words), To: f.Width - 14}
	s.Plot = Rect{x.From, top, x.To - x.From, height}
	s.label(0, top-9, choose(v.log, "scores in a bin, of each class", "share of the class in a bin"), Start, Muted)
	s.across(y, 5, s.Plot, words)
	e := v.h.Edges
	values := Window{e[0], e[len(e)-1]}
	wide := (values.Hi - values.Lo) / float64(max(1, len(e)-1))
	if len(e) == 1 {
		wide = max(1, math.Abs(e[0]))
	}
	x.Lo, x.Hi = values.Lo-wide, values.Hi+wide
	x = x.Zoomed(f.Camera.X)
	for i := range v.h.In {
		from, to := values.Lo-wide, values.Hi+wide
		if i > 0 {
			from = e[i-1]
		}
		if i < len(e) {
			to = e[i]
		}
		left, right := x.At(from), x.At(to)
		up, down := y.At(v.tall(v.h.In[i], v.in)), y.At(-v.tall(v.h.Out[i], v.out))
		for _, bar := range []struct {
			from, to float64
			ink      Role
		}{{up, y.At(0), First}, {y.At(0), down, Second}} {
			s.rect(Rect{left + 0.5, bar.from, max(0.5, right-left-1), bar.to - bar.from}, Ink(bar.ink), s.Plot)
		}
		column := intersect(Rect{left, top, right - left, height}, s.Plot)
		s.Items = append(s.Items, Item{column, column})
	}
	if len(e) == 1 {
		s.line(x.From, s.Plot.Bottom(), x.To, s.Plot.Bottom(), 1, Ink(Axis), Rect{})
		s.ticksUnder(x, e, s.Plot.Bottom(), Short, x.From-10, x.To+10)
	} else {
		s.under(x, s.Plot.Bottom(), values)
	}
	s.label((x.From+x.To)/2, s.Plot.Bottom()+37, "score", Middle, Muted)
	return s
}

// ROC shows the true positive rate of thresholds on membership scores against their false
// positive rate, with its band where one holds, and how far the claim lets it rise.
type ROC struct {
	still
	roc     bounds.ROC
	points  []bounds.ROCPoint // as those of [bounds.ROC.Band]
	claim   audit.Claim
	rates   []string // in words
	level   string   // of the band, "" where there is none
	log     bool
	certain bool // the band lies above the claim's limit somewhere
}

// NewROC shows a report's curve, nil where there is none.
func NewROC(r *CanaryReport) *ROC {
	e := r.membership()
	if e == nil || e.Check(0, 0) != nil || bounds.CheckBeta(r.Plan.Beta) != nil {
		return nil
	}
	v := &ROC{still: still{"roc", "ROC", true, true, "Axes", []Choice{linearOrLog[1], linearOrLog[0]}}, roc: e.ROC, claim: r.Claim, log: true}
	v.points = e.ROC.Band(r.Plan.Beta)
	rows := report.Report(r.head).Rows(report.Membership)
	for i := range rows {
		x := &rows[i]
		if x.ID != report.TPR || x.Value == nil {
			continue
		}
		if x.UpperBound != nil {
			v.level = Percent(1 - r.Plan.Beta)
		}
		v.rates = append(v.rates, Percent(*x.Value)+" at a false positive rate of at most "+Percent(x.FPR))
	}
	for i := range v.points {
		v.certain = v.certain || v.level != "" && v.above(v.points[i]) > 0
	}
	return v
}

func (v *ROC) Choose(id string) { v.log = id != "linear" }

func (v *ROC) limit(fpr float64) float64 {
	return bounds.ROCLimit(fpr, v.claim.Epsilon, v.claim.Delta)
}

// above is by how much the whole rectangle of a point lies above the claim's curve.
func (v *ROC) above(p bounds.ROCPoint) float64 { return p.TPRLower - v.limit(p.FPRUpper) }

func (v *ROC) Words() string {
	words := fmt.Sprintf("How well a threshold on the scores tells canaries that were in, its true positives, from those that were out. The area under the curve is %s", Short(floor(v.roc.AUROC(), 3)))
	if len(v.rates) > 0 {
		words += "; the true positive rate is " + joined(v.rates)
	}
	if v.level == "" {
		return words + ". There is no band: these scores depend on each other."
	}
	words += fmt.Sprintf(". The %s band holds at all thresholds at once, if each score is of a training of its own.", v.level)
	if v.certain {
		words += " Where it is barred, all of it lies above what the claim allows."
	}
	return words
}

func joined(words []string) string {
	text := words[0]
	for i, w := range words[1:] {
		text += choose(i == len(words)-2, " and ", ", ") + w
	}
	return text
}

// at is the threshold of a point, in words.
func (v *ROC) at(i int) string {
	switch i {
	case 0:
		return "above all scores"
	case len(v.points) - 1:
		return "all scores"
	}
	p := v.points[i]
	for _, s := range v.roc.Steps { // those that take none, or all, are the ends
		if share(s.In, v.roc.In) == p.TPR && share(s.Out, v.roc.Out) == p.FPR {
			return "score ≥ " + Short(s.At)
		}
	}
	return ""
}

func (v *ROC) Reading(i int) string {
	p := v.points[i]
	if v.level == "" {
		return fmt.Sprintf("%s: false positives %s, true positives %s", v.at(i), Percent(p.FPR), Percent(p.TPR))
	}
	within := func(seen, lower, upper float64) string {
		return Percent(seen) + " (" + PercentDown(lower) + " to " + PercentUp(upper) + ")"
	}
	words := v.at(i) + ": false positives " + within(p.FPR, p.FPRLower, p.FPRUpper) + ", true positives " + within(p.TPR, p.TPRLower, p.TPRUpper) + "; the claim allows " + Percent(v.limit(p.FPRUpper))
	if v.above(p) > 0 {
		words += ", less than the whole interval"
	}
	return words
}

func (v *ROC) Facts(fig Figures) Table {
	t := Table{Title: "The ROC curve", Head: []string{"threshold", "false positive rate", "true positive rate"}}
	if v.level != "" {
		t.Head = []string{"threshold", "false positive rate", "at least", "at most", "true positive rate", "at least", "at most", "claim allows"}
	}
	for i, p := range v.points {
		row := []string{v.at(i), fig.of(p.FPR), fig.of(p.TPR)}
		if v.level != "" {
			row = []string{v.at(i), fig.of(p.FPR), fig.down(p.FPRLower), fig.up(p.FPRUpper), fig.of(p.TPR), fig.down(p.TPRLower), fig.up(p.TPRUpper), fig.of(v.limit(p.FPRUpper))}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// leastRate is where logarithmic axes begin.
const leastRate = 1e-4

func (v *ROC) axis() Scale {
	if v.log {
		return Scale{Lo: leastRate, Hi: 1, Log: true}
	}
	return Scale{Hi: 1}
}

func (v *ROC) Place(i int) (x, y float64) {
	a := v.axis()
	a.To = 1
	return a.At(v.points[i].FPR), 1 - a.At(v.points[i].TPR)
}

// bandAt are the heights of the band at a false positive rate: of all laws whose rates
// lie in the rectangles.
func (v *ROC) bandAt(x float64) (lower, upper float64) {
	upper = 1
	for _, p := range v.points {
		if p.FPRUpper <= x {
			lower = max(lower, p.TPRLower)
		}
		if p.FPRLower > x {
			upper = min(upper, p.TPRUpper)
		}
	}
	return lower, upper
}

func (v *ROC) Layout(f Frame) *Scene {
	s := f.scene(0)
	keys := []key{{words: "as seen", paint: Ink(First), form: keyLine}}
	if v.level != "" {
		keys = append(keys, key{words: v.level + " band", paint: Ink(First), form: keyBand})
	}
	keys = append(keys, key{words: "the claim's limit (dashed)", paint: Ink(Text), form: keyDash}, key{words: "guessing", paint: Ink(Muted), form: keyLine})
	if v.certain {
		keys = append(keys, key{words: "above the limit (barred)", paint: Ink(Bad), form: keyBarred})
	}
	words := choose(v.log, Power, Short)
	x, y, box := s.curves(f, keys, v.axis(), v.axis(), min(460, max(260, f.Width*0.7)), [2]string{"false positive rate", "true positive rate"}, [2]func(float64) string{words, words})
	clip := around(box, 5)
	var limit, guess, region, line []Point
	for px := box.X; px <= box.Right()+0.5; px += 2 {
		at := x.Value(px)
		limit, guess = append(limit, Point{px, y.At(v.limit(at))}), append(guess, Point{px, y.At(at)})
		lower, upper := v.bandAt(at)
		region = append(region, Point{px, y.At(upper)}, Point{px, y.At(lower)})
	}
	if v.level != "" {
		s.add(Shape{Kind: Strip, Points: region, Paint: Ink(First).At(0.18), Clip: box})
	}
	if v.certain {
		s.barred(x, box, func(at float64) (from, to float64, in bool) {
			lower, _ := v.bandAt(at)
			return y.At(lower), y.At(v.limit(at)), lower > v.limit(at)
		})
	}
	s.add(Shape{Kind: Stroke, Points: guess, Width: 1.2, Paint: Ink(Muted), Clip: box})
	s.dash(limit, 1.8, Ink(Text), box)
	for _, p := range v.points {
		line = append(line, Point{x.At(p.FPR), y.At(p.TPR)})
	}
	s.add(Shape{Kind: Stroke, Points: line, Width: 2, Paint: Ink(First), Clip: clip})
	for _, at := range line {
		s.Items = append(s.Items, Item{Box: Rect{at.X - 12, at.Y - 12, 24, 24}, Mark: intersect(Rect{at.X - 5, at.Y - 5, 10, 10}, clip)})
	}
	return s
}
