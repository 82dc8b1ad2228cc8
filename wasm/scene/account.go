package scene

import "fmt"

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
	return &Account{AccountCurve: c}
}

func (v *Account) ID() string    { return "account" }
func (v *Account) Title() string { return "Rényi curve" }

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
