package e2e

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// An audit that takes a second or two, as attributes, as an address and as flags.
const (
	embedAttributes = `mechanism="svt4" epsilon="1" samples="20000" trials="2" seed="42" workers="2"`
	embedState      = `mechanism=svt4&epsilon=1&samples=20000&trials=2&seed=42&workers=2`
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
	return hosting(t, "127.0.0.1", hostPage(body), allowed...)
}

// hostPage is the page that has the element's script and a body.
func hostPage(body string) string {
	return fmt.Sprintf(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Host</title><body>%s%s<script defer src="%sdp-audit.js"></script></body></html>`, logScript, body, site)
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
	until(t, tab, `customElements.get("dp-audit")`)
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

// recordedAs is what the command line writes of an audit in a format.
func recordedAs(t *testing.T, format string) string {
	t.Helper()
	out, err := exec.Command(program, append([]string{"audit", "-format", format}, embedFlags...)...).Output()
	if len(out) == 0 { // the exit code tells the verdict
		t.Fatalf("dpscope audit -format %s: %v", format, err)
	}
	return string(out)
}

// TestEmbedElement: before they are asked to, elements in a page of another origin load
// nothing but what was recorded of their audits, marked as that, in the colours of the page,
// and the instrument takes its place without a jump. They run one after another, take
// settings from the page, name what cannot be used, and give their state to one another. One
// that is taken away ends its workers, and runs again when it is put back.
func TestEmbedElement(t *testing.T) {
	t.Parallel()
	text := recordedAs(t, "json")
	recorded := must.Get(pair.ParseReport([]byte(text)))(t)
	tab := hostingFiles(t, "127.0.0.1", map[string]string{"/": hostPage(`<dp-audit id="same" data-name="a" recorded="svt4.svg" ` + embedAttributes + ` epsilom="2"><a href="#">fallback</a></dp-audit><p id="below">Below.</p>
		<dp-audit id="same" data-name="b" recorded="svt4.json" mechanism="svt4"></dp-audit>
		<dp-audit data-name="c" recorded="svt4.svg" mechanism="svt4" epsilon="2.0" seed="42"></dp-audit>
		<dp-audit data-name="d" recorded="nothing.png" mechanism="svt4"></dp-audit>
		<script>one("b").settings = {samples: "3000", trials: 1, seed: 7, mechanism: "svt1", workers: 2}; one("b").epsilon = 0.5; one("b").readOnly = true;</script>`), "/svt4.svg": recordedAs(t, "svg"), "/svt4.json": text}, "the attribute epsilom is ignored")
	if got := eval[string](t, tab, `JSON.stringify([one("b").getAttribute("mechanism"), one("b").getAttribute("epsilon"), one("b").hasAttribute("readonly"), one("b").samples, one("b").untilRefuted])`); got != `["svt1","0.5",true,"3000",false]` {
		t.Errorf("what was set before the element was defined came to %s", got)
	}
	root := func(name string) string { return `one("` + name + `").shadowRoot` }
	until(t, tab, root("a")+`.querySelector("img").naturalWidth === 592 && `+root("b")+`.querySelector("figure").innerText.includes("`+recorded.Headline+`") && `+root("d")+`.querySelector("figcaption").textContent.startsWith("Nothing recorded")`)
	if got := eval[string](t, tab, `[`+root("a")+`.querySelector("[part=title]").textContent, `+root("a")+`.querySelector("img").alt, `+root("b")+`.querySelector("figcaption").textContent, `+root("c")+`.querySelector("figcaption").textContent].join(" | ")`); got != "Audit of svt4 at epsilon 1 | svt4: "+recorded.Headline+" | Recorded with other settings: mechanism svt4, samples 20000, trials 2, seed 42, epsilon 1. | Recorded with other settings: epsilon 1." {
		t.Errorf("the posters say %q", got)
	}
	for _, url := range tab.Requests() {
		if strings.HasPrefix(url, site) && url != site+"dp-audit.js" {
			t.Errorf("asks for %s before anything was pressed", url)
		}
	}
	if !slices.ContainsFunc(tab.Errors(), func(e string) bool { return strings.Contains(e, "console.warning") && strings.Contains(e, "epsilom") }) {
		t.Errorf("no warning about the attribute epsilom: %v", tab.Errors())
	}
	below := `document.querySelector("#below").getBoundingClientRect().top + scrollY`
	before := eval[float64](t, tab, below)
	eval[bool](t, tab, `(one("a").addEventListener("dpaudit-ready", () => { window.swapped = `+below+`; }), `+root("a")+`.querySelector("button").click(), window.clicked = `+below+`, one("b").run().then((r) => { window.ofB = r; }), true)`)
	until(t, tab, heard("result", "a")+`.length === 1 && `+heard("result", "b")+`.length === 1 && window.ofB`)
	if got := eval[[]float64](t, tab, `[clicked, swapped]`); got[0] != before || got[1] != before {
		t.Errorf("what is below stood at %v, then at %v", before, got)
	}
	sameCounts(t, "the element and what was recorded", embedReport(t, tab, heard("result", "a")+`[0][2].report`), recorded)
	if b := embedReport(t, tab, `ofB`); b.Subject != "svt1" || b.Claim.Epsilon != 0.5 || b.Plan.Samples != 3000 || b.Plan.Seed != 7 {
		t.Errorf("the second element ran %+v", b.Plan)
	}
	// A run's progress and result are not mixed with the other's.
	turns := eval[string](t, tab, `said.filter(([k, by]) => (k === "progress" || k === "result") && by.length === 1).map(([, by]) => by).filter((by, i, all) => by !== all[i - 1]).join("")`)
	if turns != "ab" && turns != "ba" {
		t.Errorf("the elements computed in the turns %s, want one after the other", turns)
	}
	if got := eval[int](t, tab, heard("config-change", "a")+`.length + `+heard("config-change", "b")+`.length + `+heard("error", "a")+`.length`); got != 0 {
		t.Errorf("%d events of changes or errors that nobody made", got)
	}
	until(t, tab, `((f) => f.getBoundingClientRect().height > 250 && !f.getRootNode().querySelector("figure").checkVisibility())(`+root("a")+`.querySelector("iframe"))`)
	if same := eval[bool](t, tab, `one("a").exportReport().then((text) => JSON.stringify(JSON.parse(text)) === JSON.stringify(one("a").report))`); !same {
		t.Error("the exported report is not that of the run")
	}

	// The page turns dark, with its frames and pictures.
	eval[bool](t, tab, `(document.documentElement.style.colorScheme = "dark", true)`)
	until(t, tab, heard("theme", strings.TrimSuffix(site, "/"))+`.at(-1)[2].theme === "dark" && getComputedStyle(`+root("c")+`.querySelector("img")).colorScheme === "dark"`)
	// Settings of the host are taken, and reach the next run; a bad one is told.
	eval[bool](t, tab, `(one("a").samples = 5000, one("a").trials = 1, new Promise((done) => setTimeout(done, 100)).then(() => one("a").run()).then(() => true))`)
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
	eval[bool](t, tab, `(one("a").remove(), one("b").settings = {mechanism: "svt1", epsilon: 1, samples: 1e9, trials: 2, workers: 2}, new Promise((done) => setTimeout(done, 100)).then(() => { said.length = 0; one("b").run().catch((e) => { window.ended = e.name; }); return true; }))`)
	until(t, tab, heard("progress", "b")+`.length > 1`)
	if n := workerTargets(t, tab); n < 3 {
		t.Fatalf("%d workers in mid-run, want a coordinator and two", n)
	}
	eval[bool](t, tab, `(window.kept = one("b"), kept.remove(), true)`)
	until(t, tab, `window.ended === "AbortError"`)
	for end := time.Now().Add(browser.Patience); workerTargets(t, tab) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d workers live on", workerTargets(t, tab))
		}
	}
	// Stopped, a run says so.
	eval[bool](t, tab, `(document.body.append(kept), said.length = 0, window.stopped = kept.run().then((r) => r.termination.reason, (e) => e.name), true)`)
	until(t, tab, heard("progress", "b")+`.length > 1`)
	if why := eval[string](t, tab, `kept.stop().then(() => stopped)`); why != "stopped" {
		t.Errorf("a stopped run ends with %s", why)
	}
}

// TestEmbedCanaries: a canary audit in an element tells its progress, shows its report with
// the chart, is given away as a page, taken back by another element, and stopped.
func TestEmbedCanaries(t *testing.T) {
	t.Parallel()
	tab := embedding(t, `<dp-audit data-name="a" view="canaries" source="gaussian-sum" n="256" k="16" seed="3" quantile="0.1" epsilon="2" p.d="500"></dp-audit>
		<dp-audit data-name="b" mechanism="svt1"></dp-audit>`)
	if got := eval[string](t, tab, `one("a").shadowRoot.querySelector("[part=title]").textContent + " " + one("a").shadowRoot.querySelector("[part=link]").href`); got != "Canary audit of gaussian-sum at epsilon 2 "+site+"index.html#v=1&view=canaries&source=gaussian-sum&n=256&k=16&seed=3&quantile=0.1&epsilon=2&p.d=500" {
		t.Errorf("the poster says %s", got)
	}
	r := must.Get(canary.ParseReport([]byte(eval[string](t, tab, `one("a").run().then((r) => JSON.stringify(r))`))))(t)
	if r.Plan.Runs != 256 || r.Plan.K != 16 || r.Plan.Seed != 3 || r.Plan.Parameters.Int("d") != 500 || r.Plan.Quantile != 0.1 {
		t.Errorf("%+v", r.Plan)
	}
	if !eval[bool](t, tab, heard("progress", "a")+`.some(([, , p]) => p.runs > 0 && p.total > p.runs) && `+heard("result", "a")+`.length === 1 && one("a").shadowRoot.querySelector("iframe").getBoundingClientRect().height > 250`) {
		t.Error("no progress or no result was told, or the frame is low")
	}
	page := eval[string](t, tab, `one("a").exportReport("html")`)
	if !strings.HasPrefix(page, "<!doctype html>") || !strings.Contains(page, r.Summary[:10]) || !strings.Contains(page, "<svg") || strings.Contains(page, "<script") {
		t.Errorf("exported is %.500q", page)
	}

	// Another element takes it; without a frame of its own it is loaded.
	eval[bool](t, tab, `one("a").save().then((state) => one("b").restore(state)).then(() => true)`)
	if got := eval[string](t, tab, `one("b").view + " " + one("b").n + " " + JSON.stringify(one("b").report.plan.seed)`); got != "canaries 256 3" {
		t.Errorf("the restored element is at %s", got)
	}
	if page := eval[string](t, tab, `one("b").exportReport("html")`); !strings.Contains(page, "Not verified here") {
		t.Error("the restored report is not said to be unverified")
	}
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
	until(t, tab, `one("b").save().then((state) => state.report === null && state.fragment.includes("&mechanism=svt"))`)
}

// TestEmbedFrame: the page that docs tell readers to write, on a site of another name: the
// element, and the frame without it, which takes calls. A state that cannot be used is named,
// and a sandbox that forbids workers too.
func TestEmbedFrame(t *testing.T) {
	t.Parallel()
	source := string(must.Get(os.ReadFile("../../docs/embed/plain.html"))(t))
	tab := hosting(t, "localhost", strings.Replace(strings.ReplaceAll(source, "/dpscope/", site), "<body>", "<body>"+logScript, 1))
	eval[bool](t, tab, `(document.querySelector("dp-audit").shadowRoot.querySelector("button").click(), document.querySelector("iframe").scrollIntoView(), true)`)
	origin := strings.TrimSuffix(site, "/")
	call := func(id int, call, more string) {
		t.Helper()
		eval[bool](t, tab, fmt.Sprintf(`(document.querySelector("iframe").contentWindow.postMessage({dpaudit: 1, id: %d, call: %q, ...%s}, "*"), true)`, id, call, more))
	}
	until(t, tab, heard("result", origin)+`.length === 1 && `+heard("ready", origin)+`.length === 2`) // the element's, and both are there
	call(1, "run", "{}")
	until(t, tab, heard("result", origin)+`.length === 2 && `+heard("height", origin)+`.at(-1)[2].height > 250`)
	if both := eval[[]string](t, tab, heard("result", origin)+`.map(([, , { report }]) => report.headline)`); both[0] != both[1] || !strings.HasPrefix(both[0], "Violation") {
		t.Errorf("element and frame say %q", both)
	}
	for _, theme := range []string{"dark", "light"} {
		call(2, "theme", `{value: "`+theme+`"}`)
		until(t, tab, heard("theme", origin)+`.at(-1)[2].theme === "`+theme+`"`)
	}
	type refusal struct{ state, sandbox, by, says string }
	all := []refusal{
		{"v=1&mechanism=svt44&samples=many", "", origin, "svt44"},
		{embedState, `sandbox="allow-scripts"`, "null", "allow-same-origin"},
		{"v=9&mechanism=svt4", "", origin, "version 9"},
		{"v=1&mechanism=svt4&view=one-run", "", origin, "view is \"one-run\""},
		{"v=1&view=canaries&source=svt4", "", origin, "source is \"svt4\", must be one of gaussian-sum"},
	}
	var frames strings.Builder
	for _, c := range all {
		fmt.Fprintf(&frames, `<iframe %s width="600" height="100" src="%sembed.html#%s"></iframe>`, c.sandbox, site, c.state)
	}
	tab = embedding(t, frames.String())
	for _, c := range all {
		until(t, tab, heard("error", c.by)+`.some(([, , d]) => d.message.includes(`+fmt.Sprintf("%q", c.says)+`))`)
	}
	until(t, tab, heard("ready", origin)+`.length === 4`)
}

// TestEmbedFails: where the site cannot be had, the element says so, shows what is inside it,
// and can be tried again; where the browser denies locks, audits run all the same.
func TestEmbedFails(t *testing.T) {
	t.Parallel()
	const nobody = "127.0.0.1:9"
	tab := embedding(t, `<dp-audit data-name="a" site="http://`+nobody+`" mechanism="svt1" epsilon="1" samples="2000" trials="1" workers="2"><a href="#">fallback</a></dp-audit>`, nobody)
	failed := eval[string](t, tab, `one("a").run().then(() => "", (e) => e.message)`)
	if !strings.Contains(failed, nobody) || eval[int](t, tab, heard("error", "a")+`.length`) != 1 {
		t.Errorf("it fails with %q", failed)
	}
	if !eval[bool](t, tab, `one("a").querySelector("a").getBoundingClientRect().height > 0 && one("a").shadowRoot.querySelector("[role=alert]").textContent.includes("`+nobody+`")`) {
		t.Error("neither the fallback nor the reason is shown")
	}
	for _, locks := range []string{`undefined`, `{request: () => Promise.reject(new DOMException("denied", "SecurityError"))}`} {
		before(t, tab, `Object.defineProperty(navigator, "locks", {value: `+locks+`, configurable: true}); if (parent !== window) parent.postMessage({dpaudit: 1, type: "robbed"}, "*");
			window.Worker = class extends (window.plainWorker ??= Worker) { constructor(...of) { super(...of); parent.postMessage({dpaudit: 1, type: "worker"}, "*"); } };`)
		if verdict := eval[string](t, tab, `(one("a").removeAttribute("site"), document.body.append(one("a")), said.length = 0, one("a").run().then((r) => r.verdict))`); verdict != string(audit.NoViolation) {
			t.Errorf("locks %s: %s", locks, verdict)
		}
		if !eval[bool](t, tab, heard("robbed", strings.TrimSuffix(site, "/"))+`.length > 0`) {
			t.Error("the frame had its locks")
		}
		if n := eval[int](t, tab, heard("worker", strings.TrimSuffix(site, "/"))+`.length`); n != 4 {
			t.Errorf("it started %d workers, want one that compiles, a coordinator and two", n)
		}
	}
}

// TestEmbedInMuseum: a page of the museum runs its audit, and shows what the text below says.
// What the reader changes is told. A report that comes from the page around, as it is and
// forged, is said to be unverified, and what came of a replay. Axe finds nothing in both.
func TestEmbedInMuseum(t *testing.T) {
	t.Parallel()
	tab := visit(t, site+"docs/museum/svt4.html")
	until(t, tab, `document.querySelector("dp-audit[mechanism=svt4]").shadowRoot`)
	axeIn(t, tab, "a page of the museum", "document")
	eval[bool](t, tab, `(document.querySelector("dp-audit[mechanism=svt4]").addEventListener("dpaudit-result", (e) => { window.report = e.detail.report; }), document.querySelector("dp-audit[mechanism=svt4]").shadowRoot.querySelector("button").click(), true)`)
	height := eval[float64](t, tab, `document.querySelector("dp-audit[mechanism=svt4]").getBoundingClientRect().height`)
	until(t, tab, `window.report`)
	report := embedReport(t, tab, `window.report`)
	if now := eval[float64](t, tab, `new Promise((done) => setTimeout(() => done(document.querySelector("dp-audit[mechanism=svt4]").getBoundingClientRect().height), 1000))`); now > height+1 {
		t.Errorf("the run takes %v px where %v were kept for it", now, height)
	}
	if text := eval[string](t, tab, `document.querySelector("dp-audit[mechanism=svt4] + pre").textContent`); report.Verdict != audit.Violation || !strings.Contains(text, report.Summary) {
		t.Errorf("the embed says %q, the page\n%s", report.Summary, text)
	}
	const frame = `document.querySelector("dp-audit[mechanism=svt4]").shadowRoot.querySelector("iframe").contentDocument`
	if changes := eval[string](t, tab, `new Promise((done) => {
		document.addEventListener("dpaudit-config-change", (e) => done(e.detail.settings.samples + " " + e.detail.fragment));
		const samples = `+frame+`.querySelector("#samples");
		samples.value = "1234";
		samples.dispatchEvent(new Event("input", {bubbles: true}));
	})`); !strings.HasPrefix(changes, "1234 #v=1&mechanism=") || !strings.Contains(changes, "&samples=1234") {
		t.Errorf("the change is told as %q", changes)
	}
	until(t, tab, frame+`.querySelector("#drift:not([hidden])")`)
	for _, c := range []struct {
		bound  float64
		stands string
	}{{*report.Tables[0].Rows[0].LowerBound, "Verified here"}, {9.5, "Failed verification here"}} {
		forged := report
		forged.Tables = slices.Clone(report.Tables)
		forged.Tables[0].Rows = slices.Clone(report.Tables[0].Rows)
		forged.Tables[0].Rows[0].LowerBound = &c.bound
		text := must.Get(audit.Canonical(forged))(t)
		eval[bool](t, tab, fmt.Sprintf(`((e) => e.save().then((state) => e.restore({...state, fragment: state.fragment.replace("samples=1234", "samples=%d"), report: %q})).then(() => true))(document.querySelector("dp-audit[mechanism=svt4]"))`, report.Plan.Samples, text))
		stands(t, tab, frame+`.querySelector("#verdict")`, "Not verified here")
		until(t, tab, frame+`.querySelector("#drift").hidden`)
		eval[bool](t, tab, `(`+frame+`.querySelector("#verify").click(), true)`)
		until(t, tab, `!`+frame+`.querySelector("#verify").checkVisibility() && `+frame+`.body.dataset.state === "done"`)
		stands(t, tab, frame+`.querySelector("#verdict")`, c.stands)
	}
	// A run that is asked for during a replay waits for its end.
	if verdict := eval[string](t, tab, `((e) => e.save().then((state) => e.restore(state)).then(() => {
		`+frame+`.querySelector("#verify").click();
		return e.run();
	}).then((r) => r?.verdict ?? "no report"))(document.querySelector("dp-audit[mechanism=svt4]"))`); verdict != string(audit.Violation) {
		t.Errorf("a run during a replay comes to %s", verdict)
	}
	quiet(t, tab)
	for _, address := range []string{"mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2&controls=full", "view=canaries&n=60&k=3"} {
		alone := must.Get(browser.Open(profile(t), site+"embed.html#v=1&autorun=true&"+address))(t)
		until(t, alone, `document.body.dataset.state === "done" && [...document.querySelectorAll(".background")].some((e) => e.textContent)`)
		eval[bool](t, alone, `(document.querySelectorAll("details").forEach((d) => { d.open = true; }), true)`)
		axeIn(t, alone, address, "document")
		for state, want := range map[string]string{"idle": "before", "running": "", "done": ""} { // without controls
			if got := eval[string](t, alone, fmt.Sprintf(`(document.body.dataset.controls = "none", document.body.dataset.state = %q, ["before", "stop", "canaries-stop", "run", "canaries-run"].filter((id) => document.getElementById(id).checkVisibility()).join(" ").replace(/ (canaries-)?run$/, ""))`, state)); got != want {
				t.Errorf("%s, %s without controls: %q is seen, want %q and a button to begin", address, state, got, want)
			}
		}
		alone.Close()
	}
}
