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
	"time"

	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/must"
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

// TestDocuments: every page of docs loads without a complaint and is no wider
// than a small phone.
func TestDocuments(t *testing.T) {
	t.Parallel()
	tab := visit(t, site+"docs/index.html")
	must.Do(t, resize(tab, 360, 740))
	for _, name := range documents(t) {
		must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(site+name)))
		if wide := eval[string](t, tab, `[...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, pre, .skip") && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80)).join("\n")`); wide != "" {
			t.Errorf("%s: wider than the screen:\n%s", name, wide)
		}
		if n := eval[float64](t, tab, `document.scrollingElement.scrollWidth`); n > 360 {
			t.Errorf("%s: %v px wide", name, n)
		}
	}
	quiet(t, tab)
	for _, url := range tab.Requests() {
		if !strings.HasPrefix(url, site) {
			t.Errorf("a page asks for %s", url)
		}
	}
}

// TestBelowAPath: the site runs in a folder of a server that knows nothing of
// it, from a page of the museum on.
func TestBelowAPath(t *testing.T) {
	t.Parallel()
	const below = "/some/where/"
	server := httptest.NewServer(http.StripPrefix(below, http.FileServer(http.Dir(dist))))
	defer server.Close()
	tab := visit(t, server.URL+below+"docs/museum/svt5.html")
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(eval[string](t, tab, `document.querySelector(".open-audit a").href`))))
	until(t, tab, `document.body.dataset.state === "ready"`, 30*time.Second)
	click(t, tab, "#run")
	if r := finish(t, tab, 30*time.Second); r.Verdict != audit.Violation || r.Subject != "svt5" {
		t.Errorf("%s: %s", r.Subject, r.Summary)
	}
	quiet(t, tab)
	for _, url := range tab.Requests() {
		if !strings.HasPrefix(url, server.URL+below) && !strings.HasPrefix(url, "blob:") && !strings.HasPrefix(url, "data:") {
			t.Errorf("asked for %s", url)
		}
	}
}

// TestMuseum: the audit of every page of the museum (in the first gear, of two)
// from the page's own link ends with a violation within 20 seconds on two workers.
func TestMuseum(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`<p class="open-audit"><a href="../../index\.html(#[^"]+)">`)
	tab := open(t, "#v=1&mechanism=sum-nan")
	audits := 0
	for _, name := range documents(t) {
		if !strings.HasPrefix(name, "docs/museum/") {
			continue
		}
		page := must.Get(os.ReadFile(path.Join(dist, name)))(t)
		for _, m := range link.FindAllStringSubmatch(string(page), -1) {
			if audits++; !gear.All() && audits%12 != 1 {
				continue
			}
			fragment := html.UnescapeString(m[1])
			mechanism, _, _ := strings.Cut(strings.TrimPrefix(fragment, "#v=1&mechanism="), "&")
			eval[bool](t, tab, fmt.Sprintf(`(location.hash = %q, true)`, fragment+"&workers=2"))
			until(t, tab, fmt.Sprintf(`document.querySelector("#mechanism").value === %q && !document.querySelector("#run").disabled`, mechanism), 10*time.Second)
			start := time.Now()
			click(t, tab, "#run")
			until(t, tab, fmt.Sprintf(`document.body.dataset.state === "done" && window.dpscope.report.subject === %q`, mechanism), 20*time.Second)
			r := reportOf(t, tab)
			t.Logf("%-40s %5.2f s  %s", name, time.Since(start).Seconds(), r.Summary)
			if r.Verdict != audit.Violation {
				t.Errorf("%s: %s", name, r.Summary)
			}
			sentence, _, _ := strings.Cut(r.Summary, "; ")
			if !strings.Contains(html.UnescapeString(string(page)), sentence) {
				t.Errorf("%s does not say %q", name, sentence)
			}
			if eval[string](t, tab, `document.querySelector("#background a[href^='docs/museum/']")?.getAttribute("href") ?? ""`) != name {
				t.Errorf("the report of %s does not link to %s", mechanism, name)
			}
		}
	}
	if audits < 20 {
		t.Errorf("%d audits", audits)
	}
}

// TestMend: the function of a museum page opens in the editor with the settings that it
// needs; a press of Run refutes it there.
func TestMend(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile(path.Join(dist, "docs/museum/noisy-max-value.html")))(t)
	link := regexp.MustCompile(`href="../../index\.html(#door=code&amp;code=[^"]+)"`).FindSubmatch(page)
	if link == nil {
		t.Fatal("no link to the editor")
	}
	tab := live(t, site+html.UnescapeString(string(link[1])))
	until(t, tab, `document.querySelector("#own-code").value.includes("Math.max(...noisy); // mend") && document.querySelector("#own-rows").value === "5" && document.querySelector("#own-relation").value === "l-infinity"`, 30*time.Second)
	until(t, tab, `document.querySelector("#verdict").innerText.includes("Code that came with a link") && document.querySelector("#verdict").dataset.verdict === "empty" && document.querySelector("#own-code-error").hidden`, 30*time.Second)
	click(t, tab, "#own-run")
	until(t, tab, `window.dpscope.report?.verdict === "violation" && window.dpscope.report.inputs.brought?.kind === "javascript"`, time.Minute)
}
