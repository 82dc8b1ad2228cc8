package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// museumBrowserSeconds is what a verdict may take, at the median: in a used tab, and in a fresh one.
var museumBrowserSeconds = [2]float64{0.6, 1.5}

// bothRuns is one audit natively and in the page, in a fresh tab and again, of which page is the report.
type bothRuns struct {
	native, page pair.Report
	warm, fresh  waited
	same         bool // counts, and all bets
}

// waited are seconds from the press of Run until the page said "refuted", and showed the result.
type waited struct{ Verdict, Shown float64 }

func benchBrowser(c *call) {
	c.workers = 2
	only := c.String("only", "", "only mechanisms with a known fault whose name contains one of these, comma between")
	var seeds int
	c.count(&seeds, "seeds", 5, 1, 10_000, "runs a mechanism, with seeds 5000, 5001, ...")
	dir := c.String("dir", "dist", "folder of the built site")
	c.parse()
	if _, err := os.Stat(filepath.Join(*dir, "index.html")); err != nil {
		try.Do(fmt.Errorf("no site in %s, run ./build.sh build first: %w", *dir, err))
	}
	plans := museumPlans(*only)
	b, address, stop := served(c.ctx, *dir)
	defer stop()
	t := &table{title: fmt.Sprintf("Seconds, medians of %d, %d workers", seeds, c.workers), columns: []string{"native", "browser", "ratio", "verdict", "warm", "shown", "refuted", "same"}}
	quick, different := 0, 0
	for _, p := range plans {
		p.Samples = 500_000
		var all []bothRuns
		in(p.Mechanism, func() {
			for i := range seeds {
				p.Seed = museumSeed + uint64(i)
				all = append(all, c.both(b, address, p))
			}
		})
		mid := func(value func(bothRuns) float64) float64 { return median(audit.Each(all, value)) }
		native := mid(func(x bothRuns) float64 { return x.native.Timing.Total })
		page := mid(func(x bothRuns) float64 { return x.page.Timing.Total })
		fresh := mid(func(x bothRuns) float64 { return x.fresh.Verdict })
		warm := mid(func(x bothRuns) float64 { return x.warm.Verdict })
		shown := mid(func(x bothRuns) float64 { return x.fresh.Shown })
		refuted := audit.Count(all, func(x bothRuns) bool { return x.page.Verdict == audit.Violation })
		same := audit.Count(all, func(x bothRuns) bool { return x.same })
		t.add(p.Mechanism, native, page, page/native, fresh, warm, shown, of(refuted, seeds), of(same, seeds))
		different += seeds - same
		quick += audit.Pick(refuted == seeds && warm <= museumBrowserSeconds[0] && fresh <= museumBrowserSeconds[1], 1, 0)
		c.say("%s: %.3f s", p.Mechanism, shown)
	}
	t.notes = []string{fmt.Sprintf("%d of %d are refuted by every seed, and the page says so within %g seconds of the click, %g in a fresh tab, at the median", quick, len(plans), museumBrowserSeconds[0], museumBrowserSeconds[1])}
	c.print("Audits natively and in Chromium", t)
	c.exit = audit.Pick(different == 0, cli.ExitOK, cli.ExitInconclusive)
}

func (c *call) both(b context.Context, address string, p pair.Plan) (x bothRuns) {
	run := pair.Run{Plan: p, Catalogue: catalogue, Pool: engine.LocalPool(c.workers), Generator: cli.Generator(), Now: cli.Clock()}
	x.native = try.Get(run.Do(c.ctx))
	in("in the browser", func() { x.inBrowser(b, address, c.workers) })
	// A p-value may differ in its last digit, as exponentials do.
	here, there := x.native.Rows(report.Bounds)[0], x.page.Rows(report.Bounds)[0]
	x.same = x.page.Termination == x.native.Termination && audit.EqualJSON(x.page.Sequential, x.native.Sequential) &&
		audit.EqualJSON(there.Counts, here.Counts) && audit.EqualJSON(there.Explored, here.Explored)
	return x
}

// inBrowser presses Run twice in a fresh tab with the settings of the native report.
func (x *bothRuns) inBrowser(b context.Context, address string, workers int) {
	tab := try.Get(browser.Open(b, address+x.native.Reproduce.URL+fmt.Sprintf("&workers=%d", workers)))
	defer tab.Close()
	try.Do(tab.Until(`document.body.dataset.state === "ready"`))
	for _, w := range []*waited{&x.fresh, &x.warm} {
		try.Get(browser.Eval[bool](tab, `(() => {
			const begun = performance.now(), seconds = () => (performance.now() - begun) / 1000;
			const waited = window.waited = {};
			let runs = false; // not the result of the run before
			new MutationObserver((_, watch) => {
				const done = document.body.dataset.state === "done";
				if (!(runs ||= !done)) return;
				if (done || document.querySelector("#verdict").textContent.startsWith("Violation")) waited.Verdict ??= seconds();
				if (!done) return;
				waited.Shown = seconds();
				watch.disconnect();
			}).observe(document.body, {attributes: true, childList: true, subtree: true});
			document.querySelector("#run").click();
			return true;
		})()`))
		try.Do(tab.Until(`window.waited.Shown > 0`))
		*w = try.Get(browser.Eval[waited](tab, `window.waited`))
	}
	text := try.Get(browser.Eval[string](tab, `JSON.stringify(window.dpscope.report)`))
	try.Do(json.Unmarshal([]byte(text), &x.page))
}

func served(ctx context.Context, dir string) (b context.Context, address string, stop func()) {
	listener := try.Get(net.Listen("tcp", "127.0.0.1:0"))
	server := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	b, end := try.Get2(browser.Start(ctx))
	return b, "http://" + listener.Addr().String() + "/", func() { end(); server.Close() }
}
