package scene

import (
	"fmt"
	"math"
	"slices"
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

// NewRates shows error rates, of which there is one at least, with their intervals, a row
// each, against what is allowed.
func NewRates(rates []Rate, allowed float64) *View {
	p := Plot{Draw: func(f Frame) *Scene { return drawRates(f, rates, allowed) }} // the page says how many there are in all
	p.Tooltip = func(i int) string {
		r := rates[i]
		return fmt.Sprintf("%s: %s of %s, %s (%s)", r.Name, Grouped(r.Alarms), Grouped(r.Of), r.RateText, r.IntervalText)
	}
	p.Table = rows("False alarms", []string{"mechanism", "alarms", "audits", "rate", "lower", "upper", "allowed"}, len(rates), func(fig Figures, i int) []string {
		r := rates[i]
		return []string{r.Name, fmt.Sprint(r.Alarms), fmt.Sprint(r.Of), fig.of(r.Rate), fig.of(r.Lower), fig.of(r.Upper), fig.of(allowed)}
	})
	return View{ID: "calibration", Title: "The tool's own error rate"}.of(func(string) Plot { return p })
}

func drawRates(f Frame, rates []Rate, allowed float64) *Scene {
	s := f.scene(0)
	most := 2 * allowed
	above := false
	for _, r := range rates {
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
	height := pitch * float64(len(rates))
	s.Height = top + height + 46
	x := Scale{Lo: 0, Hi: end, From: 16, To: f.Width - 18}
	s.Plot = Rect{x.From, top, x.To - x.From, height}
	marks := x.Marks(int(max(2, s.Plot.W/70)))
	for _, m := range marks {
		s.line(x.At(m), top, x.At(m), top+height, 1, Ink(Grid), Rect{})
	}
	s.line(x.From, top, x.From, top+height, 1, Ink(AxisLine), Rect{})
	s.ticksUnder(x, marks, top+height, Percent, 0, f.Width)
	s.label((x.From+x.To)/2, top+height+38, "audits that raised a false alarm", Middle, Muted)
	s.dash([]Point{{x.At(allowed), top}, {x.At(allowed), top + height}}, 1.8, Ink(Text), Rect{})
	for i, r := range rates {
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
		s.hollow(band, 1, paint.At(0.6))
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

// NewAccount shows the Rényi curve of an account, the divergence that it allows at each
// order; nil where there is no curve.
func NewAccount(c AccountCurve) *View {
	if len(c.Points) == 0 {
		return nil
	}
	return View{ID: "account", Title: "Rényi curve"}.of(c.plot)
}

func (c AccountCurve) plot(string) Plot {
	low, high := c.Points[0], c.Points[len(c.Points)-1]
	p := Plot{X: Axis{Title: "alpha (logarithmic)", Scale: Scale{Lo: low.Alpha, Hi: high.Alpha, Log: true}, Words: Short}, Height: squarish, Hit: Point{16, 16}, Outline: 16}
	p.Caption = fmt.Sprintf("The divergence, in nats, is at most %s at alpha = %s", Short(low.Divergence), Short(low.Alpha))
	if len(c.Points) > 1 {
		p.Caption += fmt.Sprintf(" and %s at alpha = %s", Short(high.Divergence), Short(high.Alpha))
	} else {
		p.X.Lo, p.X.Hi = low.Alpha/1.5, low.Alpha*1.5
	}
	var table [][]string
	if c.KL != nil {
		table = append(table, []string{"1", Exact.of(*c.KL)})
	}
	for _, q := range c.Points {
		p.Items = append(p.Items, [2]float64{q.Alpha, q.Divergence})
		table = append(table, []string{Exact.of(q.Alpha), Exact.of(q.Divergence)})
	}
	p.Marks = []Mark{Line{Key: "divergence", Paint: Ink(First), Points: p.Items}, Points{At: p.Items, Radius: 3, Paint: Ink(First)}}
	most := high.Divergence
	if c.Limit != nil {
		p.Caption += "; at every order at most " + Short(*c.Limit)
		table = append(table, []string{"infinite", Exact.of(*c.Limit)})
		if *c.Limit < 2.5*high.Divergence {
			most = max(most, *c.Limit)
			p.Marks = append(p.Marks, Rule{Key: "its limit (dashed)", Paint: Ink(Text), At: *c.Limit})
		}
	}
	p.Caption += "."
	if c.Best != nil {
		p.Caption += fmt.Sprintf(" Epsilon by the tight conversion comes from alpha = %s.", Short(*c.Best))
		if *c.Best >= low.Alpha && *c.Best <= high.Alpha {
			p.Marks = append(p.Marks, Rule{Key: "order that gives epsilon (upright)", Paint: Ink(Event), At: *c.Best, Upright: true})
		}
	}
	if !(most > 0) {
		most = 1
	}
	p.Y = Axis{Title: "Rényi divergence (nats)", Scale: Scale{Hi: most * 1.08}, Words: Short}
	if low.Divergence > 0 && high.Divergence > 20*low.Divergence {
		p.Y = Axis{Title: "Rényi divergence (nats, logarithmic)", Scale: Scale{Lo: low.Divergence / 1.2, Hi: most * 1.2, Log: true}, Words: Power}
	}
	p.Tooltip = func(i int) string {
		return fmt.Sprintf("alpha = %s: divergence ≤ %s", Exact.of(c.Points[i].Alpha), Exact.of(c.Points[i].Divergence))
	}
	// An account rounds by itself.
	p.Table = rows("The curve", []string{"alpha", "divergence at most"}, len(table), func(_ Figures, i int) []string { return table[i] })
	return p
}

// ColumnBin is a bar of a column of samples: of a name, or of a range of numbers.
type ColumnBin struct {
	Label  string // "" of a range
	Lower  float64
	Upper  float64
	Counts [2]int // on the first and the second dataset
}

// column is what a column of the user's samples holds on both datasets: its names
// as bars, its numbers as histograms over one another.
type column struct{ names, ranges []Bin }

// NewColumn is nil where there is nothing to draw.
func NewColumn(name string, bins []ColumnBin) *View {
	var v column
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
	all := slices.Concat(v.names, v.ranges)
	if len(all) == 0 || of[0]+of[1] == 0 {
		return nil
	}
	p := Plot{Draw: v.draw}
	p.Tooltip = func(i int) string {
		return fmt.Sprintf("%s: first dataset %s, second dataset %s", all[i].Words, Grouped(all[i].First), Grouped(all[i].Second))
	}
	p.Table = rows(name, []string{"value", "first dataset", "second dataset"}, len(all), func(_ Figures, i int) []string {
		return []string{all[i].Words, fmt.Sprint(all[i].First), fmt.Sprint(all[i].Second)}
	})
	return View{ID: "column", Title: name}.of(func(string) Plot { return p })
}

func (v column) draw(f Frame) *Scene {
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
func (v column) bars(s *Scene, y float64) float64 {
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
func (v column) histogram(s *Scene, y float64) float64 {
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
