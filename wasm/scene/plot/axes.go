package plot

func intersect(a, b Rect) Rect {
	x0, y0 := max(a.X, b.X), max(a.Y, b.Y)
	x1, y1 := min(a.Right(), b.Right()), min(a.Bottom(), b.Bottom())
	return Rect{x0, y0, max(0, x1-x0), max(0, y1-y0)}
}

// If is a where it is so.
func If[T any](so bool, a, b T) T {
	if so {
		return a
	}
	return b
}

func atZero(v float64) Paint { return If(v == 0, AxisLine, Grid) }

func around(r Rect, by float64) Rect { return Rect{r.X - by, r.Y - by, r.W + 2*by, r.H + 2*by} }

func (s *Scene) ticksUnder(x Scale, marks []float64, y float64, a Axis, least, most float64) {
	var taken []Window
	for _, v := range marks {
		text := a.words(v)
		bold := a.Bold != nil && a.Bold(v)
		half := s.wide(text) / 2 * If(bold, 1.12, 1)
		at := x.At(v)
		if at >= least && at <= most {
			at = min(max(at, least+half), most-half)
		}
		clash := at-half < least || at+half > most
		for _, t := range taken {
			clash = clash || at-half < t.Hi+6 && at+half > t.Lo-6
		}
		if !clash && text != "" {
			s.label(at, y+18, text, Middle, If(bold, Text, Muted)).Bold = bold
			taken = append(taken, Window{at - half, at + half})
		}
	}
}

// Forms of a legend's samples.
const (
	keyLine = iota
	keyThick
	keyDash
	keyDot
	// Boxes.
	KeyBox
	KeyHatch
	KeyRegion
	KeyBand
	KeyBarred
	KeyDiamond
	KeySquare
	KeyHollow
	KeyOutline
)

type key struct {
	words string
	paint Paint
	form  int
	mark  Form
	layer int
}

func (s *Scene) boxed(form int, r Rect, p Paint, clip Rect) {
	switch form {
	case KeyBox:
		s.rect(r, p, clip)
	case KeyHatch:
		s.rect(r, p, clip)
		s.hatch(intersect(r, clip), Panel.At(0.75))
	case KeyRegion:
		s.rect(r, p, clip)
		s.hatch(intersect(r, clip), If(p.Role == EventArea.Role, Hatch.At(0.5), Grid))
	case KeyBand, KeyBarred:
		s.rect(r, p.At(0.17), clip)
		in := intersect(r, clip)
		for x := in.X + 2; x < in.Right() && form == KeyBarred; x += 5 {
			s.line(x, in.Y, x, in.Bottom(), 1, p)
		}
	case KeyDiamond:
		s.add(Shape{Kind: Fill, Points: diamond(r), Paint: p, Clip: clip})
	case KeySquare:
		s.rect(inset(r), p, clip)
	case KeyHollow, KeyOutline:
		form := If(form == KeyHollow, corners(inset(r)), diamond(r))
		s.add(Shape{Kind: Stroke, Points: append(form, form[0]), Width: 1.3, Paint: p, Clip: clip})
	}
}

func inset(r Rect) Rect {
	const by = 0.146
	return Rect{r.X + by*r.W, r.Y + by*r.H, r.W * (1 - 2*by), r.H * (1 - 2*by)}
}

func diamond(r Rect) []Point {
	m := r.Middle()
	return []Point{{m.X, r.Y}, {r.Right(), m.Y}, {m.X, r.Bottom()}, {r.X, m.Y}}
}

func (s *Scene) legend(items []key, y float64) float64 {
	if len(items) == 0 {
		return y
	}
	const row, sample = 20, 28
	x := 0.0
	for _, k := range items {
		k.words = clipWords(s, k.words, s.Width-sample-12)
		s.Keys = append(s.Keys, k.words)
		w := sample + 8 + s.wide(k.words)
		if x > 0 && x+w > s.Width {
			x, y = 0, y+row
		}
		middle := y + 9
		switch k.form {
		case keyLine, keyThick:
			s.line(x, middle, x+sample, middle, If(k.form == keyThick, 3.2, 2), k.paint)
		case keyDash:
			s.add(Shape{Kind: Stroke, Points: []Point{{x, middle}, {x + sample, middle}}, Width: 2, Dash: true, Paint: k.paint})
		case keyDot:
			s.add(Shape{Kind: Dots, Points: []Point{{x + sample/2, middle}}, Radius: 5, Form: k.mark, Paint: k.paint})
		default:
			box := If(k.form >= KeyDiamond, Rect{x + sample/2 - 7, middle - 7, 14, 14}, Rect{x, middle - 6, sample, 12})
			s.boxed(k.form, box, k.paint, box)
		}
		s.label(x+sample+6, middle+4, k.words, Start, Text)
		x += w + 18
	}
	return y + row + 6
}

// clipWords shortens words in the middle until they fit: outcomes differ at their ends.
func clipWords(s *Scene, words string, room float64) string {
	all := []rune(words)
	for n := len(all); s.wide(words)*1.1 > room && n > 3; {
		n--
		head := n / 2
		words = string(all[:head]) + "…" + string(all[len(all)-(n-1-head):])
	}
	return words
}
