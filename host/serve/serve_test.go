package serve

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dpscope/dpscope/internal/must"
)

// testSite writes a small built site beside a file that is not part of it.
func testSite(t *testing.T) string {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "dist")
	files := map[string]string{
		"secret.txt":           "secret",
		"dist/index.html":      "<!doctype html>",
		"dist/page.js":         "script",
		"dist/page.js.br":      "script in brotli",
		"dist/page.js.gz":      "script in gzip",
		"dist/page.css":        "style",
		"dist/core.wasm":       "\x00asm",
		"dist/core.wasm.gz":    "core in gzip",
		"dist/build-info.json": "{}",
		"dist/notes.xyz":       "?",
		"dist/.hidden":         "hidden",
		"dist/sub/.hidden":     "hidden",
		"dist/sub/a.css":       "deep",
	}
	for name, text := range files {
		path := filepath.Join(top, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
	must.Do(t, os.Symlink(filepath.Join(top, "secret.txt"), filepath.Join(dir, "link.json")))
	return dir
}

func siteIn(t *testing.T, dir string) http.Handler {
	t.Helper()
	files := must.Get(Open(dir))(t)
	return Site(files, nil)
}

func get(site http.Handler, method, target string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "/", nil)
	r.URL.Path = target // as it came, not cleaned by the client
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	data := must.Get(io.ReadAll(r.Body))(t)
	return string(data)
}

func TestSiteFiles(t *testing.T) {
	site := siteIn(t, testSite(t))
	for _, c := range []struct{ path, accept, kind, coding, text string }{
		{"/", "", "text/html; charset=utf-8", "", "<!doctype html>"},
		{"/index.html", "br", "text/html; charset=utf-8", "", "<!doctype html>"},
		{"/page.js", "", "text/javascript; charset=utf-8", "", "script"},
		{"/page.js", "gzip, deflate, br", "text/javascript; charset=utf-8", "br", "script in brotli"},
		{"/page.js", "gzip", "text/javascript; charset=utf-8", "gzip", "script in gzip"},
		{"/page.js", "br;q=0, gzip;q=0.5", "text/javascript; charset=utf-8", "gzip", "script in gzip"},
		{"/page.js", "br;q=0", "text/javascript; charset=utf-8", "", "script"},
		{"/page.js", "brotli", "text/javascript; charset=utf-8", "", "script"},
		{"/core.wasm", "br, gzip", "application/wasm", "gzip", "core in gzip"},
		{"/page.css", "", "text/css; charset=utf-8", "", "style"},
		{"/build-info.json", "", "application/json", "", "{}"},
		{"/notes.xyz", "", "application/octet-stream", "", "?"},
		{"/sub/a.css", "", "text/css; charset=utf-8", "", "deep"},
		{"/sub/../page.css", "", "text/css; charset=utf-8", "", "style"},
	} {
		r := get(site, "GET", c.path, "Accept-Encoding", c.accept)
		if r.StatusCode != 200 {
			t.Errorf("%s: status %d", c.path, r.StatusCode)
			continue
		}
		if text := body(t, r); text != c.text {
			t.Errorf("%s (%s): %q, want %q", c.path, c.accept, text, c.text)
		}
		for name, want := range map[string]string{"Content-Type": c.kind, "Content-Encoding": c.coding, "Vary": "Accept-Encoding",
			"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s (%s): %s is %q, want %q", c.path, c.accept, name, got, want)
			}
		}
	}
}

func TestSiteRefuses(t *testing.T) {
	site := siteIn(t, testSite(t))
	for _, path := range []string{"/sub", "/sub/", "/absent.js", "/../secret.txt", "/sub/../../secret.txt", "/link.json",
		"/.hidden", "/sub/.hidden", "/..%2fsecret.txt", "/page.js/", "/\x00"} {
		r := get(site, "GET", path)
		if text := body(t, r); r.StatusCode != 404 || strings.Contains(text, "secret") || strings.Contains(text, "hidden") {
			t.Errorf("%q: status %d, %q, want 404", path, r.StatusCode, text)
		}
		if r.Header.Get("Content-Security-Policy") != policy {
			t.Errorf("%q: an error page without the policy", path)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		r := get(site, method, "/")
		if r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: status %d, Allow %q", method, r.StatusCode, r.Header.Get("Allow"))
		}
	}
}

// Every page has its policy: none lets a script of strangers in or anything out, and the
// sandbox has an origin of its own.
func TestSitePolicy(t *testing.T) {
	site := siteIn(t, testSite(t))
	for path, want := range map[string]string{"/": policy, "/embed.html": openPolicy, "/sandbox.html": sandboxPolicy} {
		got := get(site, "GET", path).Header.Get("Content-Security-Policy")
		if got != want || !strings.Contains(got, "default-src 'none'; ") || !strings.Contains(got, "base-uri 'none'; form-action 'none'") || strings.Contains(got, "*") || strings.Contains(got, "http") {
			t.Errorf("%s has the policy %q, want %q", path, got, want)
		}
		if strings.Contains(got, "unsafe-inline") != (path == "/sandbox.html") || strings.Contains(got, "sandbox allow-scripts; ") != (path == "/sandbox.html") {
			t.Errorf("%s has the policy %q", path, got)
		}
	}
	if strings.Contains(sandboxPolicy, "allow-same-origin") || !strings.Contains(sandboxPolicy, "connect-src 'none'") || openPolicy+"; frame-ancestors 'self'" != policy {
		t.Errorf("policies %q, %q, %q", policy, openPolicy, sandboxPolicy)
	}
}

func TestSiteRevalidates(t *testing.T) {
	dir := testSite(t)
	site := siteIn(t, dir)
	plain := get(site, "GET", "/page.js").Header.Get("ETag")
	packed := get(site, "GET", "/page.js", "Accept-Encoding", "br").Header.Get("ETag")
	if plain == "" || plain == packed {
		t.Fatalf("ETags %q and %q, must be there and differ", plain, packed)
	}
	r := get(site, "GET", "/page.js", "If-None-Match", plain)
	if r.StatusCode != 304 || body(t, r) != "" {
		t.Errorf("unchanged: status %d, want 304", r.StatusCode)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "page.js"), []byte("changed"), 0o644))
	r = get(site, "GET", "/page.js", "If-None-Match", plain)
	if r.StatusCode != 200 || body(t, r) != "changed" {
		t.Errorf("changed: status %d, want 200", r.StatusCode)
	}
	r = get(site, "HEAD", "/page.js")
	if r.StatusCode != 200 || body(t, r) != "" || r.Header.Get("Content-Length") != "7" {
		t.Errorf("HEAD: status %d, length %q", r.StatusCode, r.Header.Get("Content-Length"))
	}
}

func TestListenElsewhere(t *testing.T) {
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	addr := taken.Addr().String()
	if l, err := listen(addr, false); err == nil {
		l.Close()
		t.Errorf("listened on %s, which is taken", addr)
	}
	l := must.Get(listen(addr, true))(t)
	defer l.Close()
	if host, _, _ := net.SplitHostPort(l.Addr().String()); host != "127.0.0.1" || l.Addr().String() == addr {
		t.Errorf("listens on %s beside %s", l.Addr(), addr)
	}
}

func TestServeUntil(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	site := siteIn(t, testSite(t))
	ended := make(chan error, 1)
	go func() { ended <- serveUntil(ctx, l, site) }()
	r := must.Get(http.Get("http://" + l.Addr().String() + "/"))(t)
	if text := body(t, r); text != "<!doctype html>" {
		t.Errorf("served %q", text)
	}
	r.Body.Close()
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(2 * goodbye):
		t.Error("does not end")
	}
}

// A page whose name was made to point here is none of ours.
func TestSiteHosts(t *testing.T) {
	dir := testSite(t)
	for _, c := range []struct {
		addr, host string
		want       int
	}{
		{"127.0.0.1:8080", "127.0.0.1:8080", 200},
		{"127.0.0.1:8080", "127.0.0.1", 200},
		{"127.0.0.1:8080", "localhost:8081", 200},
		{"127.0.0.1:8080", "LOCALHOST", 200},
		{"127.0.0.1:8080", "[::1]:8080", 200},
		{"127.0.0.1:8080", "[::1]", 200},
		{"127.0.0.1:8080", "evil.example:8080", 421},
		{"127.0.0.1:8080", "localhost.evil.example", 421},
		{"127.0.0.1:8080", "10.0.0.7:8080", 421},
		{"127.0.0.1:8080", "", 421},
		{"box.example:80", "box.example", 200},
		{"box.example:80", "other.example", 421},
		{"10.0.0.7:80", "10.0.0.7", 200},
		{"0.0.0.0:80", "10.0.0.7:80", 200},
		{":80", "[fe80::1]:80", 200},
		{"[::]:80", "10.0.0.7:80", 200},
		{"0.0.0.0:80", "evil.example", 421},
		{":80", "evil.example", 421},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		onlyHosts(siteIn(t, dir), c.addr).ServeHTTP(w, r)
		if w.Code != c.want || (w.Code == 200) != (w.Body.String() == "<!doctype html>") {
			t.Errorf("%q asked at %s: status %d, want %d", c.host, c.addr, w.Code, c.want)
		}
	}
}

// nowhere is a client that takes everything and keeps nothing.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n nowhere) WriteHeader(int)             {}

// However many read a file, it is in memory once.
func TestSiteMemory(t *testing.T) {
	dir := testSite(t)
	const size, clients = 4 << 20, 50
	must.Do(t, os.WriteFile(filepath.Join(dir, "large.wasm"), make([]byte, size), 0o644))
	site := siteIn(t, dir)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			r := httptest.NewRequest("GET", "/large.wasm", nil)
			site.ServeHTTP(nowhere{http.Header{}}, r)
		})
	}
	all.Wait()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 3*size {
		t.Errorf("%d clients took %d MiB for a file of %d MiB", clients, got>>20, size>>20)
	}
}

// The zip of a site is served as the site; what is no site is refused.
func TestOpen(t *testing.T) {
	dir := testSite(t)
	must.Do(t, os.Remove(filepath.Join(dir, "link.json")))
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	must.Do(t, w.AddFS(os.DirFS(dir)))
	must.Do(t, w.Close())
	name := filepath.Join(t.TempDir(), "site.zip")
	must.Do(t, os.WriteFile(name, packed.Bytes(), 0o644))
	site := siteIn(t, name)
	for path, want := range map[string]string{"/": "<!doctype html>", "/sub/a.css": "deep"} {
		if text := body(t, get(site, "GET", path)); text != want {
			t.Errorf("%s of the zip: %q, want %q", path, text, want)
		}
	}
	if r := get(site, "GET", "/page.js", "Accept-Encoding", "br"); r.Header.Get("Content-Encoding") != "br" || body(t, r) != "script in brotli" {
		t.Error("the zip's compressed files are not used")
	}
	for _, path := range []string{"/sub", "/../secret.txt", "/absent.js", "/.hidden"} {
		if r := get(site, "GET", path); r.StatusCode != 404 {
			t.Errorf("%s of the zip: status %d, want 404", path, r.StatusCode)
		}
	}
	for _, name := range []string{t.TempDir(), filepath.Join(dir, "page.js"), filepath.Join(dir, "nowhere")} {
		must.Refuse(t, must.Err(Open(name)), name)
	}
}

// While programs are built, who asks for one is told; all else is served.
func TestSiteWhileItIsBuilt(t *testing.T) {
	files := must.Get(Open(testSite(t)))(t)
	words := "The core is being built."
	site := Site(files, func() string { return words })
	for _, name := range []string{"/core.wasm", "/view.wasm"} {
		r := get(site, "GET", name)
		if text := body(t, r); r.StatusCode != 503 || r.Header.Get(buildingHeader) == "" || strings.TrimSpace(text) != words || r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Content-Security-Policy") != policy {
			t.Errorf("%s: status %d, %q", name, r.StatusCode, text)
		}
	}
	if r := get(site, "GET", "/page.js"); r.StatusCode != 200 || r.Header.Get(buildingHeader) != "" {
		t.Errorf("a script meanwhile: status %d", r.StatusCode)
	}
	words = ""
	if r := get(site, "GET", "/core.wasm"); r.StatusCode != 200 || body(t, r) != "\x00asm" {
		t.Errorf("the core when it is there: status %d", r.StatusCode)
	}
}

// What takes long says so again and again, until it is done.
func TestSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		done := Say(&said, "Compiling")
		time.Sleep(2*sayEvery + time.Second)
		done()
		time.Sleep(time.Hour)
		if want := "Compiling…\nCompiling: 8 s so far\nCompiling: 16 s so far\n"; said.String() != want {
			t.Errorf("it says %q, want %q", said.String(), want)
		}
	})
}

// The Worker's files have the policies that this server sends.
func TestEdgeHeaders(t *testing.T) {
	data := must.Get(os.ReadFile("../edge/_headers"))(t)
	rules, path := map[string]string{}, ""
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.HasPrefix(line, "  ") {
			rules[path+" "+name] = value
		} else if strings.HasPrefix(line, "/") {
			path = strings.TrimSpace(line)
		}
	}
	site := siteIn(t, testSite(t))
	for at, file := range map[string]string{"/*": "/page.js", "/embed.html": "/embed.html", "/embed": "/embed.html", "/sandbox.html": "/sandbox.html", "/sandbox": "/sandbox.html"} {
		want := get(site, "GET", file).Header
		if got := rules[at+" Content-Security-Policy"]; got != want.Get("Content-Security-Policy") {
			t.Errorf("%s has the policy %q, must be %q", at, got, want.Get("Content-Security-Policy"))
		}
		for _, name := range []string{"X-Content-Type-Options", "Referrer-Policy", "Cache-Control"} {
			if at == "/*" && rules[at+" "+name] != want.Get(name) {
				t.Errorf("%s has %s: %q, must be %q", at, name, rules[at+" "+name], want.Get(name))
			}
		}
	}
}
