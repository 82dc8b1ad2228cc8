package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// under is where hosted serves the site: a folder with a space in its name, as no
// site of ours has.
const under = "/some where/dpscope/"

// host is a server of the site under a path, which can be told to be away, and to
// publish another build.
type host struct {
	server  *httptest.Server
	away    atomic.Bool
	mu      sync.Mutex
	changed map[string][]byte // files of the build that are not those of dist
	asked   []string
}

func hosted(t *testing.T) *host {
	h := &host{changed: map[string][]byte{}}
	files := http.StripPrefix(strings.TrimSuffix(under, "/"), http.FileServer(http.Dir(dist)))
	h.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.away.Load() {
			// No answer at all, as without a network.
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				c.Close()
			}
			return
		}
		name := strings.TrimPrefix(r.URL.Path, under)
		if name == "" {
			name = "index.html"
		}
		h.mu.Lock()
		h.asked = append(h.asked, name)
		data, changed := h.changed[name]
		h.mu.Unlock()
		w.Header().Set("Cache-Control", "no-cache")
		if !changed {
			files.ServeHTTP(w, r)
			return
		}
		http.ServeContent(w, r, name, time.Time{}, strings.NewReader(string(data)))
	}))
	t.Cleanup(h.server.Close)
	return h
}

func (h *host) address() string { return h.server.URL + strings.ReplaceAll(under, " ", "%20") }

// publish makes the server's a build whose page says that it is another.
func (h *host) publish(t *testing.T, mark string) {
	t.Helper()
	read := func(name string) string {
		data := must.Get(os.ReadFile(filepath.Join(dist, name)))(t)
		return string(data)
	}
	page := strings.Replace(read("index.html"), "<body ", `<body data-build="`+mark+`" `, 1)
	var info map[string]any
	must.Do(t, json.Unmarshal([]byte(read("build-info.json")), &info))
	old := info["build"].(string)
	sum := sha256.Sum256([]byte(page))
	info["build"] = hex.EncodeToString(sum[:8])
	for _, f := range info["files"].([]any) {
		if f := f.(map[string]any); f["name"] == "index.html" {
			f["sha256"] = hex.EncodeToString(sum[:])
		}
	}
	said := must.Get(json.Marshal(info))(t)
	worker := read("sw.js")
	if !strings.Contains(worker, old) {
		t.Fatalf("sw.js does not name build %s", old)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed["index.html"] = []byte(page)
	h.changed["build-info.json"] = said
	h.changed["sw.js"] = []byte(strings.ReplaceAll(worker, old, info["build"].(string)))
}

// visit opens a tab that service workers serve.
func (h *host) visit(t *testing.T, name string) *browser.Tab {
	t.Helper()
	tab := must.Get(browser.OpenKept(profile(t), h.address()+name))(t)
	t.Cleanup(tab.Close)
	return tab
}

const pageReady = `document.body?.dataset.state === "ready"`

// TestOffline: after one visit the page runs without its server, under a folder of
// a site, with the same counts; what was not kept is said so.
func TestOffline(t *testing.T) {
	t.Parallel()
	h := hosted(t)
	const fragment = "#v=1&mechanism=svt4&epsilon=1&seed=7&samples=5000&trials=2"
	tab := h.visit(t, fragment)
	until(t, tab, pageReady)
	until(t, tab, `document.querySelector("#offline").textContent === "kept for use offline"`)
	click(t, tab, "#run")
	online := finish(t, tab)

	h.away.Store(true)
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.Reload()))
	until(t, tab, pageReady)
	if !eval[bool](t, tab, `navigator.serviceWorker.controller !== null`) {
		t.Error("no service worker serves the page")
	}
	click(t, tab, "#run")
	sameCounts(t, "online and offline", online, finish(t, tab))
	// The files that the page loads when it first needs them.
	eval[bool](t, tab, catchFiles)
	if saved := saving(t, tab, "#save-html"); len(saved.Data) < 20_000 {
		t.Errorf("the saved page has %d bytes", len(saved.Data))
	}
	if words := eval[string](t, h.visit(t, "docs/museum/svt4.html"), `document.body.innerText`); !strings.Contains(words, "the noise forgets the cut-off") {
		t.Errorf("offline, a page of the museum says %.200q", words)
	}
	docs := h.visit(t, "python/none.html")
	if words := eval[string](t, docs, `document.body.innerText`); !strings.Contains(words, "this page is not stored here") {
		t.Errorf("a page that was not kept says %q", words)
	}
}

// TestOfflinePanels: without the network, the picture that was opened once opens; the
// user's own mechanism runs in its sandbox to the same counts, and verifies; so does a
// canary audit. What the service worker gives for that sandbox has no origin, whatever
// frame asks for it.
func TestOfflinePanels(t *testing.T) {
	t.Parallel()
	var reports []pair.Report
	var canaries []canary.Report
	h := hosted(t)
	tab := h.visit(t, "#v=1&view=canaries&n=60&k=3&seed=5")
	until(t, tab, pageReady)
	until(t, tab, `document.querySelector("#offline").textContent === "kept for use offline"`)
	for _, away := range []bool{false, true} { // no worker serves the first visit
		h.away.Store(away)
		must.Do(t, chromedp.Do(tab.Ctx, chromedp.Reload()))
		until(t, tab, pageReady)
		enter(t, tab, "explore")
		openView(t, tab, "divergence")
		notBlank(t, tab, "the example")
		click(t, tab, "#scene-tools > .picture-open")
		until(t, tab, `!`+viewFrame)

		enter(t, tab, "code")
		example(t, tab, 2)
		set(t, tab, "own-samples", "1000")
		reports = append(reports, runOwn(t, tab))
		click(t, tab, "#verify")
		until(t, tab, `document.querySelector("#verification").textContent.includes("is the same as in the report") && `+ownIdle)
		if eval[bool](t, tab, `new Promise((resolve) => {
			const frame = document.createElement("iframe");
			frame.src = "sandbox.html";
			frame.onload = () => { resolve(Boolean(frame.contentDocument)); frame.remove(); };
			document.body.append(frame);
		})`) {
			t.Error("a plain frame has the sandbox's page at the site's origin")
		}

		enter(t, tab, "training")
		click(t, tab, "#canaries-run")
		canaries = append(canaries, planted(t, tab))
		until(t, tab, `caches.keys().then(async (names) => Boolean(await (await caches.open(names[0])).match("view.wasm")))`)
	}
	quiet(t, tab)
	sameCounts(t, "an own mechanism, online and offline", reports[0], reports[1])
	sameEvidence(t, "online and offline", canaries[0], canaries[1])
}

// TestNewBuild: a newer build does not come into a page of the older one. It waits
// while two pages are open, takes over the last one when asked, whole, and the
// older one's files are gone then.
func TestNewBuild(t *testing.T) {
	t.Parallel()
	h := hosted(t)
	first := h.visit(t, "")
	until(t, first, pageReady)
	until(t, first, `document.querySelector("#offline").textContent === "kept for use offline"`)
	h.publish(t, "newer")

	build := func(tab *browser.Tab) string { return eval[string](t, tab, `document.body.dataset.build ?? ""`) }
	second := h.visit(t, "")
	until(t, second, pageReady)
	if got := build(second); got != "" {
		t.Errorf("the second page is of the build %q before the newer build took over", got)
	}
	const offered = `document.querySelector('#notice [data-key="update"]')?.textContent.includes("A newer build")`
	until(t, second, offered)
	press(t, second, "update")
	const others = `document.querySelector('#notice [data-key="update"]')?.textContent.includes("Close the other tabs")`
	until(t, second, others)

	first.Close()
	state := "others" // are open still, until the browser has counted the first one out
	for deadline := time.Now().Add(browser.Patience); state != "newer"; time.Sleep(50 * time.Millisecond) {
		if state == "others" {
			press(t, second, "update") // to try again
			until(t, second, offered)
			press(t, second, "update")
		}
		if time.Now().After(deadline) {
			t.Fatalf("the newer build did not take over: %s", eval[string](t, second, `document.querySelector("#notice").textContent`))
		}
		// The page reloads itself under the question, which then has no answer.
		state, _ = browser.Eval[string](second, `document.body?.dataset.build === "newer" && `+pageReady+` ? "newer" : `+others+` ? "others" : ""`)
	}
	until(t, second, `caches.keys().then((names) => names.length === 1)`)
	h.away.Store(true)
	third := h.visit(t, "")
	until(t, third, pageReady)
	if got := build(third); got != "newer" {
		t.Errorf("offline, the page is of the build %q", got)
	}
}

// TestHalfPublishedBuild: files that are not of one build are not kept together,
// and the build that is kept stays.
func TestHalfPublishedBuild(t *testing.T) {
	t.Parallel()
	h := hosted(t)
	tab := h.visit(t, "")
	until(t, tab, pageReady)
	until(t, tab, `document.querySelector("#offline").textContent === "kept for use offline"`)
	h.publish(t, "newer")
	h.mu.Lock()
	h.changed["page.js"] = []byte("throw new Error('a page of yet another build')")
	h.asked = nil
	h.mu.Unlock()
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.Reload()))
	until(t, tab, pageReady)
	until(t, tab, `navigator.serviceWorker.getRegistration().then((r) => !r.installing && !r.waiting && Boolean(r.active))`)
	deadline := time.Now().Add(browser.Patience)
	for tried := false; !tried; time.Sleep(100 * time.Millisecond) {
		h.mu.Lock()
		tried = strings.Contains(strings.Join(h.asked, " "), "page.js")
		h.mu.Unlock()
		if time.Now().After(deadline) {
			t.Fatal("the half-published build was not tried")
		}
	}
	until(t, tab, `navigator.serviceWorker.getRegistration().then((r) => !r.installing && !r.waiting) && caches.keys().then((names) => names.length === 1)`)
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.Reload()))
	until(t, tab, pageReady)
	quiet(t, tab)
}
