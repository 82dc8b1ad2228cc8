package main

import (
	"cmp"
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
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// museumBrowserSeconds is how long a verdict may take in the page, at the median.
const museumBrowserSeconds = 0.6

// bothRuns is one audit natively and in the page: the core's own clock in both, and the
// seconds from the press of Run until the page shows the result.
type bothRuns struct {
	native, page pair.Report
	shown        float64
	same         bool // counts, and all bets
}

// benchBrowser runs audits natively and in the page in a headless Chromium, one after the
// other on the same machine, and prints both times.
func benchBrowser(c *call) (int, error) {
	c.workers = 2
	plan := pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed, Mechanism: "svt4", Claim: new(audit.DPClaim(1, 0)), Trials: 10}
	c.StringVar(&plan.Mechanism, "mechanism", plan.Mechanism, "mechanism to audit at epsilon = 1, at a fixed size")
	c.Count(&plan.Samples, "samples", 1_000_000, "certification outputs a side")
	museum := c.Bool("museum", false, "every mechanism with a known fault instead, at the claim of its page, until it is refuted; each run of the page in a fresh tab")
	seeds := 5
	c.Count(&seeds, "seeds", seeds, "runs a mechanism of the museum, with seeds 5000, 5001, ...")
	dir := c.String("dir", "dist", "folder of the built site")
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if _, err := os.Stat(filepath.Join(*dir, "index.html")); err != nil {
		return 0, fmt.Errorf("no site in %s, run ./build.sh build first: %w", *dir, err)
	}
	plans, first := []pair.Plan{plan}, uint64(7)
	if *museum {
		plans, first = museumPlans(""), museumSeed
	} else {
		seeds = 1
	}
	if _, err := plans[0].Resolve(catalogue); err != nil || seeds < 1 {
		return 0, cmp.Or(err, nothing("-seeds", fmt.Sprint(seeds), "at least 1"))
	}
	b, address, stop, err := served(c.ctx, *dir)
	if err != nil {
		return 0, err
	}
	defer stop()
	t := &table{title: fmt.Sprintf("Seconds, medians of %d, %d workers", seeds, c.workers), columns: []string{"native", "browser", "ratio", "until shown", "refuted", "same"}}
	quick, different := 0, 0
	for _, p := range plans {
		if *museum {
			p.Samples = 500_000
		}
		var all []bothRuns
		refuted, same := 0, 0
		for i := range seeds {
			p.Seed = first + uint64(i)
			x, err := c.both(b, address, p)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", p.Mechanism, err)
			}
			all = append(all, x)
			refuted += choose(x.page.Verdict == audit.Violation, 1, 0)
			same += choose(x.same, 1, 0)
		}
		row := func(name string, of func(x bothRuns) (native, page, shown float64), more ...any) float64 {
			var seconds [3][]float64
			for _, x := range all {
				native, page, shown := of(x)
				seconds = [3][]float64{append(seconds[0], native), append(seconds[1], page), append(seconds[2], shown)}
			}
			native, page := median(seconds[0]), median(seconds[1])
			t.add(name, append([]any{native, page, page / native, median(seconds[2])}, more...)...)
			return page
		}
		if !*museum {
			row("explore", func(x bothRuns) (_, _, _ float64) { return x.native.Timing.Explore, x.page.Timing.Explore, 0 })
			row("certify", func(x bothRuns) (_, _, _ float64) { return x.native.Timing.Certify, x.page.Timing.Certify, 0 })
			row("bound", func(x bothRuns) (_, _, _ float64) { return x.native.Timing.Bound, x.page.Timing.Bound, 0 })
		}
		total := row(p.Mechanism, func(x bothRuns) (_, _, _ float64) { return x.native.Timing.Total, x.page.Timing.Total, x.shown }, of(refuted, seeds), of(same, seeds))
		different += seeds - same
		quick += choose(refuted == seeds && total <= museumBrowserSeconds, 1, 0)
		c.say("%s: %.3f s", p.Mechanism, total)
	}
	t.notes = []string{fmt.Sprintf("%d of %d are refuted by every seed within %g seconds at the median in the browser", quick, len(plans), museumBrowserSeconds)}
	c.print("Audits natively and in Chromium", t)
	return choose(different == 0, cli.ExitOK, cli.ExitInconclusive), nil
}

// both is an audit natively and then in the page.
func (c *call) both(b context.Context, address string, p pair.Plan) (x bothRuns, err error) {
	run := pair.Run{Plan: p, Catalogue: catalogue, Pool: engine.LocalPool(c.workers), Generator: cli.Generator(), Now: cli.Clock()}
	if x.native, err = run.Do(c.ctx); err != nil {
		return x, err
	}
	if x.page, x.shown, err = runInBrowser(b, address, x.native, c.workers); err != nil {
		return x, fmt.Errorf("in the browser: %w", err)
	}
	x.same = x.page.Termination == x.native.Termination && audit.EqualJSON(x.page.Sequential, x.native.Sequential) &&
		audit.EqualJSON(x.page.Rows(report.Bounds), x.native.Rows(report.Bounds))
	return x, nil
}

// runInBrowser presses Run in a fresh tab with the settings of a report, and returns the
// page's report and the seconds from the press until the page shows it.
func runInBrowser(b context.Context, address string, of pair.Report, workers int) (r pair.Report, shown float64, err error) {
	tab, err := browser.Open(b, address+of.Reproduce.URL+fmt.Sprintf("&workers=%d", workers))
	if err != nil {
		return r, 0, err
	}
	defer tab.Close()
	if err := tab.Until(`document.body.dataset.state === "ready"`, time.Minute); err != nil {
		return r, 0, err
	}
	if _, err := browser.Eval[bool](tab, `(() => {
		const begun = performance.now();
		new MutationObserver((_, watch) => {
			if (document.body.dataset.state !== "done") return;
			window.shownAfter = performance.now() - begun;
			watch.disconnect();
		}).observe(document.body, {attributes: true});
		document.querySelector("#run").click();
		return true;
	})()`); err != nil {
		return r, 0, err
	}
	if err := tab.Until(`window.shownAfter > 0`, 10*time.Minute); err != nil {
		return r, 0, err
	}
	ms, err := browser.Eval[float64](tab, `window.shownAfter`)
	if err != nil {
		return r, 0, err
	}
	text, err := browser.Eval[string](tab, `JSON.stringify(window.dpscope.report)`)
	if err != nil {
		return r, 0, err
	}
	return r, ms / 1000, json.Unmarshal([]byte(text), &r)
}

// served serves a folder, and starts a browser in front of it.
func served(ctx context.Context, dir string) (b context.Context, address string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, err
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	b, end, err := browser.Start(ctx)
	if err != nil {
		server.Close()
	}
	return b, "http://" + listener.Addr().String() + "/", func() { end(); server.Close() }, err
}
