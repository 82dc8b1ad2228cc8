// Command view is the WebAssembly picture of a report: package scene lays it out, Ebiten paints it into
// view.html. This file alone knows JavaScript.
//
// The document's script, site/view/view.js, starts the program and offers the global object
// dpscopeViewShell:
//
//	webgl    whether there is anything to paint with
//	scale    device pixels in a CSS pixel
//	listen   (handle) => undefined: handle(what, ...) is called from now on
//	post     (what, json) => undefined
//	wake     () => undefined: frames are wanted
//	pixels   (bytes, width, height) => undefined: the picture, as asked for
//	measure  (words) => px
//
// What the script says: data (json: scene.Input), theme (json: [[r, g, b], ...] by plot.Paint.Role),
// size (px), show (view), choose (choice), point (x, y), leave, pan (dx, dy), zoom (factor, x, y),
// closer (factor), reset, step (by), picture. What it hears: laid, read, facts, failed.
package main

import (
	"encoding/json"
	"fmt"
	"syscall/js"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/dpscope/dpscope/wasm/scene"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

func main() {
	shell := js.Global().Get("dpscopeViewShell")
	p := &program{shell: shell, painter: &painter{scale: shell.Get("scale").Float()}, webgl: shell.Get("webgl").Bool()}
	p.viewer.Measure = remembered(func(words string) float64 {
		return shell.Call("measure", words).Float()
	})
	// Never released: the document ends with the program.
	shell.Call("listen", js.FuncOf(func(_ js.Value, args []js.Value) any { return p.onMessage(args) }))
	if p.webgl {
		// The modes that replace this one go on ticking between pictures.
		//lint:ignore SA1019 nothing runs while the picture stands still
		ebiten.SetFPSMode(ebiten.FPSModeVsyncOffMinimum)
		if err := ebiten.RunGameWithOptions(p.painter, &ebiten.RunGameOptions{InitUnfocused: true}); err != nil {
			p.post("failed", fmt.Sprint("the picture cannot be painted here: ", err))
		}
	}
	select {} // the facts are told all the same
}

// remembered keeps what was measured: a call into the browser costs more.
func remembered(measure plot.Measure) plot.Measure {
	known := map[string]float64{}
	return func(words string) float64 {
		w, ok := known[words]
		if !ok {
			if len(known) > 4096 {
				clear(known)
			}
			w = measure(words)
			known[words] = w
		}
		return w
	}
}

type program struct {
	shell   js.Value
	viewer  plot.Viewer
	painter *painter
	webgl   bool
	cloud   scene.Cloud // of the runs that the page sent
}

// onMessage reports whether what the script says changed the picture.
func (p *program) onMessage(args []js.Value) bool {
	text := func(i int) string { return args[i].String() }
	at := func(i int) float64 { return args[i].Float() }
	v := &p.viewer
	switch text(0) {
	case "data":
		in, err := scene.Parse(text(1))
		if err != nil {
			p.post("failed", err.Error())
			return false
		}
		if !in.More {
			p.cloud = scene.Cloud{}
		}
		for _, runs := range in.Scored {
			p.cloud.Add(runs)
		}
		in.Cloud = &p.cloud
		if !v.Take(scene.Views(in), in.Report == nil && in.Canary == nil) {
			return false
		}
		p.facts()
	case "theme":
		var colours [][3]uint8
		if err := json.Unmarshal([]byte(text(1)), &colours); err != nil || len(colours) != plot.Roles {
			panic("view: the script sent no theme")
		}
		p.painter.theme = colours
	case "size":
		v.Resize(at(1))
	case "show":
		v.Show(text(1))
		p.facts()
	case "choose":
		v.Choose(text(1))
		p.facts()
	case "point":
		if v.Point(plot.Point{X: at(1), Y: at(2)}) {
			p.read()
		}
		return false
	case "leave":
		v.Leave()
		p.read()
		return false
	case "pan":
		v.Pan(at(1), at(2))
	case "zoom":
		if !v.Zoom(at(1), plot.Point{X: at(2), Y: at(3)}) {
			return false
		}
	case "closer":
		v.ZoomRead(at(1))
	case "reset":
		v.Reset()
	case "step":
		v.Step(int(at(1)))
	case "picture":
		p.painter.wanted = func(pixels []byte, width, height int) {
			bytes := js.Global().Get("Uint8ClampedArray").New(len(pixels))
			js.CopyBytesToJS(bytes, pixels)
			p.shell.Call("pixels", bytes, width, height)
		}
		p.schedule()
		return false
	default:
		panic("view: the script says " + text(0))
	}
	p.lay()
	p.read()
	return true
}

func (p *program) lay() {
	s, v := p.viewer.Scene, &p.viewer
	p.painter.show(s)
	var whole, x, y bool
	if s == nil {
		s = &plot.Scene{}
	} else {
		whole = v.Whole()
		x, y = v.View().Zooms()
	}
	p.json("laid", map[string]any{"Height": s.Height, "Plot": s.Plot, "Labels": s.Labels, "Items": len(s.Items),
		"Whole": whole, "ZoomsX": x, "ZoomsY": y})
	p.schedule()
}

func (p *program) read() {
	i, words := p.viewer.Read()
	p.painter.mark = plot.Rect{}
	if i >= 0 {
		p.painter.mark = p.viewer.Scene.Items[i].Mark
	}
	p.json("read", map[string]any{"Item": i, "Words": words})
	p.schedule()
}

func (p *program) facts() {
	said := struct {
		View, Words, ChoiceLabel, Chosen string
		Views, Choices                   []plot.Choice
		Table                            *plot.Table
	}{Views: p.viewer.Views(), Chosen: p.viewer.Chosen()}
	if x := p.viewer.View(); x != nil {
		said.View, said.Words, said.Table = x.ID, x.Caption, new(x.Table(plot.Rounded))
		said.ChoiceLabel, said.Choices = x.ChoiceLabel, x.Choices
	}
	p.json("facts", said)
}

func (p *program) schedule() {
	if p.webgl {
		ebiten.ScheduleFrame() //lint:ignore SA1019 goes with the mode set in main
		p.shell.Call("wake")
	}
}

func (p *program) json(what string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic("view: " + err.Error())
	}
	p.post(what, string(data))
}

func (p *program) post(what, said string) { p.shell.Call("post", what, said) }
