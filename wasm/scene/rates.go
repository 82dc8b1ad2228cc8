package scene

import (
	"fmt"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/bounds/accounting"
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
func NewRates(rates []Rate, allowed float64) *plot.View {
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
	p := plot.Plot{X: plot.Axis{Title: "audits that raised a false alarm", Scale: plot.Scale{Hi: end}, Words: plot.Percent}} // the page says how many there are in all
	p.Numbers = plot.Numbers{Title: "False alarms", Head: []string{"mechanism", "alarms", "audits", "rate", "at least", "at most", "allowed"}}
	within := plot.Bars{Key: "rate with its 99 % interval", Paint: plot.Ink(plot.First), Form: plot.KeyBand}
	above := plot.Bars{Paint: plot.Ink(plot.Bad), Form: plot.KeyBarred}
	seen := plot.Points{Paint: plot.Ink(plot.First), Radius: 4}
	for i, r := range rates {
		middle := float64(i) + 0.5
		p.Y.Names, p.Items, p.Within = append(p.Y.Names, r.Name), append(p.Items, [2]float64{r.Rate, middle}), append(p.Within, plot.Row(i))
		p.Rows = append(p.Rows, []any{r.Name, r.Alarms, r.Of, r.Rate, r.Lower, r.Upper, allowed})
		if r.Of == 0 {
			continue
		}
		of := &within
		if r.Above {
			of, above.Key = &above, "significantly above it (barred)"
		}
		of.Boxes = append(of.Boxes, plot.Span(r.Lower, max(r.Upper, r.Lower+0.002*end), middle-0.18, middle+0.18))
		seen.At = append(seen.At, [2]float64{r.Rate, middle})
	}
	p.Marks = []plot.Mark{within, plot.Rule{Key: "allowed (dashed)", Paint: plot.Ink(plot.Text), At: allowed, Upright: true}, above, seen}
	return plot.View{ID: "calibration", Title: "The tool's own error rate"}.Always(p)
}

// NewAccount shows the Rényi curve of an account, the divergence that it allows at each
// order; nil where there is no curve.
func NewAccount(c accounting.Account) *plot.View {
	if len(c.Curve) == 0 {
		return nil
	}
	var best *float64 // the order that gives epsilon
	for _, g := range c.Epsilons {
		if g.Method == accounting.MethodTight {
			best = g.Order
		}
	}
	low, high := c.Curve[0], c.Curve[len(c.Curve)-1]
	p := plot.Plot{X: plot.Axis{Title: "alpha (logarithmic)", Scale: plot.Scale{Lo: low.Alpha, Hi: high.Alpha, Log: true}, Words: plot.Short}, Height: plot.Squarish, Hit: [2]float64{16, 16}, Outline: 16}
	p.Caption = fmt.Sprintf("The divergence, in nats, is at most %s at alpha = %s", plot.Short(low.Divergence), plot.Short(low.Alpha))
	if len(c.Curve) > 1 {
		p.Caption += fmt.Sprintf(" and %s at alpha = %s", plot.Short(high.Divergence), plot.Short(high.Alpha))
	} else {
		p.X.Lo, p.X.Hi = low.Alpha/1.5, low.Alpha*1.5
	}
	p.Numbers = plot.Numbers{Title: "The curve", Head: []string{"alpha", "divergence at most"}}
	for _, q := range c.Curve {
		p.Items = append(p.Items, [2]float64{q.Alpha, q.Divergence})
		p.Rows = append(p.Rows, []any{q.Alpha, plot.Up(q.Divergence)})
	}
	if c.KL != nil {
		p.Rows = append(p.Rows, []any{1, plot.Up(*c.KL)})
	}
	p.Marks = []plot.Mark{plot.Line{Key: "divergence", Paint: plot.Ink(plot.First), Points: p.Items}, plot.Points{At: p.Items, Radius: 3, Paint: plot.Ink(plot.First)}}
	most := high.Divergence
	if c.MaxDivergence != nil {
		p.Caption += "; at every order at most " + plot.Short(*c.MaxDivergence)
		p.Rows = append(p.Rows, []any{plot.Infinity, plot.Up(*c.MaxDivergence)})
		if *c.MaxDivergence < 2.5*high.Divergence {
			most = max(most, *c.MaxDivergence)
			p.Marks = append(p.Marks, plot.Rule{Key: "its limit (dashed)", Paint: plot.Ink(plot.Text), At: *c.MaxDivergence})
		}
	}
	p.Caption += "."
	if best != nil {
		p.Caption += fmt.Sprintf(" Epsilon by the tight conversion comes from alpha = %s.", plot.Short(*best))
		if *best >= low.Alpha && *best <= high.Alpha {
			p.Marks = append(p.Marks, plot.Rule{Key: "order that gives epsilon (upright)", Paint: plot.Ink(plot.Event), At: *best, Upright: true})
		}
	}
	if !(most > 0) {
		most = 1
	}
	p.Y = plot.Axis{Title: "Rényi divergence (nats)", Scale: plot.Scale{Hi: most * 1.08}, Words: plot.Short}
	if low.Divergence > 0 && high.Divergence > 20*low.Divergence {
		p.Y = plot.Axis{Title: "Rényi divergence (nats, logarithmic)", Scale: plot.Scale{Lo: low.Divergence / 1.2, Hi: most * 1.2, Log: true}, Words: plot.Power}
	}
	return plot.View{ID: "account", Title: "Rényi curve"}.Always(p)
}

// shareBars are the shares of both sides as bars, a row for each bin.
func shareBars(first, second string, bins []Bin) []plot.Mark {
	sides := [2]plot.Bars{{Key: first, Paint: plot.Ink(plot.First)}, {Key: second, Paint: plot.Ink(plot.Second), Form: plot.KeyHatch}}
	for i, b := range bins {
		for k := range sides {
			from := float64(i) + []float64{0.16, 0.52}[k]
			sides[k].Boxes = append(sides[k].Boxes, plot.Span(0, b.share(k), from, from+0.32))
		}
	}
	return []plot.Mark{sides[0], sides[1]}
}
