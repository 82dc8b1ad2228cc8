package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// TestClaims: of a broken mechanism the slider says what its code adds and what that is worth;
// where more epsilon is more noise there is no slider. A mechanism that is chosen makes its own
// claim, whatever was claimed of the one before.
func TestClaims(t *testing.T) {
	t.Parallel()
	tab := open(t, svt4+"2")
	const said, slider = `document.querySelector("#slide-noise").closest(".slider").textContent`, `document.querySelector("#slide-noise").checkVisibility()`
	until(t, tab, said+`.includes("As much as the published code adds to claim ε = 1. In truth: at most epsilon = (1+6c)/4 times the claimed = 1.75.")`)
	if eval[bool](t, tab, `document.querySelector(".need").checkVisibility()`) {
		t.Error("a mark says what the claim needs, which is not known")
	}
	for fragment, words := range map[string]string{
		"#v=1&mechanism=laplace-count&epsilon=2&p.epsilon=0.5":               "Enough for ε = 0.5.",
		"#v=1&mechanism=noisy-histogram-wrong-scale&epsilon=1&p.epsilon=0.5": "",
		"#v=1&mechanism=randomised-response&epsilon=1&p.p=0.9":               "",
	} {
		eval[bool](t, tab, fmt.Sprintf(`(location.hash = %q, true)`, fragment))
		until(t, tab, fmt.Sprintf(`%s === %v && (!%[1]s || %[3]s.includes(%[4]q)) && location.hash.includes(document.querySelector("#mechanism").value)`, slider, words != "", said, words))
	}

	goTo(t, tab, "#v=1&mechanism=laplace-count&epsilon=1&p.epsilon=1&samples=2000")
	claim := func(epsilon, guarantee, alpha string) {
		t.Helper()
		until(t, tab, fmt.Sprintf(`["epsilon", "guarantee", "alpha"].map(id => document.querySelector("#" + id)).map(e => e.value || e.placeholder || "").join() === %q`, epsilon+","+guarantee+","+alpha))
	}
	set(t, tab, "mechanism", "dp-sgd-scaled-noise")
	claim("0.25", "renyi", "2")
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.report?.plan.mechanism === "dp-sgd-scaled-noise" && document.body.dataset.state === "done"`)
	if c := eval[audit.Claim](t, tab, `window.dpscope.report.claim`); c != (audit.Claim{Kind: audit.Renyi, Epsilon: 0.25, Alpha: 2}) {
		t.Errorf("the audit is of %+v", c)
	}
	set(t, tab, "mechanism", "rappor-once")
	claim("0.8", "", "2")
	// The page's claim is that of files that come; without one there is nothing to audit.
	set(t, tab, "epsilon", "3")
	drop(t, tab, "count.csv", noisyCounts(2000, 1, 1))
	until(t, tab, samplesRead)
	if got := eval[string](t, tab, `document.querySelector("#epsilon").value`); got != "3" {
		t.Errorf("the page claimed 3, the card says %s", got)
	}
	set(t, tab, "epsilon", "")
	click(t, tab, "#run")
	until(t, tab, `document.querySelector("#epsilon-error").textContent.includes("what the mechanism of these samples claims")`)
}

// TestWayIn: from what comes, anywhere, to a verdict it takes three acts at most: it comes, one
// correction, Audit. The page counts them.
func TestWayIn(t *testing.T) {
	t.Parallel()
	tab := open(t, svt4+"2")
	eval[bool](t, tab, `(window.acts = 0, ["drop", "paste", "change", "click"].forEach((name) => addEventListener(name, () => { window.acts++; }, true)), true)`)
	taken := func(what string, most int, verdict audit.Verdict) {
		t.Helper()
		until(t, tab, `document.body.dataset.state !== "running" && document.querySelector("#verdict").dataset.verdict === "`+string(verdict)+`"`)
		if acts := eval[int](t, tab, `[window.acts, window.acts = 0][0]`); acts > most {
			t.Errorf("%s took %d acts", what, acts)
		}
	}
	arm := strings.NewReplacer("value,size,dataset", "value,arm", ",large", "", ",small", "", ",1\n", ",treated\n", ",0\n", ",control\n").Replace(noisyCounts(2000, 0.5, 1))
	drop(t, tab, "arm.csv", arm)
	until(t, tab, samplesRead+` && `+samplesSaid+`.includes("arm tells the datasets apart: the first has 2 000 rows with arm = control")`)
	click(t, tab, "#run")
	taken("arm", 2, audit.Violation)

	r := rand.New(rand.NewPCG(7, 8))
	loss := "loss,is_member\n"
	for i := range 400 {
		loss += fmt.Sprintf("%.6f,%d\n", r.NormFloat64()-3*float64(i%2), i%2)
	}
	drop(t, tab, "loss.csv", loss)
	until(t, tab, scoresRead+` && `+samplesSaid+`.includes("as its name says")`)
	set(t, tab, "relation", "add-remove")
	click(t, tab, "#run")
	taken("loss", 3, audit.Violation)
	if got := eval[string](t, tab, `((p) => [p.score, p.member, p.lower, p.claim.epsilon, p.relation].join())(`+canaryReport+`.plan)`); got != "loss,is_member,true,1,add-remove" {
		t.Errorf("the audit is %s", got)
	}
	click(t, tab, "#verify")
	until(t, tab, `document.querySelector("#result .verification").textContent.includes("is the same as in the report") && `+scoresRead)
	// A name that does not tell the sign is asked for it.
	drop(t, tab, "value.csv", strings.Replace(loss, "loss", "value", 1))
	until(t, tab, samplesSaid+`.includes("would void the confidence")`)
	say(t, tab, "A lower or a higher score means in", "lower")
	until(t, tab, scoresRead)

	paste := func(text string) {
		eval[bool](t, tab, fmt.Sprintf(`((clip) => (window.acts = 0, clip.setData("text/plain", %q), document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: clip, bubbles: true, cancelable: true})), true))(new DataTransfer())`, text))
	}
	paste("def noisy_sum(data, rng):\n    return sum(data) + rng.laplace(0.5)\n")
	until(t, tab, `document.body.dataset.door === "code" && document.querySelector("#own-status").textContent.startsWith("A Python function noisy_sum.") && document.querySelector("#own .cm-content")`)
	click(t, tab, "#own-run")
	taken("a function", 2, audit.Violation)
}
