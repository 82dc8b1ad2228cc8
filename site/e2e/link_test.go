package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/packed"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

const (
	headline = `document.querySelector("#verdict .headline").innerText`
	shows    = `[...document.querySelectorAll("#say, #dataset-first, #dataset-second, #chart .picture > svg text")].map((e) => e.textContent).filter((said) => /[a-z]/i.test(said)).join(" | ")` // ticks depend on the room
	// settledSaying: the sentence below the verdict is of the whole audit.
	settledSaying = `((said) => said !== "" && !said.startsWith("So far"))(document.querySelector("#say").textContent)`
	shareLink     = `(document.querySelector("#share-open").click(), new Promise((done) => { const wait = () => { const { value } = document.querySelector("#share-url"); value.startsWith("http") ? done(value) : setTimeout(wait, 20); }; wait(); }))`
)

// live opens the page as a visitor does.
func live(t *testing.T, address string) *browser.Tab {
	t.Helper()
	tab := must.Get(browser.OpenLive(profile(t), address))(t)
	t.Cleanup(func() {
		quiet(t, tab)
		tab.Close()
	})
	until(t, tab, `["ready", "running", "done"].includes(document.body.dataset.state)`)
	return tab
}

// TestLinkIsAResult: a link opens in a fresh browser with the sender's verdict and
// picture, which nothing there has verified; one press verifies it. A result that its
// settings do not give is struck through or replaced, and a link that was cut in half runs
// its settings.
func TestLinkIsAResult(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2")
	click(t, tab, "#run")
	r := finish(t, tab)
	said := eval[string](t, tab, headline)
	if !strings.HasPrefix(said, "Violation: ε > ") {
		t.Fatalf("the verdict is %q", said)
	}
	until(t, tab, settledSaying)
	shown := eval[string](t, tab, shows)
	link := eval[string](t, tab, shareLink)
	settings, text, ok := strings.Cut(link, "&r=")
	if !ok || len(link) > 4000 {
		t.Fatalf("the link is %.300s", link)
	}

	fresh := must.Get(browser.OpenLive(another(t), "about:blank"))(t)
	defer fresh.Close()
	must.Do(t, resize(fresh, 360, 740))
	must.Do(t, chromedp.Do(fresh.Ctx, chromedp.Navigate(link)))
	until(t, fresh, `document.querySelector("#verdict .headline")?.innerText.includes("not verified here yet")`)
	for _, size := range windows {
		must.Do(t, resize(fresh, size[0], size[1]))
		if got := inSight(t, fresh, "#verdict"); !strings.HasPrefix(got, said) {
			t.Errorf("%v: in sight is %q, its sender saw %q", size, got, said)
		}
	}
	if got := eval[string](t, fresh, headline); !strings.HasPrefix(got, said) {
		t.Errorf("the link shows %q, its sender saw %q", got, said)
	}
	if eval[bool](t, fresh, `window.dpscope.report !== null || window.dpscope.progress !== null`) {
		t.Error("a link runs by itself")
	}
	until(t, fresh, `document.querySelector("#chart .picture > svg") !== null && document.title.includes("Violation") && document.querySelector("meta[name=description]").content.includes("Violation")`)
	must.Do(t, resize(fresh, 1280, 900))
	until(t, fresh, `document.querySelector("#say").textContent !== "" && document.querySelector("#chart .picture").textContent.includes("times likelier")`)
	if got := eval[string](t, fresh, shows); got != shown {
		t.Errorf("the link shows %q, its sender saw %q", got, shown)
	}
	pressMouse(t, fresh, "#note-verify")
	until(t, fresh, `document.querySelector("#verification").dataset.ok === "true"`)
	stands(t, fresh, `document.querySelector("#verdict")`, "Verified here")
	until(t, fresh, `window.dpscope.report !== null`)
	sameCounts(t, "the link's audit", reportOf(t, fresh), r)

	// The bound of another audit.
	forge := func(change func(result map[string]any)) *browser.Tab {
		t.Helper()
		var result map[string]any
		must.Do(t, packed.Unpack(text, &result))
		change(result)
		return live(t, settings+"&r="+must.Get(packed.Pack(result))(t))
	}
	forged := forge(func(result map[string]any) { result["bound"] = result["bound"].(float64) + 0.5 })
	// A picture that is still to come would move the button away under the mouse.
	until(t, forged, headline+`.includes("not verified here yet") && !document.querySelector("#verify").disabled && document.querySelector("#chart .picture > svg")`)
	click(t, forged, "#verify")
	until(t, forged, `document.querySelector("#verification").dataset.ok === "false" && document.querySelector("#verification").innerText.includes("The link said")`)
	if got := eval[string](t, forged, headline); got != said {
		t.Errorf("after verification of a forged bound stands %q", got)
	}

	odd := forge(func(result map[string]any) { result["verdict"] = audit.NoViolation })
	until(t, odd, `document.querySelector("#verdict .headline s") !== null && document.querySelector("#note").innerText.includes("bound")`)

	cut := live(t, link[:len(link)-len(text)/2])
	until(t, cut, `document.querySelector("#notice").innerText.includes("The result in the link cannot be read") && document.body.dataset.state === "done"`)
	if got := eval[string](t, cut, headline); got != said {
		t.Errorf("a link that was cut in half shows %q", got)
	}
}

// TestHistory: runs are kept in the browser, opened again and compared; what differs in
// their settings is said.
func TestHistory(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&p.epsilon=1&seed=7&samples=5000&trials=2")
	click(t, tab, "#run")
	finish(t, tab)
	set(t, tab, "epsilon", "3")
	until(t, tab, `location.hash.includes("epsilon=3")`)
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.report.claim.epsilon === 3`)
	until(t, tab, `JSON.parse(localStorage.getItem("dpscope-history")).length === 2`)
	click(t, tab, "#history-open")
	for _, n := range []string{"1", "2"} {
		click(t, tab, "#history-list li:nth-child("+n+") input")
	}
	click(t, tab, "#history-compare")
	until(t, tab, `document.querySelector("#compare").open && document.querySelectorAll("#compare .picture > svg").length === 2`)
	shown := eval[[]string](t, tab, `[...document.querySelectorAll("#compare .headline")].map((e) => e.textContent)`)
	if len(shown) != 2 || !strings.HasPrefix(shown[0], "Violation") || strings.HasPrefix(shown[1], "Violation") {
		t.Errorf("beside one another stand %q", shown)
	}
	if changed := eval[string](t, tab, `document.querySelector("#compare-changed").innerText`); !strings.Contains(changed, "epsilon") || strings.Contains(changed, "seed") {
		t.Errorf("what differs is %q", changed)
	}
	pressKey(t, tab, "\x1b")
	until(t, tab, `!document.querySelector("#compare").open`)
	click(t, tab, "#history-open")
	click(t, tab, "#history-list li:nth-child(2) a")
	until(t, tab, `location.hash.includes("epsilon=1&") && document.querySelector("#verdict .headline").textContent.startsWith("Violation")`)
	click(t, tab, "#history-open")
	click(t, tab, "#history-forget")
	until(t, tab, `localStorage.getItem("dpscope-history") === null && document.querySelector("#history-none").checkVisibility()`)
}

// TestShareEarlier: a result is shared as code for an embed, with its settings and a preview
// that runs. One of settings that were changed since says so where it is shared, and one that
// no longer applies, as another audit begins, cannot be shared.
func TestShareEarlier(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=laplace-mean&epsilon=1&samples=2000&trials=1&seed=7")
	click(t, tab, "#run")
	r := finish(t, tab)
	const of = `document.querySelector("#result").dataset.of`
	if said := eval[string](t, tab, of); !strings.Contains(said, "laplace-mean") || !strings.Contains(said, "#v=1&") {
		t.Errorf("a print and a PNG say that they are of %q", said)
	}
	eval[string](t, tab, shareLink)
	click(t, tab, "#copy-embed")
	until(t, tab, `document.querySelector(".embed-code[open] dp-audit")`)
	code := eval[[]string](t, tab, `((select) => { select.value = "none"; select.dispatchEvent(new Event("change", {bubbles: true})); return [...document.querySelectorAll(".embed-code textarea")].map((area) => area.value); })(document.querySelector(".embed-code select"))`)
	if !strings.Contains(code[0], `<script defer src="`+site+`dp-audit.js"></script>`) || !strings.Contains(code[0], `<dp-audit mechanism="laplace-mean"`) || !strings.Contains(code[0], `seed="7"`) || !strings.Contains(code[0], `controls="none"`) || !strings.Contains(code[1], `<iframe src="`+site+`embed.html#v=1&amp;mechanism=laplace-mean`) {
		t.Errorf("the code is %q", code)
	}
	if again := eval[string](t, tab, `document.querySelector(".embed-code dp-audit").run().then((r) => r.summary)`); again != r.Summary {
		t.Errorf("the preview says %q, the page %q", again, r.Summary)
	}
	eval[bool](t, tab, `(document.querySelector(".embed-code").close(), true)`)
	eval[bool](t, tab, `(document.querySelector("#share").close(), true)`)
	set(t, tab, "finder", "random")
	until(t, tab, `!document.querySelector("#drift").hidden && document.querySelector("#share-open").disabled && document.querySelector("#result").matches(".stale")`)
	set(t, tab, "finder", "auto")
	until(t, tab, `document.querySelector("#drift").hidden && !document.querySelector("#share-open").disabled`)
	if !eval[bool](t, tab, `(() => { const knob = document.querySelector("#slide-claim"); knob.dispatchEvent(new Event("input")); return document.querySelector("#share-open").disabled && document.querySelector("#save-png").disabled; })()`) {
		t.Error("a result that no longer applies can be shared")
	}
}
