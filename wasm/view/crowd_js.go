package main

import (
	"math"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/dpscope/dpscope/wasm/scene"
)

// crowd measures frames a second: of an empty picture while what is read changes,
// of one with n marks, of that while all is painted anew, and while it is panned.
func crowd(n int, e *easel, schedule func(), tell func(rates [4]float64)) {
	const width, height, more = 800, 500, 200
	dots := scattered(n, width, height)
	wide := scattered(n, width+more, height) // as if it were zoomed
	dots.Clip = scene.Rect{W: width, H: height}
	wide.Clip = dots.Clip
	e.show(&scene.Scene{Width: width, Height: height})
	const took = 2 * time.Second
	const warm = 5 // frames of a phase that do not count: images are made, and painted
	phase, frames, start := 0, -warm, time.Time{}
	var rates [4]float64
	e.after = func(*ebiten.Image) {
		now := time.Now()
		switch spent := now.Sub(start); {
		case frames < 0:
			frames++
			start = now
		case spent >= took:
			rates[phase] = float64(frames+1) / spent.Seconds()
			phase, frames = phase+1, -warm
			if phase == len(rates) {
				e.after, e.mark = nil, scene.Rect{}
				tell(rates)
				return
			}
			e.show(&scene.Scene{Width: width, Height: height, Shapes: []scene.Shape{dots}})
		default:
			frames++
		}
		e.mark = scene.Rect{X: float64((frames + warm) % width), Y: 10, W: 30, H: 30}
		switch phase {
		case 2:
			e.wear(e.theme)
			e.stale = true
		case 3:
			e.show(panned(wide, width, height, math.Mod(float64(4*(frames+warm)), 2*more), more))
		}
		schedule()
	}
	schedule()
}

// scattered are n marks in a box of that size.
func scattered(n int, width, height float64) scene.Shape {
	dots := scene.Shape{Kind: scene.Dots, Radius: 2, Form: scene.Disc}
	for i := range n {
		x, y := math.Mod(float64(i)*0.7548776662466927, 1), math.Mod(float64(i)*0.5698402909980532, 1)
		dots.Points = append(dots.Points, scene.Point{X: width * x, Y: height * y})
		dots.Paints = append(dots.Paints, scene.Between(scene.First, scene.Second, x).At(0.7))
	}
	return dots
}

// panned is a picture of marks as a view lays it out anew when it was panned so far to the
// left, and back again from where there is no more.
func panned(dots scene.Shape, width, height, by, more float64) *scene.Scene {
	if by > more {
		by = 2*more - by
	}
	points := make([]scene.Point, len(dots.Points))
	s := &scene.Scene{Width: width, Height: height, Items: make([]scene.Item, len(points))}
	for i, p := range dots.Points {
		p.X -= by
		points[i] = p
		s.Items[i].Box = scene.Rect{X: p.X - 12, Y: p.Y - 12, W: 24, H: 24}
	}
	dots.Points = points
	s.Shapes = []scene.Shape{dots}
	return s
}
