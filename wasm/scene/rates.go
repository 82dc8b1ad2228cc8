package scene

import "fmt"

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
func NewRates(rows []Rate, allowed float64) *Rates { return &Rates{rows: rows, allowed: allowed} }

func (v *Rates) ID() string    { return "calibration" }
func (v *Rates) Title() string { return "The tool's own error rate" }
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
