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

	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/e2e/browser"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/report"
)

// benchBrowser runs one audit natively and in the page in a headless Chromium,
// one after the other on the same machine, and prints both times.
func benchBrowser(c *call) (int, error) {
	plan := pair.Plan{Version: pair.PlanVersion}
	c.StringVar(&plan.Mechanism, "mechanism", "svt4", "mechanism to audit")
	epsilon := c.Float64("epsilon", 1, "claimed epsilon")
	c.IntVar(&plan.Samples, "samples", 1_000_000, "certification outputs a side")
	c.IntVar(&plan.Explore, "explore", 0, "exploration outputs a side and trial; 0: as many as -samples")
	c.IntVar(&plan.Trials, "trials", 10, "pairs to explore")
	c.Uint64Var(&plan.Seed, "seed", 7, "seed of all randomness")
	workers := c.Workers(2, "parallel workers, in both; 0: one a processor")
	dir := c.String("dir", "dist", "folder of the built site")
	limit := c.Duration("limit", 10*time.Minute, "longest that the browser may take")
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	plan.Claim = &audit.Claim{Epsilon: *epsilon}
	if _, err := plan.Resolve(catalogue); err != nil {
		return 0, err
	}
	if _, err := os.Stat(filepath.Join(*dir, "index.html")); err != nil {
		return 0, fmt.Errorf("no site in %s, run ./build.sh build first: %w", *dir, err)
	}
	native, err := pair.Run{Plan: plan, Catalogue: catalogue, Pool: core.LocalPool(catalogue, *workers), Generator: cli.Generator(), Now: cli.Clock()}.Do(c.ctx)
	if err != nil {
		return 0, err
	}
	page, err := runInBrowser(c.ctx, native.Reproduce.URL+fmt.Sprintf("&workers=%d", *workers), *dir, *limit)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(c.stdout, "%s at epsilon %g, %d certification outputs a side, %d trials of %d, %d workers, seed %d\n\n",
		plan.Mechanism, *epsilon, native.Plan.Samples, len(native.Trials), native.Plan.Explore, *workers, plan.Seed)
	fmt.Fprintf(c.stdout, "%-10s %10s %10s %10s\n", "seconds", "native", "browser", "ratio")
	for _, row := range []struct {
		name string
		a, b float64
	}{
		{"explore", native.Timing.Explore, page.Timing.Explore},
		{"certify", native.Timing.Certify, page.Timing.Certify},
		{"bound", native.Timing.Bound, page.Timing.Bound},
		{"total", native.Timing.Total, page.Timing.Total},
	} {
		fmt.Fprintf(c.stdout, "%-10s %10.3f %10.3f %10.2f\n", row.name, row.a, row.b, row.b/row.a)
	}
	a, b := native.Rows(report.Bounds)[0], page.Rows(report.Bounds)[0]
	same := a.Counts != nil && b.Counts != nil && *a.Counts == *b.Counts && a.Explored == b.Explored
	fmt.Fprintf(c.stdout, "\ncounts: native %+v, browser %+v, same: %v\n", *a.Counts, *b.Counts, same)
	if !same {
		return cli.ExitInconclusive, nil
	}
	return cli.ExitOK, nil
}

// runInBrowser serves the site, presses Run at the given state and returns the
// report.
func runInBrowser(ctx context.Context, fragment, dir string, limit time.Duration) (pair.Report, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return pair.Report{}, err
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	defer server.Close()
	ctx, stop, err := browser.Start(ctx)
	if err != nil {
		return pair.Report{}, err
	}
	defer stop()
	tab, err := browser.Open(ctx, "http://"+listener.Addr().String()+"/"+fragment)
	if err != nil {
		return pair.Report{}, err
	}
	defer tab.Close()
	if err := tab.Until(`document.body.dataset.state === "ready"`, time.Minute); err != nil {
		return pair.Report{}, err
	}
	if err := chromedp.Do(tab.Ctx, chromedp.Click("#run")); err != nil {
		return pair.Report{}, err
	}
	if err := tab.Until(`document.body.dataset.state === "done"`, limit); err != nil {
		return pair.Report{}, err
	}
	text, err := browser.Eval[string](tab, `JSON.stringify(window.dpscope.report)`)
	if err != nil {
		return pair.Report{}, err
	}
	var r pair.Report
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return pair.Report{}, err
	}
	if len(r.Rows(report.Bounds)) == 0 || r.Rows(report.Bounds)[0].Counts == nil {
		return pair.Report{}, fmt.Errorf("the page's run ended without counts: %s", r.Summary)
	}
	return r, nil
}
