package e2e

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/mod/sumdb/note"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/e2e/browser"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/edge"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/serve"
	"github.com/dpscope/dpscope/receipt"
	loghost "github.com/dpscope/dpscope/receipt/host"
	"github.com/dpscope/dpscope/share"
	"github.com/dpscope/dpscope/share/folder"
)

// aHost is the site together with a store of reports, as dpscope serve -store has them.
func aHost(t *testing.T) string {
	t.Helper()
	files, err := serve.Open(dist)
	if err != nil {
		t.Fatal(err)
	}
	store, err := folder.Open(t.TempDir(), 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	signer, key, err := note.GenerateKey(mathrand.NewChaCha8([32]byte{1}), "log.example")
	if err != nil {
		t.Fatal(err)
	}
	records, err := loghost.OpenFile(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := receipt.Open(records, signer, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	logged := loghost.Handler(log, key)
	most, site := &share.Minute{Most: 1000}, serve.Site(files, nil)
	reports := &share.Host{Store: store, Catalogue: cli.Catalogue(), Uploads: most, Reads: most, Who: share.Peer, Now: time.Now, Random: rand.Reader,
		Origin: func(r *http.Request) string { return "http://" + r.Host }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if share.Owns(r.URL.Path) {
			reports.ServeHTTP(w, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, loghost.Path) {
			logged.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Dpscope-Store", "yes")
		site.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		store.Close()
		records.Close()
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
	gear.Long(t)
	t.Parallel()
	sharing(t, edge.Start(t).Base)
}

func sharing(t *testing.T, base string) {
	t.Helper()
	tab, err := browser.Open(profile(t), base+"/#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2")
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	until(t, tab, `["ready", "done"].includes(document.body.dataset.state)`, time.Minute)
	click(t, tab, "#run")
	r := finish(t, tab, time.Minute)
	said := eval[string](t, tab, headline)
	click(t, tab, "#share-open")
	until(t, tab, `!document.querySelector("#share-store").hidden`, 10*time.Second)
	click(t, tab, "#share-store")
	until(t, tab, `document.querySelector("#share-words").textContent.startsWith("Stored")`, 20*time.Second)
	address, words := eval[string](t, tab, `document.querySelector("#share-url").value`), eval[string](t, tab, `document.querySelector("#share-words").textContent`)
	if !strings.HasPrefix(address, base+share.ShownPath) || !strings.Contains(words, "dpscope share -host "+base+"/ -delete ") {
		t.Fatalf("%q, %q", address, words)
	}
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if answer.StatusCode != 200 || !bytes.Contains(page, []byte(`<meta property="og:title" content="Violation: ε ≥ `)) {
		t.Errorf("%d %.900s", answer.StatusCode, page)
	}

	elsewhere, forget, err := browser.Profile(chromium)
	if err != nil {
		t.Fatal(err)
	}
	defer forget()
	fresh, err := browser.OpenLive(elsewhere, address)
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	until(t, fresh, `document.querySelector(".headline") !== null`, 10*time.Second)
	if got := eval[string](t, fresh, `document.querySelector(".headline").innerText`); !strings.Contains(got, "Violation") {
		t.Errorf("the page in words says %q", got)
	}
	instrument := eval[string](t, fresh, `document.querySelector("header a").href`)
	if err := chromedp.Do(fresh.Ctx, chromedp.Navigate(instrument)); err != nil {
		t.Fatal(err)
	}
	until(t, fresh, `document.body.dataset.state === "done" && document.querySelector("#verdict").dataset.standing === "unverified"`, time.Minute)
	if got := eval[string](t, fresh, headline); !strings.Contains(got, strings.SplitN(said, "\n", 2)[0]) {
		t.Errorf("it shows %q, its sender saw %q", got, said)
	}
	click(t, fresh, "#verify")
	until(t, fresh, `document.querySelector("#verdict").dataset.standing === "verified"`, time.Minute)
	sameCounts(t, "the stored report", reportOf(t, fresh), r)

	// A page of another site: the badge.
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><img id="badge" src="%s/badge.svg">`, address)
	}))
	defer foreign.Close()
	if err := chromedp.Do(fresh.Ctx, chromedp.Navigate(strings.Replace(foreign.URL, "127.0.0.1", "localhost", 1))); err != nil {
		t.Fatal(err)
	}
	until(t, fresh, `document.querySelector("#badge").naturalWidth > 100`, 10*time.Second)
	for _, tab := range []*browser.Tab{tab, fresh} {
		for _, e := range tab.Errors() {
			t.Errorf("a page complains: %s", e)
		}
	}

	plain := open(t, "")
	click(t, plain, "#share-open")
	until(t, plain, `document.querySelector("#share").open`, 10*time.Second)
	time.Sleep(300 * time.Millisecond)
	if !eval[bool](t, plain, `document.querySelector("#share-store").hidden`) {
		t.Error("a server without a store is offered")
	}
}

// TestReceipt: a plan is registered from the page before it runs; the receipt holds for the
// report of that run, in the page, offline, and by the command line, and for no other; a log
// that went back is refused.
func TestReceipt(t *testing.T) {
	t.Parallel()
	receipts(t, aHost(t))
}

// TestReceiptAtTheEdge is [TestReceipt] with the log of the Worker.
func TestReceiptAtTheEdge(t *testing.T) {
	gear.Long(t)
	t.Parallel()
	signer, _, err := note.GenerateKey(mathrand.NewChaCha8([32]byte{1}), "log.example")
	if err != nil {
		t.Fatal(err)
	}
	receipts(t, edge.Start(t, "LOG_KEY:"+signer).Base)
}

func receipts(t *testing.T, base string) {
	t.Helper()
	tab, err := browser.Open(profile(t), base+"/#v=1&mechanism=svt4&epsilon=1&seed=7&samples=2000&trials=2")
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	until(t, tab, `["ready", "done"].includes(document.body.dataset.state) && !document.querySelector("#register").hidden`, time.Minute)
	eval[bool](t, tab, catchFiles)
	const told = `(document.querySelector("#notice [data-key=receipt]")?.textContent ?? "")`
	text := string(saving(t, tab, "#register").Data)
	until(t, tab, told+`.includes("Registered before the run")`, 20*time.Second)
	if said := eval[string](t, tab, told); !strings.Contains(said, "as entry 0 of 1, since ") || !strings.Contains(said, "does not prove which code ran") {
		t.Errorf("it says %q", said)
	}
	click(t, tab, "#run")
	r := finish(t, tab, time.Minute)
	until(t, tab, told+`.includes("The receipt holds")`, 20*time.Second)

	report, err := audit.Canonical(r)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string][]byte{"report.json": report, "receipt.json": []byte(text)}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(program, "verify", "-receipt", filepath.Join(dir, "receipt.json"), filepath.Join(dir, "report.json")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "The receipt holds: log.example") {
		t.Errorf("by the command line: %v %s", err, out)
	}

	// Elsewhere, from files alone: for its report, and for no other.
	fresh := open(t, "#v=1&mechanism=svt1&samples=2000")
	drop(t, fresh, "report.json", string(report))
	until(t, fresh, `document.body.dataset.state === "done"`, time.Minute)
	drop(t, fresh, "receipt.json", text)
	until(t, fresh, told+`.includes("The receipt holds")`, 20*time.Second)
	drop(t, fresh, "receipt.json", strings.Replace(text, `"index":0`, `"index":1`, 1))
	until(t, fresh, told+`.includes("does not hold")`, 20*time.Second)
	drop(t, fresh, "receipt.json", text)
	until(t, fresh, told+`.includes("The receipt holds")`, 20*time.Second)
	click(t, fresh, "#run")
	finish(t, fresh, time.Minute)
	drop(t, fresh, "receipt.json", text)
	until(t, fresh, told+`.includes("the receipt is for another plan")`, 20*time.Second)

	// The log of a host that began anew, with the same key.
	key := eval[string](t, tab, `Object.keys(localStorage).find((key) => key.startsWith("dpscope.log "))`)
	eval[bool](t, tab, fmt.Sprintf(`fetch("api/log", { method: "POST", body: JSON.stringify({ commitment: "ab".repeat(32) }) }).then((answer) => answer.json()).then(({ head }) => { localStorage.setItem(%q, head.replace("\n2\n", "\n3\n")); return true; })`, key))
	click(t, tab, "#register")
	until(t, tab, told+`.includes("Nothing was registered")`, 20*time.Second)
	for _, e := range tab.Errors() {
		if !strings.Contains(e, "400") { // the log was asked for what it does not have
			t.Errorf("the page complains: %s", e)
		}
	}
}
