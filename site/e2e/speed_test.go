package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

const (
	slowBits    = 10e6 // a second
	slowLatency = 40   // ms
	readyWithin = 2500 * time.Millisecond
	tries       = 3 // the best counts: other programs use the machine too
)

// throttle is a command that Chromium has and cdproto no longer lists.
var throttle = cdp.Command[map[string]any, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

// TestReadyOnSlowNetwork: with an empty cache and 10 Mbit/s the page can run an
// audit within two and a half seconds.
func TestReadyOnSlowNetwork(t *testing.T) {
	if _, err := os.Stat(filepath.Join(dist, "core.wasm.br")); err != nil {
		t.Skip("the site that is tested is not compressed; test-all tests one that is")
	}
	best := time.Hour
	for range tries {
		tab := must.Get(browser.Open(profile(t), "about:blank"))(t)
		must.Get(chromedp.Call(tab.Ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}))(t)
		must.Get(chromedp.Call(tab.Ctx, throttle, map[string]any{"offline": false, "latency": slowLatency, "downloadThroughput": slowBits / 8, "uploadThroughput": slowBits / 8}))(t)
		before(t, tab, `addEventListener("DOMContentLoaded", () => new MutationObserver((_, watch) => {
			if (document.body.dataset.state !== "ready") return;
			globalThis.readyAfter = performance.now();
			watch.disconnect();
		}).observe(document.body, { attributes: true }))`)
		must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(site)))
		until(t, tab, `globalThis.readyAfter`)
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
