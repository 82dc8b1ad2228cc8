package main

import (
	"image/color"
	"math"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/dpscope/dpscope/wasm/scene"
)

// painter paints a scene: what does not move once, into an image of its own.
type painter struct {
	scale  float64 // device pixels in a CSS pixel
	theme  [][3]uint8
	scene  *scene.Scene
	mark   scene.Rect // of what is read
	static *ebiten.Image
	stale  bool // still is not the scene's
	wanted func(pixels []byte, width, height int)
	marks  map[mark]*ebiten.Image
	caches []*pointCache
	white  *ebiten.Image
	// Of the marks that are being painted, kept for the next.
	vertices []ebiten.Vertex
	indices  []uint32
}

// mark is a white mark to be tinted.
type mark struct {
	form   scene.Form
	radius float64
}

func newPainter(scale float64) *painter {
	white := ebiten.NewImage(3, 3)
	white.Fill(color.White)
	return &painter{scale: scale, marks: map[mark]*ebiten.Image{}, white: white}
}

// wear takes on other colours.
func (e *painter) wear(theme [][3]uint8) {
	e.theme = theme
	e.settle() // no cloud was painted since: all are forgotten
}

func (e *painter) show(s *scene.Scene) { e.scene, e.stale = s, true }

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
		e.static.Fill(e.colour(scene.Ink(scene.Panel)))
		e.paintAll(e.static, e.scene.Shapes)
		e.settle()
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
		ink := scene.Ink(scene.Text)
		box := []scene.Point{{X: m.X, Y: m.Y}, {X: m.Right(), Y: m.Y}, {X: m.Right(), Y: m.Bottom()}, {X: m.X, Y: m.Bottom()}}
		e.paintAll(screen, []scene.Shape{{Kind: scene.Fill, Points: box, Paint: ink.At(0.08)}, {Kind: scene.Stroke, Points: append(box, box[0]), Width: 1.5, Paint: ink}})
	}
}

func (e *painter) colour(p scene.Paint) color.NRGBA {
	c := p.In(e.theme)
	return color.NRGBA{c[0], c[1], c[2], uint8(math.Round(255 * p.Alpha))}
}

func (e *painter) straight(p scene.Paint) [4]float32 {
	c := e.colour(p)
	return [4]float32{float32(c.R) / 255, float32(c.G) / 255, float32(c.B) / 255, float32(c.A) / 255}
}

// paintAll paints the shapes in their order.
func (e *painter) paintAll(dst *ebiten.Image, shapes []scene.Shape) {
	mesh := scene.NewMesh(e.scale, e.straight)
	flush := func() {
		if len(mesh.Indices) == 0 {
			return
		}
		vertices := make([]ebiten.Vertex, len(mesh.Vertices))
		for i, v := range mesh.Vertices {
			vertices[i] = ebiten.Vertex{DstX: v.X, DstY: v.Y, SrcX: 1, SrcY: 1, ColorR: v.R, ColorG: v.G, ColorB: v.B, ColorA: v.A}
		}
		dst.DrawTriangles32(vertices, mesh.Indices, e.white, nil)
		mesh = scene.NewMesh(e.scale, e.straight)
	}
	for _, s := range shapes {
		if s.Kind == scene.Dots {
			flush()
			e.dots(dst, s)
		} else {
			mesh.Add(s)
		}
	}
	flush()
}

// dots paints marks. A clip cuts off marks whose middle lies beyond it; many marks it cuts
// where it is.
func (e *painter) dots(dst *ebiten.Image, s scene.Shape) {
	if len(s.Points) >= many {
		e.cacheOf(dst, s)
		return
	}
	marks := make([]int32, 0, len(s.Points))
	for i, p := range s.Points {
		if s.Clip.W <= 0 || s.Clip.Has(p) {
			marks = append(marks, int32(i))
		}
	}
	e.stamp(dst, s, marks, scene.Point{})
}

// stamp paints some marks of a shape as tinted copies of one image, all in one call. The
// image begins at a place in device pixels.
func (e *painter) stamp(dst *ebiten.Image, s scene.Shape, marks []int32, from scene.Point) {
	img := e.markOf(s.Form, s.Radius)
	size := float32(img.Bounds().Dx())
	vertices, indices := e.vertices[:0], e.indices[:0]
	paint := s.Paint
	c := e.straight(paint)
	for _, i := range marks {
		if s.Paints != nil && s.Paints[i] != paint {
			paint = s.Paints[i]
			c = e.straight(paint)
		}
		x, y := float32(s.Points[i].X*e.scale-from.X)-size/2, float32(s.Points[i].Y*e.scale-from.Y)-size/2
		n := uint32(len(vertices))
		for k := range 4 {
			dx, dy := float32(k&1)*size, float32(k>>1)*size
			vertices = append(vertices, ebiten.Vertex{DstX: x + dx, DstY: y + dy, SrcX: dx, SrcY: dy, ColorR: c[0], ColorG: c[1], ColorB: c[2], ColorA: c[3]})
		}
		indices = append(indices, n, n+1, n+2, n+1, n+2, n+3)
	}
	dst.DrawTriangles32(vertices, indices, img, nil)
	e.vertices, e.indices = vertices, indices
}

// markOf is the white image of a mark.
func (e *painter) markOf(form scene.Form, radius float64) *ebiten.Image {
	k := mark{form, radius}
	img := e.marks[k]
	if img == nil {
		alpha, side := scene.Stamp(form, radius*e.scale)
		pixels := make([]byte, 0, 4*len(alpha))
		for _, a := range alpha {
			pixels = append(pixels, a, a, a, a)
		}
		img = ebiten.NewImage(side, side)
		img.WritePixels(pixels)
		e.marks[k] = img
	}
	return img
}
