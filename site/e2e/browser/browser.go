// Package browser starts a headless Chromium and records what a page says and asks for.
package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/internal/try"
)

var names = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// Path finds the browser.
func Path() (string, error) {
	for _, n := range names {
		if p, err := exec.LookPath(n); err == nil {
			return p, nil
		}
	}
	return "", errors.New("no Chromium found, looked for " + strings.Join(names, ", ") + "; on Debian: apt-get install chromium (./build.sh test does it)")
}

// Start starts a browser and returns a context for [Open]; cancel ends it.
func Start(parent context.Context) (context.Context, context.CancelFunc, error) {
	path, err := Path()
	if err != nil {
		return nil, nil, err
	}
	alloc, stop := chromedp.NewExecAllocator(parent,
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("process-per-site", true), // what one tab has compiled serves the others of its profile
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-default-apps", true), chromedp.Flag("disable-extensions", true),
		chromedp.Flag("enable-unsafe-swiftshader", true), // WebGL without a graphics card, without a warning
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("no-proxy-server", true))
	ctx, cancel := chromedp.NewContext(alloc)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		cancel()
		stop()
		return nil, nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return ctx, func() { cancel(); stop() }, nil
}

// Profile makes a profile with storage of its own, for [Open]; cancel forgets it.
func Profile(browser context.Context) (context.Context, context.CancelFunc, error) {
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		cancel()
		return nil, nil, fmt.Errorf("making a profile: %w", err)
	}
	return ctx, cancel, nil
}

// Forget empties what a profile stores for an origin, but what service workers keep.
func Forget(profile context.Context, origin string) error {
	_, err := chromedp.Call(profile, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: origin,
		StorageTypes: "cookies,local_storage,indexeddb,file_systems"})
	return err
}

// Tab is one page and what was heard from it.
type Tab struct {
	Ctx   context.Context
	Close context.CancelFunc

	mu       sync.Mutex
	errors   []string
	requests []string
}

// Open opens a tab of 1100 by 1000 pixels, past what service workers keep.
func Open(browser context.Context, url string) (*Tab, error) { return open(browser, url, true, true) }

// OpenLive is [Open], but the page audits what its address asks for.
func OpenLive(browser context.Context, url string) (*Tab, error) {
	return open(browser, url, true, false)
}

// OpenKept is [Open], but what a service worker keeps comes from there.
func OpenKept(browser context.Context, url string) (*Tab, error) {
	return open(browser, url, false, true)
}

func open(browser context.Context, url string, bypass, still bool) (t *Tab, err error) {
	ctx, cancel := chromedp.NewContext(browser)
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	defer try.To(&err)
	t = &Tab{Ctx: ctx, Close: cancel}
	try.Do(chromedp.Listen(ctx, t.hear))
	// Nobody asks for what was answered.
	try.Get(chromedp.Call(ctx, network.Enable, network.EnableParams{MaxTotalBufferSize: new(int64(1)), MaxResourceBufferSize: new(int64(1))}))
	try.Get(chromedp.Call(ctx, network.SetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: bypass}))
	// Another tab in front of it must not slow it down.
	try.Get(chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	if still {
		try.Get(chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: "globalThis.dpscopeOptions = { still: true }"}))
	}
	return t, chromedp.Do(ctx, chromedp.EmulateViewport(1100, 1000), chromedp.Navigate(url))
}

// readBack is what software WebGL says of a picture whose pixels are read.
const readBack = "GPU stall due to ReadPixels"

func (t *Tab) hear(ev any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		words := ev.ExceptionDetails.Text
		if x := ev.ExceptionDetails.Exception; x != nil {
			words = cmp.Or(x.Description, words)
		}
		t.errors = append(t.errors, "exception: "+words)
	case *runtime.EventConsoleAPICalled:
		if ev.Type == runtime.ConsoleAPICalledTypeError || ev.Type == runtime.ConsoleAPICalledTypeWarning || ev.Type == runtime.ConsoleAPICalledTypeAssert {
			words := make([]string, len(ev.Args))
			for i, a := range ev.Args {
				words[i] = string(a.Value)
			}
			t.errors = append(t.errors, fmt.Sprintf("console.%s: %s", ev.Type, strings.Join(words, " ")))
		}
	case *log.EventEntryAdded:
		if strings.Contains(ev.Entry.Text, readBack) {
			return
		}
		if ev.Entry.Level == log.EntryLevelError || ev.Entry.Level == log.EntryLevelWarning {
			t.errors = append(t.errors, fmt.Sprintf("log: %s (%s)", ev.Entry.Text, ev.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		t.requests = append(t.requests, ev.Request.URL)
	}
}

// Errors are the errors, warnings and exceptions so far.
func (t *Tab) Errors() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.errors)
}

// Requests are the addresses that the page asked for so far.
func (t *Tab) Requests() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.requests)
}

// Patience is how long a step may take. WebKitGTK without a graphics card needs a minute for what
// Chromium does in seconds, and a busy machine ten times what it takes else.
const Patience = 5 * time.Minute

// Until waits for a JavaScript expression to be true.
func (t *Tab) Until(expression string) error {
	ctx, cancel := context.WithTimeout(t.Ctx, Patience+5*time.Second)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool]("!!("+expression+")", chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(Patience)))
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", expression, err)
	}
	return nil
}

// Eval evaluates JavaScript, awaiting a promise.
func Eval[T any](t *Tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(t.Ctx, Patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}
