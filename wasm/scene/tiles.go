package scene

import (
	"image"
	"math"
)

// TileSize is the side of a tile in device pixels. Tile (i, j) begins at (i, j) times it.
const TileSize = 256

// Tiles are those that a box of device pixels, which is not empty, has a part of.
func Tiles(box image.Rectangle) []image.Point {
	var out []image.Point
	for j := floorTile(box.Min.Y); j <= floorTile(box.Max.Y-1); j++ {
		for i := floorTile(box.Min.X); i <= floorTile(box.Max.X-1); i++ {
			out = append(out, image.Pt(i, j))
		}
	}
	return out
}

func floorTile(px int) int { return int(math.Floor(float64(px) / TileSize)) }

// InTiles are the marks of a shape, by their places in it and in their order, of which each
// of the tiles shows something: marks are size device pixels wide, scale of which are one
// of CSS. Left out are marks that cannot be seen, since later ones hide them: at the same
// pixel, of the same form and opaque. (Their soft edges would add up to hard ones.)
func InTiles(s Shape, scale float64, size int, tiles []image.Point) [][]int32 {
	place := make(map[image.Point]int, len(tiles))
	for i, t := range tiles {
		place[t] = i
	}
	out := make([][]int32, len(tiles))
	half := float64(size) / 2
	hidden := make([][]bool, len(tiles)) // pixels at whose place an opaque mark lies
	for k := len(s.Points) - 1; k >= 0; k-- {
		p := s.Points[k]
		x, y := math.Round(p.X*scale-half), math.Round(p.Y*scale-half)
		paint := s.Paint
		if s.Paints != nil {
			paint = s.Paints[k]
		}
		for j := math.Floor(y / TileSize); j <= math.Floor((y+float64(size)-1)/TileSize); j++ {
			for i := math.Floor(x / TileSize); i <= math.Floor((x+float64(size)-1)/TileSize); i++ {
				n, ok := place[image.Pt(int(i), int(j))]
				if !ok {
					continue
				}
				if paint.Alpha == 1 {
					// Places reach over the tile's upper and left edges.
					side := TileSize + size
					if hidden[n] == nil {
						hidden[n] = make([]bool, side*side)
					}
					at := (int(y-j*TileSize)+size)*side + int(x-i*TileSize) + size
					if hidden[n][at] {
						continue
					}
					hidden[n][at] = true
				}
				out[n] = append(out[n], int32(k))
			}
		}
	}
	for _, marks := range out {
		for i, j := 0, len(marks)-1; i < j; i, j = i+1, j-1 {
			marks[i], marks[j] = marks[j], marks[i]
		}
	}
	return out
}
