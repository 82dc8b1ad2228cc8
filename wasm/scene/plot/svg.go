package plot

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

type attrs = map[string]string

// Node is an element of SVG, one without a name text. Its JSON form is [name, {attributes}, children...],
// or a string.
type Node struct {
	Name     string
	Attrs    map[string]string
	Children []Node
	Text     string
}

// MarshalJSON implements [json.Marshaler].
func (n Node) MarshalJSON() ([]byte, error) {
	if n.Name == "" {
		return json.Marshal(n.Text)
	}
	all := []any{n.Name, n.Attrs}
	for _, c := range n.Children {
		all = append(all, c)
	}
	return json.Marshal(all)
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// Markup is the element as text.
func (n Node) Markup() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n Node) write(b *strings.Builder) {
	if n.Name == "" {
		b.WriteString(escape.Replace(strings.Map(xmlRune, n.Text)))
		return
	}
	b.WriteString("<" + n.Name)
	for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
		b.WriteString(" " + name + `="` + escape.Replace(strings.Map(xmlRune, n.Attrs[name])) + `"`)
	}
	if len(n.Children) == 0 {
		b.WriteString("/>")
		return
	}
	b.WriteString(">")
	for _, c := range n.Children {
		c.write(b)
	}
	b.WriteString("</" + n.Name + ">")
}

func xmlRune(r rune) rune {
	return If(r < ' ' && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF, '\uFFFD', r)
}

// manyDots are painted in a shorter way; of more than mostTargets items none can be pointed at.
const manyDots, mostTargets = 64, 2000

// margin is around a picture with a theme, heading the height of its title, px.
const margin, heading = 16.0, 20.0

// svg paints the picture. Label says what it is, tooltip what an item says. With a theme, colours by
// role, it is a file of its own with a title; without, the page's styles have them.
func (s *Scene) svg(theme [][3]uint8, title, label string, tooltip func(item int) string) Node {
	p := svgPainter{theme: theme}
	for _, sh := range s.Shapes {
		p.shape(sh)
	}
	for _, l := range s.Labels {
		p.label(l)
	}
	for i, it := range s.Items {
		if r := it.Mark; r.W > 0 && r.H > 0 && len(s.Items) <= mostTargets {
			at := box(r)
			at["fill"], at["pointer-events"] = "none", "all"
			if theme == nil {
				at["class"] = "target"
			}
			p.nodes = append(p.nodes, element("rect", at, element("title", nil, Node{Text: tooltip(i)})))
		}
	}
	width, height, content := s.Width, math.Ceil(s.Height), p.nodes
	at := attrs{"role": "img", "aria-label": label, "font-size": decimal(TextSize)}
	if theme != nil {
		at["xmlns"], at["font-family"] = "http://www.w3.org/2000/svg", "system-ui, sans-serif"
		width, height = width+2*margin, height+2*margin+heading
		content = []Node{
			element("title", nil, Node{Text: title}),
			element("rect", attrs{"width": "100%", "height": "100%", "fill": p.colour(Panel)}),
			element("text", attrs{"x": decimal(margin), "y": decimal(margin + 4), "font-size": "14", "font-weight": "600", "fill": p.colour(Text)}, Node{Text: title}),
			element("g", attrs{"transform": fmt.Sprintf("translate(%v %v)", margin, margin+heading)}, content...),
		}
	}
	at["width"], at["height"] = decimal(width), decimal(height)
	at["viewBox"] = "0 0 " + decimal(width) + " " + decimal(height)
	return element("svg", at, content...)
}

func element(name string, at attrs, children ...Node) Node {
	return Node{Name: name, Attrs: at, Children: children}
}

func box(r Rect) attrs {
	return attrs{"x": decimal(r.X), "y": decimal(r.Y), "width": decimal(r.W), "height": decimal(r.H)}
}

func (p *svgPainter) colour(c Paint) string {
	if p.theme != nil {
		c := c.In(p.theme)
		return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
	}
	of := func(role int) string { return "var(--" + roles[role] + ")" }
	switch {
	case c.Mix == 0 || c.Role == c.To:
		return of(c.Role)
	case c.Mix == 1:
		return of(c.To)
	}
	return fmt.Sprintf("color-mix(in srgb, %s, %s %s%%)", of(c.Role), of(c.To), decimal(100*c.Mix))
}

// svgPainter collects elements; shapes in a row that look alike are one.
type svgPainter struct {
	theme [][3]uint8
	nodes []Node
	at    attrs // attributes of the last path, but what it draws
}

func (p *svgPainter) path(at attrs, d string) {
	if d == "" {
		return
	}
	if n := len(p.nodes); n > 0 && p.nodes[n-1].Name == "path" && maps.Equal(p.at, at) {
		p.nodes[n-1].Attrs["d"] += d
		return
	}
	p.at = maps.Clone(at)
	at["d"] = d
	p.nodes = append(p.nodes, element("path", at))
}

func (p *svgPainter) inked(as string, paint Paint) attrs {
	at := attrs{as: p.colour(paint)}
	if paint.Alpha < 1 {
		at[as+"-opacity"] = hundredths(paint.Alpha)
	}
	return at
}

func (p *svgPainter) stroked(paint Paint, width float64) attrs {
	at := p.inked("stroke", paint)
	at["fill"], at["stroke-width"], at["stroke-linejoin"] = "none", hundredths(width), "round"
	return at
}

func (p *svgPainter) lines(at attrs, lines [][]Point, crisp, closed bool) {
	d := ""
	for _, line := range lines {
		d += polyline(line) + If(closed, "Z", "")
		crisp = crisp && Sharp(line, closed)
	}
	if crisp {
		at["shape-rendering"] = "crispEdges"
	}
	p.path(at, d)
}

func (p *svgPainter) shape(s Shape) {
	switch s.Kind {
	case Fill, Strip:
		p.lines(p.inked("fill", s.Paint), s.Areas(), s.Kind == Fill, true)
	case Stroke, Segments:
		at := p.stroked(s.Paint, s.Width)
		if s.Dash {
			at["stroke-dasharray"] = fmt.Sprintf("%d %d", dashOn, dashOff)
		}
		p.lines(at, s.lines(), s.Width <= 1, false)
	case Dots:
		if len(s.Points) > manyDots && s.Form <= Square { // a line without length has caps
			at, d := p.stroked(s.Paint, 2*s.Radius*If(s.Form == Disc, 1, SquareSide)), []byte{}
			at["stroke-linecap"] = If(s.Form == Disc, "round", "square")
			for _, q := range s.Points {
				if s.Shows(q) {
					d = append(append(d, "M"+decimal(q.X)+" "+decimal(q.Y)...), "h0"...)
				}
			}
			p.path(at, string(d))
			return
		}
		for i, at := range s.Points {
			if !s.Shows(at) {
				continue
			}
			paint := s.Paint
			if s.Paints != nil {
				paint = s.Paints[i]
			}
			if s.Form == Ring {
				p.path(p.stroked(paint, 2), s.Form.outline(at, s.Radius-1))
			} else {
				p.path(p.inked("fill", paint), s.Form.outline(at, s.Radius))
			}
		}
	}
}

func (p *svgPainter) label(l Label) {
	at := attrs{"x": decimal(l.X), "y": decimal(l.Y), "fill": p.colour(Paint{Role: l.Role, To: l.Role})}
	if l.Align != Start {
		at["text-anchor"] = [...]string{Middle: "middle", End: "end"}[l.Align]
	}
	if l.Bold {
		at["font-weight"] = "700"
	}
	p.nodes = append(p.nodes, element("text", at, Node{Text: l.Words}))
}

func (f Form) outline(at Point, r float64) string {
	if corners := f.Corners(at, r); corners != nil {
		return polyline(corners) + "Z"
	}
	radius, across := hundredths(r), hundredths(2*r)
	return fmt.Sprintf("M%s %sa%s %s 0 1 0 %s 0a%[3]s %[3]s 0 1 0 -%[5]s 0", decimal(at.X-r), decimal(at.Y), radius, radius, across)
}

func polyline(points []Point) string {
	var b strings.Builder
	for i, p := range points {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(decimal(p.X) + " " + decimal(p.Y))
	}
	return b.String()
}

func decimal(x float64) string { return fixed(x, 1) }

func hundredths(x float64) string { return fixed(x, 2) }

func fixed(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	return If(s == "-0" || s == "", "0", s)
}
