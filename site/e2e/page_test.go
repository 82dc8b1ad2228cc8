package e2e

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// ownPolicy is a document's own.
var ownPolicy = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; [^"]*; base-uri 'none'; form-action 'none'">`)

// TestPolicy: the page's policy is sent, and the browser enforces it.
func TestPolicy(t *testing.T) {
	t.Parallel()
	res, err := http.Get(site)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	policy := res.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "worker-src 'self'", "connect-src 'self'", "style-src 'self'", "img-src 'self' blob: data:", "frame-src 'self'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	// Every document of the site says it by itself, too, for servers that send no policy.
	documents := 0
	err = filepath.WalkDir(dist, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		text, err := os.ReadFile(path)
		documents++
		if !ownPolicy.Match(text) {
			t.Errorf("%s has no such policy", path)
		}
		return err
	})
	if err != nil || documents < 10 {
		t.Errorf("%d documents: %v", documents, err)
	}
	tab := visit(t, site)
	until(t, tab, `document.body.dataset.state === "ready"`)
	if errs := tab.Errors(); len(errs) > 0 {
		t.Errorf("the page complains: %v", errs)
	}
	// Nothing can be sent to another host, and no inline script runs.
	refused := eval[string](t, tab, `fetch("http://127.0.0.2:9/", {method: "POST", body: "data"}).then(() => "sent", e => "refused")`)
	inline := eval[bool](t, tab, `(() => { const s = document.createElement("script"); s.textContent = "window.inlineRan = true"; document.head.append(s); return window.inlineRan === true })()`)
	if refused != "refused" || inline {
		t.Errorf("fetch to another host: %s; inline script ran: %v", refused, inline)
	}
	violations := strings.Join(tab.Errors(), "\n")
	if !strings.Contains(violations, "connect-src") || !strings.Contains(violations, "script-src") {
		t.Errorf("the browser does not say that the policy refused them: %s", violations)
	}
	for _, url := range tab.Requests() {
		if strings.HasPrefix(url, "http") && !strings.HasPrefix(url, site) && !strings.Contains(url, "127.0.0.2") {
			t.Errorf("asked for %s", url)
		}
	}
}

// TestAddressState: the state comes from the address, what is bad in it, its version too, is
// named and replaced by defaults, and a change is written back. A value out of range is named
// at its field, and what was shown stays.
func TestAddressState(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt3&epsilon=0.5&seed=99&p.c=2&samples=12345&unknown=1")
	holds := func(want string) {
		t.Helper()
		if got := eval[string](t, tab, `["mechanism", "epsilon", "seed", "samples"].map((id) => document.getElementById(id).value).join()`); got != want {
			t.Errorf("the form holds %s, want %s", got, want)
		}
	}
	holds("svt3,0.5,99,12345")
	set(t, tab, "epsilon", "0.25")
	until(t, tab, `location.hash.includes("epsilon=0.25") && location.hash.includes("p.c=2") && location.hash.includes("seed=99")`)
	for _, c := range []struct{ fragment, holds, says string }{
		{"#v=7&mechanism=svt3&epsilon=0.5&to-come=1", "svt3,0.5,42,", "The address has version 7, newer than version 1 of this page"},
		{"#v=x&mechanism=svt3&epsilon=0.5", "svt3,0.5,42,", `The version in the address is "x", must be a whole number from 1`},
		{"#v=1&mechanism=svt44&samples=many", "laplace-count,,42,", `mechanism is "svt44"`},
		{"#v=1&mechanism=svt4&guarantee=total&until-refuted=perhaps&samples=3000", "svt4,,42,3000", `until-refuted is "perhaps"`},
	} {
		eval[bool](t, tab, fmt.Sprintf(`(location.hash = %q, true)`, c.fragment))
		until(t, tab, fmt.Sprintf(`document.querySelector('#notice [data-key="address"]')?.textContent.includes(%q)`, c.says))
		holds(c.holds)
	}
	before := eval[string](t, tab, `document.querySelector("#verdict").textContent`)
	for _, c := range [][3]string{{"epsilon", "-1", "above 0"}, {"samples", "5", "[100, 1000000000]"}} {
		old := eval[string](t, tab, fmt.Sprintf(`document.querySelector("#%s").value`, c[0]))
		set(t, tab, c[0], c[1])
		until(t, tab, fmt.Sprintf(`document.querySelector("#%s").getAttribute("aria-invalid") === "true" && document.querySelector("#%[1]s-error").textContent.includes(%q) && document.querySelector("#verdict").textContent === %q`, c[0], c[2], before))
		set(t, tab, c[0], old)
		until(t, tab, fmt.Sprintf(`document.querySelector("#%s").getAttribute("aria-invalid") !== "true"`, c[0]))
	}
}

// inSight is what an element says, where all of it is in the window.
func inSight(t *testing.T, tab *browser.Tab, selector string) string {
	t.Helper()
	return eval[string](t, tab, fmt.Sprintf(`((e) => { const b = e.getBoundingClientRect(); return e.checkVisibility() && b.top >= 0 && b.bottom <= innerHeight && b.left >= 0 && b.right <= innerWidth ? e.innerText : ""; })(document.querySelector(%q))`, selector))
}

// TestFormAndResult: a key runs the form, but where it is typed into a field. The page says
// when the form no longer is the result's, a run that was stopped before it certified anything
// replaces nothing, and going back to the result's settings is one press.
func TestFormAndResult(t *testing.T) {
	t.Parallel()
	tab := open(t, "")
	drifted := `!document.querySelector("#drift").hidden`
	if eval[bool](t, tab, drifted) {
		t.Error("beside the example it says that the form has other settings")
	}
	goTo(t, tab, svt4+"2")
	eval[bool](t, tab, `(document.querySelector("#settings").open = true, document.querySelector("#epsilon").focus(), true)`)
	pressKey(t, tab, "r")
	eval[bool](t, tab, `(document.activeElement.blur(), true)`)
	if state := eval[string](t, tab, `document.body.dataset.state`); state != "ready" {
		t.Errorf("a letter in a field leads to %s", state)
	}
	set(t, tab, "epsilon", "1")
	pressKey(t, tab, "r")
	if r := finish(t, tab); r.Subject != "svt4" {
		t.Errorf("r runs %s", r.Subject)
	}
	goTo(t, tab, "#v=1&mechanism=svt1&epsilon=1&samples=1000000000&explore=300000&trials=50&fixed=true&workers=1")
	until(t, tab, drifted)
	before := eval[string](t, tab, `document.querySelector("#verdict").textContent`)
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.progress && window.dpscope.progress.rows > 0`)
	eval[bool](t, tab, `(document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true})), true)`)
	until(t, tab, `document.body.dataset.state !== "running"`)
	if now := eval[string](t, tab, `document.querySelector("#verdict").textContent`); now != before {
		t.Errorf("a run that certified nothing replaced the result: %q", now)
	}
	click(t, tab, "#more-actions > summary")
	click(t, tab, "#use-settings")
	until(t, tab, `document.querySelector("#mechanism").value === "svt4" && !(`+drifted+`) && document.activeElement.id === "run"`)
}

// TestForgedReports: a report of each kind that is dropped opens where it belongs, says that
// it is not verified, and verifies; one with another bound fails, and says where. What
// cannot be read is named, and leaves what was shown.
func TestForgedReports(t *testing.T) {
	t.Parallel()
	ours := audit.Generator{Name: "dpscope", Version: audit.Version}
	planted := canary.Plan{Version: canary.PlanVersion, Runs: 60, K: 3, Seed: 5, Source: "gaussian-sum", Parameters: audit.Params{"noise": {Number: 0.5}}, Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 2, Delta: 1e-5}}
	many := natively(t, planted, 1)
	many.Generator = ours
	planted.Mode, planted.Design, planted.Runs, planted.K, planted.Seed = canary.OneRun, source.Orthogonal, 0, 600, 4
	one := nativeCanaries(t, planted, core.Env{Pool: engine.LocalPool(1), Generator: ours})
	given := scores.Scores{In: make([]float64, 60), Out: make([]float64, 60), Files: []scores.ScoreFile{{Name: "s.csv", SHA256: strings.Repeat("0", 64)}}}
	for i := range given.In {
		given.In[i], given.Out[i] = float64(i)+20.5, float64(i)
	}
	of := must.Get(scores.Run(scores.Plan{Version: scores.PlanVersion, Claim: planted.Claim, Relation: audit.Replace, Method: report.MethodExact, Seed: 1}, given, ours))(t)
	tab := open(t, "")
	pairs := runAudit(t, "-mechanism", "svt1", "-samples", "3000", "-trials", "2", "-seed", "1")
	whole := string(must.Get(audit.Canonical(pairs))(t))
	before := eval[string](t, tab, `document.querySelector("#verdict").textContent`)
	for _, c := range [][2]string{{whole[:len(whole)/2], "cut off"}, {strings.Replace(whole, `"schemaVersion": 1`, `"schemaVersion": 99, "novelty": true`, 1), "use the version of dpscope that wrote it"}} {
		drop(t, tab, "bad.json", c[0])
		until(t, tab, fmt.Sprintf(noticed+`.includes(%q)`, c[1]))
		if now := eval[string](t, tab, `document.querySelector("#verdict").textContent`); now != before {
			t.Errorf("%s: the old result is gone: %q", c[1], now)
		}
	}
	for _, c := range []struct {
		name         string
		report       any
		panel        [4]string // where the report, the verdict, what came of a replay, and the button are
		says, stands string
	}{
		{"pair", pairs, [4]string{"report", "#verdict", "#verification", "#verify"}, "same", "Verified here"},
		{"canary", many, [4]string{"canaryReport", "#result", "#result .verification", "#verify"}, "is the same as in the report", "Verified here"},
		{"one-run", one, [4]string{"canaryReport", "#result", "#result .verification", "#verify"}, "is the same as in the report", "Verified here"},
		{"scores", of, [4]string{"canaryReport", "#result", "#result .verification", "#verify"}, "Recomputed in this browser", "Recomputed here"},
	} {
		good := string(must.Get(audit.Canonical(c.report))(t))
		forged := regexp.MustCompile(`"lowerBound": [0-9.]+`).ReplaceAllString(good, `"lowerBound": 0.0987`)
		for _, text := range []string{good, forged} {
			name, says, on := c.name, c.says, c.stands
			if text == forged {
				name, says, on = c.name+"-forged", "lowerBound", "Failed verification here"
			}
			drop(t, tab, name+".json", text)
			until(t, tab, fmt.Sprintf(`((r) => r && (r.lowerBound === 0.0987) === %v)(window.dpscope.%s) && document.body.innerText.includes("Opened: %s.json") && document.body.dataset.state !== "running"`, text == forged, c.panel[0], name))
			box := fmt.Sprintf(`document.querySelector(%q)`, c.panel[1])
			stands(t, tab, box, "Not verified here")
			click(t, tab, c.panel[3])
			until(t, tab, fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q) && document.body.dataset.state !== "running"`, c.panel[2], says))
			stands(t, tab, box, on)
		}
	}
	eval[bool](t, tab, `(document.querySelector('#doors a[href="#door=explore"]').click(), true)`)
	until(t, tab, `window.dpscope.report?.subject === "svt1"`) // each door keeps its own
}
