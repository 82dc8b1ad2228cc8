package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/accounting"
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/e2e/browser"
)

const (
	firstCore  = "core.wasm"
	largerCore = "core-all.wasm"
)

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
	data, err := os.ReadFile(filepath.Join(dist, "build-info.json"))
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		Files []struct{ Name, SHA256 string }
	}
	if err := json.Unmarshal(data, &info); err != nil {
		t.Fatal(err)
	}
	for _, f := range info.Files {
		if f.Name == name {
			return f.SHA256
		}
	}
	t.Fatalf("build-info.json lacks %s", name)
	return ""
}

// TestFirstCoreAlone: what it knows needs no other, though the form shows all.
func TestFirstCoreAlone(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&samples=5000&trials=2&seed=7&workers=2")
	options := eval[[]string](t, tab, `[...document.querySelector("#mechanism").options].map(o => o.value)`)
	for _, name := range []string{"svt4", "rappor-once", "dp-sgd-microbatch"} {
		if !slices.Contains(options, name) {
			t.Errorf("the form lacks %s among %d mechanisms", name, len(options))
		}
	}
	click(t, tab, "#run")
	r := finish(t, tab, time.Minute)
	if r.Generator.CoreSHA256 != shaOf(t, firstCore) {
		t.Errorf("the report names core %s", r.Generator.CoreSHA256)
	}
	if a, b := asked(tab, firstCore), asked(tab, largerCore); a != 1 || b != 0 {
		t.Errorf("%s was asked for %d times, %s %d times; want 1 and 0", firstCore, a, largerCore, b)
	}
}

// TestLargerCoreFromAddress: an address that needs the larger core loads that
// alone, and it runs to the counts of the command line.
func TestLargerCoreFromAddress(t *testing.T) {
	t.Parallel()
	native := runAudit(t, "-mechanism", "rappor-once", "-samples", "5000", "-trials", "2", "-seed", "7")
	tab := open(t, "#v=1&mechanism=rappor-once&samples=5000&trials=2&seed=7&workers=2")
	click(t, tab, "#run")
	r := finish(t, tab, time.Minute)
	sameCounts(t, "rappor-once in the browser against the command line", r, native)
	if r.Generator.CoreSHA256 != shaOf(t, largerCore) {
		t.Errorf("the report names core %s", r.Generator.CoreSHA256)
	}
	if a, b := asked(tab, firstCore), asked(tab, largerCore); a != 0 || b != 1 {
		t.Errorf("%s was asked for %d times, %s %d times; want 0 and 1", firstCore, a, largerCore, b)
	}
}

// TestLargerCoreByChoice: choosing in the form loads it once, what is shown and
// typed stays, and the page stays with it.
func TestLargerCoreByChoice(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&samples=5000&trials=2&seed=7&workers=2")
	click(t, tab, "#run")
	finish(t, tab, time.Minute)
	before := eval[string](t, tab, `document.querySelector("#verdict").textContent`)
	// Both are asked for before either can have come.
	set(t, tab, "mechanism", "rappor-once")
	set(t, tab, "finder", "patterns")
	until(t, tab, `document.body.dataset.state === "loading"`, 5*time.Second)
	set(t, tab, "seed", "9")
	until(t, tab, `document.body.dataset.state === "ready" && window.dpscope.engine.larger && location.hash.includes("mechanism=rappor-once") && location.hash.includes("seed=9")`, 30*time.Second)
	if now := eval[string](t, tab, `document.querySelector("#verdict").textContent`); now != before {
		t.Errorf("the result changed: %q", now)
	}
	if hash := eval[string](t, tab, `location.hash`); !strings.Contains(hash, "finder=patterns") || !strings.Contains(hash, "samples=5000") {
		t.Errorf("the address is %s", hash)
	}
	click(t, tab, "#run")
	if r := finish(t, tab, time.Minute); r.Inputs.Mechanism != "rappor-once" || r.Settings.Finder != "patterns" || r.Generator.CoreSHA256 != shaOf(t, largerCore) {
		t.Errorf("ran %s with %s on core %s", r.Inputs.Mechanism, r.Settings.Finder, r.Generator.CoreSHA256)
	}
	set(t, tab, "mechanism", "svt4")
	set(t, tab, "finder", "")
	until(t, tab, `location.hash.includes("mechanism=svt4")`, 5*time.Second)
	click(t, tab, "#run")
	if r := finish(t, tab, time.Minute); r.Generator.CoreSHA256 != shaOf(t, largerCore) {
		t.Errorf("the page went back to core %s", r.Generator.CoreSHA256)
	}
	if a, b := asked(tab, firstCore), asked(tab, largerCore); a != 1 || b != 1 {
		t.Errorf("%s was asked for %d times, %s %d times; want 1 and 1", firstCore, a, largerCore, b)
	}
}

// TestLargerCoreVerifies: a report that needs it opens without it and is
// replayed with it.
func TestLargerCoreVerifies(t *testing.T) {
	t.Parallel()
	report, err := audit.Canonical(runAudit(t, "-mechanism", "rappor-once", "-samples", "3000", "-trials", "2", "-seed", "1"))
	if err != nil {
		t.Fatal(err)
	}
	tab := open(t, "")
	drop(t, tab, "report.json", string(report))
	until(t, tab, `window.dpscope.report.inputs.mechanism === "rappor-once"`, 5*time.Second)
	if n := asked(tab, largerCore); n != 0 {
		t.Errorf("opening asked for %s", largerCore)
	}
	click(t, tab, "#verify")
	until(t, tab, `document.body.dataset.state === "done" && document.querySelector("#verification").dataset.ok === "true"`, 60*time.Second)
	if got := eval[string](t, tab, `window.dpscope.report.inputs.mechanism`); got != "rappor-once" {
		t.Errorf("%s is shown", got)
	}
}

// without has the page's next requests for the larger core end as the
// JavaScript says; with ends that.
func without(t *testing.T, tab *browser.Tab, answer string) {
	t.Helper()
	eval[bool](t, tab, `(window.honest ??= window.fetch, window.tries = 0, window.fetch = (url, options) => String(url).includes("core-all.wasm") ? (window.tries++, `+answer+`) : window.honest(url, options), true)`)
}

func with(t *testing.T, tab *browser.Tab) {
	t.Helper()
	eval[bool](t, tab, `(window.fetch = window.honest, true)`)
}

// press presses the button of the notice with a key.
func press(t *testing.T, tab *browser.Tab, key string) {
	t.Helper()
	click(t, tab, fmt.Sprintf(`#notice [data-key="%s"] button`, key))
}

// TestLargerCoreFails: a failure is named, all else goes on, what was refused is
// not asked for by every keystroke, and another try succeeds.
func TestLargerCoreFails(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&samples=5000&trials=2&seed=7&workers=2")
	without(t, tab, `Promise.reject(new TypeError("no network"))`)
	set(t, tab, "mechanism", "rappor-once")
	until(t, tab, `document.querySelector("#notice").textContent.includes("no network") && document.querySelector("#mechanism-error").textContent.includes("larger core") && document.body.dataset.state === "ready"`, 5*time.Second)
	set(t, tab, "seed", "8")
	time.Sleep(400 * time.Millisecond) // longer than the page waits for more changes
	if n := eval[int](t, tab, `window.tries`); n != 1 {
		t.Errorf("the larger core was asked for %d times, want 1", n)
	}
	set(t, tab, "mechanism", "svt4")
	until(t, tab, `location.hash.includes("seed=8")`, 5*time.Second)
	click(t, tab, "#run")
	finish(t, tab, time.Minute)
	set(t, tab, "mechanism", "rappor-once")
	until(t, tab, `document.querySelector("#mechanism-error").textContent.includes("larger core")`, 5*time.Second)
	with(t, tab)
	press(t, tab, "core")
	until(t, tab, `window.dpscope.engine.larger && document.body.dataset.state === "ready" && location.hash.includes("rappor-once") && document.querySelector("#notice").children.length === 0`, 30*time.Second)
}

// TestLargerCoreStops: Stop ends its download, the first core goes on, and Run
// asks for it again and runs.
func TestLargerCoreStops(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&samples=5000&trials=2&seed=7&workers=2")
	// It comes up to its middle and no further.
	without(t, tab, `window.honest(url, options).then(answer => { let bytes = 0; return new Response(answer.body.pipeThrough(new TransformStream({transform(chunk, out) {
		bytes += chunk.length;
		out.enqueue(chunk);
		if (bytes > 4e6) return new Promise(() => {});
	}})), {headers: answer.headers}) })`)
	set(t, tab, "mechanism", "rappor-once")
	until(t, tab, `window.tries === 1 && /1\.\d MB… [1-9]\d? %/.test(document.querySelector("#status").textContent)`, 10*time.Second)
	if eval[bool](t, tab, `!document.querySelector("#run").disabled || document.querySelector("#stop").disabled`) {
		t.Error("while it loads: Run must be disabled and Stop enabled")
	}
	click(t, tab, "#stop")
	until(t, tab, `document.querySelector("#notice").textContent.includes("was stopped") && document.body.dataset.state === "ready"`, 5*time.Second)
	with(t, tab)
	click(t, tab, "#run")
	if r := finish(t, tab, time.Minute); r.Inputs.Mechanism != "rappor-once" {
		t.Errorf("ran %s", r.Inputs.Mechanism)
	}
}

// TestLargerCoreAfterRun: chosen during a run, it comes when the run has ended.
func TestLargerCoreAfterRun(t *testing.T) {
	t.Parallel()
	tab := open(t, long)
	click(t, tab, "#run")
	until(t, tab, certifying, time.Minute)
	set(t, tab, "mechanism", "rappor-once")
	set(t, tab, "samples", "5000")
	until(t, tab, `document.querySelector("#mechanism-error").textContent.includes("when the run has ended")`, 5*time.Second)
	if n := asked(tab, largerCore); n != 0 {
		t.Error("it was loaded during the run")
	}
	click(t, tab, "#stop")
	until(t, tab, `window.dpscope.engine.larger && document.body.dataset.state === "ready" && location.hash.includes("rappor-once") && location.hash.includes("samples=5000")`, 30*time.Second)
	if r := reportOf(t, tab); r.Inputs.Mechanism != "svt4" || r.Termination.Reason != audit.Stopped {
		t.Errorf("the run ended as %s of %s", r.Termination.Reason, r.Inputs.Mechanism)
	}
}

// TestIncompleteSite: a site that lacks the larger core, or the list of all that
// there is, still runs what the first core knows; one that lacks the workers' script
// says so.
func TestIncompleteSite(t *testing.T) {
	t.Parallel()
	without := func(prefix string) *httptest.Server {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(dist)); err != nil {
			t.Fatal(err)
		}
		gone, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
		if err != nil || len(gone) == 0 {
			t.Fatalf("nothing begins with %s: %v", prefix, err)
		}
		for _, name := range gone {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		server := httptest.NewServer(http.FileServer(http.Dir(dir)))
		t.Cleanup(server.Close)
		return server
	}
	visit := func(server *httptest.Server, fragment string) *browser.Tab {
		tab, err := browser.Open(profile(t), server.URL+"/"+fragment)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tab.Close)
		until(t, tab, `document.body.dataset.state === "ready"`, 30*time.Second)
		return tab
	}
	run := func(tab *browser.Tab) {
		set(t, tab, "mechanism", "svt4")
		set(t, tab, "samples", "5000")
		until(t, tab, `location.hash.includes("mechanism=svt4") && location.hash.includes("samples=5000")`, 5*time.Second)
		click(t, tab, "#run")
		finish(t, tab, time.Minute)
	}
	for _, fragment := range []string{"#v=1&mechanism=rappor-once&p.bits=8", "#v=1&account=laplace&a.steps=3"} {
		tab := visit(without(largerCore), fragment)
		until(t, tab, `document.querySelector("#notice").textContent.includes("core-all.wasm could not be fetched: the server answered 404")`, 5*time.Second)
		if strings.Contains(fragment, "rappor") && !eval[bool](t, tab, `document.querySelector("#mechanism").value === "rappor-once" && document.querySelector("#p-bits").value === "8" && document.querySelector("#mechanism-error").textContent.includes("larger core")`) {
			t.Error("the form lost what the address says")
		}
		if strings.Contains(fragment, "account") && !eval[bool](t, tab, `document.querySelector("#account-kind").value === "laplace" && document.querySelector("#a-steps").value === "3"`) {
			t.Error("the panel lost what the address says")
		}
		press(t, tab, "core") // tries in vain
		until(t, tab, `document.body.dataset.state === "ready" && document.querySelector("#notice").textContent.includes("404")`, 5*time.Second)
		run(tab)
	}
	tab := visit(without("catalogue.json"), "")
	if !eval[bool](t, tab, `document.querySelector("#accounting").hidden && document.querySelector("#calibration").hidden && ![...document.querySelector("#mechanism").options].some(o => o.value === "rappor-once")`) {
		t.Error("without the list the page offers what it cannot know of")
	}
	run(tab)
	mute, err := browser.Open(profile(t), without("worker.js").URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(mute.Close)
	until(t, mute, `document.body.dataset.state === "failed" && document.querySelector("#notice").textContent.includes("worker.js could not be loaded")`, 20*time.Second)
}

// ways are the rows of the accounting panel's table of ways to epsilon.
const ways = `[...document.querySelector("#account-result table.ways").querySelectorAll("tbody tr")].map(r => [...r.children].slice(1, 3).map(c => Number(c.textContent.replaceAll("−", "-"))))`

// TestAccounting: the panel's figures are those of the package, an error stands
// at its field, and the address makes the same account again.
func TestAccounting(t *testing.T) {
	t.Parallel()
	want, err := accounting.Answer(accounting.Query{Mechanism: accounting.KindGaussian, Sigma: new(1.1), Rate: new(0.01), Steps: new(1000), Delta: new(1e-6), AtEpsilon: new(1.5)})
	if err != nil {
		t.Fatal(err)
	}
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1")
	until(t, tab, `!document.querySelector("#certified-section").hidden`, 5*time.Second) // nothing moves any more
	click(t, tab, "#accounting > summary")
	until(t, tab, `document.querySelector("#account-cost").textContent.includes("MB")`, 5*time.Second)
	if n := asked(tab, largerCore); n != 0 {
		t.Error("opening the panel loads the larger core before it has said its size")
	}
	for id, value := range map[string]string{"a-sigma": "1.1", "a-rate": "0.01", "a-steps": "1000", "a-delta": "1e-6", "a-atEpsilon": "1.5"} {
		set(t, tab, id, value)
	}
	click(t, tab, "#account")
	const shown = `document.querySelector("#account-result .headline")`
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
		points := eval[[][2]float64](t, tab, `[...document.querySelectorAll("#account-result details table tbody tr")].map(r => [...r.children].map(c => Number(c.textContent.replaceAll("−", "-")))).filter(p => p[0] > 1)`)
		if len(points) != len(want.Curve) {
			t.Fatalf("%d points in the table, want %d", len(points), len(want.Curve))
		}
		for i, p := range want.Curve {
			if points[i] != [2]float64{p.Alpha, p.Divergence} {
				t.Errorf("point %d: %v, want %v", i, points[i], p)
			}
		}
		if !eval[bool](t, tab, `document.querySelectorAll("#account-result .picture > svg path.estimate").length === 1 && !/NaN|Infinity|undefined/.test(document.querySelector("#account-result").innerHTML)`) {
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
	if !strings.Contains(fragment, "mechanism=svt4") || !strings.Contains(fragment, "&account=gaussian") || !strings.Contains(fragment, "a.rate=0.01") {
		t.Errorf("the address is %s", fragment)
	}
	again := open(t, fragment)
	until(t, again, shown, 30*time.Second)
	check(again)
	if n := asked(again, firstCore); n != 0 {
		t.Errorf("an address with an account loads %s in vain", firstCore)
	}
	if now := eval[string](t, again, `location.hash`); now != fragment {
		t.Errorf("the address %s became %s", fragment, now)
	}

	// By now changes are answered without the button.
	for _, c := range []struct{ id, value, says string }{{"a-sigma", "0", "above 0"}, {"a-rate", "2", "at most 1"}, {"a-steps", "1.5", "whole number"}, {"a-delta", "0", "above 0"}} {
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
	if err := resize(tab, 360, 740); err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		set(t, tab, "account-kind", kind)
		set(t, tab, "a-steps", "20")
		set(t, tab, "a-delta", "")
		until(t, tab, fmt.Sprintf(`location.hash.includes("&account=%s&") && document.querySelector("#account-result .headline").textContent.startsWith("epsilon =")`, kind), 5*time.Second)
		if eval[bool](t, tab, `/NaN|Infinity|undefined/.test(document.querySelector("#account-result").innerHTML)`) {
			t.Errorf("%s: what is shown holds what is no number", kind)
		}
		eval[bool](t, tab, `(document.querySelectorAll("#accounting details").forEach(d => { d.open = true }), true)`)
		if wide := eval[string](t, tab, overflowing); wide != "" {
			t.Errorf("%s: wider than 360 px: %s", kind, wide)
		}
	}
}
