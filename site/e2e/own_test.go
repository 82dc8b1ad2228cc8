package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// The panel of the user's own mechanism.
const (
	ownSaid = `document.querySelector("#own-status").textContent`
	ownTold = ownSaid + ` + " " + document.querySelector("#verdict").innerText.trim().replaceAll(/\s*\n\s*/g, ": ")`
	ownIdle = `!document.querySelector("#own-run").disabled`
	// ownStopped: a run of emptied status came to its end.
	ownStopped = ownIdle + ` && !["", "Trying the mechanism…"].includes(` + ownSaid + `)`
)

// owning opens the panel.
func owning(t *testing.T) *browser.Tab {
	t.Helper()
	tab := open(t, "")
	enter(t, tab, "code")
	until(t, tab, editor+` !== null`)
	return tab
}

// sums are three mechanisms that ask for n outputs, each a sum of values with noise: a
// correct one, one whose rows lie in [0, 3] while its noise counts on [0, 1], and one that
// rounds the noise and not the sum, whose fraction shows through.
var sums = []struct{ domain, returns string }{
	{"0:1", "sum + random.laplace(1)"},
	{"0:3", "sum + random.laplace(1)"},
	{"0:1", "sum + Math.round(random.laplace(1))"},
}

// example begins with a template, for its settings, and writes one of the sums.
func example(t *testing.T, tab *browser.Tab, number int) {
	t.Helper()
	template(t, tab, "noisy count")
	set(t, tab, "own-domain", sums[number-1].domain)
	write(t, tab, "function mechanism(dataset, n, random) {\n  let sum = 0;\n  for (const [value] of dataset) sum += value;\n  return Array.from({ length: n }, () => "+sums[number-1].returns+");\n}\n")
}

// template begins with one of the panel's templates.
func template(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	eval[bool](t, tab, fmt.Sprintf(`((select) => { select.value = %q; select.dispatchEvent(new Event("input", {bubbles: true})); select.dispatchEvent(new Event("change", {bubbles: true})); return select.value === %[1]q; })(document.querySelector("#own-template"))`, name))
}

// write puts code into the editor.
func write(t *testing.T, tab *browser.Tab, code string) { t.Helper(); set(t, tab, "own-code", code) }

// runOwn runs what the panel says and returns the report.
func runOwn(t *testing.T, tab *browser.Tab) pair.Report {
	t.Helper()
	before := eval[string](t, tab, `JSON.stringify(window.dpscope.report)`)
	click(t, tab, "#own-run")
	until(t, tab, ownIdle+` && `+ownSaid+` !== "Trying the mechanism…"`)
	if err := tab.Until(fmt.Sprintf(`JSON.stringify(window.dpscope.report) !== %q`, before)); err != nil {
		t.Fatalf("no new report: %s", eval[string](t, tab, ownSaid))
	}
	noDrift(t, tab)
	return reportOf(t, tab)
}

// refusedOwn runs what the panel says and returns why that is refused.
func refusedOwn(t *testing.T, tab *browser.Tab) string {
	t.Helper()
	before := eval[string](t, tab, `JSON.stringify(window.dpscope.report)`)
	said := stoppedOwn(t, tab)
	if now := eval[string](t, tab, `document.querySelector("#verdict").dataset.verdict + " " + document.querySelector("#verdict .headline").textContent`); !strings.HasPrefix(now, "error ") || before != eval[string](t, tab, `JSON.stringify(window.dpscope.report)`) {
		t.Errorf("there is a result: %s", now)
	}
	return said
}

// stoppedOwn runs what the panel says and returns what ended it.
func stoppedOwn(t *testing.T, tab *browser.Tab) string {
	t.Helper()
	eval[bool](t, tab, `(document.querySelector("#own-status").textContent = "", true)`)
	click(t, tab, "#own-run")
	until(t, tab, ownStopped)
	return eval[string](t, tab, ownTold)
}

// dropFile drops a module on the page.
func dropFile(t *testing.T, tab *browser.Tab, path string) {
	t.Helper()
	drop(t, tab, filepath.Base(path), string(must.Get(os.ReadFile(path))(t)))
	until(t, tab, fmt.Sprintf(`document.querySelector("#own-file").textContent.includes(%q)`, filepath.Base(path)))
}

// TestOwn: a function gets the verdict that it deserves, with its code in the report, which
// verifies; how long it takes is said on the way. A module that is dropped is audited as
// natively; what is wrong with one is said as on the command line.
func TestOwn(t *testing.T) {
	t.Parallel()
	tab := owning(t)
	eval[bool](t, tab, `(window.paces = 0, new MutationObserver(() => { if (/^[^,]+, \d+ %, (about|at most) .+ left/.test(`+ownSaid+`)) paces++; }).observe(document.querySelector("#own-status"), {childList: true}), true)`)
	example(t, tab, 3)
	set(t, tab, "own-samples", "20000")
	set(t, tab, "own-seed", "2")
	r := runOwn(t, tab)
	if r.Verdict != audit.Violation || *r.Tables[0].Rows[0].LowerBound < 2.4 || eval[int](t, tab, `paces`) == 0 {
		t.Errorf("%s; or how long it takes was never said", r.Summary)
	}
	if b := r.Inputs.User; b == nil || b.Kind != audit.UserScript || b.Code != eval[string](t, tab, `document.querySelector("#own-code").value`) || b.Unseeded != "" || len(b.SHA256) != 64 {
		t.Errorf("%+v", b)
	}
	verifyOwn(t, tab)
	if !eval[bool](t, tab, `document.querySelector("#copy-command").disabled && !document.querySelector("#background").textContent.includes("dpscope audit")`) {
		t.Error("a command that there is none of")
	}

	const path = "../../docs/examples/abi/count.wasm"
	dropFile(t, tab, path)
	for id, value := range map[string]string{"samples": "3000", "seed": "7", "epsilon": "0.8"} {
		set(t, tab, "own-"+id, value)
	}
	r = runOwn(t, tab)
	sameCounts(t, "a module", r, runAudit(t, "-wasm", path, "-epsilon", "0.8", "-samples", "3000", "-seed", "7", "-beta", "0.001"))
	if !strings.HasPrefix(r.Reproduce.CLI, "dpscope audit -wasm count.wasm") {
		t.Error(r.Reproduce.CLI)
	}
	verifyOwn(t, tab)

	bad, data := filepath.Join(t.TempDir(), "bad.wasm"), must.Get(os.ReadFile(path))(t)
	for _, c := range []struct{ old, new, says string }{
		{"sample", "Sample", "export sample is missing"}, {"\x10\x03\xa0", "\x00\x01\x01", "sample is ended by a trap"}, // unreachable in it
	} {
		must.Do(t, os.WriteFile(bad, []byte(strings.Replace(string(data), c.old, c.new, 1)), 0o600))
		dropFile(t, tab, bad)
		if said := refusedOwn(t, tab); !strings.Contains(said, c.says) {
			t.Errorf("it says %s\nwant %q", said, c.says)
		}
	}
	click(t, tab, "#own-forget")
	if !eval[bool](t, tab, `document.activeElement.id === "own-editor" && document.activeElement.checkVisibility()`) {
		t.Error("the editor is not back")
	}
}

// escapes is code that tries every way out, and tells in the end what came of
// each.
const escapes = `const URL_ = "%s";
function mechanism(dataset, n, random) {
  const g = globalThis;
  g.calls = (g.calls ?? 0) + 1;
  if (g.calls === 1) {
    const log = g.log = {};
    const way = (name, go) => {
      log[name] = "waits";
      try {
        const result = go((said) => { log[name] = said; });
        if (result?.then) result.then(() => { log[name] = "REACHED"; }, (error) => { log[name] = error.name; });
        else if (log[name] === "waits" && result !== undefined) log[name] = "REACHED " + result;
      } catch (error) {
        log[name] = error.name;
      }
    };
    const later = (object, say, good) => { object[good] = () => say("REACHED"); object.onerror = () => say("error"); };
    way("fetch", () => fetch(URL_ + "fetch", { mode: "no-cors" }));
    way("own site", () => fetch("%s" + "index.html", { mode: "no-cors" }));
    way("XMLHttpRequest", () => { const x = new XMLHttpRequest(); x.open("GET", URL_ + "xhr", false); x.send(); return x.status; });
    way("WebSocket", (say) => later(new WebSocket(URL_.replace("http", "ws") + "socket"), say, "onopen"));
    way("EventSource", (say) => later(new EventSource(URL_ + "events"), say, "onopen"));
    way("importScripts", () => { importScripts(URL_ + "script.js"); return "all"; });
    way("import", () => import(URL_ + "module.js"));
    way("Worker", (say) => later(new Worker(URL_ + "worker.js"), say, "onmessage"));
    way("nested", (say) => new Worker(URL.createObjectURL(new Blob(["fetch('" + URL_ + "nested', {mode: 'no-cors'}).then(() => postMessage('REACHED'), (error) => postMessage(error.name))"]))).onmessage = ({ data }) => { say(data); });
    way("sendBeacon", () => navigator.sendBeacon(URL_ + "beacon"));
    way("localStorage", () => localStorage.length);
    way("indexedDB", () => new Promise((yes, no) => { const r = indexedDB.open("x"); r.onsuccess = yes; r.onerror = () => no(new Error()); }));
    way("caches", () => caches.open("x"));
    way("storage", () => navigator.storage.getDirectory());
    way("cookie", () => document.cookie);
    way("cookieStore", () => cookieStore.getAll());
    way("parent", () => parent.document);
    way("window", () => window.name);
    way("RTCPeerConnection", () => new RTCPeerConnection().signalingState);
    way("BroadcastChannel", () => { new BroadcastChannel("dpscope").postMessage("out"); });
    way("postMessage", () => { postMessage({ type: "dead", reason: "forged" }); });
    log.origin = self.origin;
  }
  if (g.calls === 2 || g.calls === 3) for (const end = Date.now() + 300; Date.now() < end;);
  if (g.calls === 6) throw new Error(JSON.stringify(g.log, (_, said) => said.slice?.(0, 7) ?? said)); // a message is cut at 500 characters
  return Array.from({ length: n }, () => random.laplace(1));
}
`

// openly is a program for the sandbox that tries each way out with all that a browser
// gives to a worker.
const openly = `onmessage = async ({ data: { port } }) => {
  const url = "%s", log = {}, heard = (source, good) => new Promise((yes, no) => { source[good] = yes; source.onerror = () => no(new Error()); });
  const ways = {
    fetch: () => fetch(url, { mode: "no-cors" }),
    site: () => fetch("%s" + "index.html", { mode: "no-cors" }),
    xhr: () => { const x = new XMLHttpRequest(); x.open("GET", url, false); x.send(); },
    socket: () => heard(new WebSocket(url.replace("http", "ws")), "onopen"),
    events: () => heard(new EventSource(url), "onopen"),
    scripts: () => importScripts(url),
    module: () => import(url),
    worker: () => heard(new Worker(url), "onmessage"),
    transport: () => new WebTransport(url.replace("http:", "https:")).ready,
  };
  for (const [name, go] of Object.entries(ways)) {
    log[name] = "waits";
    try {
      await go();
      log[name] = "REACHED";
    } catch (error) {
      log[name] = error.name;
    }
  }
  port.postMessage(JSON.stringify(log));
}`

// TestOwnSandbox: code reaches no server, storage, cookie or page, whichever way it
// tries; a server that everyone may ask hears nothing.
func TestOwnSandbox(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		t.Errorf("asked for %s", r.URL)
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}))
	defer server.Close()
	tab := visit(t, site) // to which the shell tells what the policy refuses in the sandbox
	until(t, tab, `document.body.dataset.state === "ready"`)
	enter(t, tab, "code")
	eval[bool](t, tab, `(() => {
		window.heard = [];
		new BroadcastChannel("dpscope").onmessage = (event) => heard.push(event.data);
		addEventListener("message", (event) => heard.push(event.data));
		localStorage.setItem("secret", "here");
		document.cookie = "secret=here";
		return true;
	})()`)
	write(t, tab, fmt.Sprintf(escapes, server.URL+"/", site))
	said := stoppedOwn(t, tab)
	t.Log(said)
	if strings.Contains(said, "REACHED") || !strings.Contains(said, `"origin":"null"`) {
		t.Errorf("it says %s", said)
	}
	for _, way := range []string{"fetch", "own site", "XMLHttpRequest", "WebSocket", "EventSource", "importScripts", "import", "Worker", "nested", "sendBeacon", "localStorage", "indexedDB", "caches", "storage", "cookie", "cookieStore", "parent", "window", "RTCPeerConnection"} {
		if strings.Contains(said, fmt.Sprintf(`"%s":"waits"`, way)) || !strings.Contains(said, fmt.Sprintf(`"%s":"`, way)) {
			t.Errorf("%s: nothing came of it", way)
		}
	}
	if heard := eval[string](t, tab, `JSON.stringify(heard)`); heard != `["dpscope-sandbox"]` {
		t.Errorf("the page heard %s, want only that the sandbox is there", heard)
	}
	if n := eval[int](t, tab, `document.querySelectorAll("iframe").length`); n != 0 {
		t.Errorf("%d sandboxes are left", n)
	}
	// The policy alone holds too, without what the program takes away.
	said = eval[string](t, tab, fmt.Sprintf(`new Promise((resolve) => {
		const frame = document.createElement("iframe"), { port1, port2 } = new MessageChannel();
		frame.sandbox = "allow-scripts";
		frame.src = "sandbox.html";
		frame.onload = () => frame.contentWindow.postMessage({ port: port2, program: %q }, "*", [port2]);
		port1.onmessage = ({ data }) => { frame.remove(); resolve(data); };
		document.body.append(frame);
	})`, fmt.Sprintf(openly, server.URL+"/", site)))
	t.Log(said)
	if strings.Contains(said, "REACHED") || strings.Contains(said, "waits") || strings.Count(said, ":") != 9 {
		t.Errorf("by its policy alone it says %s", said)
	}
	// Without the frame's sandbox the page of the sandbox runs nothing.
	if got := eval[string](t, tab, `new Promise((resolve) => {
		const frame = document.createElement("iframe");
		frame.src = "sandbox.html";
		frame.onload = () => {
			const { port1, port2 } = new MessageChannel();
			port1.onmessage = ({ data }) => resolve(data.fault ?? "ran");
			setTimeout(resolve, 1500, frame.contentDocument ? "same origin" : "nothing");
			frame.contentWindow.postMessage({ port: port2, program: "onmessage = ({ data }) => data.port.postMessage({ fault: self.origin })" }, "*", [port2]);
			port1.postMessage({ id: 1, values: new Uint8Array(0), columns: 1, n: 1, seed: 1 });
		};
		document.body.append(frame);
	})`); got != "nothing" && got != "null" {
		t.Errorf("in a plain frame: %s", got)
	}
}

// TestOwnFaults: what is wrong with a function is said with its line, which is marked in the
// editor; an endless loop is ended, also one that begins after the trial, and the page answers
// meanwhile. Stop ends a trial at once, and the page goes on.
func TestOwnFaults(t *testing.T) {
	t.Parallel()
	tab := owning(t)
	faults := []struct{ name, code, says, marked string }{ // more in site/types
		{"exception", "function mechanism(dataset, n) {\n  const x = null;\n  return x.length;\n}", "The code failed in line 3: TypeError", "  return x.length;"},
		{"words without end", "function mechanism() { throw new Error('\\u001b[31m\\u202e' + 'x'.repeat(5e6)) }", "The code failed in line 1: Error: [31m xxx", ""},
		{"loop", "function mechanism(d, n) { for (;;); }", "still running after 2s", ""},
		{"syntax", "function mechanism(dataset, n) {\n  return [;\n}", "The code failed in line 2: SyntaxError", "  return [;"},
		{"no seed", "function mechanism(d, n) { return Array.from({length: n}, (_, i) => i) }", "ignores its seed", ""},
	}
	for _, c := range faults[:testsize.Of(3, len(faults))] {
		write(t, tab, c.code)
		if said := refusedOwn(t, tab); !strings.Contains(said, c.says) || len(said) > 999 {
			t.Errorf("%s: %.999s\nwant %q", c.name, said, c.says)
		}
		if at := eval[string](t, tab, `document.activeElement.id + "," + (document.activeElement.getAttribute("aria-invalid") ?? "")`); at != "own-editor,true" {
			t.Errorf("%s: the focus is at %s", c.name, at)
		}
		if marked := eval[string](t, tab, `document.getSelection().toString()`); c.marked != "" && marked != c.marked {
			t.Errorf("%s: %q is marked", c.name, marked)
		}
	}
	for _, c := range []struct{ field, value, says string }{
		{"own-epsilon", "", "epsilon is missing"}, {"own-domain", "1:0", "the lower one first"},
	} {
		example(t, tab, 1)
		set(t, tab, c.field, c.value)
		eval[bool](t, tab, `(scrollTo(0, 0), true)`) // what is pinned covers nothing there
		if said := refusedOwn(t, tab); !strings.Contains(said, c.says) {
			t.Errorf("%s = %q: %s", c.field, c.value, said)
		}
		if at := eval[string](t, tab, `document.activeElement.id`); at != c.field {
			t.Errorf("%s = %q: the focus is at %s", c.field, c.value, at)
		}
	}

	if testsize.All() { // ten seconds of it
		example(t, tab, 1)
		write(t, tab, "function mechanism(d, n, r) {\n  if (n > 1000) for (;;);\n  return Array.from({length: n}, () => r.laplace(1));\n}")
		click(t, tab, "#own-run")
		until(t, tab, ownIdle+` && `+ownSaid+`.includes("still running after 10s")`)
	}
	example(t, tab, 1) // with a domain that is none no iframe stays
	write(t, tab, "function mechanism() { for (;;); }")
	click(t, tab, "#own-run")
	until(t, tab, `document.querySelectorAll("iframe").length === 1`)
	click(t, tab, "#own-stop")
	until(t, tab, ownIdle+` && `+ownSaid+`.includes("Stopped") && document.querySelectorAll("iframe").length === 0`)
	example(t, tab, 1)
	set(t, tab, "own-samples", "2000")
	set(t, tab, "own-seed", "3") // it is at its claim exactly: one seed of twenty accuses it
	if r := runOwn(t, tab); r.Verdict == audit.Violation {
		t.Error(r.Summary)
	}
}

// TestOwnReport: a report with code opens with the code in the editor, runs
// nothing, and replays at a click; outputs that no seed fixes are only recomputed.
func TestOwnReport(t *testing.T) {
	t.Parallel()
	tab := owning(t)
	code := "// mine\nfunction mechanism(dataset, n) {\n  return Array.from({length: n}, () => Float64Array.of(dataset.length - Math.log(Math.random()), 1));\n}\n"
	write(t, tab, code)
	set(t, tab, "own-samples", "2000")
	set(t, tab, "own-rows", "0:2")
	r := runOwn(t, tab)
	if r.Inputs.Unseeded == "" || len(r.Inputs.User.Columns) != 2 || r.Inputs.User.Datasets.MaxRows != 2 {
		t.Errorf("%+v", r.Inputs)
	}
	data := must.Get(audit.Canonical(r))(t)
	goTo(t, tab, svt4+"2")
	const written = "// not to be lost"
	write(t, tab, written)
	drop(t, tab, "report.json", string(data))
	until(t, tab, `!document.querySelector("#own").hidden && document.querySelector("#origin").textContent.includes("report.json")`)
	if got := eval[string](t, tab, `document.querySelector("#own-code").value`); got != code {
		t.Errorf("the editor holds %q", got)
	}
	if n := eval[int](t, tab, `document.querySelectorAll("iframe").length`); n != 0 {
		t.Error("opening a report starts something")
	}
	if got := eval[string](t, tab, `document.querySelector("#own-rows").value + " " + document.querySelector("#own-samples").value`); got != "0:2 2000" {
		t.Errorf("the panel's fields hold %s", got)
	}
	click(t, tab, "#verify")
	until(t, tab, `document.querySelector(".verification").textContent.includes("cannot be drawn again") && `+ownIdle)
}
