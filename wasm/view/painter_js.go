package main

import (
	"image/color"
	"math"

	"github.com/dpscope/dpscope/wasm/scene/plot"
	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/vector"
)

// painter paints what does not move once, into an image of its own.
type painter struct {
	scale  float64 // device pixels in a CSS pixel
	theme  [][3]uint8
	scene  *plot.Scene
	mark   plot.Rect // of what is read
	static *ebiten.Image
	stale  bool // static is not the scene's
	wanted func(pixels []byte, width, height int)

	marks []byte // pixels of marks that are not painted yet; nil for none
}

func (e *painter) show(s *plot.Scene) { e.scene, e.stale = s, true }

// Update does nothing: nothing moves by itself.
func (e *painter) Update() error { return nil }

// Layout gives way to LayoutF.
func (e *painter) Layout(w, h int) (int, int) { panic("view: LayoutF is there") }

// LayoutF has a pixel of the device for each.
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
		e.static.Fill(e.colour(plot.Panel))
		e.paintAll(e.scene.Shapes)
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
		ink := plot.Text
		box := []plot.Point{{X: m.X, Y: m.Y}, {X: m.Right(), Y: m.Y}, {X: m.Right(), Y: m.Bottom()}, {X: m.X, Y: m.Bottom()}}
		e.paint(screen, plot.Shape{Kind: plot.Fill, Points: box, Paint: ink.At(0.08)})
		e.paint(screen, plot.Shape{Kind: plot.Stroke, Points: append(box, box[0]), Width: 1.5, Paint: ink})
	}
}

func (e *painter) colour(p plot.Paint) color.NRGBA {
	c := p.In(e.theme)
	return color.NRGBA{c[0], c[1], c[2], uint8(math.Round(255 * p.Alpha))}
}

// paint has upright and level edges on whole pixels; others are soft.
func (e *painter) paint(dst *ebiten.Image, s plot.Shape) {
	switch s.Kind {
	case plot.Dots:
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

// manyDots are painted pixel by pixel: each on its way through Ebiten costs far more.
const manyDots = 64

// stamp paints marks, which lie on whole pixels, over those before.
func (e *painter) stamp(s plot.Shape) {
	type pixel struct {
		at, rest int    // index of its bytes from the middle's; what remains of what is there, in 255ths
		adds     [4]int // in 255ths
	}
	var mark []pixel
	c, r, width := e.colour(s.Paint), s.Radius*e.scale, 4*e.static.Bounds().Dx()
	for reach, y := int(r)+1, -int(r)-1; y <= reach; y++ {
		for x := -reach; x <= reach; x++ {
			inside := r - math.Hypot(float64(x), float64(y))
			if s.Form == plot.Square {
				inside = plot.SquareSide*r - math.Abs(float64(max(x, -x, y, -y)))
			}
			if share := int(min(1, inside+0.5) * float64(c.A)); share > 0 {
				mark = append(mark, pixel{y*width + 4*x, 255 - share, [4]int{int(c.R) * share, int(c.G) * share, int(c.B) * share, 255 * share}})
			}
		}
	}
	for _, at := range s.Points {
		middle := int(at.Y*e.scale)*width + 4*int(at.X*e.scale)
		if !s.Shows(at) || middle+mark[0].at < 0 || middle+mark[len(mark)-1].at+4 > len(e.marks) {
			continue
		}
		for i := range mark {
			m := &mark[i]
			px := (*[4]byte)(e.marks[middle+m.at:])
			for k := range px {
				px[k] = byte((m.adds[k] + int(px[k])*m.rest) / 255)
			}
		}
	}
}

// paintAll makes one image of marks that follow each other.
func (e *painter) paintAll(shapes []plot.Shape) {
	size := e.static.Bounds()
	for i, s := range shapes {
		if s.Kind != plot.Dots || s.Paints != nil || len(s.Points) <= manyDots || s.Form > plot.Square {
			e.paint(e.static, s)
			continue
		}
		if e.marks == nil {
			e.marks = make([]byte, 4*size.Dx()*size.Dy())
		}
		if e.stamp(s); i+1 == len(shapes) || shapes[i+1].Kind != plot.Dots {
			img := ebiten.NewImage(size.Dx(), size.Dy())
			img.WritePixels(e.marks)
			e.static.DrawImage(img, nil)
			img.Deallocate()
			e.marks = nil
		}
	}
}

// trace adds a line. Upright and level edges lie on whole pixels.
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
