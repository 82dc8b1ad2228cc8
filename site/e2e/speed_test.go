package e2e

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

const (
	slowBits    = 10e6 // a second
	slowLatency = 40   // ms
	readyWithin = 3 * time.Second
	longTask    = 50.0 // ms
	tries       = 3    // the best counts: other programs use the machine too
)

// throttle is a command that Chromium has and cdproto no longer lists.
var throttle = cdp.Command[map[string]any, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

// TestReadyOnSlowNetwork: with an empty cache and 10 Mbit/s the page can run an
// audit within three seconds.
func TestReadyOnSlowNetwork(t *testing.T) {
	if _, err := os.Stat(filepath.Join(dist, "core.wasm.br")); err != nil {
		t.Skip("the site that is tested is not compressed; test-all tests one that is")
	}
	best := time.Hour
	for range tries {
		tab := must.Get(browser.Open(profile(t), "about:blank"))(t)
		for _, err := range []error{
			second(chromedp.Call(tab.Ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})),
			second(chromedp.Call(tab.Ctx, throttle, map[string]any{"offline": false, "latency": slowLatency, "downloadThroughput": slowBits / 8, "uploadThroughput": slowBits / 8})),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		before(t, tab, `addEventListener("DOMContentLoaded", () => new MutationObserver((_, watch) => {
			if (document.body.dataset.state !== "ready") return;
			globalThis.readyAfter = performance.now();
			watch.disconnect();
		}).observe(document.body, { attributes: true }))`)
		must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(site)))
		until(t, tab, `globalThis.readyAfter`, time.Minute)
		took := time.Duration(eval[float64](t, tab, `readyAfter`) * float64(time.Millisecond))
		core := eval[[]float64](t, tab, `performance.getEntriesByType("resource").filter((e) => e.name.endsWith("core.wasm")).flatMap((e) => [e.startTime, e.responseEnd, e.encodedBodySize])`)
		t.Logf("ready after %v; core.wasm from %.0f to %.0f ms, %.0f bytes", took.Round(time.Millisecond), core[0], core[1], core[2])
		best = min(best, took)
		tab.Close()
		if best < readyWithin {
			break
		}
	}
	t.Logf("at 10 Mbit/s and %d ms the page is ready after %v", slowLatency, best.Round(time.Millisecond))
	if best > readyWithin {
		t.Errorf("ready after %v, must be within %v", best, readyWithin)
	}
}

func second[T any](_ T, err error) error { return err }

// traced runs f and returns how long, in ms of its own time, each task of a tab's
// main thread took that took longer than 50, and logs the longest. A wait for a
// processor that others use does not count, nor does the protocol's own work on
// what the network brings, which is off meanwhile.
func traced(t *testing.T, tab *browser.Tab, f func()) []float64 {
	t.Helper()
	var (
		mu     sync.Mutex
		events []traceEvent
		ended  = make(chan struct{})
	)
	listening, stop := context.WithCancel(tab.Ctx)
	defer stop()
	must.Do(t, chromedp.Listen(listening, func(ev any) {
		switch ev := ev.(type) {
		case *tracing.EventDataCollected:
			mu.Lock()
			defer mu.Unlock()
			for _, raw := range ev.Value {
				var e traceEvent
				if json.Unmarshal(raw, &e) == nil {
					events = append(events, e)
				}
			}
		case *tracing.EventTracingComplete:
			close(ended)
		}
	}))
	config := tracing.StartParams{TraceConfig: &tracing.TraceConfig{IncludedCategories: []string{"-*", "__metadata", "toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"}}}
	must.Get(chromedp.Call(tab.Ctx, network.Disable, cdp.Empty{}))(t)
	must.Get(chromedp.Call(tab.Ctx, tracing.Start, config))(t)
	f()
	must.Get(chromedp.Call(tab.Ctx, tracing.End, cdp.Empty{}))(t)
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("the trace did not end")
	}
	must.Get(chromedp.Call(tab.Ctx, network.Enable, network.EnableParams{}))(t)
	mu.Lock()
	defer mu.Unlock()
	type thread struct{ pid, tid int }
	main := map[thread]bool{}
	for _, e := range events {
		if e.Name == "thread_name" && e.Args.Name == "CrRendererMain" {
			main[thread{e.Pid, e.Tid}] = true
		}
	}
	var long []float64
	var longest float64
	seen := 0
	for _, e := range events {
		if !main[thread{e.Pid, e.Tid}] || e.Name != "RunTask" {
			continue
		}
		seen++
		ms := e.Tdur / 1000
		longest = max(longest, ms)
		if ms > longTask {
			long = append(long, math.Round(ms))
		}
	}
	if seen < 50 || longest < 1 {
		t.Fatalf("the trace has %d tasks of main threads, the longest of %v ms", seen, longest)
	}
	t.Logf("%d tasks, the longest took %.0f ms; over %v ms: %v", seen, longest, longTask, long)
	return long
}

type traceEvent struct {
	Name string  `json:"name"`
	Pid  int     `json:"pid"`
	Tid  int     `json:"tid"`
	Tdur float64 `json:"tdur"` // microseconds of the thread's time
	Args struct {
		Name string `json:"name"`
	} `json:"args"`
}
