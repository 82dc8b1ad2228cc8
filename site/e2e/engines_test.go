package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/site/e2e/browser"
	"github.com/dpscope/dpscope/site/e2e/webdriver"
)

// other is a browser that is not Chromium, in a test.
type other struct {
	*webdriver.Browser
	t *testing.T
}

// within is the time that one step has.
func (o other) within() context.Context {
	ctx, cancel := context.WithTimeout(o.t.Context(), browser.Patience)
	o.t.Cleanup(cancel)
	return ctx
}

func (o other) must(err error) {
	o.t.Helper()
	if err != nil {
		said, _ := o.Console()
		now, _ := webdriver.Eval[string](context.WithoutCancel(o.t.Context()), o.Browser, `[document.body.dataset.state, ..."#notice #verdict #own-status".split(" ").map((s) => document.querySelector(s)?.innerText)].join(" | ")`)
		o.t.Fatalf("%v\nthe page is at: %s\nit complained: %q", err, now, said)
	}
}

func (o other) open(address string) {
	o.t.Helper()
	o.must(o.Navigate(o.within(), address))
}

func (o other) until(expression string) {
	o.t.Helper()
	o.must(o.Until(o.within(), expression))
}

func (o other) click(selector string) {
	o.t.Helper()
	o.must(o.Click(o.within(), selector))
}

// say evaluates an expression that is a text.
func (o other) say(expression string) string {
	o.t.Helper()
	text, err := webdriver.Eval[string](o.within(), o.Browser, expression)
	o.must(err)
	return text
}

func (o other) report(expression string) pair.Report {
	o.t.Helper()
	r, err := pair.ParseReport([]byte(o.say(`JSON.stringify(` + expression + `)`)))
	if err != nil {
		o.t.Fatal(err)
	}
	return r
}

// fill writes into a field of the form, as [set] does.
func (o other) fill(id, value string) {
	o.t.Helper()
	o.say(fmt.Sprintf(`((e) => { e.value = %q; for (const kind of ["input", "change"]) e.dispatchEvent(new Event(kind, { bubbles: true })); return ""; })(document.querySelector("#%s"))`, value, id))
}

const ownSamples = 1000 // enough for a violation, and for WebKitGTK to compute with

// ownCode is a mechanism that is written into the door of the user's code: half of the
// noise that it claims.
const ownCode = "function mechanism(dataset, n, random) {\n  return Array.from({ length: n }, () => dataset.length + random.laplace(0.5));\n}\n"

// writeOwn writes it and says how it is audited.
func (o other) writeOwn(code string) {
	o.t.Helper()
	o.fill("own-samples", fmt.Sprint(ownSamples))
	o.fill("own-seed", "3")
	o.fill("own-code", code)
}

// TestEngines: what Chromium shows, Firefox and WebKitGTK show too, with the same counts:
// an audit from the page to its verdict and its replay, a mechanism of the user's own,
// whose code reaches nothing, and the element in a page of another origin. Nothing is
// complained about.
func TestEngines(t *testing.T) {
	testsize.Long(t)
	tab := live(t, site+"#door=code") // what the others are held to
	write(t, tab, ownCode)
	set(t, tab, "own-samples", fmt.Sprint(ownSamples))
	set(t, tab, "own-seed", "3")
	ownHere := runOwn(t, tab)
	tab.Close()
	tab = open(t, "#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2")
	click(t, tab, "#run")
	finish(t, tab)
	until(t, tab, settledSaying)
	said, link := eval[string](t, tab, headline)+eval[string](t, tab, shows), eval[string](t, tab, shareLink)
	for _, engine := range webdriver.Engines {
		t.Run(engine, func(t *testing.T) {
			b := webdriver.Start(t, engine)
			t.Log(b.Name)
			step := func(name string, do func(other), allowed ...string) {
				t.Run(name, func(t *testing.T) {
					before := must.Get(b.Console())(t)
					o := other{b, t}
					o.must(b.Resize(o.within(), 1280, 800))
					do(o)
					all := must.Get(b.Console())(t)
					for _, said := range all[len(before):] {
						if !regexp.MustCompile("^$|"+strings.Join(allowed, "|")).MatchString(said) || len(allowed) == 0 {
							t.Errorf("the page complains: %s", said)
						}
					}
				})
			}
			step("audit", auditThere)
			step("share", func(o other) {
				o.open(link)
				o.until(`document.querySelector("#verdict .headline")?.innerText.includes("not verified here yet") && ` + settledSaying + ` && document.querySelector("#chart .picture > svg")`)
				if got := o.say(headline + ` + ` + shows); strings.Replace(got, "not verified here yet", "", 1) != said {
					t.Errorf("the link shows %q, its sender saw %q", got, said)
				}
			})
			step("own", func(o other) { ownThere(o, ownHere) })
			step("sandbox", sandboxThere, ".")
			step("embed", embedThere, "clipboard-write") // which Firefox does not know
		})
	}
}

// auditThere runs an audit by hand and verifies it.
func auditThere(o other) {
	o.open(site + "#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2&workers=2")
	o.until(settled)
	o.until(`document.querySelector("#chart .picture svg")`)
	r := o.report(`window.dpscope.report`)
	if r.Verdict != audit.Violation {
		o.t.Errorf("%s of svt4", r.Verdict)
	}
	sameCounts(o.t, "the page and the command line", r, runAudit(o.t, "-mechanism", "svt4", "-epsilon", "1", "-seed", "7", "-samples", "20000", "-trials", "2"))
	title, detail := r.Banner()
	if said := strings.Join(strings.Fields(o.say(`((e) => { const b = e.getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight ? e.innerText : "out of sight"; })(document.querySelector("#verdict"))`)), " "); said != title+" "+detail {
		o.t.Errorf("the verdict says %q, want %q", said, title+" "+detail)
	}
	o.click("#verify")
	o.until(`document.querySelector("#verification").dataset.ok === "true"`)
	o.click(`#doors a[href="#door=accounting"]`)
	o.until(`document.body.dataset.door === "accounting"`)
}

// openOwn opens the door of the user's code as somebody does who was never there.
func (o other) openOwn() {
	o.t.Helper()
	o.open(site + "docs/index.html")
	o.say(`(localStorage.clear(), "")`)
	o.open(site + "#door=code")
	o.until(`["ready", "running", "done"].includes(document.body.dataset.state) && document.querySelector("#own-samples")`)
}

// ownThere audits code of the user's, and says where code is wrong.
func ownThere(o other, here pair.Report) {
	o.openOwn()
	o.writeOwn(ownCode)
	o.click("#own-run")
	o.until(fmt.Sprintf(`%s && window.dpscope.report?.inputs.brought?.code === %q && window.dpscope.report.plan.samples === %d`, ownIdle, ownCode, ownSamples))
	r := o.report(`window.dpscope.report`)
	sameCounts(o.t, "the user's code here and in Chromium", r, here)
	if r.Verdict != audit.Violation {
		o.t.Errorf("half of the noise is %s", r.Verdict)
	}
	o.click("#verify")
	o.until(`document.querySelector("#verification").textContent.includes("is the same as in the report") && ` + ownIdle)
	for _, c := range []struct{ code, says string }{
		{"function mechanism(dataset, n) {\n  const x = null;\n  return x.length;\n}", "The code failed in line 3: TypeError"},
		{"function mechanism(dataset, n) {\n  return [;\n}", "The code failed in line 2: SyntaxError"},
		{"function mechanism(d, n) { for (;;); }", "still running after 2s"},
	} {
		o.fill("own-code", c.code)
		o.click("#own-run")
		o.until(fmt.Sprintf(`%s && (%s).includes(%q)`, ownIdle, ownTold, c.says))
	}
}

// sandboxThere runs code that tries every way out.
func sandboxThere(o other) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.t.Errorf("asked for %s", r.URL)
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}))
	defer server.Close()
	o.openOwn()
	o.say(`(localStorage.setItem("secret", "here"), document.cookie = "secret=here", "")`)
	o.writeOwn(fmt.Sprintf(escapes, server.URL+"/", site))
	o.say(`document.querySelector("#own-status").textContent = ""`)
	o.click("#own-run")
	o.until(ownStopped)
	said := o.say(ownTold)
	o.t.Log(said)
	if strings.Contains(said, "REACHED") || !strings.Contains(said, `"origin":"null"`) {
		o.t.Errorf("it says %s", said)
	}
	if n := o.say(`String(document.querySelectorAll("iframe").length)`); n != "0" {
		o.t.Errorf("%s sandboxes are left", n)
	}
}

// embedThere presses the element in a page of another origin.
func embedThere(o other) {
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNoContent) // no icon
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, hostPage(`<dp-audit data-name="a" `+embedAttributes+`></dp-audit>`))
	}))
	defer host.Close()
	o.open(host.URL)
	o.until(`customElements.get("dp-audit") && one("a").shadowRoot.querySelector("button")`)
	o.must(o.ClickAt(o.within(), `one("a").shadowRoot.querySelector("button")`))
	o.until(heard("result", "a") + `.length === 1`)
	sameCounts(o.t, "the element and the command line", o.report(heard("result", "a")+`[0][2].report`), runAudit(o.t, embedFlags...))
	o.until(`one("a").shadowRoot.querySelector("iframe").getBoundingClientRect().height > 250`)
}
