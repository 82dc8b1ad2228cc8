package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestWidgetModule: a page that hosts the Python package's module, as anywidget does,
// shows the instrument, which finds what the command line finds; without the site the
// picture stands there; what it returns takes it away.
func TestWidgetModule(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile("../python/src/dpscope/widget.js")
	if err != nil {
		t.Fatal(err)
	}
	page := fmt.Sprintf(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Notebook</title><body>%s<div id="a"></div><div id="b"></div>
<script type="module">
import widget from "/widget.js";
const model = (state) => ({ get: (name) => state[name], on() {}, off() {} });
window.gone = await widget.render({ model: model({ site: %q, settings: { mechanism: "svt4", epsilon: 1, samples: 20000, trials: 2, seed: 42, autorun: true, "data-name": "a" } }), el: document.getElementById("a") });
await widget.render({ model: model({ site: "", headline: "Violation: <b>", picture: "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\"/>" }), el: document.getElementById("b") });
window.drawn = true;
</script></body></html>`, logScript, site)
	tab := hostingFiles(t, "127.0.0.1", map[string]string{"/": page, "/widget.js": string(module)})
	until(t, tab, `window.drawn && document.querySelector("#b img").naturalWidth === 30 && document.querySelector("#b p").textContent === "Violation: <b>"`, 20*time.Second)
	until(t, tab, heard("result", "a")+`.length === 1`, 90*time.Second)
	if got := eval[string](t, tab, heard("result", "a")+`[0][2].report.headline`); !strings.HasPrefix(got, "Violation: epsilon >= 1.510") {
		t.Error(got)
	}
	if !eval[bool](t, tab, `(window.gone(), document.getElementById("a").childElementCount === 0)`) {
		t.Error("it is not taken away")
	}
}
