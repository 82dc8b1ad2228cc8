package e2e

import (
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// documents lists the pages of docs in the built site.
func documents(t *testing.T) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(dist), "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".html" {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) < 40 {
		t.Fatalf("%d pages, %v", len(names), err)
	}
	return names
}

// TestDocuments: every page of docs, in the short tests every third, loads without a complaint
// and is no wider than a small phone. The search finds pages.
func TestDocuments(t *testing.T) {
	t.Parallel()
	tab := visit(t, site+"docs/index.html")
	must.Do(t, resize(tab, 360, 740))
	for i, name := range documents(t) {
		if i%testsize.Of(3, 1) > 0 {
			continue
		}
		must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(site+name)))
		if wide := eval[string](t, tab, `[...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, pre, .skip") && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80)).join("\n")`); wide != "" {
			t.Errorf("%s: wider than the screen:\n%s", name, wide)
		}
		if n := eval[float64](t, tab, `document.scrollingElement.scrollWidth`); n > 360 {
			t.Errorf("%s: %v px wide", name, n)
		}
	}
	// The search, from a page of a folder: titles come first, and every word counts.
	const links = `[...document.querySelectorAll("#found a")].map((a) => a.textContent)`
	look := func(words string) {
		eval[bool](t, tab, fmt.Sprintf(`(document.getElementById("search").value = %q, document.getElementById("search").dispatchEvent(new Event("input")), true)`, words))
	}
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(site+"docs/museum/svt4.html")))
	look("sphinx") // its answer comes when nothing is looked for any more
	look("")
	if late := eval[string](t, tab, `fetch("../search.json").then((answer) => answer.json()).then(() => new Promise((done) => setTimeout(done, 100))).then(() => document.getElementById("found").textContent)`); late != "" {
		t.Errorf("an answer came too late: %s", late)
	}
	look("private learners")
	until(t, tab, links+`[0]?.startsWith("Private learners")`)
	look("xyzzy learners")
	until(t, tab, `document.getElementById("found").textContent.includes("No page has all")`)
	look("sphinx")
	until(t, tab, links+`[0] === "Audits in your own pages: Sphinx"`)
	if to := eval[string](t, tab, `document.querySelector("#found a").href`); to != site+"docs/embed.html#sphinx" {
		t.Errorf("the search leads to %s", to)
	}
	quiet(t, tab)
	for _, url := range tab.Requests() {
		if !strings.HasPrefix(url, site) {
			t.Errorf("a page asks for %s", url)
		}
	}
}

// TestMuseum: the site runs in a folder of a server that knows nothing of it: there, from the
// own link of every page of the museum (in the short tests, of one), the audit ends with a
// violation within 20 seconds, as the page says, and its result links to the page. There a
// slider sets how large the fault is.
func TestMuseum(t *testing.T) {
	t.Parallel()
	const below = "/some/where/"
	server := httptest.NewServer(http.StripPrefix(below, http.FileServer(http.Dir(dist))))
	defer server.Close()
	tab := visit(t, "about:blank")
	links := 0
	for _, name := range documents(t) {
		text := html.UnescapeString(string(must.Get(os.ReadFile(path.Join(dist, name)))(t)))
		_, broken, _ := strings.Cut(text, `<h2 id="audit">`) // before it stands the sound one
		link := regexp.MustCompile(`<p class="open-audit"><a href="../../index\.html(#v=1&mechanism=([^&"]+)[^"]*)">`).FindStringSubmatch(broken)
		if link == nil || !strings.HasPrefix(name, "docs/museum/") {
			continue
		}
		if links++; !testsize.All() && name != "docs/museum/svt5.html" {
			continue
		}
		must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(server.URL+below+"index.html"+link[1]+"&workers=2")))
		until(t, tab, `document.body.dataset.state === "ready"`)
		click(t, tab, "#run")
		r := finish(t, tab)
		if sentence, _, _ := strings.Cut(r.Summary, "; "); r.Verdict != audit.Violation || r.Subject != link[2] || !strings.Contains(text, sentence) {
			t.Errorf("%s: %s, %s", name, r.Subject, r.Summary)
		}
		if eval[string](t, tab, `document.querySelector("#background a[href^='docs/museum/']")?.getAttribute("href") ?? ""`) != name {
			t.Errorf("the report of %s does not link to %s", r.Subject, name)
		}
	}
	if links < 20 {
		t.Errorf("%d pages have an audit", links)
	}
	// On the page the broken one has a slider in the unit of its fault, which keys move: it is audited anew.
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(server.URL+below+"docs/museum/svt4.html")))
	const broken = `document.querySelectorAll("dp-audit")[1]`
	until(t, tab, `(`+broken+`.scrollIntoView(), `+broken+`.report)`)
	if sound := eval[bool](t, tab, `document.querySelector("dp-audit").shadowRoot.querySelector("iframe")?.contentDocument.querySelector("#explorer").checkVisibility() ?? false`); sound {
		t.Error("the sound one has a slider")
	}
	until(t, tab, `((knob) => (knob.focus(), knob.checkVisibility()))(`+broken+`.shadowRoot.querySelector("iframe").contentDocument.querySelector("#slide-fault"))`)
	first := eval[float64](t, tab, broken+`.report.lowerBound`)
	pressKey(t, tab, kb.ArrowRight)
	until(t, tab, broken+`.report.plan.parameters.c === 2`)
	if now := eval[float64](t, tab, broken+`.report.lowerBound`); !(now > first) {
		t.Errorf("with twice the positive answers it shows %v, with one %v", now, first)
	}
	quiet(t, tab)
	for _, url := range tab.Requests() {
		if !strings.HasPrefix(url, server.URL+below) && !strings.HasPrefix(url, "blob:") && !strings.HasPrefix(url, "data:") && url != "about:blank" {
			t.Errorf("asked for %s", url)
		}
	}
}

// TestMend: the function of a museum page opens in the editor with the settings that it
// needs, and waits for a press of Run.
func TestMend(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile(path.Join(dist, "docs/museum/noisy-max-value.html")))(t)
	link := regexp.MustCompile(`href="../../index\.html(#door=code&amp;code=[^"]+)"`).FindSubmatch(page)
	if link == nil {
		t.Fatal("no link to the editor")
	}
	tab := live(t, site+html.UnescapeString(string(link[1])))
	until(t, tab, `document.querySelector("#own-code").value.includes("Math.max(...noisy); // mend") && document.querySelector("#own-rows").value === "5" && document.querySelector("#own-relation").value === "l-infinity"`)
	until(t, tab, `document.querySelector("#verdict").innerText.includes("Code that came with a link") && document.querySelector("#verdict").dataset.verdict === "empty" && document.querySelector("#own-code-error").hidden && !document.querySelector("#own-run").disabled`)
}
