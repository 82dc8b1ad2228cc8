package main

import (
	"math"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/dpscope/dpscope/wasm/scene"
)

// crowd measures frames a second: of an empty picture while what is read changes,
// of one with n marks, and of that while all is painted anew.
func crowd(n int, e *easel, schedule func(), tell func(rates [3]float64)) {
	const width, height = 800, 500
	dots := scene.Shape{Kind: scene.Dots, Radius: 2, Form: scene.Disc}
	for i := range n {
		x, y := math.Mod(float64(i)*0.7548776662466927, 1), math.Mod(float64(i)*0.5698402909980532, 1)
		dots.Points = append(dots.Points, scene.Point{X: width * x, Y: height * y})
		dots.Paints = append(dots.Paints, scene.Between(scene.First, scene.Second, x).At(0.7))
	}
	e.show(&scene.Scene{Width: width, Height: height})
	const took = 2 * time.Second
	const warm = 5 // frames of a phase that do not count: images are made, and painted
	phase, frames, start := 0, -warm, time.Time{}
	var rates [3]float64
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
		e.stale = e.stale || phase == 2
		schedule()
	}
	schedule()
}
