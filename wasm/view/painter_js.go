package main

import (
	"image/color"
	"math"

	"github.com/dpscope/dpscope/wasm/scene/plot"
	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/vector"
)

// painter paints a scene: what does not move once, into an image of its own.
type painter struct {
	scale  float64 // device pixels in a CSS pixel
	theme  [][3]uint8
	scene  *plot.Scene
	mark   plot.Rect // of what is read
	static *ebiten.Image
	stale  bool // static is not the scene's
	wanted func(pixels []byte, width, height int)

	marks   map[stamped]*ebiten.Image
	corners []ebiten.Vertex // of marks
	order   []uint32
}

// stamped is a mark of which there are many.
type stamped struct {
	form   plot.Form
	radius float64
	colour color.NRGBA
}

// wear takes on other colours.
func (e *painter) wear(theme [][3]uint8) { e.theme = theme }

func (e *painter) show(s *plot.Scene) { e.scene, e.stale = s, true }

// Update implements [ebiten.Game]; nothing moves by itself.
func (e *painter) Update() error { return nil }

// Layout implements [ebiten.Game]; LayoutF takes its place.
func (e *painter) Layout(w, h int) (int, int) { panic("view: LayoutF is there") }

// LayoutF implements [ebiten.LayoutFer]: a pixel is one of the device.
func (e *painter) LayoutF(w, h float64) (float64, float64) { return w * e.scale, h * e.scale }

// Draw implements [ebiten.Game].
func (e *painter) Draw(screen *ebiten.Image) {
	if e.scene == nil || e.theme == nil {
		return
	}
	size := screen.Bounds().Size()
	if e.static == nil || e.static.Bounds().Size() != size {
		if e.static != nil {
			e.static.Deallocate()
		}
		e.static, e.stale = ebiten.NewImage(size.X, size.Y), true
	}
	if e.stale {
		e.static.Fill(e.colour(plot.Ink(plot.Panel)))
		e.clearMarks()
		for _, s := range e.scene.Shapes {
			e.paint(e.static, s)
		}
		e.stale = false
	}
	screen.DrawImage(e.static, nil)
	if e.wanted != nil {
		pixels := make([]byte, 4*size.X*size.Y)
		e.static.ReadPixels(pixels)
		e.wanted(pixels, size.X, size.Y)
		e.wanted = nil
	}
	if m := e.mark; m.W > 0 && m.H > 0 {
		ink := plot.Ink(plot.Text)
		box := []plot.Point{{X: m.X, Y: m.Y}, {X: m.Right(), Y: m.Y}, {X: m.Right(), Y: m.Bottom()}, {X: m.X, Y: m.Bottom()}}
		e.paint(screen, plot.Shape{Kind: plot.Fill, Points: box, Paint: ink.At(0.08)})
		e.paint(screen, plot.Shape{Kind: plot.Stroke, Points: append(box, box[0]), Width: 1.5, Paint: ink})
	}
}

func (e *painter) colour(p plot.Paint) color.NRGBA {
	c := p.In(e.theme)
	return color.NRGBA{c[0], c[1], c[2], uint8(math.Round(255 * p.Alpha))}
}

// paint paints a shape. Upright and level edges lie on whole pixels, others are soft.
func (e *painter) paint(dst *ebiten.Image, s plot.Shape) {
	switch s.Kind {
	case plot.Dots:
		if s.Paints == nil && len(s.Points) > manyDots && s.Form <= plot.Square {
			e.stamp(dst, s)
			return
		}
		for i, at := range s.Points {
			if !s.Shows(at) {
				continue
			}
			var path vector.Path
			if corners := s.Form.Corners(at, s.Radius); corners != nil {
				e.trace(&path, corners, 0, true)
			} else {
				r := float32(s.Radius * e.scale)
				if s.Form == plot.Ring {
					r -= float32(e.scale)
				}
				path.Arc(float32(at.X*e.scale), float32(at.Y*e.scale), r, 0, 2*math.Pi, vector.Clockwise)
				path.Close()
			}
			paint := s.Paint
			if s.Paints != nil {
				paint = s.Paints[i]
			}
			e.ink(dst, &path, paint, 2*e.scale, s.Form == plot.Ring)
		}
	case plot.Fill, plot.Strip:
		var path vector.Path
		for _, area := range s.Areas() {
			e.trace(&path, area, 0, true)
		}
		e.ink(dst, &path, s.Paint, 0, false)
	default:
		var path vector.Path
		width := max(1, math.Round(s.Width*e.scale))
		for _, line := range s.Dashed() {
			e.trace(&path, line, width, false)
		}
		e.ink(dst, &path, s.Paint, width, true)
	}
}

// manyDots are painted as one list of triangles.
const manyDots = 64

// stamp paints a mark once, and then all of them as copies of it in one call.
func (e *painter) stamp(dst *ebiten.Image, s plot.Shape) {
	side := math.Ceil(2*s.Radius*e.scale) + 4 // clear around it, as it is copied between pixels
	of := stamped{s.Form, s.Radius, e.colour(s.Paint)}
	mark := e.marks[of]
	if mark == nil {
		mark = of.image(int(side), e.scale)
		e.marks[of] = mark
	}
	e.corners, e.order = e.corners[:0], e.order[:0]
	for _, at := range s.Points {
		if !s.Shows(at) {
			continue
		}
		x, y, n := float32(at.X*e.scale-side/2), float32(at.Y*e.scale-side/2), uint32(len(e.corners))
		for _, c := range [4][2]float32{{0, 0}, {float32(side), 0}, {0, float32(side)}, {float32(side), float32(side)}} {
			e.corners = append(e.corners, ebiten.Vertex{DstX: x + c[0], DstY: y + c[1], SrcX: c[0], SrcY: c[1], ColorR: 1, ColorG: 1, ColorB: 1, ColorA: 1})
		}
		e.order = append(e.order, n, n+1, n+2, n+1, n+2, n+3)
	}
	dst.DrawTriangles32(e.corners, e.order, mark, &ebiten.DrawTrianglesOptions{Filter: ebiten.FilterLinear})
}

// image is a mark in the middle of its image. It is not painted as other shapes are, which
// Ebiten does when an image is used, and then not always in time for the first use.
func (m stamped) image(side int, scale float64) *ebiten.Image {
	const fine = 4 // parts of a pixel, each way
	pixels, r := make([]byte, 4*side*side), m.radius*scale
	for i := range side * side {
		in := 0
		for k := range fine * fine {
			x := math.Abs(float64(i%side) + (float64(k%fine)+0.5)/fine - float64(side)/2)
			y := math.Abs(float64(i/side) + (float64(k/fine)+0.5)/fine - float64(side)/2)
			if m.form == plot.Disc && math.Hypot(x, y) <= r || m.form == plot.Square && max(x, y) <= plot.SquareSide*r {
				in++
			}
		}
		for k, c := range [4]uint8{m.colour.R, m.colour.G, m.colour.B, 255} {
			pixels[4*i+k] = uint8(math.Round(float64(c) * float64(m.colour.A) / 255 * float64(in) / (fine * fine)))
		}
	}
	mark := ebiten.NewImage(side, side)
	mark.WritePixels(pixels)
	return mark
}

// clearMarks forgets what it has painted marks of, before there are too many.
func (e *painter) clearMarks() {
	const most = 32
	if e.marks != nil && len(e.marks) < most {
		return
	}
	for _, mark := range e.marks {
		mark.Deallocate()
	}
	e.marks = map[stamped]*ebiten.Image{}
}

// trace adds a line, or a closed one. Where all of it is upright or level, its edges lie on
// whole pixels.
func (e *painter) trace(path *vector.Path, line []plot.Point, width float64, closed bool) {
	sharp := plot.Sharp(line, closed)
	for i, p := range line {
		x, y := p.X*e.scale, p.Y*e.scale
		if sharp {
			x, y = math.Round(x-width/2)+width/2, math.Round(y-width/2)+width/2
		}
		if i == 0 {
			path.MoveTo(float32(x), float32(y))
		} else {
			path.LineTo(float32(x), float32(y))
		}
	}
	if closed {
		path.Close()
	}
}

func (e *painter) ink(dst *ebiten.Image, path *vector.Path, paint plot.Paint, width float64, stroke bool) {
	o := vector.DrawPathOptions{AntiAlias: true}
	o.ColorScale.ScaleWithColor(e.colour(paint))
	if stroke {
		vector.StrokePath(dst, path, &vector.StrokeOptions{Width: float32(width), LineJoin: vector.LineJoinBevel}, &o)
	} else {
		vector.FillPath(dst, path, nil, &o)
	}
}
