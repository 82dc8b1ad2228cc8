package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// TestWidgetModule: a page that hosts the Python package's module, as anywidget does,
// shows the instrument, which finds what the command line finds, and follows its model;
// without the site the picture stands there; what it returns takes it away, for good.
func TestWidgetModule(t *testing.T) {
	t.Parallel()
	module := must.Get(os.ReadFile("../../python/src/dpscope/widget.js"))(t)
	page := fmt.Sprintf(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Notebook</title><body>%s<div id="a"></div><div id="b"></div>
<script type="module">
import widget from "/widget.js";
// A model as AnyModel of @anywidget/types declares it.
class Model {
  constructor(state) { this.state = state; this.heard = []; this.widget_manager = { get_model: async () => this }; }
  get(key) { return this.state[key]; }
  set(key, value) { this.state[key] = value; for (const [name, then] of [...this.heard]) if (name === "change:" + key) then(); }
  on(name, then) { this.heard.push([name, then]); }
  off(name, then) { this.heard = this.heard.filter(([n, f]) => n !== name || f !== then); }
  save_changes() {}
  send() {}
}
const shown = (model, id) => widget.render({ model, el: document.getElementById(id), signal: new AbortController().signal, experimental: { invoke: async () => [null, []] } });
window.model = new Model({ site: %q, settings: { mechanism: "svt4", epsilon: 1, samples: 20000, trials: 2, seed: 42, autorun: true, "data-name": "a" } });
window.gone = await shown(model, "a");
await shown(new Model({ site: "", headline: "Violation: <b>", picture: "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\"/>" }), "b");
window.drawn = true;
</script></body></html>`, logScript, site)
	tab := hostingFiles(t, "127.0.0.1", map[string]string{"/": page, "/widget.js": string(module)})
	until(t, tab, `window.drawn && document.querySelector("#b img").naturalWidth === 30 && document.querySelector("#b p").textContent === "Violation: <b>"`)
	until(t, tab, heard("result", "a")+`.length === 1`)
	if got := eval[string](t, tab, heard("result", "a")+`[0][2].report.headline`); !strings.HasPrefix(got, "Violation: epsilon > 1.") {
		t.Error(got)
	}
	eval[bool](t, tab, `(model.set("settings", { mechanism: "svt1", epsilon: 2, until_refuted: true }), true)`)
	until(t, tab, `document.querySelector("#a dp-audit")?.mechanism === "svt1"`)
	if got := eval[string](t, tab, `JSON.stringify(document.querySelector("#a dp-audit").settings)`); got != `{"mechanism":"svt1","epsilon":"2","until-refuted":"true"}` {
		t.Errorf("the model's new settings are shown as %s", got)
	}
	if !eval[bool](t, tab, `(model.set("settings", { mechanism: "svt3" }), gone(), document.getElementById("a").childElementCount === 0 && model.heard.length === 0)`) {
		t.Error("it is not taken away")
	}
	eval[bool](t, tab, `new Promise((then) => setTimeout(then, 200, true))`)
	if n := eval[int](t, tab, `document.getElementById("a").childElementCount`); n != 0 {
		t.Error("what was under way is drawn after it was taken away")
	}
}
