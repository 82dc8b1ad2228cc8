package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// inPython opens the door of the user's code, in Python.
func inPython(t *testing.T) *browser.Tab {
	t.Helper()
	tab := owning(t)
	if eval[bool](t, tab, `fetch("python/micropython.js").then(({ ok }) => !ok)`) {
		t.Skip("the site is built without Python")
	}
	until(t, tab, `!document.querySelector("#own-python").hidden`, 10*time.Second)
	click(t, tab, `#own-language button[data-language="python"]`)
	return tab
}

// TestOwnPython: a function in Python is audited, its report names what ran it and
// verifies; a larger library of Python comes when the code imports it; what goes wrong
// is said with its line.
func TestOwnPython(t *testing.T) {
	t.Parallel()
	tab := inPython(t)
	set(t, tab, "own-samples", "5000")
	write(t, tab, "def mechanism(rows, random):\n    print('hello')\n    return len(rows) + random.laplace(0.4)\n")
	begun := time.Now()
	r := runOwn(t, tab)
	t.Logf("MicroPython, from a click to the verdict: %v", time.Since(begun))
	if b := r.Inputs.Brought; r.Verdict != audit.Violation || b.Kind != audit.BroughtPython || !strings.HasPrefix(b.Runtime, "MicroPython 1.") || b.Name != "mechanism.py" {
		t.Errorf("%s %+v", r.Summary, b)
	}
	if said := eval[string](t, tab, ownSaid); !strings.Contains(said, "It printed “hello”") {
		t.Errorf("of what it prints: %s", said)
	}
	verifyOwn(t, tab)
	// A browser complains of what a server does not have.
	eval[bool](t, tab, `(() => { const get = fetch; globalThis.fetch = (of, ...more) => String(of).endsWith(".whl") ? Promise.resolve(new Response("", { status: 404 })) : get(of, ...more); return true; })()`)
	for _, c := range []struct{ name, code, says string }{
		{"a line", "def mechanism(rows, random):\n    x = 1\n    return random.laplce(x)\n", `random has no "laplce": did you mean "laplace"?`},
		{"syntax", "def mechanism(rows, random):\n    return [;\n", "SyntaxError: invalid syntax"},
		{"shapes", "def mechanism(rows, random):\n    return [1] * len(rows)\n", "mechanism.py"},
		{"numpy", "import numpy as np\ndef mechanism(rows, random):\n    return len(rows) + np.random.laplace(0, 1)\n", "numpy is not part of this page. Write random.laplace(scale) for numpy’s laplace: mechanism gets random as its last argument"},
		{"no rows", "def mechanism(rows, random):\n    return 1 / len(rows) + random.laplace(1)\n", "on the dataset with no rows"},
		{"loop", "def mechanism(rows, random):\n    while True: pass\n", "still running after 2s"},
	} {
		write(t, tab, c.code)
		said := refusedOwn(t, tab)
		if shown := eval[string](t, tab, `document.querySelector("#verdict").innerText`); !strings.Contains(said+shown, c.says) {
			t.Errorf("%s: %s %s\nwant %q", c.name, said, shown, c.says)
		} else {
			t.Logf("%s: %s: %s", c.name, said, strings.ReplaceAll(shown, "\n", " | "))
		}
	}
	write(t, tab, "import statistics\ndef mechanism(rows, random):\n    return statistics.fsum(len(row) for row in rows) + random.laplace(0.4)\n")
	begun = time.Now()
	r = runOwn(t, tab)
	t.Logf("Pyodide, from a click to the verdict: %v", time.Since(begun))
	if b := r.Inputs.Brought; r.Verdict != audit.Violation || !strings.HasPrefix(b.Runtime, "Pyodide ") {
		t.Errorf("%s %+v", r.Summary, b)
	}
	if gear.All() {
		begun = time.Now()
		verifyOwn(t, tab)
		t.Logf("again: %v", time.Since(begun))
	}
}

// TestPythonAsYouType: halving the noise in Python flips the verdict, and what was there
// stays while a fault is shown.
func TestPythonAsYouType(t *testing.T) {
	t.Parallel()
	tab := live(t, site+"#door=code")
	if eval[bool](t, tab, `fetch("python/micropython.js").then(({ ok }) => !ok)`) {
		t.Skip("the site is built without Python")
	}
	until(t, tab, `!document.querySelector("#own-python").hidden`, 30*time.Second)
	click(t, tab, `#own-language button[data-language="python"]`)
	const code = "def mechanism(rows, random):\n    return len(rows) + random.laplace(SCALE)\n"
	var least time.Duration
	for _, scale := range []string{"1", "0.5", "1.2", "0.6"} {
		write(t, tab, strings.Replace(code, "SCALE", scale, 1))
		begun := time.Now()
		want := "Violation"
		if scale[0] == '1' {
			want = "No violation found"
		}
		until(t, tab, headline+`.startsWith("`+want+`")`, time.Minute)
		took := time.Since(begun)
		t.Logf("noise of scale %s: %v from the last key to %q", scale, took.Round(time.Millisecond), want)
		if want == "Violation" && (least == 0 || took < least) {
			least = took
		}
	}
	t.Logf("the verdict flips within %v", least.Round(time.Millisecond))
	// The verdict is there before the report of the whole audit is.
	until(t, tab, `window.dpscope.report?.verdict === "violation" && window.dpscope.report.inputs.brought.code.includes("laplace(0.6)") && `+ownIdle, time.Minute)
	before := eval[string](t, tab, `window.dpscope.report.summary`)
	write(t, tab, strings.Replace(code, "laplace(SCALE)", "laplce(1)", 1))
	until(t, tab, headline+`.startsWith("Line 2 stops the code")`, time.Minute)
	if now := eval[string](t, tab, `window.dpscope.report.summary`); now != before {
		t.Errorf("the report was %q, is %q", before, now)
	}
}

// verifyOwn presses Verify and waits for its answer.
func verifyOwn(t *testing.T, tab *browser.Tab) {
	t.Helper()
	click(t, tab, "#verify")
	until(t, tab, `document.querySelector("#verification").textContent.includes("is the same as in the report") && `+ownIdle, 3*time.Minute)
}
