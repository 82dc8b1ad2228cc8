package scene

import (
	"image"
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
)

// painted paints marks in a box of device pixels: for every pixel, the marks that cover it.
func painted(s Shape, marks []int32, scale float64, size int, box image.Rectangle) map[image.Point][]int32 {
	out := map[image.Point][]int32{}
	for _, k := range marks {
		p := s.Points[k]
		x, y := int(math.Round(p.X*scale-float64(size)/2)), int(math.Round(p.Y*scale-float64(size)/2))
		for j := y; j < y+size; j++ {
			for i := x; i < x+size; i++ {
				if at := image.Pt(i, j); at.In(box) {
					out[at] = append(out[at], k)
				}
			}
		}
	}
	return out
}

// Each tile has all marks that it shows a part of, in their order; of opaque ones at one
// pixel the last alone.
func TestInTiles(t *testing.T) {
	s := stream.New(stream.Key{Seed: 3, Purpose: "scene/tiles"})
	at := make([]float64, 6000)
	s.Uniform(at, -400, 900)
	const scale, size = 1.5, 7
	for _, alpha := range []float64{0.6, 1} {
		shape := Shape{Kind: Dots, Paint: Ink(First).At(alpha)}
		for i := 0; i < len(at); i += 2 {
			shape.Points = append(shape.Points, Point{at[i], at[i+1]})
		}
		for range 50 { // on one another
			shape.Points = append(shape.Points, Point{100, 255.0 / scale}, Point{101, 50})
		}
		all := make([]int32, len(shape.Points))
		for i := range all {
			all[i] = int32(i)
		}
		tiles := Tiles(image.Rect(-300, 10, 513, 300))
		if len(tiles) != 5*2 || tiles[0] != image.Pt(-2, 0) || tiles[9] != image.Pt(2, 1) {
			t.Fatalf("tiles %v", tiles)
		}
		for i, marks := range InTiles(shape, scale, size, tiles) {
			box := image.Rect(0, 0, TileSize, TileSize).Add(tiles[i].Mul(TileSize))
			got, want := painted(shape, marks, scale, size, box), painted(shape, all, scale, size, box)
			if !slices.IsSorted(marks) || len(got) != len(want) {
				t.Fatalf("tile %v: %d pixels of %d", tiles[i], len(got), len(want))
			}
			for at, over := range want {
				// Of an opaque picture what is seen is the last, of another all.
				if alpha == 1 {
					if g := got[at]; g[len(g)-1] != over[len(over)-1] {
						t.Fatalf("tile %v: pixel %v shows %d, want %d", tiles[i], at, g[len(g)-1], over[len(over)-1])
					}
				} else if !slices.Equal(got[at], over) {
					t.Fatalf("tile %v: pixel %v has %v, want %v", tiles[i], at, got[at], over)
				}
			}
			if alpha == 1 && tiles[i] == image.Pt(0, 0) && len(marks) > 500 {
				t.Errorf("%d marks in a tile, though most are hidden", len(marks))
			}
		}
	}
}
