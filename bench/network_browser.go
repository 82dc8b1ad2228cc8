package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpscope/dpscope/e2e/browser"
)

// The page that runs the training program: it prints through console.log.
const (
	trainingPage   = `<!doctype html><meta charset="utf-8"><title>training</title><script src="wasm_exec.js"></script><script type="module" src="run.js"></script>`
	trainingScript = `const lines = [];
console.log = (line) => lines.push(line);
const go = new Go();
go.argv = ["training", ...decodeURIComponent(location.hash.slice(1)).split(" ")];
let code = 0;
go.exit = (c) => { code = c; };
try {
	const { instance } = await WebAssembly.instantiateStreaming(fetch("training.wasm"), go.importObject);
	await go.run(instance);
} catch (error) {
	code = 1;
	lines.push(String(error));
}
window.result = { code, text: lines.join("\n") };
`
)

// trainingTab is a browser in front of a server of the training program.
type trainingTab struct {
	browser context.Context
	address string
	close   func()
}

// openTraining serves dir, where the program was built, and starts a browser.
func openTraining(ctx context.Context, dir string) (*trainingTab, error) {
	for name, text := range map[string]string{"index.html": trainingPage, "run.js": trainingScript} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	b, stop, err := browser.Start(ctx)
	if err != nil {
		server.Close()
		return nil, err
	}
	return &trainingTab{browser: b, address: "http://" + listener.Addr().String() + "/", close: func() { stop(); server.Close() }}, nil
}

// run trains in a fresh tab.
func (t *trainingTab) run(flags []string) (trained, error) {
	tab, err := browser.Open(t.browser, t.address+"#"+url.PathEscape(strings.Join(flags, " ")))
	if err != nil {
		return trained{}, err
	}
	defer tab.Close()
	const limit = time.Hour
	if err := tab.Until("window.result", limit); err != nil {
		return trained{}, fmt.Errorf("%w; the page says %v", err, tab.Errors())
	}
	result, err := browser.Eval[struct {
		Code int    `json:"code"`
		Text string `json:"text"`
	}](tab, "window.result")
	if err != nil {
		return trained{}, err
	}
	if result.Code != 0 {
		return trained{}, fmt.Errorf("exit code %d: %s", result.Code, result.Text)
	}
	return readTrained([]byte(result.Text))
}
