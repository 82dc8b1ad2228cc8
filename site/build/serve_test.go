package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/pages"
)

// printed collects what is printed, for whoever waits for a line.
type printed struct{ lines chan string }

func (p printed) Write(text []byte) (int, error) {
	p.lines <- string(text)
	return len(text), nil
}

// until returns the next printed text that holds some words.
func (p printed) until(t *testing.T, words string) string {
	t.Helper()
	for patience := time.After(time.Minute); ; {
		select {
		case line := <-p.lines:
			if strings.Contains(line, words) {
				return line
			}
		case <-patience:
			t.Fatalf("nobody says %q", words)
		}
	}
}

// The page is served before the programs are compiled, which whoever asks for them is
// told; then they are there, named by build-info.json, and the service worker with them.
func TestServesWhileItBuilds(t *testing.T) {
	t.Chdir("../..")
	out := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(out, "core.wasm"), []byte("of an earlier build"), 0o644))
	said := printed{make(chan string, 1000)}
	goOn, ended := make(chan bool), make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		ended <- buildAndServe(ctx, out, "127.0.0.1:0", said, func() ([]pages.File, error) {
			<-goOn
			return []pages.File{{Name: "core.wasm", Data: []byte("\x00asm core")}, {Name: "view.wasm", Data: []byte("\x00asm view")}}, nil
		})
	}()
	address := strings.Fields(said.until(t, "dpscope: http://"))[1]
	get := func(name string) (*http.Response, string) {
		t.Helper()
		r := must.Get(http.Get(address + name))(t)
		defer r.Body.Close()
		data := must.Get(io.ReadAll(r.Body))(t)
		return r, string(data)
	}
	names := func() string {
		t.Helper()
		_, text := get("build-info.json")
		var info buildInfo
		must.Do(t, json.Unmarshal([]byte(text), &info))
		all := " "
		for _, f := range info.Files {
			all += f.Name + " "
		}
		return all
	}
	if r, text := get(""); r.StatusCode != 200 || !strings.Contains(text, "page.js") {
		t.Errorf("the page: status %d, %q", r.StatusCode, text)
	}
	for _, name := range []string{"page.js", "catalogue.json", "docs/index.html"} {
		if r, _ := get(name); r.StatusCode != 200 {
			t.Errorf("%s: status %d", name, r.StatusCode)
		}
	}
	for _, name := range []string{"core.wasm", "view.wasm"} {
		if r, text := get(name); r.StatusCode != 503 || r.Header.Get("Dpscope-Building") == "" || !strings.Contains(text, "is being built") {
			t.Errorf("%s: status %d, %q", name, r.StatusCode, text)
		}
	}
	if all := names(); strings.Contains(all, " core.wasm ") || strings.Contains(all, " view.wasm ") || strings.Contains(all, " sw.js ") || !strings.Contains(all, " page.js ") {
		t.Errorf("before the programs are there build-info.json names %s", all)
	}
	close(goOn)
	said.until(t, "The site is built")
	if r, text := get("core.wasm"); r.StatusCode != 200 || text != "\x00asm core" || r.Header.Get("Content-Type") != "application/wasm" {
		t.Errorf("core.wasm: status %d, %q", r.StatusCode, text)
	}
	if all := names(); !strings.Contains(all, " core.wasm ") || !strings.Contains(all, " view.wasm ") || !strings.Contains(all, " sw.js ") {
		t.Errorf("build-info.json names %s", all)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("an interrupt ends it with %v", err)
	}
}

// A program that does not compile ends the server, and is the error.
func TestServeEndsWithTheBuild(t *testing.T) {
	t.Chdir("../..")
	broken := errors.New("undefined: mistake")
	if err := buildAndServe(context.Background(), t.TempDir(), "127.0.0.1:0", io.Discard, func() ([]pages.File, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("it ends with %v", err)
	}
}
