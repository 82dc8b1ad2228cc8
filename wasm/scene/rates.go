package scene

import (
	"fmt"
	"slices"
)

// Rate is how often audits of a mechanism that keeps its claim raised an alarm, with
// its interval, and the words for both.
type Rate struct {
	Name         string  `json:"-"`
	Alarms       int     `json:"alarms"`
	Of           int     `json:"of"`
	Rate         float64 `json:"rate"`
	Lower        float64 `json:"lower"`
	Upper        float64 `json:"upper"`
	RateText     string  `json:"rateText"`
	IntervalText string  `json:"intervalText"`
	Above        bool    `json:"above,omitempty"` // significantly above beta; at the end only
}

// NewRates shows error rates, of which there is one at least, with their intervals, a row
// each, against what is allowed.
func NewRates(rates []Rate, allowed float64) *View {
	end, most := 1.0, 2*allowed
	for _, r := range rates {
		if r.Of > 0 {
			most = max(most, r.Upper)
		}
	}
	for _, e := range []float64{0.5, 0.3, 0.2, 0.1} { // of the axis, so that it seldom jumps while rates come
		if e >= most {
			end = e
		}
	}
	p := Plot{X: Axis{Title: "audits that raised a false alarm", Scale: Scale{Hi: end}, Words: Percent}} // the page says how many there are in all
	within := Bars{Key: "rate with its 99 % interval", Paint: Ink(First), Form: keyBand}
	above := Bars{Paint: Ink(Bad), Form: keyBarred}
	seen := Points{Paint: Ink(First), Radius: 4}
	for i, r := range rates {
		middle := float64(i) + 0.5
		p.Y.Names, p.Items, p.Within = append(p.Y.Names, r.Name), append(p.Items, [2]float64{r.Rate, middle}), append(p.Within, row(i))
		if r.Of == 0 {
			continue
		}
		of := &within
		if r.Above {
			of, above.Key = &above, "significantly above it (barred)"
		}
		of.Boxes = append(of.Boxes, Box{r.Lower, max(r.Upper, r.Lower+0.002*end), middle - 0.18, middle + 0.18})
		seen.At = append(seen.At, [2]float64{r.Rate, middle})
	}
	p.Marks = []Mark{within, Rule{Key: "allowed (dashed)", Paint: Ink(Text), At: allowed, Upright: true}, above, seen}
	p.Tooltip = func(i int) string {
		r := rates[i]
		return fmt.Sprintf("%s: %s of %s, %s (%s)", r.Name, Grouped(r.Alarms), Grouped(r.Of), r.RateText, r.IntervalText)
	}
	p.Table = rows("False alarms", []string{"mechanism", "alarms", "audits", "rate", "lower", "upper", "allowed"}, len(rates), func(fig Figures, i int) []string {
		r := rates[i]
		return []string{r.Name, fmt.Sprint(r.Alarms), fmt.Sprint(r.Of), fig.of(r.Rate), fig.of(r.Lower), fig.of(r.Upper), fig.of(allowed)}
	})
	return View{ID: "calibration", Title: "The tool's own error rate"}.always(p)
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

// NewColumn shows what a column of the user's samples holds on both datasets: its names
// as bars, its numbers as histograms over one another. Nil where there is nothing to draw.
func NewColumn(name string, bins []ColumnBin) *View {
	var names, ranges []Bin
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
			names = append(names, bin)
		case !(b.Upper-b.Lower < infinity):
			return nil
		default:
			bin.Words, bin.From, bin.To = Short(b.Lower)+" to "+Short(b.Upper), b.Lower, b.Upper
			one.Words = Short(b.Lower)
			one.First += bin.First
			one.Second += bin.Second
			ranges = append(ranges, bin)
		}
	}
	if n := len(ranges); n > 0 && ranges[0].From == ranges[n-1].To {
		names, ranges = append(names, one), nil
	}
	all := slices.Concat(names, ranges)
	if len(all) == 0 || of[0]+of[1] == 0 {
		return nil
	}
	var p Plot
	if len(ranges) > 0 { // names stand before the numbers
		lo, hi := ranges[0].From, ranges[len(ranges)-1].To
		p = Plot{X: Axis{Ticks: ticks(lo, hi, 5), Words: Short, Scale: Scale{Lo: lo, Hi: hi}}, Height: px(170)}
		wide := (hi - lo) / 12
		for i := range names {
			at := lo - wide*(float64(len(names)-i)*1.5-0.2)
			all[i].From, all[i].To, p.X.Lo = at, at+wide, min(p.X.Lo, at)
		}
		p.Y = Axis{Title: "share of rows", Words: Percent}
		p.Marks = []Mark{outline(Line{Key: "first dataset", Paint: Ink(First)}, all, 0), outline(Line{Key: "second dataset (dashed)", Paint: Ink(Second), Dash: true}, all, 1)}
		for _, b := range all {
			p.Y.Hi = max(p.Y.Hi, 1.06*b.share(0), 1.06*b.share(1))
			p.Items, p.Within = append(p.Items, [2]float64{(b.From + b.To) / 2, 0}), append(p.Within, column(b.From, b.To))
		}
		for _, b := range all[:len(names)] {
			p.Marks = append(p.Marks, Note{At: [2]float64{b.To, max(b.share(0), b.share(1))}, Words: b.Words, Role: Muted})
		}
	} else {
		p = Plot{X: Axis{Title: "share of rows", Words: Percent}}
		for i, b := range all {
			p.X.Hi, p.Y.Names, p.Y.After = max(p.X.Hi, b.share(0), b.share(1)), append(p.Y.Names, b.Words), append(p.Y.After, Grouped(b.First)+" and "+Grouped(b.Second))
			p.Items, p.Within = append(p.Items, [2]float64{0, float64(i) + 0.5}), append(p.Within, row(i))
		}
		p.Marks = shareBars("first dataset", "second dataset (hatched)", all)
	}
	p.Tooltip = func(i int) string {
		return fmt.Sprintf("%s: first dataset %s, second dataset %s", all[i].Words, Grouped(all[i].First), Grouped(all[i].Second))
	}
	p.Table = rows(name, []string{"value", "first dataset", "second dataset"}, len(all), func(_ Figures, i int) []string {
		return []string{all[i].Words, fmt.Sprint(all[i].First), fmt.Sprint(all[i].Second)}
	})
	return View{ID: "column", Title: name}.always(p)
}

// shareBars are the shares of both sides as bars, a row for each bin.
func shareBars(first, second string, bins []Bin) []Mark {
	sides := [2]Bars{{Key: first, Paint: Ink(First)}, {Key: second, Paint: Ink(Second), Form: keyHatch}}
	for i, b := range bins {
		for k := range sides {
			from := float64(i) + []float64{0.16, 0.52}[k]
			sides[k].Boxes = append(sides[k].Boxes, Box{0, b.share(k), from, from + 0.32})
		}
	}
	return []Mark{sides[0], sides[1]}
}
