package scene

import (
	"fmt"
	"math"
)

// Rate is how often audits of a mechanism that keeps its claim raised an alarm, with
// its interval.
type Rate struct {
	Name               string
	Alarms, Of         int
	Rate, Lower, Upper float64
	RateText           string
	IntervalText       string
	Above              bool // significantly above what is allowed
}

// Rates shows error rates with their intervals, a row each, against what is allowed.
type Rates struct {
	still
	rows    []Rate
	allowed float64
}

// NewRates shows rows, of which there is one at least.
func NewRates(rows []Rate, allowed float64) *Rates {
	return &Rates{still{id: "calibration", title: "The tool's own error rate"}, rows, allowed}
}

func (v *Rates) Words() string { return "" } // the page says how many there are in all

func (v *Rates) Reading(i int) string {
	r := v.rows[i]
	return fmt.Sprintf("%s: %s of %s, %s (%s)", r.Name, Grouped(r.Alarms), Grouped(r.Of), r.RateText, r.IntervalText)
}

func (v *Rates) Facts(fig Figures) Table {
	t := Table{Title: "False alarms", Head: []string{"mechanism", "alarms", "audits", "rate", "lower", "upper", "allowed"}}
	for _, r := range v.rows {
		t.Rows = append(t.Rows, []string{r.Name, fmt.Sprint(r.Alarms), fmt.Sprint(r.Of), fig.of(r.Rate), fig.of(r.Lower), fig.of(r.Upper), fig.of(v.allowed)})
	}
	return t
}

func (v *Rates) Layout(f Frame) *Scene {
	s := f.scene(0)
	most := 2 * v.allowed
	above := false
	for _, r := range v.rows {
		if r.Of > 0 {
			most = max(most, r.Upper)
		}
		above = above || r.Above
	}
	end := 1.0
	for _, e := range []float64{0.5, 0.3, 0.2, 0.1} { // of the axis, so that it seldom jumps while rates come
		if e >= most {
			end = e
		}
	}
	keys := []key{{words: "rate with its 99 % interval", paint: Ink(First), form: keyBand}, {words: "allowed (dashed)", paint: Ink(Text), form: keyDash}}
	if above {
		keys = append(keys, key{words: "significantly above it (barred)", paint: Ink(Bad), form: keyBarred})
	}
	const pitch, bar = 40.0, 12.0
	top := s.legend(keys, 4) + 6
	height := pitch * float64(len(v.rows))
	s.Height = top + height + 46
	x := Scale{Lo: 0, Hi: end, From: 16, To: f.Width - 18}
	s.Plot = Rect{x.From, top, x.To - x.From, height}
	marks := x.Marks(int(max(2, s.Plot.W/70)))
	for _, m := range marks {
		s.line(x.At(m), top, x.At(m), top+height, 1, Ink(Line), Rect{})
	}
	s.line(x.From, top, x.From, top+height, 1, Ink(Axis), Rect{})
	s.ticksUnder(x, marks, top+height, Percent, 0, f.Width)
	s.label((x.From+x.To)/2, top+height+38, "audits that raised a false alarm", Middle, Muted)
	s.dash([]Point{{x.At(v.allowed), top}, {x.At(v.allowed), top + height}}, 1.8, Ink(Text), Rect{})
	for i, r := range v.rows {
		y := top + pitch*float64(i)
		row := Rect{0, y, f.Width, pitch}
		s.Items = append(s.Items, Item{Box: row, Mark: row})
		s.rect(Rect{x.From + 3, y + 1, s.wide(r.Name) + 4, 16}, Ink(Panel), Rect{}) // lines do not strike the name through
		s.label(x.From+5, y+13, r.Name, Start, Text)
		if r.Of == 0 {
			continue
		}
		from, to := x.At(r.Lower), max(x.At(r.Upper), x.At(r.Lower)+1)
		band := Rect{from, y + 20, to - from, bar}
		paint := Ink(First)
		if r.Above {
			paint = Ink(Bad)
			for at := from + 3; at < to; at += 4 {
				s.line(at, band.Y, at, band.Bottom(), 1, paint, Rect{})
			}
		}
		s.rect(band, paint.At(0.2), Rect{})
		s.add(Shape{Kind: Stroke, Points: append(corners(band), corners(band)[0]), Width: 1, Paint: paint.At(0.6)})
		s.add(Shape{Kind: Dots, Points: []Point{{x.At(r.Rate), y + 20 + bar/2}}, Radius: 4, Paint: Ink(First)})
	}
	return s
}

// AccountCurve is what an account says at each order.
type AccountCurve struct {
	Points []OrderPoint
	KL     *float64 // at order 1
	Limit  *float64 // at every order; nil: not finite
	Best   *float64 // the order that gives epsilon by the tight conversion
}

// OrderPoint is the divergence, in nats, that an account allows at an order.
type OrderPoint struct{ Alpha, Divergence float64 }

// Account shows the Rényi curve of an account: the divergence that it allows at
// each order.
type Account struct {
	still
	AccountCurve
}

// NewAccount is nil where there is no curve.
func NewAccount(c AccountCurve) *Account {
	if len(c.Points) == 0 {
		return nil
	}
	return &Account{still{id: "account", title: "Rényi curve"}, c}
}

func (v *Account) ends() (low, high OrderPoint) { return v.Points[0], v.Points[len(v.Points)-1] }

func (v *Account) Words() string {
	low, high := v.ends()
	words := fmt.Sprintf("The divergence, in nats, is at most %s at alpha = %s", Short(low.Divergence), Short(low.Alpha))
	if len(v.Points) > 1 {
		words += fmt.Sprintf(" and %s at alpha = %s", Short(high.Divergence), Short(high.Alpha))
	}
	if v.Limit != nil {
		words += "; at every order at most " + Short(*v.Limit)
	}
	words += "."
	if v.Best != nil {
		words += fmt.Sprintf(" Epsilon by the tight conversion comes from alpha = %s.", Short(*v.Best))
	}
	return words
}

func (v *Account) Reading(i int) string {
	return fmt.Sprintf("alpha = %s: divergence ≤ %s", Exact.of(v.Points[i].Alpha), Exact.of(v.Points[i].Divergence))
}

// Facts are what was accounted: an account rounds by itself.
func (v *Account) Facts(Figures) Table {
	t := Table{Title: "The curve", Head: []string{"alpha", "divergence at most"}}
	if v.KL != nil {
		t.Rows = append(t.Rows, []string{"1", Exact.of(*v.KL)})
	}
	for _, p := range v.Points {
		t.Rows = append(t.Rows, []string{Exact.of(p.Alpha), Exact.of(p.Divergence)})
	}
	if v.Limit != nil {
		t.Rows = append(t.Rows, []string{"infinite", Exact.of(*v.Limit)})
	}
	return t
}

func (v *Account) Layout(f Frame) *Scene {
	s := f.scene(0)
	low, high := v.ends()
	const tall = 20 // times larger at its end than at its beginning: logarithmic
	logs := low.Divergence > 0 && high.Divergence > tall*low.Divergence
	limit := v.Limit != nil && *v.Limit < 2.5*high.Divergence
	best := v.Best != nil && *v.Best >= low.Alpha && *v.Best <= high.Alpha
	keys := []key{{words: "divergence", paint: Ink(First), form: keyLine}}
	most := high.Divergence
	if limit {
		keys = append(keys, key{words: "its limit (dashed)", paint: Ink(Text), form: keyDash})
		most = max(most, *v.Limit)
	}
	if best {
		keys = append(keys, key{words: "order that gives epsilon (upright)", paint: Ink(Event), form: keyDash})
	}
	if !(most > 0) {
		most = 1
	}
	x := Scale{Lo: low.Alpha, Hi: high.Alpha, Log: true}
	if len(v.Points) == 1 {
		x.Lo, x.Hi = x.Lo/1.5, x.Hi*1.5
	}
	y, title, words := Scale{Lo: 0, Hi: most * 1.08}, "Rényi divergence (nats)", Short
	if logs {
		y, title, words = Scale{Lo: low.Divergence / 1.2, Hi: most * 1.2, Log: true}, "Rényi divergence (nats, logarithmic)", Power
	}
	x, y, box := s.curves(f, keys, x, y, squarish(f.Width), [2]string{"alpha (logarithmic)", title}, [2]func(float64) string{Short, words})
	if limit {
		s.dash([]Point{{box.X, y.At(*v.Limit)}, {box.Right(), y.At(*v.Limit)}}, 1.8, Ink(Text), Rect{})
	}
	if best {
		s.dash([]Point{{x.At(*v.Best), box.Y}, {x.At(*v.Best), box.Bottom()}}, 1.5, Ink(Event), Rect{})
	}
	var line []Point
	for _, p := range v.Points {
		line = append(line, Point{x.At(p.Alpha), y.At(p.Divergence)})
	}
	s.add(Shape{Kind: Stroke, Points: line, Width: 2, Paint: Ink(First), Clip: around(box, 2)})
	s.dots(line, 3, Ink(First), around(box, 4))
	return s
}

// ColumnBin is a bar of a column of samples: of a name, or of a range of numbers.
type ColumnBin struct {
	Label  string // "" of a range
	Lower  float64
	Upper  float64
	Counts [2]int // on the first and the second dataset
}

// Column shows what a column of the user's samples holds on both datasets: its names
// as bars, its numbers as histograms over one another.
type Column struct {
	still
	names  []Bin
	ranges []Bin
}

// NewColumn is nil where there is nothing to draw.
func NewColumn(name string, bins []ColumnBin) *Column {
	v := &Column{still: still{id: "column", title: name}}
	var of [2]int
	for _, b := range bins {
		of[0] += b.Counts[0]
		of[1] += b.Counts[1]
	}
	one := Bin{firstOf: of[0], secondOf: of[1]} // of numbers that are all the same
	for _, b := range bins {
		bin := Bin{Words: b.Label, First: b.Counts[0], Second: b.Counts[1], firstOf: of[0], secondOf: of[1]}
		switch {
		case b.Label != "":
			v.names = append(v.names, bin)
		case !(b.Upper-b.Lower < math.Inf(1)):
			return nil
		default:
			bin.Words, bin.From, bin.To = Short(b.Lower)+" to "+Short(b.Upper), b.Lower, b.Upper
			one.Words = Short(b.Lower)
			one.First += bin.First
			one.Second += bin.Second
			v.ranges = append(v.ranges, bin)
		}
	}
	if n := len(v.ranges); n > 0 && v.ranges[0].From == v.ranges[n-1].To {
		v.names, v.ranges = append(v.names, one), nil
	}
	if len(v.names)+len(v.ranges) == 0 || of[0]+of[1] == 0 {
		return nil
	}
	return v
}

func (v *Column) Words() string { return "" }

func (v *Column) bin(i int) Bin {
	if i < len(v.names) {
		return v.names[i]
	}
	return v.ranges[i-len(v.names)]
}

func (v *Column) Reading(i int) string {
	b := v.bin(i)
	return fmt.Sprintf("%s: first dataset %s, second dataset %s", b.Words, Grouped(b.First), Grouped(b.Second))
}

func (v *Column) Facts(Figures) Table {
	t := Table{Title: v.title, Head: []string{"value", "first dataset", "second dataset"}}
	for i := range len(v.names) + len(v.ranges) {
		b := v.bin(i)
		t.Rows = append(t.Rows, []string{b.Words, fmt.Sprint(b.First), fmt.Sprint(b.Second)})
	}
	return t
}

func (v *Column) Layout(f Frame) *Scene {
	s := f.scene(0)
	y := 4.0
	if len(v.names) > 0 {
		y = v.bars(s, s.legend([]key{{words: "first dataset", paint: Ink(First), form: keyBox}, {words: "second dataset (hatched)", paint: Ink(Second), form: keyHatch}}, y))
	}
	if len(v.ranges) > 0 {
		y = v.histogram(s, s.legend([]key{{words: "first dataset", paint: Ink(First), form: keyLine}, {words: "second dataset (dashed)", paint: Ink(Second), form: keyDash}}, y))
	}
	s.Height = y
	return s
}

// bars draws the names from y on, and returns where they end.
func (v *Column) bars(s *Scene, y float64) float64 {
	const pitch, bar = 44.0, 10.0
	most := 0
	for _, b := range v.names {
		most = max(most, b.First, b.Second)
	}
	x := Scale{Lo: 0, Hi: float64(most), From: 2, To: s.Width - s.wide(Grouped(most)) - 10}
	for _, b := range v.names {
		row := Rect{0, y, s.Width, pitch}
		s.Items = append(s.Items, Item{Box: row, Mark: row})
		s.label(2, y+13, clipWords(s, b.Words, s.Width-8), Start, Text).Mono = true
		for side, n := range [2]int{b.First, b.Second} {
			at := y + 18 + float64(side)*(bar+1)
			r := Rect{x.From, at, x.At(float64(n)) - x.From, bar}
			if side == 0 {
				s.rect(r, Ink(First), Rect{})
			} else {
				s.rect(r, Ink(Second), Rect{})
				s.hatch(r, Ink(Panel).At(0.75), r)
			}
			s.label(r.Right()+5, at+bar-1, Grouped(n), Start, Muted).Size = 11
		}
		y += pitch
	}
	s.Plot = Rect{0, y - pitch, s.Width, pitch}
	return y + 4
}

// histogram draws the ranges from y on, and returns where it ends.
func (v *Column) histogram(s *Scene, y float64) float64 {
	const height = 170
	most := 0.0
	for _, b := range v.ranges {
		p, q := b.Shares()
		most = max(most, p, q)
	}
	up := Scale{Lo: 0, Hi: most * 1.06, From: y + 20 + height, To: y + 20}
	box := Rect{s.gutter(up, 4, Percent), y + 20, 0, height}
	box.W = s.Width - 10 - box.X
	s.Plot = box
	lo, hi := v.ranges[0].From, v.ranges[len(v.ranges)-1].To
	x := Scale{Lo: lo, Hi: hi, From: box.X, To: box.Right()}
	s.label(0, box.Y-9, "share of rows", Start, Muted)
	s.across(up, 4, box, Percent)
	s.steps(v.ranges, func(at, share float64) Point { return Point{x.At(at), up.At(share)} }, around(box, 1))
	s.under(x, box.Bottom(), Window{lo, hi})
	for _, b := range v.ranges {
		r := Rect{x.At(b.From), box.Y, x.At(b.To) - x.At(b.From), box.H}
		s.Items = append(s.Items, Item{Box: r, Mark: r})
	}
	return box.Bottom() + 26
}
