package e2e

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	reports "github.com/dpscope/dpscope/host"
	"github.com/dpscope/dpscope/host/edge/edgetest"
	"github.com/dpscope/dpscope/host/folder"
	"github.com/dpscope/dpscope/host/serve"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// aHost is the site together with a store of reports, as dpscope serve -store has them.
func aHost(t *testing.T) string {
	t.Helper()
	files := must.Get(serve.Open(dist))(t)
	store := must.Get(folder.Open(t.TempDir(), 1<<40))(t)
	most, site := &reports.Minute{Most: 1000}, serve.Site(files, nil)
	kept := &reports.Host{Store: store, Catalogue: cli.Catalogue(), Uploads: most, Reads: most, Who: reports.Peer, Now: time.Now, Random: rand.Reader,
		Origin: func(r *http.Request) string { return "http://" + r.Host }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reports.Owns(r.URL.Path) {
			kept.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Dpscope-Store", "yes")
		site.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		store.Close()
	})
	return server.URL
}

// TestShare: a result is stored from the page; its address shows it in words to who has no
// script, opens in a fresh profile, where it verifies, and stands in a page of another site
// as badge. A server without a store is not offered.
func TestShare(t *testing.T) {
	t.Parallel()
	sharing(t, aHost(t))
}

// TestShareAtTheEdge is [TestShare] with the Worker, whose files are the site that
// ./build.sh edge found in dist.
func TestShareAtTheEdge(t *testing.T) {
	testsize.Long(t)
	t.Parallel()
	sharing(t, edgetest.Start(t))
}

func sharing(t *testing.T, base string) {
	t.Helper()
	tab := visit(t, base+"/#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2")
	until(t, tab, `["ready", "done"].includes(document.body.dataset.state)`)
	click(t, tab, "#run")
	r := finish(t, tab)
	said := eval[string](t, tab, headline)
	click(t, tab, "#share-open")
	until(t, tab, `!document.querySelector("#share-store").hidden`)
	click(t, tab, "#share-store")
	until(t, tab, `document.querySelector("#share-words").textContent.startsWith("Stored")`)
	address, words := eval[string](t, tab, `document.querySelector("#share-url").value`), eval[string](t, tab, `document.querySelector("#share-words").textContent`)
	if !strings.HasPrefix(address, base+reports.ShownPath) || !strings.Contains(words, "dpscope share -host "+base+"/ -delete ") {
		t.Fatalf("%q, %q", address, words)
	}
	answer := must.Get(http.Get(address))(t)
	page, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if answer.StatusCode != 200 || !bytes.Contains(page, []byte(`<meta property="og:title" content="Violation: ε &gt; `)) {
		t.Errorf("%d %.900s", answer.StatusCode, page)
	}

	fresh := must.Get(browser.OpenLive(another(t), address))(t)
	defer fresh.Close()
	until(t, fresh, `document.querySelector(".headline") !== null`)
	if got := eval[string](t, fresh, `document.querySelector(".headline").innerText`); !strings.Contains(got, "Violation") {
		t.Errorf("the page in words says %q", got)
	}
	instrument := eval[string](t, fresh, `document.querySelector("header a").href`)
	must.Do(t, chromedp.Do(fresh.Ctx, chromedp.Navigate(instrument)))
	until(t, fresh, `document.body.dataset.state === "done" && document.querySelector("#verdict").dataset.standing === "unverified"`)
	if got := eval[string](t, fresh, headline); !strings.Contains(got, strings.SplitN(said, "\n", 2)[0]) {
		t.Errorf("it shows %q, its sender saw %q", got, said)
	}
	click(t, fresh, "#verify")
	until(t, fresh, `document.querySelector("#verdict").dataset.standing === "verified"`)
	sameCounts(t, "the stored report", reportOf(t, fresh), r)

	// A page of another site: the badge.
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><img id="badge" src="%s/badge.svg">`, address)
	}))
	defer foreign.Close()
	must.Do(t, chromedp.Do(fresh.Ctx, chromedp.Navigate(strings.Replace(foreign.URL, "127.0.0.1", "localhost", 1))))
	until(t, fresh, `document.querySelector("#badge").naturalWidth > 100`)
	for _, tab := range []*browser.Tab{tab, fresh} {
		quiet(t, tab)
	}

	plain := open(t, "")
	click(t, plain, "#share-open")
	until(t, plain, `document.querySelector("#share").open`)
	time.Sleep(300 * time.Millisecond)
	if !eval[bool](t, plain, `document.querySelector("#share-store").hidden`) {
		t.Error("a server without a store is offered")
	}
}
