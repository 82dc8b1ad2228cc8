package scene

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/report"
)

// Tradeoff shows a test's false negative rate against its false positive rate,
// the band of both, and the curve below which no test of a mechanism that keeps
// the claim lies.
type Tradeoff struct {
	still
	points   []bounds.TradeoffPoint // from (0, 1) to (1, 0)
	claimed  [][2]float64           // a polyline
	words    string                 // of the claim
	level    string
	reversed bool
	implied  bool // claimed is an outer curve: what the claim implies for two outcomes
	log      bool
}

// NewTradeoff shows a report's curve, nil where there is none.
func NewTradeoff(c *pair.TradeoffCurve, claim audit.Claim) *Tradeoff {
	if c == nil || len(c.Points) == 0 {
		return nil
	}
	t := &Tradeoff{still: still{"tradeoff", "Trade-off", true, true, "Axes", linearOrLog}, points: c.Points, claimed: c.Claimed, words: c.ClaimWords, level: c.Confidence, reversed: c.Direction == report.SecondOverFirst}
	if len(t.claimed) == 0 {
		t.claimed, t.implied = renyiTradeoff(claim), true
	}
	return t
}

// renyiTradeoff is the least false negative rate at every false positive rate
// that a claim of Rényi or zero-concentrated privacy leaves to a test: its two
// outcomes are no further apart, in either direction, than the outputs (data
// processing; Balle, Barthe, Gaboardi, Hsu and Sato 2020, section 4). It is an
// outer curve. Empty for other claims.
func renyiTradeoff(c audit.Claim) [][2]float64 {
	var orders []float64
	switch c.Kind {
	case "renyi":
		orders = []float64{c.Alpha}
	case "zcdp":
		for a := 1.0625; a < 1000; a *= 1.25 {
			orders = append(orders, a)
		}
	default:
		return nil
	}
	allowed := func(alpha float64) float64 {
		if c.Kind == "zcdp" {
			return c.Rho * alpha
		}
		return c.Epsilon
	}
	keeps := func(x, y float64) bool {
		for _, a := range orders {
			if binaryRenyi(a, 1-y, x) > allowed(a) || binaryRenyi(a, x, 1-y) > allowed(a) {
				return false
			}
		}
		return true
	}
	const steps = 120
	line := [][2]float64{{0, 1}}
	for i := range steps + 1 {
		x := 1 / (1 + math.Exp(-(-16 + 32*float64(i)/steps)))
		lo, hi := 0.0, 1-x // keeps at hi
		for range 60 {
			if mid := (lo + hi) / 2; keeps(x, mid) {
				hi = mid
			} else {
				lo = mid
			}
		}
		line = append(line, [2]float64{x, hi})
	}
	return append(line, [2]float64{1, 0})
}

// binaryRenyi is the Rényi divergence of order alpha > 0, other than 1, between
// two coins with the given chances (van Erven and Harremoës 2014, equation 2).
func binaryRenyi(alpha, p, q float64) float64 {
	term := func(p, q float64) float64 { // its logarithm: the power itself may be too large
		switch {
		case p == 0:
			return math.Inf(-1)
		case q == 0:
			return math.Inf(1)
		}
		return alpha*math.Log(p) + (1-alpha)*math.Log(q)
	}
	a, b := term(p, q), term(1-p, 1-q)
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, 1) {
		return a
	}
	return (a + math.Log1p(math.Exp(b-a))) / (alpha - 1)
}

func (t *Tradeoff) Choose(id string) { t.log = id == "log" }

// claimedAt is the claimed curve's height, 0 where nothing is claimed.
func (t *Tradeoff) claimedAt(x float64) float64 {
	if len(t.claimed) == 0 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(t.claimed, x, func(p [2]float64, x float64) int {
		if p[0] <= x {
			return -1
		}
		return 1
	})
	switch {
	case i == 0:
		return t.claimed[0][1]
	case i == len(t.claimed):
		return t.claimed[i-1][1]
	}
	a, b := t.claimed[i-1], t.claimed[i]
	return a[1] + (b[1]-a[1])*(x-a[0])/(b[0]-a[0])
}

// margin is how far a point's whole rectangle lies below the claimed curve; above
// 0 the claim is refuted there.
func (t *Tradeoff) margin(p bounds.TradeoffPoint) float64 {
	return t.claimedAt(p.FPRUpper) - p.FNRUpper
}

// Refuting is the point with the largest margin, -1 where none refutes.
func (t *Tradeoff) Refuting() int {
	best := -1
	for i, p := range t.points {
		if m := t.margin(p); m > 0 && (best < 0 || m > t.margin(t.points[best])) {
			best = i
		}
	}
	return best
}

func (t *Tradeoff) Words() string {
	from := choose(t.reversed, "first", "second")
	words := fmt.Sprintf("How well the test that was found tells the two datasets apart, with its %s band. A false positive is an output on the %s dataset taken for one on the other. ", t.level, from)
	i := t.Refuting()
	switch {
	case len(t.claimed) == 0:
		return words
	case i < 0:
		words += "Nowhere does the whole band lie below what is claimed: " + t.words + "."
	default:
		p := t.points[i]
		words += fmt.Sprintf("The claim, %s, is refuted furthest where at most %s are false positives and at most %s false negatives: at least %s is claimed.", t.words, PercentUp(p.FPRUpper), PercentUp(p.FNRUpper), PercentDown(t.claimedAt(p.FPRUpper)))
	}
	if t.implied {
		words += " The dashed curve is what the claim implies for a test's two outcomes; it claims more of finer ones."
	}
	return words
}

func (t *Tradeoff) Reading(i int) string {
	p := t.points[i]
	words := fmt.Sprintf("false positives %s (%s to %s), false negatives %s (%s to %s)", Short(p.FPR), Short(p.FPRLower), Short(p.FPRUpper), Short(p.FNR), Short(p.FNRLower), Short(p.FNRUpper))
	if len(t.claimed) > 0 {
		words += "; claimed: not below " + Short(round(t.claimedAt(p.FPRUpper), 4))
	}
	if t.margin(p) > 0 {
		words += "; refutes the claim"
		if i == t.Refuting() {
			words += ", by the most"
		}
	}
	return words
}

func (t *Tradeoff) axis() Scale {
	if !t.log {
		return Scale{Lo: 0, Hi: 1}
	}
	// Decades down to the least rate that the band can tell from none.
	least := 0.1
	for _, p := range t.points {
		for _, v := range []float64{p.FPRUpper, p.FNRUpper} {
			if v > 0 {
				least = min(least, v)
			}
		}
	}
	return Scale{Lo: math.Pow(10, max(-9, math.Floor(math.Log10(least)))), Hi: 1, Log: true}
}

func (t *Tradeoff) Place(i int) (x, y float64) {
	a := t.axis()
	a.From, a.To = 0, 1
	return a.At(t.points[i].FPR), 1 - a.At(t.points[i].FNR)
}

func (t *Tradeoff) Facts(fig Figures) Table {
	f := Table{Title: "The trade-off curve", Head: []string{"false positive rate", "at least", "at most", "false negative rate", "at least", "at most"}}
	if len(t.claimed) > 0 {
		f.Head = append(f.Head, "claimed: not below", "refutes")
	}
	for _, p := range t.points {
		row := []string{fig.of(p.FPR), fig.down(p.FPRLower), fig.up(p.FPRUpper), fig.of(p.FNR), fig.down(p.FNRLower), fig.up(p.FNRUpper)}
		if len(t.claimed) > 0 {
			row = append(row, fig.of(t.claimedAt(p.FPRUpper)), yesNo(t.margin(p) > 0))
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// upper and lower are the band's heights at a false positive rate.
func (t *Tradeoff) upper(x float64) float64 {
	y := 1.0
	for _, p := range t.points {
		if p.FPRUpper <= x {
			y = min(y, p.FNRUpper)
		}
	}
	return y
}

func (t *Tradeoff) lower(x float64) float64 {
	for _, p := range t.points {
		if p.FPRLower >= x {
			return p.FNRLower
		}
	}
	return 0
}

func (t *Tradeoff) Layout(f Frame) *Scene {
	s := f.scene(0)
	items := []key{{words: "estimate", paint: Ink(First), form: keyLine}, {words: t.level + " band", paint: Ink(First), form: keyBand}}
	if len(t.claimed) > 0 {
		items = append(items, key{words: "claimed (dashed)", paint: Ink(Text), form: keyDash})
	}
	refuting := t.Refuting()
	if refuting >= 0 {
		items = append(items, key{words: "refuted (barred)", paint: Ink(Bad), form: keyBarred}, key{words: "refutes by the most", paint: Ink(Bad), form: keyDot, mark: Diamond})
	}
	words := choose(t.log, Power, Short)
	x, y, box := s.curves(f, items, t.axis(), t.axis(), min(460, max(260, f.Width*0.7)), [2]string{"false positive rate", "false negative rate"}, [2]func(float64) string{words, words})
	clip := around(box, 5)
	t.band(s, x, y, box)
	if len(t.claimed) > 0 {
		s.dash(curved(t.claimed, x, y, t.log), 1.8, Ink(Text), box)
	}
	var line []Point
	var rates [][2]float64
	for _, p := range t.points {
		rates = append(rates, [2]float64{p.FPR, p.FNR})
		line = append(line, Point{x.At(p.FPR), y.At(p.FNR)})
	}
	s.add(Shape{Kind: Stroke, Points: curved(rates, x, y, t.log), Width: 2, Paint: Ink(First), Clip: clip})
	if len(line) <= 200 {
		s.add(Shape{Kind: Dots, Points: line, Radius: 3, Form: Disc, Paint: Ink(First), Clip: clip})
	}
	for i, p := range t.points {
		at := line[i]
		mark := Rect{x.At(p.FPRLower), y.At(p.FNRUpper), x.At(p.FPRUpper) - x.At(p.FPRLower), y.At(p.FNRLower) - y.At(p.FNRUpper)}
		if mark.W < 8 {
			mark.X, mark.W = mark.X+mark.W/2-4, 8
		}
		if mark.H < 8 {
			mark.Y, mark.H = mark.Y+mark.H/2-4, 8
		}
		s.Items = append(s.Items, Item{Box: Rect{at.X - 12, at.Y - 12, 24, 24}, Mark: intersect(mark, clip)})
	}
	if refuting >= 0 {
		p := t.points[refuting]
		s.add(Shape{Kind: Dots, Points: []Point{{x.At(p.FPRUpper), y.At(p.FNRUpper)}}, Radius: 6, Form: Diamond, Paint: Ink(Bad), Clip: clip})
	}
	return s
}

// curved places a polyline, with more points where logarithmic axes bend it: even
// steps of the rates' logarithms, in either corner.
func curved(line [][2]float64, x, y Scale, bend bool) []Point {
	reach := 1 - math.Log(min(x.Lo, y.Lo, 0.1))
	most := choose(len(line) > 40, 16, 96)
	ease := func(f float64) float64 { return math.Expm1(2*reach*f) / math.Expm1(reach) / 2 }
	var out []Point
	for i, b := range line {
		parts := choose(bend && i > 0, most, 1)
		a := b
		if i > 0 {
			a = line[i-1]
		}
		for k := 1; k <= parts; k++ {
			f := float64(k) / float64(parts)
			g := 1 - f
			if bend && parts > 1 {
				if f < 0.5 {
					f = ease(f)
					g = 1 - f
				} else {
					g = ease(g)
					f = 1 - g
				}
			}
			out = append(out, Point{x.At(g*a[0] + f*b[0]), y.At(g*a[1] + f*b[1])})
		}
	}
	return out
}

// band paints the band, and bars what lies below the claimed curve and above the
// band.
func (t *Tradeoff) band(s *Scene, x, y Scale, box Rect) {
	edges := []float64{0, 1}
	for _, p := range t.points {
		edges = append(edges, p.FPRLower, p.FPRUpper)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	var region, up, low []Point
	for i := 1; i < len(edges); i++ {
		mid := (edges[i-1] + edges[i]) / 2
		above, below := y.At(t.upper(mid)), y.At(t.lower(mid))
		for _, at := range []float64{x.At(edges[i-1]), x.At(edges[i])} {
			up, low = append(up, Point{at, above}), append(low, Point{at, below})
			region = append(region, Point{at, above}, Point{at, below})
		}
	}
	s.add(Shape{Kind: Strip, Points: region, Paint: Ink(First).At(0.18), Clip: box})
	for _, line := range [][]Point{up, low} {
		s.add(Shape{Kind: Stroke, Points: line, Width: 1, Paint: Ink(First).At(0.55), Clip: box})
	}
	s.barred(x, box, func(v float64) (from, to float64, in bool) {
		claimed, up := t.claimedAt(v), t.upper(v)
		return y.At(claimed), y.At(up), claimed > up
	})
}

// barred paints what lies between two heights, px by px, wherever that is to be: a
// region in which the claim is refuted.
func (s *Scene) barred(x Scale, box Rect, between func(v float64) (from, to float64, in bool)) {
	const step = 5
	var region, bars []Point
	for px := math.Ceil(box.X); px <= box.Right()+1; px++ {
		from, to, in := between(x.Value(px))
		if in = in && px <= box.Right(); !in {
			s.add(Shape{Kind: Strip, Points: region, Paint: Ink(Bad).At(0.16), Clip: box})
			region = nil
			continue
		}
		region = append(region, Point{px, from}, Point{px, to})
		if int(px-box.X)%step == 0 {
			bars = append(bars, Point{px, from}, Point{px, to})
		}
	}
	s.add(Shape{Kind: Segments, Points: bars, Width: 1, Paint: Ink(Bad), Clip: box})
}
