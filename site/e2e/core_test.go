package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

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

// TestOneCore: the page loads one core, once, which runs what comes of the address and
// what is chosen then.
func TestOneCore(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=rappor-once&samples=5000&trials=2&seed=7&workers=2")
	click(t, tab, "#run")
	if r := finish(t, tab, time.Minute); r.Subject != "rappor-once" || r.Generator.CoreSHA256 != shaOf(t, coreFile) {
		t.Errorf("%s of core %s", r.Subject, r.Generator.CoreSHA256)
	}
	set(t, tab, "mechanism", "svt4")
	set(t, tab, "finder", "patterns")
	until(t, tab, `location.hash.includes("mechanism=svt4") && location.hash.includes("finder=patterns")`, 5*time.Second)
	click(t, tab, "#run")
	if r := finish(t, tab, time.Minute); r.Subject != "svt4" || r.Plan.Finder != "patterns" || r.Generator.CoreSHA256 != shaOf(t, coreFile) {
		t.Errorf("ran %s with %s on core %s", r.Subject, r.Plan.Finder, r.Generator.CoreSHA256)
	}
	if n := asked(tab, coreFile); n != 1 {
		t.Errorf("%s was asked for %d times, want once", coreFile, n)
	}
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
	until(t, tab, `document.querySelector("#mechanism")?.options.length > 10`, 10*time.Second)
	return tab, func() { eval[bool](t, tab, `(window.release(), true)`) }
}

// TestFormBeforeCore: the forms show all that there is, and what the address asks for,
// before the core has come; Run waits for it. What the user changes meanwhile counts.
func TestFormBeforeCore(t *testing.T) {
	t.Parallel()
	const fragment = "#v=1&mechanism=rappor-once&p.bits=4&epsilon=nonsense&samples=5000&trials=2&seed=7&account=laplace&a.steps=3"
	tab, release := lateCore(t, fragment)
	for _, name := range []string{"svt4", "rappor-once", "dp-sgd-microbatch", "google-count"} {
		if !eval[bool](t, tab, fmt.Sprintf(`[...document.querySelector("#mechanism").options].some((o) => o.value === %q)`, name)) {
			t.Errorf("the form lacks %s", name)
		}
	}
	values := `["mechanism", "p-bits", "epsilon", "samples", "trials", "seed", "account-kind", "a-steps"].map((id) => document.getElementById(id).value).join()`
	if got, want := eval[string](t, tab, values), "rappor-once,4,,5000,2,7,laplace,3"; got != want {
		t.Errorf("the form holds %s, want %s", got, want)
	}
	if !eval[bool](t, tab, `document.body.dataset.state === "loading" && document.querySelector("#run").disabled && document.querySelector("#calibrate").disabled && document.body.dataset.door === "accounting" && document.querySelector("#k-source").options.length > 1`) {
		t.Error("before the core has come Run is enabled, or a panel is missing")
	}
	release()
	until(t, tab, `document.body.dataset.state === "ready" && document.querySelector("#account-result .headline")`, 30*time.Second)
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
	until(t, tab, `document.body.dataset.state === "ready" && location.hash.includes("mechanism=svt1") && location.hash.includes("epsilon=2") && location.hash.includes("samples=5000")`, 30*time.Second)
	click(t, tab, "#run")
	if r := finish(t, tab, time.Minute); r.Subject != "svt1" || r.Claim.Epsilon != 2 {
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
	until(t, tab, `document.querySelector("#status").textContent === "The core is being built: 7 s so far." && document.querySelector("#run").disabled`, 10*time.Second)
	eval[bool](t, tab, `(window.still = true)`)
	built.Store(true)
	until(t, tab, `document.body.dataset.state === "ready" && window.still && document.querySelector("#scene-tools button")`, 30*time.Second)
	click(t, tab, "#run")
	if r := finish(t, tab, time.Minute); r.Generator.CoreSHA256 != shaOf(t, coreFile) {
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
	until(t, tab, says, 20*time.Second)
	enter(t, tab, "explore")
	set(t, tab, "seed", "8")
	press(t, tab, "core") // tries in vain
	until(t, tab, says, 20*time.Second)
	absent.Store(false)
	press(t, tab, "core")
	until(t, tab, `document.body.dataset.state === "ready" && document.querySelector("#notice").children.length === 0 && location.hash.includes("mechanism=rappor-once") && location.hash.includes("p.bits=4") && location.hash.includes("seed=8") && document.querySelector("#account-result .headline")`, 30*time.Second)

	// Broken off in the middle.
	whole := must.Get(os.ReadFile(filepath.Join(dist, coreFile)))(t)
	cut := visit(t, altered(t, func(w http.ResponseWriter, name string) bool {
		if name != coreFile {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
		w.Write(whole[:len(whole)/2])
		return true
	}))
	until(t, cut, `document.body.dataset.state === "failed" && document.querySelector("#notice").textContent.includes("core.wasm came in part only")`, 20*time.Second)

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
	until(t, lost, `document.querySelector("#notice").textContent.includes("You are offline, and it was not kept")`, 20*time.Second)
}

// TestIncompleteSite: a site that lacks the list of all that there is, or the workers'
// script, says so.
func TestIncompleteSite(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{"catalogue.json": "catalogue.json could not be fetched", "worker.js": "worker.js could not be loaded"} {
		tab := visit(t, altered(t, func(w http.ResponseWriter, asked string) bool {
			if asked == name {
				http.Error(w, "gone", http.StatusNotFound)
			}
			return asked == name
		}))
		until(t, tab, fmt.Sprintf(`document.body.dataset.state === "failed" && document.querySelector("#notice").textContent.includes(%q)`, says), 20*time.Second)
	}
}

// ways are the rows of the accounting panel's table of ways to epsilon.
const ways = `[...document.querySelector("#account-result table.ways").querySelectorAll("tbody tr")].map(r => [...r.children].slice(1, 3).map(c => Number(c.textContent.replaceAll("−", "-"))))`

// TestAccounting: the panel's figures are those of the package, an error stands
// at its field, and the address makes the same account again.
func TestAccounting(t *testing.T) {
	t.Parallel()
	want := must.Get(accounting.Answer(accounting.Query{Mechanism: accounting.KindGaussian, Sigma: new(1.1), Rate: new(0.01), Steps: new(1000), Delta: new(1e-6), AtEpsilon: new(1.5)}))(t)
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1")
	until(t, tab, `!document.querySelector("#certified-section").hidden`, 5*time.Second) // nothing moves any more
	enter(t, tab, "accounting")
	for id, value := range map[string]string{"a-sigma": "1.1", "a-rate": "0.01", "a-steps": "1000", "a-delta": "1e-6", "a-atEpsilon": "1.5"} {
		set(t, tab, id, value)
	}
	click(t, tab, "#account")
	// Of this account, not of one that was asked for before all fields were set.
	shown := fmt.Sprintf(`[...document.querySelectorAll("#account-result .headline")].some(p => p.textContent.includes("epsilon = %v at")) && location.hash.includes("a.atEpsilon=1.5")`, *want.Epsilon)
	until(t, tab, shown, 30*time.Second)
	check := func(tab *browser.Tab) {
		t.Helper()
		rows := eval[[][2]float64](t, tab, ways)
		if len(rows) != len(want.Epsilons) {
			t.Fatalf("%d ways to epsilon, want %d", len(rows), len(want.Epsilons))
		}
		for i, g := range want.Epsilons {
			if rows[i] != [2]float64{g.Epsilon, g.Delta} {
				t.Errorf("way %d: %v, want %+v", i, rows[i], g)
			}
		}
		if words := eval[string](t, tab, `[...document.querySelectorAll("#account-result .headline")].map(p => p.textContent).join(" ")`); !strings.Contains(words, fmt.Sprintf("epsilon = %v at", *want.Epsilon)) || !strings.Contains(words, "delta = ") {
			t.Errorf("it says %q, want epsilon = %v", words, *want.Epsilon)
		}
		until(t, tab, `document.querySelector("#account-result .picture > svg")`, 10*time.Second)
		if points := eval[int](t, tab, `[...document.querySelectorAll("#account-result details table tbody tr")].filter((r) => Number(r.children[0].textContent) > 1).length`); points != len(want.Curve) {
			t.Errorf("%d points in the table, want %d", points, len(want.Curve))
		}
		if !eval[bool](t, tab, `[...document.querySelectorAll("#account-result .picture > svg path[stroke='var(--first)']")].some(p => p.getAttribute("d").split("L").length > 3) && !/NaN|Infinity|undefined/.test(document.querySelector("#account-result").innerHTML)`) {
			t.Error("no picture, or one that holds what is no number")
		}
	}
	check(tab)

	// Its command makes the same account.
	cli := strings.Fields(eval[string](t, tab, `document.querySelector("#account-result pre").textContent`))
	out, err := exec.Command(program, append(cli[1:], "-format", "json")...).Output()
	var same accounting.Account
	if err == nil {
		err = json.Unmarshal(out, &same)
	}
	if err != nil || *same.Epsilon != *want.Epsilon || *same.Delta != *want.Delta {
		t.Errorf("%v: %v\n%s", cli, err, out)
	}

	fragment := eval[string](t, tab, `location.hash`)
	if !strings.HasPrefix(fragment, "#door=accounting&account=gaussian&") || !strings.Contains(fragment, "a.rate=0.01") {
		t.Errorf("the address is %s", fragment)
	}
	again := open(t, fragment)
	until(t, again, shown, 30*time.Second)
	check(again)
	if now := eval[string](t, again, `location.hash`); now != fragment {
		t.Errorf("the address %s became %s", fragment, now)
	}

	// Changes are answered without the button.
	for _, c := range []struct{ id, value, says string }{{"a-sigma", "0", "above 0"}, {"a-rate", "2", "at most 1"}} {
		old := eval[string](t, tab, fmt.Sprintf(`document.querySelector("#%s").value`, c.id))
		set(t, tab, c.id, c.value)
		until(t, tab, fmt.Sprintf(`document.querySelector("#%s").getAttribute("aria-invalid") === "true" && document.querySelector("#%[1]s-error").textContent.includes(%q)`, c.id, c.says), 5*time.Second)
		set(t, tab, c.id, old)
		until(t, tab, fmt.Sprintf(`!document.querySelector("#%s").hasAttribute("aria-invalid") && !document.querySelector("#account-result").classList.contains("old")`, c.id), 5*time.Second)
	}
	check(tab)

	kinds := eval[[]string](t, tab, `[...document.querySelector("#account-kind").options].map(o => o.value)`)
	if len(kinds) != len(accounting.Kinds()) {
		t.Errorf("the panel has kinds %v, want %v", kinds, accounting.Kinds())
	}
	for _, kind := range kinds {
		set(t, tab, "account-kind", kind)
		set(t, tab, "a-steps", "20")
		set(t, tab, "a-delta", "")
		until(t, tab, fmt.Sprintf(`location.hash.includes("&account=%s&") && document.querySelector("#account-result .headline").textContent.startsWith("epsilon =")`, kind), 5*time.Second)
		if eval[bool](t, tab, `/NaN|Infinity|undefined/.test(document.querySelector("#account-result").innerHTML)`) {
			t.Errorf("%s: what is shown holds what is no number", kind)
		}
	}
}
