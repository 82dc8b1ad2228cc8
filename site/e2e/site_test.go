// Package e2e drives the built page in a headless Chromium, as a user would.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

var (
	site     string // address of the served page, with a slash at the end
	dist     string // folder of the built site
	program  string // the built command
	chromium context.Context
)

// TestMain builds the site and the command, serves the one with the other, and
// starts one browser for all tests; each has a profile of its own in it.
func TestMain(m *testing.M) {
	code, err := setUp(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func setUp(m *testing.M) (int, error) {
	if _, err := browser.Path(); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "dpscope-e2e-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	dist, program = filepath.Join(dir, "dist"), filepath.Join(dir, "dpscope")
	if ready := os.Getenv("DPSCOPE_DIST"); ready != "" {
		dist = ready
	} else if out, err := goCommand("run", "./site/build", "-plain", "-out", dist).CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building the site: %w\n%s", err, out)
	}
	if out, err := goCommand("build", "-o", program, "./cmd/dpscope").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building the command: %w\n%s", err, out)
	}
	server := exec.Command(program, "serve", "-addr", "127.0.0.1:0", "-dir", dist)
	printed, err := server.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := server.Start(); err != nil {
		return 1, err
	}
	defer func() { server.Process.Signal(os.Interrupt); server.Wait() }()
	for lines := bufio.NewScanner(printed); site == "" && lines.Scan(); {
		if _, address, ok := strings.Cut(lines.Text(), "http://"); ok {
			site = "http://" + strings.TrimRight(strings.Fields(address)[0], "/.") + "/"
		}
	}
	if site == "" {
		return 1, errors.New("serve printed no address")
	}
	ctx, stop, err := browser.Start(context.Background())
	if err != nil {
		return 1, err
	}
	defer stop()
	chromium = ctx
	flag.Parse()
	if err := flag.Set("test.parallel", tabsAtOnce); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// tabsAtOnce is how many tests drive the browser at the same time, of those that
// call t.Parallel: most of a test is waiting, but an audit has two workers. Tests
// that measure time do not call it; they run before the others, alone.
const tabsAtOnce = "4"

// profile is the browser's profile that a test has to itself: what it stores, and
// which of its tabs has the focus, is no other test's. Profiles are used again, with
// nothing stored but what the browser keeps of files and compiled code, and the service
// worker, which the tabs of [browser.Open] pass by.
func profile(t *testing.T) context.Context {
	t.Helper()
	if p, ok := taken.Load(t); ok {
		return p.(context.Context)
	}
	ctx := another(t)
	taken.Store(t, ctx)
	t.Cleanup(func() { taken.Delete(t) })
	return ctx
}

// another is a profile besides the test's own, as of somebody else.
func another(t *testing.T) context.Context {
	t.Helper()
	var ctx context.Context
	select {
	case ctx = <-free:
	default:
		made, _, err := browser.Profile(chromium) // it ends with the browser
		if err != nil {
			t.Fatal(err)
		}
		ctx = made
		// As long as a tab holds the programs, no other tab compiles them again.
		holder := must.Get(browser.Open(ctx, site+"build-info.json"))(t)
		eval[bool](t, holder, `Promise.all(["core.wasm", "view.wasm"].map((name) => WebAssembly.compileStreaming(fetch(name)))).then((all) => { window.held = all; return true; })`)
	}
	t.Cleanup(func() {
		if err := browser.Forget(ctx, strings.TrimSuffix(site, "/")); err != nil {
			t.Error(err)
			return
		}
		select {
		case free <- ctx:
		default:
		}
	})
	return ctx
}

var (
	taken sync.Map // profiles, by *testing.T
	free  = make(chan context.Context, 8)
)

// goCommand runs the go command in the project's root.
func goCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = "../.."
	return cmd
}

// open opens the page at a state and waits until it can run. Whatever the page
// complains about, and whatever it asks of another host, fails the test.
func open(t *testing.T, fragment string) *browser.Tab {
	t.Helper()
	tab := must.Get(browser.Open(profile(t), site+fragment))(t)
	t.Cleanup(func() {
		quiet(t, tab)
		for _, url := range tab.Requests() {
			if !strings.HasPrefix(url, site) && !strings.HasPrefix(url, "blob:") && !strings.HasPrefix(url, "data:") {
				t.Errorf("the page asks for %s", url)
			}
		}
		tab.Close()
	})
	until(t, tab, `document.body.dataset.state === "ready"`)
	return tab
}

// goTo follows a link to a state of the page's audit, and waits until the form has it.
func goTo(t *testing.T, tab *browser.Tab, fragment string) {
	t.Helper()
	eval[bool](t, tab, fmt.Sprintf(`(location.hash = %q, true)`, fragment))
	until(t, tab, fmt.Sprintf(`((asked) => ["mechanism", "samples"].every((key) => document.getElementById(key).value === (asked.get(key) ?? "")) && !document.querySelector("#run").disabled)(new URLSearchParams(%q))`, fragment[1:]))
}

// enter goes to a door of the page by its link.
func enter(t *testing.T, tab *browser.Tab, door string) {
	t.Helper()
	eval[bool](t, tab, fmt.Sprintf(`(document.querySelector('#doors a[href="#door=%s"]').click(), true)`, door))
	until(t, tab, fmt.Sprintf(`document.body.dataset.door === %q`, door))
}

// unfold opens what is folded: "settings", or "fold-bounds" and other parts of a result.
func unfold(t *testing.T, tab *browser.Tab, ids ...string) {
	t.Helper()
	for _, id := range ids {
		eval[bool](t, tab, fmt.Sprintf(`(document.getElementById(%q).open = true)`, id))
	}
}

func until(t *testing.T, tab *browser.Tab, expression string) {
	t.Helper()
	if err := tab.Until(expression); err != nil {
		state, _ := browser.Eval[string](tab, `document.body.dataset.state + " | " + document.querySelector("#notice").textContent + " | " + document.querySelector("#verdict").textContent`)
		t.Fatalf("%v\nthe page is at: %s\nit complained: %v", err, state, tab.Errors())
	}
}

func eval[T any](t *testing.T, tab *browser.Tab, expression string) T {
	t.Helper()
	v, err := browser.Eval[T](tab, expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func click(t *testing.T, tab *browser.Tab, selector string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab.Ctx, browser.Patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Click(selector)); err != nil {
		t.Fatalf("click %s: %v", selector, err)
	}
}

// finish waits for the end of a run and returns its report.
func finish(t *testing.T, tab *browser.Tab) pair.Report {
	t.Helper()
	until(t, tab, `document.body.dataset.state === "done"`)
	noDrift(t, tab)
	return reportOf(t, tab)
}

// quiet fails the test where the page complained.
func quiet(t *testing.T, tab *browser.Tab) {
	t.Helper()
	for _, e := range tab.Errors() {
		t.Errorf("the page complains: %s", e)
	}
}

// verified has the page's result replayed, to the same.
func verified(t *testing.T, tab *browser.Tab) {
	t.Helper()
	click(t, tab, "#verify")
	until(t, tab, `document.querySelector("#verification").textContent.includes("is the same as in the report")`)
}

// noDrift fails the test where a result is said to be of other settings.
func noDrift(t *testing.T, tab *browser.Tab) {
	t.Helper()
	eval[bool](t, tab, `new Promise((done) => setTimeout(done, 200, true))`) // a change is looked at after 150 ms
	if said := eval[string](t, tab, `(d => d.hidden ? "" : d.textContent)(document.querySelector("#drift"))`); said != "" {
		t.Errorf("beside the result it says %q", said)
	}
}

// stands fails the test where the verdict in a place does not begin with what it
// rests on, or is struck through without having failed a replay.
func stands(t *testing.T, tab *browser.Tab, place, says string) {
	t.Helper()
	until(t, tab, fmt.Sprintf(`(%s.querySelector(".standing")?.textContent ?? "").includes(%q)`, place, says))
	got := eval[[3]string](t, tab, `((box) => [box.querySelector(".standing")?.textContent ?? "", box.querySelector(".headline > s")?.textContent ?? "", box.querySelector(".verdict-mark").getAttribute("aria-label")])(`+place+`)`)
	if said := eval[string](t, tab, `document.querySelector(".verification:not([hidden])")?.innerText ?? ""`); strings.Contains(said, "false") || strings.Contains(said, "undefined") {
		t.Errorf("of the replay it says %q", said)
	}
	failed := strings.HasPrefix(says, "Failed")
	if (says == "") != (got[0] == "") || failed != (got[1] != "") || failed != (got[2] == "Failed verification") {
		t.Errorf("the verdict stands as %q, want %q", got, says)
	}
}

// reportOf is the report that the page holds, through the file that its Save
// button would write.
func reportOf(t *testing.T, tab *browser.Tab) pair.Report {
	t.Helper()
	text := eval[string](t, tab, `JSON.stringify(window.dpscope.report)`)
	r, err := pair.ParseReport([]byte(text))
	if err != nil {
		t.Fatalf("the page's report: %v", err)
	}
	return r
}

// audit runs the command line and returns its report.
func runAudit(t *testing.T, args ...string) pair.Report {
	t.Helper()
	cmd := exec.Command(program, append([]string{"audit", "-format", "json"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Run() // its exit code tells the verdict
	r, err := pair.ParseReport(stdout.Bytes())
	if err != nil {
		t.Fatalf("dpscope audit %v: %v\n%s", args, err, stderr.String())
	}
	return r
}

// sameCounts compares what certification counted.
func sameCounts(t *testing.T, what string, a, b pair.Report) {
	t.Helper()
	x, _ := json.Marshal([]any{a.Evidence, a.Verdict})
	y, _ := json.Marshal([]any{b.Evidence, b.Verdict})
	if !bytes.Equal(x, y) {
		t.Errorf("%s:\n%s\n%s", what, x, y)
	}
}
