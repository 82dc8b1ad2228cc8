package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// search are the pairs that were tried, what each showed, and how its datasets differ.
type search struct {
	trials   []pair.TrialNote // as shown
	tried    []pair.TrialNote // as tried
	sorted   bool             // by value
	learners []string
	quantity string
	claimed  float64
	rows     int // of the datasets, 0 where they are too large or too unlike to draw
	most     float64
}

const mostPictured = 64 // values of a dataset

// NewSearch shows a report's trials, nil where there are none.
func NewSearch(trials []pair.TrialNote, quantity string, claimed float64) *View {
	if len(trials) == 0 {
		return nil
	}
	return View{ID: "search", Title: "Search", ChoiceLabel: "Pairs", Choices: []Choice{{"tried", "as they were tried"}, {"value", "by what they showed"}}}.of(newSearch(trials, quantity, claimed).plot)
}

func newSearch(trials []pair.TrialNote, quantity string, claimed float64) *search {
	v := &search{tried: trials, trials: trials, quantity: quantity, claimed: claimed}
	for _, t := range trials {
		if !slices.Contains(v.learners, t.Learner) {
			v.learners = append(v.learners, t.Learner)
		}
		n := max(len(t.Pair.First.Values), len(t.Pair.Second.Values))
		v.rows = max(v.rows, n)
		if t.Pair.First.Columns > 1 || t.Pair.Second.Columns > 1 {
			v.rows = mostPictured + 1
		}
		for k := range n {
			v.most = max(v.most, math.Abs(difference(t, k)))
		}
	}
	if v.rows > mostPictured || v.most == 0 {
		v.rows = 0
	}
	return v
}

// difference is by how much record k of the first dataset lies above that of the
// second; a record that is in one only counts as its value.
func difference(t pair.TrialNote, k int) float64 {
	at := func(d audit.Dataset) float64 {
		if k < len(d.Values) {
			return d.Values[k]
		}
		return 0
	}
	return at(t.Pair.First) - at(t.Pair.Second)
}

func (v *search) choose(id string) {
	v.trials, v.sorted = v.tried, id == "value"
	if v.sorted {
		v.trials = slices.Clone(v.tried)
		sort.SliceStable(v.trials, func(i, j int) bool { return cmp.Less(v.trials[j].Value, v.trials[i].Value) })
	}
}

func (v *search) plot(choice string) Plot {
	v.choose(choice)
	p := Plot{X: Axis{Scale: Scale{Hi: float64(len(v.trials))}, Zooms: true}, Y: Axis{Scale: Scale{Hi: 1}}, Caption: v.caption(), Tooltip: v.tooltip, Draw: v.draw}
	p.Name = func(i int) string { return fmt.Sprint(v.trials[i].Trial) }
	for i := range v.trials {
		p.Items = append(p.Items, [2]float64{float64(i) + 0.5, 0.5})
	}
	p.Table = rows("Every pair that was tried", []string{"pair", "number", "value", "learner", "chosen"}, len(v.trials), func(fig Figures, i int) []string {
		t := v.trials[i]
		return []string{t.Pair.Label, fmt.Sprint(t.Trial + 1), fig.of(t.Value), t.Learner, yesNo(t.Chosen)}
	})
	return p
}

func (v *search) caption() string {
	loud := 0
	for _, t := range v.trials {
		if t.Value > v.claimed {
			loud++
		}
	}
	return fmt.Sprintf("%s pairs of datasets were tried; %s showed more on their validation outputs than is claimed (%s). The loudest was certified, on fresh outputs. A value ranks pairs; it certifies nothing.", Grouped(len(v.trials)), Grouped(loud), Short(v.claimed))
}

func (v *search) tooltip(i int) string {
	t := v.trials[i]
	words := fmt.Sprintf("pair %d", t.Trial+1)
	if t.Pair.Label != "" {
		words += ", " + t.Pair.Label
	}
	words += ": " + shown(t, v.quantity)
	if t.Learner != "" {
		words += ", by " + t.Learner
	}
	if t.Chosen {
		words += "; chosen"
	}
	return words
}

func shown(t pair.TrialNote, quantity string) string {
	if t.Value < audit.NoEvidence {
		return "showed nothing"
	}
	return quantity + " " + Short(round(t.Value, 4))
}

func (v *search) draw(f Frame) *Scene {
	s := f.scene(0)
	items := []key{{words: "claimed (dashed)", paint: Ink(Text), form: keyDash}, {words: "above it", paint: Ink(Bad), form: keyDot, mark: Disc}, {words: "chosen", paint: Ink(Text), form: keyDot, mark: Ring}}
	if !v.sorted {
		items = append(items, key{words: "best so far", paint: Ink(Muted), form: keyLine})
	}
	for i, l := range v.learners {
		items = append(items, key{words: l, paint: Ink(Muted), form: keyDot, mark: Form(i % int(Ring))})
	}
	if v.rows > 0 {
		items = append(items, key{words: "first dataset higher (up)", paint: Ink(First), form: keyBox}, key{words: "second higher (down)", paint: Ink(Second), form: keyBox})
	}
	top := s.legend(items, 4) + 22
	const height, gap, foot = 220, 34, 42
	cell := choose(v.rows > 0, min(16, max(7, 240/float64(v.rows))), 0.0)
	below := cell * float64(v.rows)
	if below > 0 {
		below += gap
	}
	s.Height = top + height + below + foot

	least, most := 0.0, v.claimed
	for _, t := range v.trials {
		if t.Value > audit.NoEvidence {
			least, most = min(least, t.Value), max(most, t.Value)
		}
	}
	least = max(least, -0.25*most)
	pad := (most - least) * 0.08
	y := Scale{Lo: least - pad, Hi: most + pad, From: top + height, To: top}
	if !(y.Hi > y.Lo) {
		y.Hi = y.Lo + 1
	}
	left := max(30, s.gutter(y, 5, Short))
	n := float64(len(v.trials))
	x := Scale{Lo: 0, Hi: n, From: left, To: f.Width - 10}.Zoomed(f.Camera.X)
	box := Rect{left, top, x.To - x.From, height}
	clip := Rect{box.X - 1, box.Y - 8, box.W + 2, box.H + 16}
	s.Plot = Rect{left, top, box.W, height + below}
	title := v.quantity + ", as each pair's validation outputs showed"
	if s.wide(title) > f.Width {
		title = clipWords(s, v.quantity, f.Width-10)
	}
	s.label(0, top-9, title, Start, Muted)
	s.across(y, 5, box, Short)
	s.dash([]Point{{box.X, y.At(v.claimed)}, {box.Right(), y.At(v.claimed)}}, 1.5, Ink(Text), box)

	at := func(i int) float64 { return x.At(float64(i) + 0.5) }
	show := func(t pair.TrialNote) float64 { return min(y.From, y.At(max(t.Value, y.Lo))) }
	var best []Point
	loudest := math.Inf(-1)
	dots := map[Form]*Shape{}
	for i, t := range v.trials {
		loudest = max(loudest, t.Value)
		height := y.At(max(loudest, y.Lo))
		best = append(best, Point{x.At(float64(i)), height}, Point{x.At(float64(i + 1)), height})
		form := Form(slices.Index(v.learners, t.Learner) % int(Ring))
		if dots[form] == nil {
			dots[form] = &Shape{Kind: Dots, Form: form, Radius: v.radius(x), Clip: clip, Paint: Ink(First)}
		}
		d := dots[form]
		d.Points = append(d.Points, Point{at(i), show(t)})
		d.Paints = append(d.Paints, v.paint(t))
		s.Items = append(s.Items, Item{Box: Rect{x.At(float64(i)), s.Plot.Y, x.At(float64(i+1)) - x.At(float64(i)), s.Plot.H},
			Mark: intersect(Rect{x.At(float64(i)), s.Plot.Y, max(3, x.At(float64(i+1))-x.At(float64(i))), s.Plot.H}, s.Plot)})
	}
	if !v.sorted {
		s.add(Shape{Kind: Stroke, Points: best, Width: 1.2, Paint: Ink(Muted), Clip: box})
	}
	for form := range Ring {
		if d := dots[form]; d != nil {
			s.add(*d)
		}
	}
	for i, t := range v.trials {
		if t.Chosen {
			s.add(Shape{Kind: Dots, Form: Ring, Radius: v.radius(x) + 5, Points: []Point{{at(i), show(t)}}, Paint: Ink(Text), Clip: clip})
		}
	}
	bottom := top + height
	if v.rows > 0 {
		bottom = v.cells(s, x, top+height+gap, cell)
	}
	s.line(x.From, bottom, x.To, bottom, 1, Ink(AxisLine), Rect{})
	var marks []float64
	for _, m := range (Scale{Lo: x.Lo + 0.5, Hi: x.Hi + 0.5}).Marks(int(max(2, box.W/60))) {
		if m == math.Round(m) && m >= 1 && m <= n {
			marks = append(marks, m)
		}
	}
	between := Scale{Lo: x.Lo + 0.5, Hi: x.Hi + 0.5, From: x.From, To: x.To}
	s.ticksUnder(between, marks, bottom, Short, box.X-10, box.Right()+10)
	s.label((x.From+x.To)/2, bottom+36, "pair", Middle, Muted)
	return s
}

// paint is stronger the more a pair showed, and another colour above the claim.
func (v *search) paint(t pair.TrialNote) Paint {
	switch {
	case t.Value > v.claimed:
		return Ink(Bad)
	case v.claimed > 0:
		return Between(Muted, Calm, t.Value/v.claimed)
	}
	return Ink(Calm)
}

func (v *search) radius(x Scale) float64 {
	return math.Round(2*min(5.5, max(2, (x.At(1)-x.At(0))/3))) / 2
}

// cells draws by how much the datasets of every pair differ, record by record: up
// where the first lies higher, down where the second does.
func (v *search) cells(s *Scene, x Scale, y, cell float64) float64 {
	s.label(0, y-9, "how the datasets differ, a row a record", Start, Muted)
	box := Rect{x.From, y, x.To - x.From, cell * float64(v.rows)}
	for k := range v.rows {
		middle := y + (float64(k)+0.5)*cell
		s.line(box.X, middle, box.Right(), middle, 1, Ink(Grid), Rect{})
		if k == 0 || (k+1)%5 == 0 {
			s.label(box.X-6, middle+4, fmt.Sprint(k+1), End, Muted)
		}
	}
	for i, t := range v.trials {
		x0, x1 := x.At(float64(i)), x.At(float64(i+1))
		if x1 < box.X || x0 > box.Right() {
			continue
		}
		inset := min(2, (x1-x0)*0.12)
		for k := range v.rows {
			d := difference(t, k)
			if d == 0 {
				continue
			}
			h := max(1.5, math.Abs(d)/v.most*(cell/2-0.5))
			middle := y + (float64(k)+0.5)*cell
			r, paint := Rect{x0 + inset, middle - h, x1 - x0 - 2*inset, h}, Ink(First)
			if d < 0 {
				r.Y, paint = middle, Ink(Second)
			}
			s.rect(r, paint, box)
		}
	}
	return box.Bottom()
}
