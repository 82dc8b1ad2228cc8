package e2e

import (
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// python goes on in Python, at the door of the user's code.
func python(t *testing.T, tab *browser.Tab) {
	t.Helper()
	if eval[bool](t, tab, `fetch("python/micropython.js").then(({ ok }) => !ok)`) {
		t.Skip("the site is built without Python")
	}
	until(t, tab, `!document.querySelector("#own-python").hidden`)
	click(t, tab, `#own-language button[data-language="python"]`)
}

// TestOwnPython: a function in Python is audited, its report names what ran it and
// verifies; a larger library of Python comes when the code imports it; what goes wrong
// is said with its line.
func TestOwnPython(t *testing.T) {
	t.Parallel()
	tab := owning(t)
	python(t, tab)
	set(t, tab, "own-samples", "2000")
	write(t, tab, "def mechanism(rows, random):\n    print('hello')\n    return len(rows) + random.laplace(0.4)\n")
	r := runOwn(t, tab)
	if b := r.Inputs.User; r.Verdict != audit.Violation || b.Kind != audit.UserPython || !strings.HasPrefix(b.Runtime, "MicroPython 1.") || b.Name != "mechanism.py" {
		t.Errorf("%s %+v", r.Summary, b)
	}
	if said := eval[string](t, tab, ownSaid); !strings.Contains(said, "It printed “hello”") {
		t.Errorf("of what it prints: %s", said)
	}
	verifyOwn(t, tab)
	// A browser complains of what a server does not have.
	eval[bool](t, tab, `(() => { const get = fetch; globalThis.fetch = (of, ...more) => String(of).endsWith(".whl") ? Promise.resolve(new Response("", { status: 404 })) : get(of, ...more); return true; })()`)
	faults := []struct{ name, code, says string }{
		{"a line", "def mechanism(rows, random):\n    x = 1\n    return random.laplce(x)\n", `random has no "laplce": did you mean "laplace"?`},
		{"numpy", "import numpy as np\ndef mechanism(rows, random):\n    return len(rows) + np.random.laplace(0, 1)\n", "numpy is not part of this page. Write random.laplace(scale) for numpy’s laplace: mechanism gets random as its last argument"},
		{"syntax", "def mechanism(rows, random):\n    return [;\n", "SyntaxError: invalid syntax"},
		{"shapes", "def mechanism(rows, random):\n    return [1] * len(rows)\n", "mechanism.py"},
		{"no rows", "def mechanism(rows, random):\n    return 1 / len(rows) + random.laplace(1)\n", "on the dataset with no rows"},
		{"loop", "def mechanism(rows, random):\n    while True: pass\n", "still running after 2s"},
	}
	for _, c := range faults[:testsize.Of(2, len(faults))] {
		write(t, tab, c.code)
		said := refusedOwn(t, tab)
		if shown := eval[string](t, tab, `document.querySelector("#verdict").innerText`); !strings.Contains(said+shown, c.says) {
			t.Errorf("%s: %s %s\nwant %q", c.name, said, shown, c.says)
		}
	}
	if !testsize.All() {
		return // it has 13 MB
	}
	write(t, tab, "import statistics\ndef mechanism(rows, random):\n    return statistics.fsum(len(row) for row in rows) + random.laplace(0.4)\n")
	r = runOwn(t, tab)
	if b := r.Inputs.User; r.Verdict != audit.Violation || !strings.HasPrefix(b.Runtime, "Pyodide ") {
		t.Errorf("%s %+v", r.Summary, b)
	}
}

// verifyOwn presses Verify and waits for its answer.
func verifyOwn(t *testing.T, tab *browser.Tab) {
	t.Helper()
	click(t, tab, "#verify")
	until(t, tab, `document.querySelector("#verification").textContent.includes("is the same as in the report") && `+ownIdle)
}
