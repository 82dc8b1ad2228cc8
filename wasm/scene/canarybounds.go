package scene

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/report"
)

// CanaryBounds shows what every interval makes of the same counts, and what more
// canaries cost and brought.
type CanaryBounds struct {
	still
	claimed float64
	bars    []bar
}

// bar is a row: a bound, or the way from one to another.
type bar struct {
	words    string
	from, to float64 // equal for a bound
	change   bool
	valid    bool
	chosen   bool
}

func newCanaryBounds(r *CanaryReport) *CanaryBounds {
	v := &CanaryBounds{claimed: r.Claim.Epsilon}
	for _, row := range report.Report(r.head).Rows(report.Bounds) {
		if row.LowerBound != nil {
			v.bars = append(v.bars, bar{words: string(row.Method), from: *row.LowerBound, to: *row.LowerBound, valid: row.Valid, chosen: row.Chosen})
		}
	}
	if len(v.bars) == 0 {
		return nil
	}
	if e := r.Equation10; e != nil && e.Single != nil && e.First != nil {
		v.bars = append(v.bars, bar{words: "one canary a run", from: *e.Single, to: *e.Single}, bar{words: "bias of the common threshold", from: *e.Single, to: *e.First, change: true})
		for _, x := range []struct {
			words string
			by    *float64
		}{{"variance saved, second order", e.Variance2}, {"variance saved, fourth order", e.Variance4}} {
			if x.by != nil {
				v.bars = append(v.bars, bar{words: x.words, from: *e.First, to: *e.First + *x.by, change: true})
			}
		}
	}
	return v
}

func (v *CanaryBounds) ID() string    { return "intervals" }
func (v *CanaryBounds) Title() string { return "Bounds" }

func (v *CanaryBounds) Place(i int) (x, y float64) {
	return 0.5, (float64(i) + 0.5) / float64(len(v.bars))
}

func (v *CanaryBounds) Words() string {
	words := fmt.Sprintf("Lower bounds on epsilon from the same canaries; claimed: %s. Each that is valid holds with the report's confidence, the largest of them does not, unless it was named before.", Short(v.claimed))
	if slices.ContainsFunc(v.bars, func(b bar) bool { return b.change }) {
		words += " Below, what more canaries cost by a common threshold and what they bring by a smaller variance: differences of Wilson bounds, no bounds."
	}
	return words
}

func (v *CanaryBounds) Name(i int) string { return v.bars[i].words }

func (v *CanaryBounds) Reading(i int) string {
	b := v.bars[i]
	if b.change {
		return fmt.Sprintf("%s: %s, from %s to %s", b.words, signed(b.to-b.from), Short(round(b.from, 4)), Short(round(b.to, 4)))
	}
	words := fmt.Sprintf("%s: epsilon ≥ %s", b.words, Short(floor(b.to, 4)))
	switch {
	case b.chosen:
		words += ", the audit's own"
	case !b.valid:
		words += ", asymptotic or by an assumption only"
	}
	if b.to > v.claimed {
		words += "; more than is claimed"
	}
	return words
}

func signed(x float64) string {
	if x > 0 {
		return "+" + Short(round(x, 4))
	}
	return Short(round(x, 4))
}

func (v *CanaryBounds) Facts(fig Figures) Table {
	t := Table{Title: "Bounds and differences", Head: []string{"interval", "from", "to", "kind"}}
	for _, b := range v.bars {
		kind := "asymptotic, or by an assumption"
		switch {
		case b.change:
			kind = "difference"
		case b.valid:
			kind = "valid"
		}
		if b.chosen {
			kind += ", the audit's own"
		}
		t.Rows = append(t.Rows, []string{b.words, fig.of(b.from), fig.of(b.to), kind})
	}
	return t
}

func (v *CanaryBounds) Layout(f Frame) *Scene {
	s := f.scene(0)
	items := []key{{words: "valid", paint: Ink(First), form: keyDot, mark: Disc}, {words: "asymptotic, or by an assumption", paint: Ink(Muted), form: keyDot, mark: Ring},
		{words: "claimed (dashed)", paint: Ink(Text), form: keyDash}}
	if slices.ContainsFunc(v.bars, func(b bar) bool { return b.change }) {
		items = append(items, key{words: "gain", paint: Ink(Calm), form: keyBox}, key{words: "loss (barred)", paint: Ink(Bad), form: keyBarred})
	}
	top := s.legend(items, 4) + 20
	narrow := f.Width < 560
	pitch, left := 28.0, 0.0
	if narrow {
		pitch, left = 40, 8
	} else {
		for _, b := range v.bars {
			left = max(left, s.wide(b.words)*1.1)
		}
		left = min(left, 0.42*f.Width) + 18
	}
	height := pitch * float64(len(v.bars))
	s.Height = top + height + 44
	least, most := 0.0, v.claimed
	for _, b := range v.bars {
		least, most = min(least, b.from, b.to), max(most, b.from, b.to)
	}
	least = max(least, -most) // far below 0 a bound says nothing
	pad := 0.06 * (most - least)
	x := Scale{Lo: least - pad, Hi: most + pad, From: left, To: f.Width - 14}
	if !(x.Hi > x.Lo) {
		x.Hi = x.Lo + 1
	}
	box := Rect{left, top, x.To - x.From, height}
	s.Plot = Rect{0, top, f.Width, height}
	marks := x.Marks(int(max(2, box.W/70)))
	for _, m := range marks {
		role := Line
		if m == 0 {
			role = Axis
		}
		s.line(x.At(m), top, x.At(m), top+height, 1, Ink(role), Rect{})
	}
	s.ticksUnder(x, marks, top+height, Short, left-12, f.Width)
	s.label((x.From+x.To)/2, top+height+37, "epsilon", Middle, Muted)
	s.dash([]Point{{x.At(v.claimed), top}, {x.At(v.claimed), top + height}}, 1.5, Ink(Text), Rect{})
	at := func(v float64) float64 { return x.At(math.Max(v, x.Lo)) }
	for i, b := range v.bars {
		y := top + float64(i)*pitch
		row := Rect{0, y, f.Width, pitch}
		s.Items = append(s.Items, Item{Box: row, Mark: row})
		middle := y + pitch/2
		l := Label{X: left - 10, Y: middle + 4, Words: b.words, Align: End, Role: Text, Size: textSize, Bold: b.chosen}
		if narrow {
			middle += 8
			l.X, l.Y, l.Align = 2, y+14, Start
		}
		s.Labels = append(s.Labels, l)
		if !b.change {
			form, paint := Disc, Ink(First)
			if !b.valid {
				form, paint = Ring, Ink(Muted)
			}
			if b.chosen {
				paint = Ink(Event)
			}
			s.line(x.At(max(0, x.Lo)), middle, at(b.to), middle, 1, paint.At(0.5), Rect{})
			s.add(Shape{Kind: Dots, Form: form, Radius: 5, Points: []Point{{at(b.to), middle}}, Paint: paint})
			continue
		}
		from, to := at(min(b.from, b.to)), at(max(b.from, b.to))
		r := Rect{from, middle - 6, max(1, to-from), 12}
		if b.to >= b.from {
			s.rect(r, Ink(Calm), Rect{})
			continue
		}
		s.rect(r, Ink(Bad).At(0.25), Rect{})
		for px := r.X; px <= r.Right(); px += 4 {
			s.line(px, r.Y, px, r.Bottom(), 1, Ink(Bad), Rect{})
		}
	}
	return s
}
