package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestCodeAsYouType: the code is audited when its door opens and again after the last key;
// an error names its line and leaves what was there; a link holds the code, of which
// nothing runs by itself, and the browser keeps it.
func TestCodeAsYouType(t *testing.T) {
	t.Parallel()
	tab := live(t, site+"#door=code")
	until(t, tab, headline+`.startsWith("No violation found")`, time.Minute)
	const code = `document.querySelector("#own-code")`
	write := func(from, to string) {
		t.Helper()
		eval[bool](t, tab, `(`+code+`.focus(), `+code+`.setSelectionRange(`+code+`.value.indexOf("`+from+`"), `+code+`.value.indexOf("`+from+`") + `+strconv.Itoa(len(from))+`), true)`)
		if err := chromedp.Do(tab.Ctx, chromedp.KeyEvent(to)); err != nil {
			t.Fatal(err)
		}
	}
	write("laplace(1)", "laplace(0.4)")
	begun := time.Now()
	until(t, tab, headline+`.startsWith("Violation")`, time.Minute)
	t.Logf("the verdict changed %d ms after the last key", time.Since(begun).Milliseconds())
	if at := eval[string](t, tab, `document.activeElement.id`); at != "own-code" {
		t.Errorf("whoever writes is taken to %q", at)
	}
	until(t, tab, `window.dpscope.report?.verdict === "violation" && window.dpscope.report.inputs.brought.code.includes("laplace(0.4)")`, time.Minute)
	said, _, _ := strings.Cut(eval[string](t, tab, headline), "\n")
	link := eval[string](t, tab, shareLink)
	pressKey(t, tab, "\x1b")

	write("laplace(0.4)", "laplce(0.4)")
	until(t, tab, headline+`.startsWith("Line 6 stops the code") && document.querySelector("#verdict").innerText.includes("laplace")`, time.Minute)
	write("laplce(0.4)", "laplace(0.4)")
	until(t, tab, headline+`.startsWith("Violation")`, time.Minute)

	other := live(t, link)
	until(t, other, code+`.value.includes("laplace(0.4)") && `+headline+`.includes("not verified here yet")`, 30*time.Second)
	if got := eval[string](t, other, headline); !strings.HasPrefix(got, said) {
		t.Errorf("the link shows %q, its sender saw %q", got, said)
	}
	until(t, other, `document.querySelector("#chart .picture > svg") !== null`, 10*time.Second)
	if eval[bool](t, other, `window.dpscope.report !== null`) {
		t.Error("the code of a link runs by itself")
	}
	click(t, other, "#verify")
	until(t, other, `document.querySelector("#verification").dataset.ok === "true"`, time.Minute)
	if got := eval[string](t, other, headline); !strings.HasPrefix(got, said) {
		t.Errorf("verified stands %q, the sender saw %q", got, said)
	}
	cut := live(t, link[:len(link)-20])
	until(t, cut, `document.querySelector("#notice").innerText.includes("cut short")`, 30*time.Second)
	if !strings.Contains(eval[string](t, cut, code+`.value`), "function mechanism") {
		t.Error("a link that was cut took the code away")
	}

	if err := chromedp.Do(tab.Ctx, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	until(t, tab, code+`?.value.includes("laplace(0.4)")`, 30*time.Second)
}
