package scene

import (
	"fmt"
	"math"
)

// Moments shows how canaries of one run hang together: how often several are in
// the event at once, and how the variance of their rate falls with their number.
type Moments struct {
	still
	sides   [2]*CanarySide // inside, fresh
	figures []figure
}

// figure is an item: a moment, or the variance of the rate of k canaries.
type figure struct {
	side        int
	order, k    int // one of them is 0
	value       float64
	independent float64 // were the canaries independent
}

var sideWords = [2]string{"inside", "fresh"}

// newMoments is nil where no second moment is known.
func newMoments(in, out *CanarySide) *Moments {
	v := &Moments{sides: [2]*CanarySide{in, out}}
	for side, x := range v.sides {
		if x == nil || len(x.Moments) < 2 {
			return nil
		}
		for l, mu := range x.Moments {
			v.figures = append(v.figures, figure{side: side, order: l + 1, value: mu, independent: math.Pow(x.Moments[0], float64(l+1))})
		}
	}
	for side, x := range v.sides {
		for k := 1; ; k = min(2*k, x.Canaries) {
			v.figures = append(v.figures, figure{side: side, k: k, value: x.variance(k), independent: x.spread() / float64(k)})
			if k == x.Canaries {
				break
			}
		}
	}
	return v
}

// spread is the variance of one canary's indicator, covariance that of two of a
// run.
func (x *CanarySide) spread() float64     { return x.Moments[0] - x.Moments[0]*x.Moments[0] }
func (x *CanarySide) covariance() float64 { return x.Moments[1] - x.Moments[0]*x.Moments[0] }

// variance is that of the rate of k exchangeable canaries of a run:
// spread/k + (1 - 1/k) covariance.
func (x *CanarySide) variance(k int) float64 {
	return x.spread()/float64(k) + (1-1/float64(k))*x.covariance()
}

// correlation is that of any two canaries of a run: they are exchangeable, so the
// matrix has this one figure off its diagonal. NaN where all are alike.
func (x *CanarySide) correlation() float64 { return x.covariance() / x.spread() }

func (v *Moments) ID() string    { return "moments" }
func (v *Moments) Title() string { return "Correlation" }

func (v *Moments) Words() string {
	words := "Canaries of a run are exchangeable: any two have the same correlation, "
	for side, x := range v.sides {
		c := "none that can be told (all are alike)"
		if r := x.correlation(); !math.IsNaN(r) {
			c = Short(round(r, 3))
		}
		words += fmt.Sprintf("%s %s", c, sideWords[side])
		if side == 0 {
			words += " and "
		}
	}
	return words + ". The more they hang together, the less a further canary tells: the variance of their rate falls to their covariance and no lower. As observed in the certification runs; no certificate."
}

func (f figure) words() string {
	if f.k > 0 {
		if f.k == 1 {
			return "variance of one canary"
		}
		return fmt.Sprintf("variance of the rate of %s canaries", Grouped(f.k))
	}
	if f.order == 1 {
		return "chance that a canary is in the event"
	}
	return fmt.Sprintf("chance that %d given canaries are all in it", f.order)
}

func (v *Moments) Reading(i int) string {
	f := v.figures[i]
	return fmt.Sprintf("%s, %s: %s; were they independent: %s", sideWords[f.side], f.words(), Short(round(f.value, 4)), Short(round(f.independent, 4)))
}

func (v *Moments) Facts(fig Figures) Table {
	t := Table{Title: "Moments and variances", Head: []string{"canaries", "figure", "observed", "were they independent"}}
	for _, f := range v.figures {
		t.Rows = append(t.Rows, []string{sideWords[f.side], f.words(), fig.of(f.value), fig.of(f.independent)})
	}
	return t
}

func (v *Moments) Layout(f Frame) *Scene {
	s := f.scene(0)
	top := s.legend([]key{{words: "inside", paint: Ink(First), form: keyDot, mark: Disc}, {words: "fresh", paint: Ink(Second), form: keyDot, mark: Square},
		{words: "were they independent (dashed)", paint: Ink(Muted), form: keyDash}}, 4) + 22
	const height, gap = 190, 66
	boxes := s.two(top, height, gap)
	titles := [2]string{"chance that so many are all in the event", "variance of their rate in a run"}
	below := [2]string{"given canaries", "canaries a run"}
	least, most, largest := [2]float64{1, 1}, [2]float64{}, 1 // of chances and variances above 0
	for _, g := range v.figures {
		k := min(1, g.k)
		largest = max(largest, g.k)
		for _, x := range []float64{g.value, g.independent} {
			if x > 0 {
				least[k], most[k] = min(least[k], x), max(most[k], x)
			}
		}
	}
	orders := max(len(v.sides[0].Moments), len(v.sides[1].Moments))
	x := [2]Scale{{Lo: 0.6, Hi: float64(orders) + 0.4}, {Lo: 0.9, Hi: float64(largest) * 1.1, Log: true}}
	var y [2]Scale
	for k := range y {
		y[k] = Scale{Lo: math.Pow(10, math.Floor(math.Log10(0.9*least[k]))), Hi: most[k] * 1.4, Log: true}
		if !(most[k] > 0) {
			y[k] = Scale{Lo: 0, Hi: 1}
		}
	}
	for k, b := range boxes {
		x[k].From, x[k].To, y[k].From, y[k].To = b.X, b.Right(), b.Bottom(), b.Y
		s.label(b.X-50, b.Y-9, titles[k], Start, Muted)
		s.across(y[k], 5, b, Power)
		s.line(b.X, b.Bottom(), b.Right(), b.Bottom(), 1, Ink(Axis), Rect{})
		marks := []float64{}
		if k == 0 {
			for l := range orders {
				marks = append(marks, float64(l+1))
			}
		} else {
			for n := 1; n <= largest; n *= 2 {
				marks = append(marks, float64(n))
			}
		}
		s.ticksUnder(x[k], marks, b.Bottom(), Short, b.X-20, b.Right()+14)
		s.label(b.X+b.W/2, b.Bottom()+37, below[k], Middle, Muted)
	}
	lines := [2][2][2][]Point{} // panel, side, observed or independent
	for _, g := range v.figures {
		k, at := 0, float64(g.order)
		if g.k > 0 {
			k, at = 1, float64(g.k)
		}
		for i, value := range []float64{g.value, g.independent} {
			if value > 0 || !y[k].Log {
				lines[k][g.side][i] = append(lines[k][g.side][i], Point{x[k].At(at), y[k].At(value)})
			}
		}
		p := Point{x[k].At(at), y[k].At(g.value)}
		s.Items = append(s.Items, Item{Box: Rect{p.X - 12, p.Y - 12, 24, 24}, Mark: Rect{p.X - 7, p.Y - 7, 14, 14}})
	}
	for k := range lines {
		for side, both := range lines[k] {
			paint, form := Ink(First), Disc
			if side == 1 {
				paint, form = Ink(Second), Square
			}
			s.dash(both[1], 1.2, paint.At(0.8), boxes[k])
			s.add(Shape{Kind: Stroke, Points: both[0], Width: 1.6, Paint: paint})
			s.add(Shape{Kind: Dots, Points: both[0], Radius: 4, Form: form, Paint: paint})
		}
	}
	return s
}
