package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/host/serve"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

const coreFile = "core.wasm"

// asked counts the requests for a file of the site.
func asked(tab *browser.Tab, name string) int {
	n := 0
	for _, url := range tab.Requests() {
		if url == site+name {
			n++
		}
	}
	return n
}

// shaOf is a file's hash as the build wrote it.
func shaOf(t *testing.T, name string) string {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(dist, "build-info.json")))(t)
	var info struct {
		Files []struct{ Name, SHA256 string }
	}
	must.Do(t, json.Unmarshal(data, &info))
	for _, f := range info.Files {
		if f.Name == name {
			return f.SHA256
		}
	}
	t.Fatalf("build-info.json lacks %s", name)
	return ""
}

// press presses the button of the notice with a key.
func press(t *testing.T, tab *browser.Tab, key string) {
	t.Helper()
	click(t, tab, fmt.Sprintf(`#notice [data-key="%s"] button`, key))
}

// lateCore is a tab whose page waits for its core until release is called.
func lateCore(t *testing.T, fragment string) (tab *browser.Tab, release func()) {
	t.Helper()
	tab = must.Get(browser.Open(profile(t), "about:blank"))(t)
	t.Cleanup(tab.Close)
	before(t, tab, `{
		const fetched = window.fetch, late = new Promise((resolve) => { window.release = resolve; });
		window.fetch = async (url, options) => {
			if (String(url).endsWith("core.wasm")) await late;
			return fetched(url, options);
		};
	}`)
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(site+fragment)))
	until(t, tab, `document.querySelector("#mechanism")?.options.length > 10`)
	return tab, func() { eval[bool](t, tab, `(window.release(), true)`) }
}

// TestFormBeforeCore: the forms show all that there is, and what the address asks for,
// before the core has come; Run waits for it. What the user changes meanwhile counts.
func TestFormBeforeCore(t *testing.T) {
	t.Parallel()
	const fragment = "#v=1&mechanism=rappor-once&p.bits=4&epsilon=nonsense&samples=5000&trials=2&seed=7&account=laplace&a.steps=3"
	tab, release := lateCore(t, fragment)
	values := `["mechanism", "p-bits", "epsilon", "samples", "trials", "seed", "account-kind", "a-steps"].map((id) => document.getElementById(id).value).join() + ["svt4", "dp-sgd-microbatch", "google-count"].every((name) => [...document.querySelector("#mechanism").options].some((o) => o.value === name))`
	if got, want := eval[string](t, tab, values), "rappor-once,4,,5000,2,7,laplace,3true"; got != want {
		t.Errorf("the form holds %s, want %s", got, want)
	}
	if !eval[bool](t, tab, `document.body.dataset.state === "loading" && document.querySelector("#run").disabled && document.querySelector("#calibrate").disabled && document.body.dataset.door === "accounting" && document.querySelector("#k-source").options.length > 1`) {
		t.Error("before the core has come Run is enabled, or a panel is missing")
	}
	release()
	until(t, tab, `document.body.dataset.state === "ready" && document.querySelector("#account-result .headline")`)
	if said := eval[string](t, tab, `document.querySelector("#notice").textContent`); !strings.Contains(said, "epsilon") {
		t.Errorf("of a bad epsilon in the address it says %q", said)
	}
	enter(t, tab, "explore")
	if hash := eval[string](t, tab, `location.hash`); !strings.Contains(hash, "mechanism=rappor-once") || strings.Contains(hash, "nonsense") {
		t.Errorf("the address is %s", hash)
	}

	tab, release = lateCore(t, fragment+"&door=explore")
	set(t, tab, "mechanism", "svt1")
	set(t, tab, "epsilon", "2")
	release()
	until(t, tab, `document.body.dataset.state === "ready" && location.hash.includes("mechanism=svt1") && location.hash.includes("epsilon=2") && location.hash.includes("samples=5000")`)
	click(t, tab, "#run")
	if r := finish(t, tab); r.Subject != "svt1" || r.Claim.Epsilon != 2 {
		t.Errorf("ran %s with %v", r.Subject, r.Claim)
	}
}

// altered is a server of the built site, but for what change answers itself.
func altered(t *testing.T, change func(w http.ResponseWriter, name string) bool) string {
	t.Helper()
	files := http.FileServer(http.Dir(dist))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !change(w, strings.TrimPrefix(r.URL.Path, "/")) {
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

func visit(t *testing.T, address string) *browser.Tab {
	t.Helper()
	tab := must.Get(browser.Open(profile(t), address))(t)
	t.Cleanup(tab.Close)
	return tab
}

// TestCoreIsBuilt: while the server still builds the core, the page says so, and it
// runs once the core is there, without being loaded again. Its reports name that core.
func TestCoreIsBuilt(t *testing.T) {
	t.Parallel()
	var built atomic.Bool
	files := must.Get(serve.Open(dist))(t)
	whole := serve.Site(files, func() string {
		if built.Load() {
			return ""
		}
		return "The core is being built: 7 s so far."
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/build-info.json") && !built.Load() {
			fmt.Fprint(w, `{"version": "0", "build": "", "go": "", "files": []}`)
			return
		}
		whole.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	tab := visit(t, server.URL+"/#v=1&mechanism=svt4&epsilon=1&samples=5000&trials=2&seed=7&workers=2")
	until(t, tab, `document.querySelector("#status").textContent === "The core is being built: 7 s so far." && document.querySelector("#run").disabled`)
	eval[bool](t, tab, `(window.still = true)`)
	built.Store(true)
	until(t, tab, `document.body.dataset.state === "ready" && window.still && document.querySelector("#scene-tools button")`)
	click(t, tab, "#run")
	if r := finish(t, tab); r.Generator.CoreSHA256 != shaOf(t, coreFile) {
		t.Errorf("the report names core %q", r.Generator.CoreSHA256)
	}
}

// TestCoreFails: a core that does not come is named with the reason and a button that
// tries again; what the form holds stays.
func TestCoreFails(t *testing.T) {
	t.Parallel()
	var absent atomic.Bool
	absent.Store(true)
	tab := visit(t, altered(t, func(w http.ResponseWriter, name string) bool {
		if name != coreFile || !absent.Load() {
			return false
		}
		http.Error(w, "gone", http.StatusNotFound)
		return true
	})+"#v=1&mechanism=rappor-once&p.bits=4&account=laplace&a.steps=3")
	const says = `document.body.dataset.state === "failed" && document.querySelector("#notice").textContent.includes("core.wasm could not be fetched: the server answered 404") && document.querySelector("#run").disabled`
	until(t, tab, says)
	enter(t, tab, "explore")
	set(t, tab, "seed", "8")
	press(t, tab, "core") // tries in vain
	until(t, tab, says)
	absent.Store(false)
	press(t, tab, "core")
	until(t, tab, `document.body.dataset.state === "ready" && document.querySelector("#notice").children.length === 0 && location.hash.includes("mechanism=rappor-once") && location.hash.includes("p.bits=4") && location.hash.includes("seed=8") && document.querySelector("#account-result .headline")`)

	// Without the network.
	away := make(chan bool)
	lost := visit(t, altered(t, func(w http.ResponseWriter, name string) bool {
		if name != coreFile {
			return false
		}
		<-away
		panic(http.ErrAbortHandler) // no answer at all
	}))
	offline := network.OverrideNetworkStateParams{Offline: true, DownloadThroughput: -1, UploadThroughput: -1}
	must.Get(chromedp.Call(lost.Ctx, network.OverrideNetworkState, offline))(t)
	close(away)
	until(t, lost, `document.querySelector("#notice").textContent.includes("You are offline, and it is not stored here")`)
}

// TestSiteFails: a site of which a file is absent, comes in part only or is forbidden to run
// is told so.
func TestSiteFails(t *testing.T) {
	t.Parallel()
	whole := must.Get(os.ReadFile(filepath.Join(dist, coreFile)))(t)
	absent := func(w http.ResponseWriter) { http.Error(w, "gone", http.StatusNotFound) }
	for _, c := range []struct {
		file, says string
		answer     func(w http.ResponseWriter)
	}{
		{"catalogue.json", "catalogue.json could not be fetched", absent},
		{"worker.js", "worker.js could not be loaded", absent},
		{coreFile, "core.wasm was loaded only in part", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
			w.Write(whole[:len(whole)/2])
		}},
		{"", "forbids WebAssembly. It must send the header Content-Security-Policy with script-src 'self' 'wasm-unsafe-eval'", nil},
	} {
		tab := visit(t, altered(t, func(w http.ResponseWriter, asked string) bool {
			if c.answer == nil {
				w.Header().Set("Content-Security-Policy", "default-src 'self'; script-src 'self'; img-src 'self' data: blob:")
			} else if asked == c.file {
				c.answer(w)
			}
			return c.answer != nil && asked == c.file
		}))
		until(t, tab, fmt.Sprintf(`document.body.dataset.state === "failed" && %s.includes(%q)`, noticed, c.says))
		tab.Close()
	}
}

// TestAccounting: the panel's figures are those of the package, an error stands at its
// field, the address makes the same account again, and every kind is answered.
func TestAccounting(t *testing.T) {
	t.Parallel()
	want := must.Get(accounting.Answer(accounting.Query{Mechanism: accounting.KindGaussian, Sigma: new(1.1), Rate: new(0.01), Steps: new(1000), Delta: new(1e-6), AtEpsilon: new(1.5)}))(t)
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1")
	enter(t, tab, "accounting")
	for id, value := range map[string]string{"a-sigma": "1.1", "a-rate": "0.01", "a-steps": "1000", "a-delta": "1e-6", "a-atEpsilon": "1.5"} {
		set(t, tab, id, value)
	}
	click(t, tab, "#account")
	shown := fmt.Sprintf(`[...document.querySelectorAll("#account-result .headline")].some(p => p.textContent.includes("epsilon = %v at")) && location.hash.includes("a.atEpsilon=1.5") && !document.querySelector("#account-result").classList.contains("old")`, *want.Epsilon)
	until(t, tab, shown)
	until(t, tab, `document.querySelector("#account-result .picture > svg")`)
	if rows := eval[int](t, tab, `[...document.querySelectorAll("#account-result table.data")].find((e) => e.closest("details").textContent.startsWith("Ways to epsilon")).tBodies[0].rows.length`); rows != len(want.Epsilons) {
		t.Errorf("%d ways to epsilon, want %d", rows, len(want.Epsilons))
	}
	// The target's line follows keys and the hand, and the steps that it allows are read off: those of the account at first.
	const handle, near = `document.querySelector("#account-result .handle")`, `((n) => n > 2000 && n < 10_000)(Number(/about ([\d\s]+) steps/.exec(document.querySelector("#account-result .handle").getAttribute("aria-valuetext"))[1].replace(/\s/g, "")))`
	until(t, tab, handle+`?.closest("section").querySelector(".chart-words").textContent.endsWith("allows about 1\u202f000 steps.")`)
	eval[bool](t, tab, `(`+handle+`.focus(), true)`)
	for range 40 {
		must.Do(t, chromedp.Do(tab.Ctx, chromedp.KeyEvent(kb.ArrowUp)))
	}
	until(t, tab, near)
	grip := eval[[]float64](t, tab, `(`+handle+`.scrollIntoView({ block: "center" }), ((r, at) => [r.right - 10, r.bottom - 14 - at * (r.height - 28), r.bottom - 14])(`+handle+`.getBoundingClientRect(), `+handle+`.valueAsNumber))`)
	pull(t, tab, [2]float64{grip[0], grip[1]}, [2]float64{grip[0], grip[2]})
	until(t, tab, handle+`.getAttribute("aria-valuetext").endsWith("allows no step") && `+handle+`.closest("section").querySelector(".chart-words").textContent.endsWith("allows no step.")`)
	set(t, tab, "a-sigma", "0")
	until(t, tab, `document.querySelector("#a-sigma").getAttribute("aria-invalid") === "true" && document.querySelector("#a-sigma-error").textContent.includes("above 0")`)
	set(t, tab, "a-sigma", "1.1")
	until(t, tab, `!document.querySelector("#a-sigma").hasAttribute("aria-invalid") && `+shown)

	fragment := eval[string](t, tab, `location.hash`)
	again := open(t, fragment)
	until(t, again, shown)
	if now := eval[string](t, again, `location.hash`); now != fragment || !strings.HasPrefix(now, "#door=accounting&account=gaussian&") {
		t.Errorf("the address %s became %s", fragment, now)
	}
	if kinds := eval[int](t, tab, `document.querySelector("#account-kind").options.length`); kinds != len(accounting.Kinds()) {
		t.Errorf("the panel has %d kinds, want %v", kinds, accounting.Kinds())
	}
	for _, kind := range accounting.Kinds() {
		set(t, tab, "account-kind", string(kind))
		set(t, tab, "a-steps", "20")
		set(t, tab, "a-delta", "")
		until(t, tab, fmt.Sprintf(`location.hash.includes("&account=%s&") && document.querySelector("#account-result .headline").textContent.startsWith("epsilon =") && !/NaN|Infinity|undefined/.test(document.querySelector("#account-result").innerHTML)`, kind))
	}
}
