package main

import (
	"image"
	"math"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/dpscope/dpscope/wasm/scene"
)

// many is how many marks are kept painted, in tiles, and moved when the picture is panned.
const many = 4096

// pointCache is a shape of many marks as it was painted: tiles of it in device pixels from the
// picture's corner, made when they are first seen.
type pointCache struct {
	shape scene.Shape
	tiles map[image.Point]*ebiten.Image
	used  bool // since the last painting began
}

// moved says by how much all marks of a shape lie elsewhere than the cloud's, if they are
// the same marks.
func (c *pointCache) moved(s scene.Shape) (by scene.Point, ok bool) {
	old := c.shape
	if old.Form != s.Form || old.Radius != s.Radius || old.Paint != s.Paint || len(old.Points) != len(s.Points) || len(old.Paints) != len(s.Paints) {
		return by, false
	}
	by = scene.Point{X: s.Points[0].X - old.Points[0].X, Y: s.Points[0].Y - old.Points[0].Y}
	const same = 0.01 // px
	for i, p := range s.Points {
		q := old.Points[i]
		if dx, dy := p.X-q.X-by.X, p.Y-q.Y-by.Y; dx > same || dx < -same || dy > same || dy < -same {
			return by, false
		}
	}
	if len(s.Paints) > 0 && &old.Paints[0] != &s.Paints[0] {
		for i, p := range s.Paints {
			if p != old.Paints[i] {
				return by, false
			}
		}
	}
	return by, true
}

// pointCache paints a shape of many marks: what was painted of it before is moved, by whole
// device pixels.
func (e *painter) cacheOf(dst *ebiten.Image, s scene.Shape) {
	var c *pointCache
	var by scene.Point
	for _, x := range e.caches {
		if d, ok := x.moved(s); ok && !x.used {
			c, by = x, d
			break
		}
	}
	if c == nil {
		c = &pointCache{shape: s, tiles: map[image.Point]*ebiten.Image{}}
		e.caches = append(e.caches, c)
	}
	c.used = true
	at := image.Pt(int(math.Round(by.X*e.scale)), int(math.Round(by.Y*e.scale)))
	clip := dst.Bounds()
	if r := s.Clip; r.W > 0 && r.H > 0 {
		clip = clip.Intersect(image.Rect(int(math.Floor(r.X*e.scale)), int(math.Floor(r.Y*e.scale)), int(math.Ceil(r.Right()*e.scale)), int(math.Ceil(r.Bottom()*e.scale))))
	}
	if clip.Empty() {
		return
	}
	seen := scene.Tiles(clip.Sub(at))
	var missing []image.Point
	for _, t := range seen {
		if c.tiles[t] == nil {
			missing = append(missing, t)
		}
	}
	e.fill(c, missing)
	if len(c.tiles) > 4*len(seen) {
		keep := map[image.Point]*ebiten.Image{}
		for _, t := range seen {
			keep[t] = c.tiles[t]
			delete(c.tiles, t)
		}
		c.drop()
		c.tiles = keep
	}
	on := dst.SubImage(clip).(*ebiten.Image)
	for _, t := range seen {
		var o ebiten.DrawImageOptions
		o.GeoM.Translate(float64(t.X*scene.TileSize+at.X), float64(t.Y*scene.TileSize+at.Y))
		on.DrawImage(c.tiles[t], &o)
	}
}

// fill paints tiles of a cloud.
func (e *painter) fill(c *pointCache, tiles []image.Point) {
	if len(tiles) == 0 {
		return
	}
	s := c.shape
	img := e.markOf(s.Form, s.Radius)
	for i, marks := range scene.InTiles(s, e.scale, img.Bounds().Dx(), tiles) {
		t := ebiten.NewImage(scene.TileSize, scene.TileSize)
		e.stamp(t, s, marks, scene.Point{X: float64(tiles[i].X * scene.TileSize), Y: float64(tiles[i].Y * scene.TileSize)})
		c.tiles[tiles[i]] = t
	}
}

func (c *pointCache) drop() {
	for _, t := range c.tiles {
		t.Deallocate()
	}
}

// settle forgets clouds that are no longer painted.
func (e *painter) settle() {
	kept := e.caches[:0]
	for _, c := range e.caches {
		if c.used {
			kept = append(kept, c)
		} else {
			c.drop()
		}
		c.used = false
	}
	clear(e.caches[len(kept):])
	e.caches = kept
}
