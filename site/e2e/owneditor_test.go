package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// TestEditor: the editor with a mouse and keys, on a phone, and in the full tests wide too. A click sets the
// cursor, what is typed comes there, Tab indents, undo takes it back, Esc and Tab leave.
// Whoever comes by Tab passes through. Letters are no shortcuts of the page. What is pasted
// over all of the code stays there.
func TestEditor(t *testing.T) {
	t.Parallel()
	for _, size := range testsize.Of(windows[1:], windows) {
		tab := owning(t)
		must.Do(t, resize(tab, size[0], size[1]))
		before := eval[string](t, tab, written)
		at := eval[[]float64](t, tab, `(() => { const r = [...`+editor+`.children][2].getBoundingClientRect(); return [r.left + 200, r.top + r.height / 2]; })()`) // past the end of the third line
		must.Do(t, chromedp.Do(tab.Ctx, chromedp.MouseClickXY(at[0], at[1])))
		if !eval[bool](t, tab, `document.activeElement === `+editor+` && parseFloat(getComputedStyle(`+editor+`).fontSize) >= `+map[bool]string{true: "16", false: "13"}[size[0] < 761]) {
			t.Errorf("%v: a click does not go into the editor, or its letters are small", size)
		}
		pressKey(t, tab, "r?// (")
		pressKey(t, tab, kb.Tab)
		pressKey(t, tab, "x")
		if got := eval[string](t, tab, written); got != strings.Replace(before, "const epsilon = 1;", "  const epsilon = 1;r?// (x", 1) {
			t.Errorf("%v: typed stands %q", size, got)
		}
		if eval[bool](t, tab, `document.querySelector("#help").open || document.querySelector("#own-run").disabled`) {
			t.Errorf("%v: letters do something else", size)
		}
		must.Do(t, chromedp.Do(tab.Ctx, chromedp.KeyEvent("z", chromedp.KeyModifiers(chromedp.ModifierCtrl))))
		if got := eval[string](t, tab, written); len(got) >= len(before)+len("  r?// (x") {
			t.Errorf("%v: undone stands %q", size, got)
		}
		write(t, tab, before)
		pressKey(t, tab, kb.Escape)
		pressKey(t, tab, kb.Tab)
		if eval[bool](t, tab, editor+`.contains(document.activeElement)`) || eval[string](t, tab, written) != before {
			t.Errorf("%v: Esc and Tab do not leave the editor", size)
		}
		passed := false
		eval[bool](t, tab, `(document.querySelector("#own-template").focus(), true)`)
		for range 6 {
			pressKey(t, tab, kb.Tab)
			passed = passed || eval[bool](t, tab, `document.activeElement === `+editor)
		}
		if !passed || eval[bool](t, tab, `document.activeElement === `+editor) || eval[string](t, tab, written) != before {
			t.Errorf("%v: Tab is caught by the editor, or does not come there: %v", size, passed)
		}
		if wide := eval[string](t, tab, overflowing); size[0] < 761 && wide != "" {
			t.Errorf("%v: wider than the page: %s", size, wide)
		}
		eval[bool](t, tab, `(() => {
			const line = `+editor+`.children[0], data = new DataTransfer();
			`+editor+`.focus();
			getSelection().selectAllChildren(`+editor+`);
			document.dispatchEvent(new Event("selectionchange"));
			data.setData("text/plain", "function mechanism(rows, random) {\n  return rows.length;\n}\n");
			line.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
			return true;
		})()`)
		until(t, tab, written+`.includes("return rows.length;") && document.body.dataset.door === "code" && `+noticed+` === ""`)
		eval[bool](t, tab, `(localStorage.clear(), true)`) // for the next window
		tab.Close()
	}
}

// TestEditorComesLater: what is written before the editor has come is in it, with the
// cursor where it was.
func TestEditorComesLater(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	tab := live(t, altered(t, func(_ http.ResponseWriter, name string) bool {
		if name == "editor.js" {
			<-gate
		}
		return false
	})+"#door=code")
	until(t, tab, `document.querySelector("#own-code")?.checkVisibility()`)
	eval[bool](t, tab, `((e) => { e.focus(); e.setSelectionRange(3, 3); return true; })(document.querySelector("#own-code"))`)
	pressKey(t, tab, "early ")
	close(gate)
	until(t, tab, editor+` !== null && document.activeElement === `+editor)
	pressKey(t, tab, "late ")
	until(t, tab, written+`.startsWith("// early late How many") && `+editor+`.innerText.startsWith("// early late How many")`)
}

// TestWithoutEditor: a site that was built without npm has a text field and JavaScript,
// and says so; the code in it is audited, and its error is marked.
func TestWithoutEditor(t *testing.T) {
	t.Parallel()
	data := must.Get(os.ReadFile(filepath.Join(dist, "build-info.json")))(t)
	var info map[string]any
	must.Do(t, json.Unmarshal(data, &info))
	absent := func(name string) bool { return name == "editor.js" || strings.HasPrefix(name, "python/") }
	info["files"] = slices.DeleteFunc(info["files"].([]any), func(f any) bool { return absent(f.(map[string]any)["name"].(string)) })
	data = must.Get(json.Marshal(info))(t)
	tab := live(t, altered(t, func(w http.ResponseWriter, name string) bool {
		if name == "build-info.json" {
			w.Write(data)
			return true
		}
		if absent(name) {
			t.Errorf("%s was asked for, which the site does not have", name)
		}
		return false
	})+"#door=code")
	until(t, tab, headline+`.startsWith("Violation") && `+ownIdle)
	if !eval[bool](t, tab, `document.querySelector("#own-code").checkVisibility() && document.querySelector("#own-without").checkVisibility() && document.querySelector("#own-python").hidden`) {
		t.Error("there is no text field, or the page does not say what is absent")
	}
	set(t, tab, "own-code", strings.Replace(eval[string](t, tab, written), "random.laplace", "random.laplce", 1))
	until(t, tab, headline+`.startsWith("The code failed in line 10") && document.querySelector("#own-code-error").checkVisibility() && document.querySelector("#own-code").getAttribute("aria-invalid") === "true"`)
}
