package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// The panel of the user's samples.
const (
	samplesRead = `!window.dpscope.samples.busy && document.querySelector("#mechanism").value === "samples" && !document.querySelector("#run").disabled`
	samplesSaid = `document.querySelector("#yours-card").textContent`
	noticed     = `document.querySelector("#notice").textContent`
)

// say changes what stands in a choice of the card.
func say(t *testing.T, tab *browser.Tab, label, text string) {
	t.Helper()
	eval[bool](t, tab, fmt.Sprintf(`((e) => (e.value = [...e.options].find((o) => o.text === %q).value, e.dispatchEvent(new Event("change", {bubbles: true}))))(document.querySelector('#yours select[aria-label="%s"]'))`, text, label))
}

// noisyCounts is a CSV of so many rows on each dataset: a count of 3 or 4 with
// Laplace noise of a scale, and a word that says whether the output is large.
func noisyCounts(rows int, scale float64, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("value,size,dataset\n")
	for i := range 2 * rows {
		u := r.Float64() - 0.5
		x := float64(3+i%2) - scale*math.Copysign(math.Log(1-2*math.Abs(u)), u)
		fmt.Fprintf(&b, "%.6f,%s,%d\n", x, map[bool]string{true: "large", false: "small"}[x > 4], i%2)
	}
	return b.String()
}

// runSamples presses Run and waits for the report of samples.
func runSamples(t *testing.T, tab *browser.Tab) pair.Report {
	t.Helper()
	until(t, tab, samplesRead)
	click(t, tab, "#run")
	until(t, tab, `document.body.dataset.state === "running"`)
	r := finish(t, tab)
	if r.Inputs.Samples == nil {
		t.Fatalf("a report of %s", r.Subject)
	}
	return r
}

// TestSamples: a file that is dropped is shown before anything runs; its audit counts what
// the command line counts; no request leaves meanwhile; the report verifies, with the same
// file only.
func TestSamples(t *testing.T) {
	t.Parallel()
	data := noisyCounts(4000, 0.5, 1)
	file := filepath.Join(t.TempDir(), "count.csv")
	must.Do(t, os.WriteFile(file, []byte(data), 0o644))
	native := runAudit(t, "-samples-file", file, "-epsilon", "1", "-seed", "42")
	tab := open(t, "#v=1&mechanism=svt1&workers=2")
	enter(t, tab, "data")
	before := eval[string](t, tab, `document.querySelector("#verdict").textContent`)
	requests := len(tab.Requests())
	drop(t, tab, "count.csv", data)
	until(t, tab, samplesRead+` && document.querySelector("#yours-preview table")`)
	preview := eval[string](t, tab, `document.querySelector("#yours").textContent`)
	for _, want := range []string{"count.csv", native.Inputs.Samples.Files[0].SHA256[:12], "rows with dataset = 1", "The output is in 2 columns: value, size."} {
		if !strings.Contains(preview, want) {
			t.Errorf("the preview does not say %q: %s", want, preview)
		}
	}
	if now := eval[string](t, tab, `document.querySelector("#verdict").textContent`); now != before {
		t.Error("something ran before the user asked for it")
	}
	// The claim is the page's, until the user says another one.
	until(t, tab, `document.querySelector("#epsilon").value === "1"`)
	set(t, tab, "epsilon", "1")
	r := runSamples(t, tab)
	sameCounts(t, "the page against the command line", r, native)
	if r.Verdict != audit.Violation || r.Reproduce.CLI != native.Reproduce.CLI || !strings.HasPrefix(r.Reproduce.CLI, "dpscope audit -samples-file count.csv ") {
		t.Errorf("%s; %s", r.Summary, r.Reproduce.CLI)
	}
	verified(t, tab)
	for _, url := range tab.Requests()[requests:] {
		// The browser asks for the page's icon by itself, when it pleases.
		if name := strings.TrimPrefix(url, site); name != "worker.js" && name != "icon.svg" && !strings.HasPrefix(url, "blob:") {
			t.Errorf("%s was asked for while the samples were there", url)
		}
	}
	// Elsewhere the report asks for the file, which verifies it under any name.
	saved := eval[string](t, tab, `JSON.stringify(window.dpscope.report)`)
	tab = open(t, "")
	drop(t, tab, "report.json", saved)
	until(t, tab, `window.dpscope.report?.inputs.samples && !document.querySelector("#needs-file").hidden && document.querySelector("#needs-file").textContent.includes("count.csv")`)
	click(t, tab, "#verify")
	until(t, tab, noticed+`.includes("The file is needed to verify")`)
	drop(t, tab, "other.txt", data)
	until(t, tab, samplesRead+` && document.querySelector("#needs-file").hidden`)
	verified(t, tab)
	// Another file is refused by its content.
	drop(t, tab, "count.csv", noisyCounts(4000, 0.5, 2))
	until(t, tab, samplesRead+` && !document.querySelector("#needs-file").hidden`)
	click(t, tab, "#verify")
	until(t, tab, noticed+`.includes("another file, with SHA-256 ")`)
}

// TestSamplesReading: what columns are can be changed, by the keyboard too; a claim of
// another kind and a budget are those of the form. Pasted text, and files that are chosen,
// arrive as dropped ones do. A bad file is a notice, and the result stays.
func TestSamplesReading(t *testing.T) {
	t.Parallel()
	data := strings.ReplaceAll(noisyCounts(1500, 1, 3), "dataset", "arm")
	rows := strings.SplitAfter(data, "\n")
	rows[2000] = "nan,small," + rows[2000][len(rows[2000])-2:]
	tab := open(t, "")
	drop(t, tab, "arms.csv", strings.Join(rows, ""))
	until(t, tab, noticed+`.includes("line 2001, column 1 (value)") && `+noticed+`.includes("finite number")`)
	say(t, tab, "NaN and infinities", "symbols")
	until(t, tab, samplesSaid+`.includes("arm tells the datasets apart: the first has 1 500 rows")`)
	unfold(t, tab, "yours-more")
	eval[bool](t, tab, `(document.querySelector("#yours-role-2").focus(), true)`)
	pressKey(t, tab, kb.ArrowUp) // output
	until(t, tab, samplesSaid+`.includes("Which column does?")`)
	say(t, tab, "arm: role", "tells the dataset")
	until(t, tab, samplesRead)
	say(t, tab, "size: role", "left out")
	until(t, tab, samplesRead+` && document.querySelector("#yours-role-1").selectedOptions[0].text === "left out"`)
	for _, f := range [][2]string{{"guarantee", "zcdp"}, {"rho", "2"}, {"explore", "500"}, {"samples", "900"}, {"seed", "6"}} {
		set(t, tab, f[0], f[1])
	}
	r := runSamples(t, tab)
	if s := r.Inputs.Samples; *s.Split != (audit.RecordedSplit{Bet: 900, Explored: 500, Certified: 500, Unused: [2]int{500, 500}}) || s.Reading.NonFinite != "symbol" || r.Claim.Rho != 2 {
		t.Errorf("%+v %+v: %s", s, r.Claim, r.Reproduce.CLI)
	}

	eval[bool](t, tab, fmt.Sprintf(`(() => {
		const clip = new DataTransfer();
		clip.setData("text/plain", %q);
		document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: clip, bubbles: true, cancelable: true}));
		return true;
	})()`, noisyCounts(300, 1, 1)))
	until(t, tab, samplesRead+` && `+samplesSaid+`.includes("the first has 300 rows")`)
	eval[bool](t, tab, fmt.Sprintf(`(() => {
		const input = document.querySelector("#yours-input"), data = new DataTransfer();
		data.items.add(new File([%q], "chosen.json"));
		input.files = data.files;
		input.dispatchEvent(new Event("change", {bubbles: true}));
		return true;
	})()`, strings.Repeat("{\"x\": 1.5, \"dataset\": 0}\n{\"x\": 2, \"dataset\": 1}\n", 250)))
	until(t, tab, samplesRead+` && `+samplesSaid+`.includes("chosen.json, 500 rows")`)
	click(t, tab, "#yours-forget")
	until(t, tab, `document.querySelector("#mechanism").value !== "samples" && document.querySelector("#yours-more").hidden`)

	before := eval[string](t, tab, `document.querySelector("#verdict").textContent`)
	for _, c := range [][2]string{
		{`new File([Uint8Array.from([1, 2, 3, 0, 255])], "some.bin")`, "not text"},
	} {
		eval[bool](t, tab, `(window.dpscope.samples.take([`+c[0]+`]), true)`) // a DataTransfer would lose the lie
		until(t, tab, fmt.Sprintf(noticed+`.includes(%q) && !window.dpscope.samples.busy`, c[1]))
		if eval[bool](t, tab, `document.querySelector("#mechanism").value === "samples"`) || eval[string](t, tab, `document.querySelector("#verdict").textContent`) != before {
			t.Errorf("%s: it can be run, or the result is gone", c[1])
		}
	}
}

// makeLarge has the page make a file of many rows, two at a time, as window.large.
func makeLarge(t *testing.T, tab *browser.Tab) {
	t.Helper()
	eval[bool](t, tab, fmt.Sprintf(`(() => {
		const parts = ["x,dataset\n"];
		for (let i = 0, state = 1; i < %d; i++) {
			state = (state * 48271) %% 2147483647;
			const u = state / 2147483647 - 0.5, x = (i %% 2) - Math.sign(u) * Math.log(1 - 2 * Math.abs(u));
			parts.push(x + "," + i %% 2 + "\n");
		}
		window.large = new File(parts, "large.csv");
		return true;
	})()`, testsize.Of(300_000, 1_000_000)))
}

// TestSamplesStop: a reading and a run that are stopped end soon, as does a run whose samples
// are let go; when the worker that holds the samples crashes, that is said, and reading them
// again is one press.
func TestSamplesStop(t *testing.T) {
	t.Parallel()
	tab := open(t, "")
	enter(t, tab, "data")
	drop(t, tab, "small.csv", noisyCounts(300, 1, 1))
	until(t, tab, samplesRead)
	eval[bool](t, tab, `(() => { // to crash the worker
		const Real = window.Worker;
		window.Worker = class extends Real { constructor(...a) { super(...a); window.lastWorker = this; } };
		return true;
	})()`)
	makeLarge(t, tab)
	eval[bool](t, tab, `(window.dpscope.samples.take([window.large]), true)`)
	until(t, tab, `/ [1-9][0-9]? %/.test(document.querySelector("#yours-phase").textContent) && (document.querySelector("#yours-stop").click(), true)`) // at once: it may be read before a mouse arrives
	until(t, tab, `document.querySelector("#yours-status").textContent === "Reading was stopped." && !window.dpscope.samples.busy`)

	eval[bool](t, tab, `(window.dpscope.samples.take([window.large]), true)`)
	until(t, tab, samplesRead)
	set(t, tab, "epsilon", "1")
	until(t, tab, samplesRead)
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.progress?.phase === "certify" || window.dpscope.progress?.rows > 0`)
	eval[bool](t, tab, `(document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true})), true)`)
	until(t, tab, `document.body.dataset.state !== "running"`)

	// Letting them go ends what is done with them.
	until(t, tab, samplesRead)
	click(t, tab, "#run")
	until(t, tab, `document.body.dataset.state === "running"`)
	click(t, tab, "#yours-forget")
	until(t, tab, `document.body.dataset.state !== "running" && document.querySelector("#mechanism").value !== "samples" && !document.querySelector("#run").disabled`)
	eval[bool](t, tab, `(window.dpscope.samples.take([window.large]), true)`)
	until(t, tab, samplesRead)

	eval[bool](t, tab, `(window.lastWorker.onerror(Object.assign(new Event("error", {cancelable: true}), {message: "out of memory"})), true)`)
	until(t, tab, noticed+`.includes("out of memory") && document.querySelector("#mechanism").value !== "samples" && document.querySelector("#yours-more").hidden`)
	click(t, tab, "#notice button.primary")
	until(t, tab, samplesRead)
}
