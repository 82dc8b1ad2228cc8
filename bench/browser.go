package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"text/tabwriter"
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

// benchBrowser runs one audit natively and in the page in a headless Chromium,
// one after the other on the same machine, and prints both times.
func benchBrowser(c *call) (int, error) {
	plan := pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed}
	c.StringVar(&plan.Mechanism, "mechanism", "svt4", "mechanism to audit")
	epsilon := c.Float64("epsilon", 1, "claimed epsilon")
	c.IntVar(&plan.Samples, "samples", 1_000_000, "certification outputs a side")
	c.IntVar(&plan.Explore, "explore", 0, "exploration outputs a side, of all pairs; 0: one and a half times -samples")
	c.IntVar(&plan.Trials, "trials", 10, "pairs to explore")
	c.Uint64Var(&plan.Seed, "seed", 7, "seed of all randomness")
	workers := c.Workers(2, "parallel workers, in both; 0: one a processor")
	dir := c.String("dir", "dist", "folder of the built site")
	limit := c.Duration("limit", 10*time.Minute, "longest that the browser may take for one audit")
	museum := c.Bool("museum", false, "every mechanism with a known fault instead, at the claim of its page, until it is refuted")
	seeds := c.Int("seeds", 5, "with -museum, runs a mechanism, with seeds 5000, 5001, ...")
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if _, err := os.Stat(filepath.Join(*dir, "index.html")); err != nil {
		return 0, fmt.Errorf("no site in %s, run ./build.sh build first: %w", *dir, err)
	}
	if *museum {
		if *seeds < 1 {
			return 0, &audit.InputError{Field: "-seeds", Found: fmt.Sprint(*seeds), Want: "at least 1"}
		}
		return c.museumInBrowser(*dir, *seeds, *workers, *limit)
	}
	plan.Claim = &audit.Claim{Epsilon: *epsilon}
	if _, err := plan.Resolve(catalogue); err != nil {
		return 0, err
	}
	native, err := pair.Run{Plan: plan, Catalogue: catalogue, Pool: engine.LocalPool(*workers), Generator: cli.Generator(), Now: cli.Clock()}.Do(c.ctx)
	if err != nil {
		return 0, err
	}
	b, address, stop, err := served(c.ctx, *dir)
	if err != nil {
		return 0, err
	}
	defer stop()
	page, _, err := runInBrowser(b, address, native, *workers, *limit)
	if err != nil {
		return 0, err
	}
	if page.Deciding() == nil || page.Deciding().Counts == nil {
		return 0, fmt.Errorf("the page's run ended without counts: %s", page.Summary)
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
	x, y := native.Rows(report.Bounds)[0], page.Rows(report.Bounds)[0]
	same := x.Counts != nil && y.Counts != nil && *x.Counts == *y.Counts && audit.EqualJSON(x.Explored, y.Explored)
	fmt.Fprintf(c.stdout, "\ncounts: native %+v, browser %+v, same: %v\n", *x.Counts, *y.Counts, same)
	if !same {
		return cli.ExitInconclusive, nil
	}
	return cli.ExitOK, nil
}

// museumInBrowser prints how long a verdict takes natively and in the page: of the core's
// own clock, and from the press of Run until the page shows the result.
func (c *call) museumInBrowser(dir string, seeds, workers int, limit time.Duration) (int, error) {
	b, address, stop, err := served(c.ctx, dir)
	if err != nil {
		return 0, err
	}
	defer stop()
	pool := engine.LocalPool(workers)
	fmt.Fprintf(c.stdout, "Known faults at the claims of their pages until they are refuted: seconds, medians of seeds %d to %d, %d workers, each run of the page in a fresh tab\n", sequentialSeed, sequentialSeed+seeds-1, workers)
	t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "mechanism\tnative\tbrowser\tratio\tuntil shown\trefuted\tsame\t")
	quick, all, different := 0, 0, 0
	for _, m := range seeded.Mechanisms {
		claim, ok := museumClaim(m)
		if !ok {
			continue
		}
		plan := pair.Plan{Version: pair.PlanVersion, Mode: pair.UntilRefuted, Mechanism: m.Name, Claim: claim, Samples: 500_000, Trials: 10}
		var seconds [3][]float64
		refuted, same := 0, 0
		for i := range seeds {
			plan.Seed = uint64(sequentialSeed + i)
			native, err := pair.Run{Plan: plan, Catalogue: catalogue, Pool: pool, Now: cli.Clock()}.Do(c.ctx)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", m.Name, err)
			}
			page, shown, err := runInBrowser(b, address, native, workers, limit)
			if err != nil {
				return 0, fmt.Errorf("%s in the browser: %w", m.Name, err)
			}
			for k, s := range []float64{native.Timing.Total, page.Timing.Total, shown} {
				seconds[k] = append(seconds[k], s)
			}
			if page.Termination.Reason == audit.Refuted {
				refuted++
			}
			if page.Termination == native.Termination && audit.EqualJSON(page.Sequential, native.Sequential) {
				same++
			}
		}
		all, different = all+1, different+seeds-same
		if refuted == seeds && median(seconds[1]) <= museumBrowserSeconds {
			quick++
		}
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.2f\t%.3f\t%d/%d\t%d/%d\t\n", m.Name, median(seconds[0]), median(seconds[1]), median(seconds[1])/median(seconds[0]), median(seconds[2]), refuted, seeds, same, seeds)
		c.say("%s: %.3f s", m.Name, median(seconds[1]))
	}
	t.Flush()
	fmt.Fprintf(c.stdout, "%d of %d are refuted by every seed within %s seconds at the median in the browser\n", quick, all, audit.Number(museumBrowserSeconds))
	return code(quick >= museumLeast && different == 0), nil
}

// runInBrowser presses Run in a fresh tab with the settings of a report, and returns the
// page's report and the seconds from the press until the page shows it.
func runInBrowser(b context.Context, address string, of pair.Report, workers int, limit time.Duration) (r pair.Report, shown float64, err error) {
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
	if err := tab.Until(`window.shownAfter > 0`, limit); err != nil {
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
