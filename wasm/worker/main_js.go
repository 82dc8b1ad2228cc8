// Command worker is the WebAssembly core. One binary runs in every web worker of the page, in one of
// three roles: the coordinator runs the engine and answers the page, task workers execute tasks for it;
// a coordinator of samples audits the user's files by itself. Only the files *_js.go know JavaScript.
//
// The worker's shell, site/worker/worker.js, starts the program and offers the global object dpscopeShell:
//
//	options  {role, worker, coreSha256, hangAfterMs} of the page's start message
//	listen   (handle) => undefined: hands on the page's messages, those that waited included
//
// When the program ends, by a panic or otherwise, the shell tells the page.
package main

import (
	"runtime"
	"syscall/js"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/catalogue"
)

func main() {
	cat := withTable(withUser(catalogue.All()))
	start := js.Global().Get("dpscopeShell").Get("options")
	switch role := start.Get("role").String(); role {
	case "coordinator", "samples":
		generator := audit.Generator{Name: "dpscope", Version: audit.Version, GoOS: runtime.GOOS, GoArch: runtime.GOARCH, Go: runtime.Version()}
		generator.CoreSHA256 = text(start, "coreSha256")
		var pause func()
		if role == "samples" {
			pause = newPause()
		}
		coordinate(cat, pagePort{}, generator, time.Duration(number(start, "hangAfterMs"))*time.Millisecond, pause)
	case "task":
		serveTasks(cat, pagePort{}, number(start, "worker"), newPause())
	default:
		panic("worker: the start message names no role: " + role)
	}
	select {} // handlers do the rest, for the life of the worker
}

type pagePort struct{}

func (pagePort) post(m message) { js.Global().Call("postMessage", toJS(m)) }

func (pagePort) listen(handle func(message)) {
	// Never released: the worker ends with its page.
	js.Global().Get("dpscopeShell").Call("listen", js.FuncOf(func(_ js.Value, args []js.Value) any {
		handle(fromJS(args[0]))
		return nil
	}))
}

func (pagePort) close() {}

type messagePort struct {
	value   js.Value
	handler js.Func
}

func (p *messagePort) post(m message) { p.value.Call("postMessage", toJS(m)) }

func (p *messagePort) listen(handle func(message)) {
	p.handler = js.FuncOf(func(_ js.Value, args []js.Value) any {
		handle(fromJS(args[0].Get("data")))
		return nil
	})
	p.value.Set("onmessage", p.handler) // starts the port
}

func (p *messagePort) close() {
	p.value.Set("onmessage", js.Null())
	p.value.Call("close")
	p.handler.Release()
}

// newPause returns a function that lets all messages in that have arrived. A round trip through a
// MessageChannel takes well under 0.1 ms, a timer 4 ms, and runtime.Gosched never comes back to the
// event loop.
func newPause() func() {
	channel := js.Global().Get("MessageChannel").New()
	back := make(chan struct{}, 1)
	// Never released: pauses go on.
	channel.Get("port1").Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		back <- struct{}{}
		return nil
	}))
	there := channel.Get("port2")
	return func() {
		there.Call("postMessage", 0)
		<-back
	}
}

func toJS(m message) map[string]any {
	out := map[string]any{"type": m.Type, "id": m.ID, "worker": m.Worker, "rows": m.Rows, "reason": m.Reason}
	if m.JSON != "" {
		out["json"] = m.JSON
	}
	return out
}

// fromJS reads a message. What is absent or odd is zero, as all is where syscall/js panics.
func fromJS(v js.Value) (m message) {
	defer func() {
		if recover() != nil {
			m = message{}
		}
	}()
	if v.Type() != js.TypeObject {
		return message{}
	}
	m = message{Type: text(v, "type"), ID: number(v, "id"), JSON: text(v, "json"), Worker: number(v, "worker"),
		Rows: number(v, "rows"), Reason: text(v, "reason")}
	if p := v.Get("port"); p.Type() == js.TypeObject {
		m.Port = &messagePort{value: p}
	}
	m.Files = filesOf(v.Get("files"))
	return m
}

func text(v js.Value, field string) string {
	if s := v.Get(field); s.Type() == js.TypeString {
		return s.String()
	}
	return ""
}

func number(v js.Value, field string) int {
	if n := v.Get(field); n.Type() == js.TypeNumber {
		return n.Int()
	}
	return 0
}
