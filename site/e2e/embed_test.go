package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// An audit that takes a second or two, as attributes, as an address and as flags.
const (
	embedAttributes = `mechanism="svt4" epsilon="1" samples="20000" trials="2" seed="42" workers="2"`
	embedState      = `mechanism=svt4&epsilon=1&samples=20000&trials=2&seed=42&workers=2`
	endless         = `mechanism="svt1" epsilon="1" samples="1000000000" trials="2" workers="2"`
)

var embedFlags = []string{"-mechanism", "svt4", "-epsilon", "1", "-samples", "20000", "-trials", "2", "-seed", "42"}

// log keeps what elements and frames say, in order: [what, id or type, detail].
const logScript = `<script>
window.said = [];
for (const type of ["ready", "progress", "result", "error", "config-change"]) document.addEventListener("dpaudit-" + type, (e) => said.push([type, e.target.dataset.name, e.detail]));
addEventListener("message", (e) => { if (e.data?.dpaudit) said.push([e.data.type, e.origin, e.data.detail]); });
window.one = (name) => document.querySelector("[data-name=" + name + "]");
</script>`

// embedding opens a page of another origin that has the element's script and a
// body. What is complained about fails the test, but for what is allowed.
func embedding(t *testing.T, body string, allowed ...string) *browser.Tab {
	t.Helper()
	return hosting(t, "127.0.0.1", fmt.Sprintf(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Host</title><body>%s%s<script defer src="%sdp-audit.js"></script></body></html>`, logScript, body, site), allowed...)
}

// hosting opens a page of another origin, on a name of this machine.
func hosting(t *testing.T, name, text string, allowed ...string) *browser.Tab {
	t.Helper()
	return hostingFiles(t, name, map[string]string{"/": text}, allowed...)
}

// hostingFiles is hosting of a page at / and of further files, by their paths.
func hostingFiles(t *testing.T, name string, files map[string]string, allowed ...string) *browser.Tab {
	t.Helper()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, there := files[r.URL.Path]
		if !there {
			w.WriteHeader(http.StatusNoContent) // no icon
			return
		}
		w.Header().Set("Content-Type", cmp.Or(map[string]string{".svg": "image/svg+xml", ".json": "application/json", ".js": "text/javascript", ".css": "text/css"}[path.Ext(r.URL.Path)], "text/html; charset=utf-8"))
		fmt.Fprint(w, text)
	}))
	t.Cleanup(host.Close)
	address := strings.Replace(host.URL, "127.0.0.1", name, 1)
	tab, err := browser.Open(profile(t), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, e := range tab.Errors() {
			if !slices.ContainsFunc(allowed, func(a string) bool { return strings.Contains(e, a) }) {
				t.Errorf("the page complains: %s", e)
			}
		}
		for _, url := range tab.Requests() {
			known := slices.ContainsFunc(allowed, func(a string) bool { return strings.Contains(url, a) })
			if !known && !strings.HasPrefix(url, site) && !strings.HasPrefix(url, address) && !strings.HasPrefix(url, "blob:") && !strings.HasPrefix(url, "data:") {
				t.Errorf("the page asks for %s", url)
			}
		}
		tab.Close()
	})
	until(t, tab, `customElements.get("dp-audit")`, 10*time.Second)
	return tab
}

// heard is an expression: what was said of a kind by an element or an origin.
func heard(kind, by string) string {
	return fmt.Sprintf(`said.filter(([k, by]) => k === %q && by === %q)`, kind, by)
}

// embedReport is a report that the page around an embed holds.
func embedReport(t *testing.T, tab *browser.Tab, expression string) pair.Report {
	t.Helper()
	r, err := pair.ParseReport([]byte(eval[string](t, tab, `JSON.stringify(`+expression+`)`)))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return r
}

// workerTargets counts the workers of a tab's profile.
func workerTargets(t *testing.T, tab *browser.Tab) int {
	t.Helper()
	all, err := chromedp.Call(tab.Ctx, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, info := range all.TargetInfos {
		if info.Type == "worker" && info.BrowserContextID == chromedp.FromContext(tab.Ctx).BrowserContextID {
			n++
		}
	}
	return n
}

// TestEmbedElement: elements in a page of another origin load nothing before
// they are asked to, run one after another, and count what the command line does.
func TestEmbedElement(t *testing.T) {
	t.Parallel()
	tab := embedding(t, `<dp-audit id="same" data-name="a" `+embedAttributes+` epsilom="2"><a href="#">fallback</a></dp-audit>
		<dp-audit id="same" data-name="b" mechanism="svt4"></dp-audit>
		<script>one("b").settings = {samples: "3000", trials: 1, seed: 7, mechanism: "svt1", workers: 2}; one("b").epsilon = 0.5; one("b").readOnly = true;</script>`, "the attribute epsilom is ignored")
	if got := eval[string](t, tab, `JSON.stringify([one("b").getAttribute("mechanism"), one("b").getAttribute("epsilon"), one("b").hasAttribute("readonly"), one("b").samples])`); got != `["svt1","0.5",true,"3000"]` {
		t.Errorf("what was set before the element was defined came to %s", got)
	}
	if shown := eval[string](t, tab, `one("a").shadowRoot.querySelector("[part=title]").textContent`); shown != "Audit of svt4 at epsilon 1" {
		t.Errorf("the poster says %q", shown)
	}
	for _, url := range tab.Requests() {
		if strings.HasPrefix(url, site) && url != site+"dp-audit.js" {
			t.Errorf("asks for %s before anything was pressed", url)
		}
	}
	warned := slices.ContainsFunc(tab.Errors(), func(e string) bool { return strings.Contains(e, "console.warning") && strings.Contains(e, "epsilom") })
	if !warned {
		t.Errorf("no warning about the attribute epsilom: %v", tab.Errors())
	}
	eval[bool](t, tab, `(one("a").shadowRoot.querySelector("button").click(), one("b").run().then((r) => { window.ofB = r; }), true)`)
	until(t, tab, heard("result", "a")+`.length === 1 && `+heard("result", "b")+`.length === 1 && window.ofB`, time.Minute)
	sameCounts(t, "the element and the command line", embedReport(t, tab, heard("result", "a")+`[0][2].report`), runAudit(t, embedFlags...))
	sameCounts(t, "the second element and the command line", embedReport(t, tab, `ofB`), runAudit(t, "-mechanism", "svt1", "-epsilon", "0.5", "-samples", "3000", "-trials", "1", "-seed", "7"))
	// A run's progress and result are not mixed with the other's.
	turns := eval[string](t, tab, `said.filter(([k, by]) => (k === "progress" || k === "result") && by.length === 1).map(([, by]) => by).filter((by, i, all) => by !== all[i - 1]).join("")`)
	if turns != "ab" && turns != "ba" {
		t.Errorf("the elements computed in the turns %s, want one after the other", turns)
	}
	if got := eval[int](t, tab, heard("config-change", "a")+`.length + `+heard("config-change", "b")+`.length + `+heard("error", "a")+`.length`); got != 0 {
		t.Errorf("%d events of changes or errors that nobody made", got)
	}
	until(t, tab, `one("a").shadowRoot.querySelector("iframe").getBoundingClientRect().height > 250`, 5*time.Second)
	if same := eval[bool](t, tab, `one("a").exportReport().then((text) => JSON.parse(text).verdict === "violation" && JSON.stringify(JSON.parse(text)) === JSON.stringify(one("a").report))`); !same {
		t.Error("the exported report is not that of the run")
	}

	// The page turns dark, and the frame with it.
	eval[bool](t, tab, `(document.documentElement.style.colorScheme = "dark", true)`)
	until(t, tab, heard("theme", strings.TrimSuffix(site, "/"))+`.at(-1)[2].theme === "dark" && one("a").shadowRoot.querySelector(".box").dataset.theme === "dark"`, 5*time.Second)

	// Settings of the host are taken, and reach the next run; a bad one is told.
	eval[bool](t, tab, `(one("a").samples = 5000, one("a").trials = 1, true)`)
	eval[bool](t, tab, `new Promise((done) => setTimeout(done, 100)).then(() => one("a").run()).then(() => true)`)
	if n := embedReport(t, tab, `one("a").report`).Plan.Samples; n != 5000 {
		t.Errorf("the next run had %d samples, want 5000", n)
	}
	state := eval[string](t, tab, `one("a").save().then((s) => JSON.stringify(s))`)
	eval[bool](t, tab, `(one("a").epsilon = -1, new Promise((done) => setTimeout(done, 100)).then(() => one("a").run()).then(() => false, (e) => (window.refused = e.message, true)))`)
	if words := eval[string](t, tab, `window.refused + " | " + said.findLast(([k]) => k === "error")[2].message`); strings.Count(words, "epsilon is -1") != 2 {
		t.Errorf("epsilon -1 is refused with %q", words)
	}
	// Another element takes the state.
	eval[bool](t, tab, `one("b").restore(`+state+`).then(() => true)`)
	sameCounts(t, "the restored report", embedReport(t, tab, `one("b").report`), embedReport(t, tab, `one("a").report`))
	if got := eval[string](t, tab, `one("b").mechanism + " " + one("b").samples`); got != "svt4 5000" {
		t.Errorf("the restored element is of %s", got)
	}
}

// TestEmbedRemoved: an element that is taken away in mid-run ends its workers and
// its promise, and runs again when it is put back.
func TestEmbedRemoved(t *testing.T) {
	t.Parallel()
	tab := embedding(t, `<dp-audit data-name="a" `+endless+`></dp-audit>`)
	eval[bool](t, tab, `(one("a").run().catch((e) => { window.ended = e.name; }), true)`)
	until(t, tab, heard("progress", "a")+`.length > 1`, 30*time.Second)
	if n := workerTargets(t, tab); n < 3 {
		t.Fatalf("%d workers in mid-run, want a coordinator and two", n)
	}
	eval[bool](t, tab, `(window.kept = one("a"), kept.remove(), true)`)
	until(t, tab, `window.ended === "AbortError"`, 5*time.Second)
	for end := time.Now().Add(10 * time.Second); workerTargets(t, tab) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d workers live on", workerTargets(t, tab))
		}
	}
	eval[bool](t, tab, `(document.body.append(kept), kept.samples = 3000, kept.trials = 1, kept.seed = 5, kept.run().then(() => true))`)
	sameCounts(t, "put back", embedReport(t, tab, `kept.report`), runAudit(t, "-mechanism", "svt1", "-epsilon", "1", "-samples", "3000", "-trials", "1", "-seed", "5"))
	// Stopped, a run says so and leaves the element ready.
	eval[bool](t, tab, `(kept.samples = 1e9, new Promise((done) => setTimeout(done, 100)).then(() => { said.length = 0; window.stopped = kept.run().then((r) => r.termination.reason, (e) => e.name); return true; }))`)
	until(t, tab, heard("progress", "a")+`.length > 1`, 30*time.Second)
	if why := eval[string](t, tab, `kept.stop().then(() => stopped)`); why != "stopped" {
		t.Errorf("a stopped run ends with %s", why)
	}
}

// TestEmbedCanaries: a canary audit in an element counts what it counts natively,
// tells its progress, shows its report with the chart, is stopped, given away as a
// page and taken back by another element; a frame at the page's address does it too.
func TestEmbedCanaries(t *testing.T) {
	t.Parallel()
	origin := strings.TrimSuffix(site, "/")
	const planted = "source=gaussian-sum&n=256&k=16&seed=3&quantile=0.1&epsilon=2"
	tab := embedding(t, `<dp-audit data-name="a" view="canaries" `+strings.NewReplacer("&", `" `, "=", `="`).Replace(planted)+`" p.d="500"></dp-audit>
		<dp-audit data-name="b" mechanism="svt1"></dp-audit>
		<iframe width="600" height="500" src="`+site+`embed.html#v=1&view=canaries&`+planted+`&p.d=500&autorun"></iframe>`)
	if got := eval[string](t, tab, `one("a").shadowRoot.querySelector("[part=title]").textContent + " " + one("a").shadowRoot.querySelector("[part=link]").href`); got != "Canary audit of gaussian-sum at epsilon 2 "+site+"index.html#v=1&view=canaries&"+planted+"&p.d=500" {
		t.Errorf("the poster says %s", got)
	}
	parsed := func(expression string) canary.Report {
		t.Helper()
		r, err := canary.ParseReport([]byte(eval[string](t, tab, `JSON.stringify(`+expression+`)`)))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	eval[bool](t, tab, `one("a").run().then((r) => { window.found = r; return true; })`)
	r := parsed(`found`)
	if r.Plan.Runs != 256 || r.Plan.K != 16 || r.Plan.Seed != 3 || r.Plan.Parameters.Int("d") != 500 || r.Plan.Quantile != 0.1 {
		t.Errorf("%+v", r.Plan)
	}
	sameEvidence(t, "in the embed and natively", r, natively(t, r.Plan, 1))
	if !eval[bool](t, tab, heard("progress", "a")+`.some(([, , p]) => p.runs > 0 && p.total > p.runs) && `+heard("result", "a")+`.length === 1`) {
		t.Error("no progress, or no result was told")
	}
	shown := `one("a").shadowRoot.querySelector("iframe")`
	if height := eval[float64](t, tab, shown+`.getBoundingClientRect().height`); height < 250 {
		t.Errorf("the frame has a height of %v", height)
	}
	until(t, tab, heard("result", origin)+`.length > 0`, time.Minute)
	sameEvidence(t, "in the frame and natively", parsed(heard("result", origin)+`[0][2].report`), natively(t, r.Plan, 1))

	// As a page of its own.
	page := eval[string](t, tab, `one("a").exportReport("html")`)
	for _, want := range []string{"<!doctype html>", r.Summary[:40], "The bounds as the runs came", "<svg", "Rates, moments and correlations", `id="meaning"`, "&quot;schemaVersion&quot;", "<style>", "wilson"} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(strings.ReplaceAll(want, "&quot;", `"`), ">=", "&gt;=")) {
			t.Errorf("the exported page lacks %q", want)
		}
	}
	if strings.Contains(page, "<script") {
		t.Error("the exported page has a script")
	}
	if why := eval[string](t, tab, `one("a").exportReport("pdf").then(() => "", (e) => e.message)`); !strings.Contains(why, "json or html") {
		t.Errorf("another format: %q", why)
	}

	// Another element takes it; without a frame of its own it is loaded.
	eval[bool](t, tab, `one("a").save().then((state) => one("b").restore(state)).then(() => true)`)
	if got := eval[string](t, tab, `one("b").view + " " + one("b").n + " " + JSON.stringify(one("b").report.plan.seed)`); got != "canaries 256 3" {
		t.Errorf("the restored element is at %s", got)
	}
	for name, unverified := range map[string]bool{"a": false, "b": true} {
		if page := eval[string](t, tab, `one("`+name+`").exportReport("html")`); strings.Contains(page, "Not verified here") != unverified {
			t.Errorf("element %s says of its report that it was not verified: %v", name, !unverified)
		}
	}

	// Stopped in mid-run.
	why := eval[string](t, tab, `(one("b").n = 1000000, new Promise((done) => setTimeout(done, 200)).then(() => {
		const run = one("b").run();
		one("b").addEventListener("dpaudit-progress", () => one("b").stop(), { once: true });
		return run.then((r) => r.termination.reason, (e) => e.name);
	}))`)
	if why != "stopped" {
		t.Errorf("a stopped audit ends with %s", why)
	}

	// Of another kind, it shows the old result no more.
	eval[bool](t, tab, `(one("b").view = null, true)`)
	until(t, tab, `one("b").save().then((state) => state.report === null && state.fragment.includes("&mechanism=svt"))`, 5*time.Second)
	eval[bool](t, tab, `(one("b").settings = {mechanism: "svt1", epsilon: "1", samples: "2000", trials: "1", seed: "5"}, new Promise((done) => setTimeout(done, 200)).then(() => one("b").run()).then(() => true))`)
	sameCounts(t, "an audit of the other kind", embedReport(t, tab, `one("b").report`), runAudit(t, "-mechanism", "svt1", "-epsilon", "1", "-samples", "2000", "-trials", "1", "-seed", "5"))
}

// TestEmbedFrame: the frame without the element, in a page of another origin.
func TestEmbedFrame(t *testing.T) {
	t.Parallel()
	origin := strings.TrimSuffix(site, "/")
	tab := embedding(t, `<iframe width="600" height="500" src="`+site+`embed.html#v=1&`+embedState+`&autorun=1&theme=dark"></iframe>`)
	until(t, tab, heard("result", origin)+`.length === 1`, time.Minute)
	sameCounts(t, "the frame and the command line", embedReport(t, tab, heard("result", origin)+`[0][2].report`), runAudit(t, embedFlags...))
	until(t, tab, heard("height", origin)+`.at(-1)[2].height > 250`, 5*time.Second)
	if theme := eval[string](t, tab, heard("theme", origin)+`.at(-1)[2].theme`); theme != "dark" {
		t.Errorf("the frame says that it is %s", theme)
	}
	eval[bool](t, tab, `(document.querySelector("iframe").contentWindow.postMessage({dpaudit: 1, id: 1, call: "theme", value: "light"}, "*"), true)`)
	until(t, tab, heard("theme", origin)+`.at(-1)[2].theme === "light"`, 5*time.Second)
}

// TestEmbedPlainPage: the page that docs tell readers to write, on a site of
// another name.
func TestEmbedPlainPage(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../docs/embed/plain.html")
	if err != nil {
		t.Fatal(err)
	}
	tab := hosting(t, "localhost", strings.ReplaceAll(string(source), "/dpscope/", site))
	eval[bool](t, tab, `(addEventListener("dpaudit-result", (e) => { window.found = e.detail.report; }), document.querySelector("dp-audit").shadowRoot.querySelector("button").click(), true)`)
	until(t, tab, `window.found`, time.Minute)
	want := runAudit(t, embedFlags...)
	sameCounts(t, "the element", embedReport(t, tab, `found`), want)
	// The frame says nothing before it is there.
	framed := eval[string](t, tab, `new Promise((done) => {
		const frame = document.querySelector("iframe");
		const timer = setInterval(() => frame.contentWindow.postMessage({dpaudit: 1, id: 1, call: "save"}, "*"), 100);
		addEventListener("message", ({source, data}) => {
			if (source !== frame.contentWindow || data?.dpaudit !== 1) return;
			if (data.type === "answer" && data.detail.id === 1) {
				clearInterval(timer);
				frame.contentWindow.postMessage({dpaudit: 1, id: 2, call: "run"}, "*");
			}
			if (data.type === "result") done(JSON.stringify(data.detail.report));
		});
		frame.scrollIntoView();
	})`)
	r, err := pair.ParseReport([]byte(framed))
	if err != nil {
		t.Fatal(err)
	}
	sameCounts(t, "the frame", r, want)
}

// TestEmbedRefuses: a state that cannot be used is named, and a sandbox that
// forbids workers too.
func TestEmbedRefuses(t *testing.T) {
	t.Parallel()
	origin := strings.TrimSuffix(site, "/")
	type refusal struct{ state, sandbox, by, says string }
	all := []refusal{
		{"v=1&mechanism=svt44&samples=many", "", origin, "svt44"},
		{embedState, `sandbox="allow-scripts"`, "null", "allow-same-origin"},
		{"v=9&mechanism=svt4", "", origin, "version 9"},
		{"v=1&mechanism=svt4&view=one-run", "", origin, "view is \"one-run\""},
		{"v=1&view=canaries&source=svt4", "", origin, "source is \"svt4\", must be gaussian-sum"},
	}
	for _, c := range gear.Of(all[:2], all) {
		tab := embedding(t, `<iframe `+c.sandbox+` width="600" height="500" src="`+site+`embed.html#`+c.state+`"></iframe>`)
		until(t, tab, heard("error", c.by)+`.some(([, , d]) => d.message.includes(`+fmt.Sprintf("%q", c.says)+`))`, 20*time.Second)
		if c.sandbox == "" {
			until(t, tab, heard("ready", c.by)+`.length === 1`, 10*time.Second)
		}
	}
}

// TestEmbedUnreachable: where the site cannot be had, the element says so, shows
// what is inside it, and can be tried again.
func TestEmbedUnreachable(t *testing.T) {
	t.Parallel()
	const nobody = "127.0.0.1:9"
	tab := embedding(t, `<dp-audit data-name="a" site="http://`+nobody+`" mechanism="svt1" epsilon="1" samples="2000" trials="1"><a href="#">fallback</a></dp-audit>`, nobody)
	failed := eval[string](t, tab, `one("a").run().then(() => "", (e) => e.message)`)
	if !strings.Contains(failed, nobody) || eval[int](t, tab, heard("error", "a")+`.length`) != 1 {
		t.Errorf("it fails with %q", failed)
	}
	if !eval[bool](t, tab, `one("a").querySelector("a").getBoundingClientRect().height > 0 && one("a").shadowRoot.querySelector("[role=alert]").textContent.includes("`+nobody+`")`) {
		t.Error("neither the fallback nor the reason is shown")
	}
	if verdict := eval[string](t, tab, `(one("a").removeAttribute("site"), one("a").run().then((r) => r.verdict))`); verdict != string(audit.NoViolation) {
		t.Errorf("the second attempt: %s", verdict)
	}
}

// TestEmbedWithoutLocks: where the browser has no locks, or denies them with the
// storage, audits run all the same.
func TestEmbedWithoutLocks(t *testing.T) {
	t.Parallel()
	const denied = `{request: () => Promise.reject(new DOMException("denied", "SecurityError"))}`
	for _, locks := range gear.Of([]string{denied}, []string{`undefined`, denied}) {
		tab := embedding(t, `<dp-audit data-name="a" mechanism="svt1" epsilon="1" samples="2000" trials="1"></dp-audit>`)
		script := page.AddScriptToEvaluateOnNewDocumentParams{Source: `Object.defineProperty(navigator, "locks", {value: ` + locks + `}); if (parent !== window) parent.postMessage({dpaudit: 1, type: "robbed"}, "*");`}
		if _, err := chromedp.Call(tab.Ctx, page.AddScriptToEvaluateOnNewDocument, script); err != nil {
			t.Fatal(err)
		}
		if verdict := eval[string](t, tab, `one("a").run().then((r) => r.verdict)`); verdict != string(audit.NoViolation) {
			t.Errorf("locks %s: %s", locks, verdict)
		}
		if !eval[bool](t, tab, heard("robbed", strings.TrimSuffix(site, "/"))+`.length > 0`) {
			t.Error("the frame had its locks")
		}
	}
}

// TestEmbedInMuseum: pages of the museum run their audits, and show what the text below says.
func TestEmbedInMuseum(t *testing.T) {
	t.Parallel()
	for _, name := range gear.Of([]string{"svt4"}, []string{"svt4", "dp-sgd-reused-key"}) {
		t.Run(name, func(t *testing.T) { testInMuseum(t, name) })
	}
}

func testInMuseum(t *testing.T, name string) {
	tab, err := browser.Open(profile(t), site+"docs/museum/"+name+".html")
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	until(t, tab, `document.querySelector("dp-audit").shadowRoot`, 10*time.Second)
	eval[bool](t, tab, `(document.addEventListener("dpaudit-result", (e) => { window.report = e.detail.report; }), document.querySelector("dp-audit").shadowRoot.querySelector("button").click(), true)`)
	until(t, tab, `window.report`, time.Minute)
	report := embedReport(t, tab, `window.report`)
	if text := eval[string](t, tab, `document.querySelector("dp-audit + pre").textContent`); report.Verdict != audit.Violation || !strings.Contains(text, report.Summary) {
		t.Errorf("the embed says %q, the page\n%s", report.Summary, text)
	}
	// What the reader changes is told, and that the result is of other settings.
	if changes := eval[string](t, tab, `new Promise((done) => {
		document.addEventListener("dpaudit-config-change", (e) => done(e.detail.settings.samples + " " + e.detail.fragment));
		const samples = document.querySelector("dp-audit").shadowRoot.querySelector("iframe").contentDocument.querySelector("#samples");
		samples.value = "1234";
		samples.dispatchEvent(new Event("input", {bubbles: true}));
	})`); !strings.HasPrefix(changes, "1234 #v=1&mechanism=") || !strings.Contains(changes, "&samples=1234") {
		t.Errorf("the change is told as %q", changes)
	}
	if !eval[bool](t, tab, `!document.querySelector("dp-audit").shadowRoot.querySelector("iframe").contentDocument.querySelector("#drift").hidden`) {
		t.Error("the result is shown as that of the changed settings")
	}
	if name == "svt4" {
		forgeInEmbed(t, tab, report)
	}
	if errs := tab.Errors(); len(errs) > 0 {
		t.Errorf("the page complains: %v", errs)
	}
}

// forgeInEmbed gives the element its own report back, as it is and forged: the frame
// says that it was not verified, and what came of it.
func forgeInEmbed(t *testing.T, tab *browser.Tab, report pair.Report) {
	const frame = `document.querySelector("dp-audit").shadowRoot.querySelector("iframe").contentDocument`
	for _, c := range []struct {
		bound  float64
		stands string
	}{{*report.Tables[0].Rows[0].LowerBound, "Verified here"}, {9.5, "Failed verification here"}} {
		forged := report
		forged.Tables = slices.Clone(report.Tables)
		forged.Tables[0].Rows = slices.Clone(report.Tables[0].Rows)
		forged.Tables[0].Rows[0].LowerBound = &c.bound
		text, err := audit.Canonical(forged)
		if err != nil {
			t.Fatal(err)
		}
		eval[bool](t, tab, fmt.Sprintf(`((e) => e.save().then((state) => e.restore({...state, fragment: state.fragment.replace("samples=1234", "samples=%d"), report: %q})).then(() => true))(document.querySelector("dp-audit"))`, report.Plan.Samples, text))
		stands(t, tab, frame+`.querySelector("#verdict")`, "Not verified here")
		until(t, tab, frame+`.querySelector("#drift").hidden`, 5*time.Second)
		eval[bool](t, tab, `(`+frame+`.querySelector("#verify").click(), true)`)
		until(t, tab, frame+`.querySelector("#verify").hidden && `+frame+`.body.dataset.state === "done"`, time.Minute)
		stands(t, tab, frame+`.querySelector("#verdict")`, c.stands)
	}
}

// TestEmbedCode: the dialog gives code that holds the result's settings, and a
// preview that runs.
func TestEmbedCode(t *testing.T) {
	t.Parallel()
	tab := open(t, svt4+"1")
	click(t, tab, "#run")
	report := finish(t, tab, time.Minute)
	click(t, tab, "#share-open")
	until(t, tab, `document.querySelector("#share").open`, 5*time.Second)
	click(t, tab, "#copy-embed")
	until(t, tab, `document.querySelector(".embed-code[open] dp-audit")`, 10*time.Second)
	var code []string
	if err := json.Unmarshal([]byte(eval[string](t, tab, `JSON.stringify([...document.querySelectorAll(".embed-code textarea")].map((area) => area.value))`)), &code); err != nil || len(code) != 2 {
		t.Fatalf("%v: %q", err, code)
	}
	for i, want := range [][]string{
		{`<script defer src="` + site + `dp-audit.js"></script>`, `<dp-audit mechanism="svt4"`, fmt.Sprintf(`seed="%d"`, report.Plan.Seed)},
		{`<iframe src="` + site + `embed.html#v=1&amp;mechanism=svt4`},
	} {
		for _, part := range want {
			if !strings.Contains(code[i], part) {
				t.Errorf("the code lacks %s:\n%s", part, code[i])
			}
		}
	}
	eval[bool](t, tab, `(() => { const s = document.querySelector(".embed-code select"); s.value = "none"; s.dispatchEvent(new Event("change", {bubbles: true})); return true })()`)
	if !eval[bool](t, tab, `document.querySelector(".embed-code textarea").value.includes('controls="none"')`) {
		t.Error("a choice does not reach the code")
	}
	again := eval[string](t, tab, `document.querySelector(".embed-code dp-audit").run().then((r) => JSON.stringify(r))`)
	r, err := pair.ParseReport([]byte(again))
	if err != nil {
		t.Fatal(err)
	}
	sameCounts(t, "the preview and the page", r, report)
}

// shootEmbed writes pictures of embeds in a host page, before and after they ran.
func shootEmbed(t *testing.T, name string, width int64, dark bool) {
	t.Helper()
	tab := embedding(t, `<style>body { font: 16px/1.5 Georgia, serif; max-width: 44rem; margin: 1rem auto; padding: 0 12px; background: light-dark(#fff, #202124); color: light-dark(#222, #ddd) }</style>
		<h1>A page of documentation</h1><p>The fourth version of the sparse vector technique claims epsilon 1. This audit finds out.</p>
		<dp-audit data-name="a" `+embedAttributes+`></dp-audit>
		<p>Two that have not run yet, one in colours of its own:</p><dp-audit data-name="b" mechanism="laplace-mean" style="--dp-audit-accent: #7a1fa2; --dp-audit-accent-text: #fff; --dp-audit-radius: 0"></dp-audit>
		<p>With every setting:</p><dp-audit data-name="c" controls="full" view="all" `+embedAttributes+`></dp-audit>
		<p>With the verdict only, and a mistake:</p><dp-audit data-name="d" controls="none" view="verdict" mechanism="svt4" epsilon="1" samples="5000" trials="many" workers="2"></dp-audit>`)
	dress(t, tab, width, 9500, dark) // frames out of view are not painted
	develop(t, tab, name+"-before", chromedp.CaptureScreenshot())
	eval[bool](t, tab, `(one("a").run(), one("c").run(), one("d").run(), true)`)
	until(t, tab, heard("result", "a")+`.length === 1 && `+heard("result", "c")+`.length === 1 && `+heard("error", "d")+`.length > 0`, time.Minute)
	eval[bool](t, tab, `new Promise((done) => setTimeout(done, 500)).then(() => true)`)
	develop(t, tab, name, chromedp.CaptureScreenshot())
}
