package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// TestClaims: of a broken mechanism the slider says what its code adds and what that is worth;
// where more epsilon is more noise there is no slider. A mechanism that is chosen makes its own
// claim, whatever was claimed of the one before.
func TestClaims(t *testing.T) {
	t.Parallel()
	tab := open(t, svt4+"2")
	const said, slider = `document.querySelector("#slide-noise").closest(".slider").textContent`, `document.querySelector("#slide-noise").checkVisibility()`
	until(t, tab, said+`.includes("As much as the published code adds to claim ε = 1. In truth: at most epsilon = (1+6c)/4 times the claimed = 1.75.")`, 10*time.Second)
	if eval[bool](t, tab, `document.querySelector(".need").checkVisibility()`) {
		t.Error("a mark says what the claim needs, which is not known")
	}
	for fragment, words := range map[string]string{
		"#v=1&mechanism=laplace-count&epsilon=2&p.epsilon=0.5":               "Enough for ε = 0.5.",
		"#v=1&mechanism=noisy-histogram-wrong-scale&epsilon=1&p.epsilon=0.5": "",
		"#v=1&mechanism=randomised-response&epsilon=1&p.p=0.9":               "",
	} {
		eval[bool](t, tab, fmt.Sprintf(`(location.hash = %q, true)`, fragment))
		until(t, tab, fmt.Sprintf(`%s === %v && (!%[1]s || %[3]s.includes(%[4]q)) && location.hash.includes(document.querySelector("#mechanism").value)`, slider, words != "", said, words), 10*time.Second)
	}

	goTo(t, tab, "#v=1&mechanism=laplace-count&epsilon=1&p.epsilon=1&samples=2000")
	claim := func(epsilon, guarantee, alpha string) {
		t.Helper()
		until(t, tab, fmt.Sprintf(`["epsilon", "guarantee", "alpha"].map(id => document.querySelector("#" + id)).map(e => e.value || e.placeholder || "").join() === %q`, epsilon+","+guarantee+","+alpha), 10*time.Second)
	}
	set(t, tab, "mechanism", "dp-sgd-scaled-noise")
	claim("0.25", "renyi", "2")
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.report?.plan.mechanism === "dp-sgd-scaled-noise" && document.body.dataset.state === "done"`, time.Minute)
	if c := eval[audit.Claim](t, tab, `window.dpscope.report.claim`); c != (audit.Claim{Kind: audit.Renyi, Epsilon: 0.25, Alpha: 2}) {
		t.Errorf("the audit is of %+v", c)
	}
	set(t, tab, "mechanism", "rappor-once")
	claim("0.8", "", "2")
	// Nobody but the user knows what the mechanism of his outputs claims.
	set(t, tab, "epsilon", "3")
	drop(t, tab, "count.csv", noisyCounts(2000, 1, 1))
	until(t, tab, samplesRead, 10*time.Second)
	click(t, tab, "#run")
	until(t, tab, `document.querySelector("#epsilon-error").textContent.includes("what the mechanism of these samples claims")`, 5*time.Second)
}

// choose answers what the page asks in a notice, beside which there is no error.
func choose(t *testing.T, tab *browser.Tab, asks, words string) {
	t.Helper()
	until(t, tab, fmt.Sprintf(`%s.includes(%q) && !document.querySelector("#notice .error")`, noticed, asks), 30*time.Second)
	eval[bool](t, tab, fmt.Sprintf(`([...document.querySelectorAll("#notice button")].find(b => b.textContent === %q).click(), true)`, words))
}

// TestAsksOfColumns: of a column with two values the page asks what it says.
func TestAsksOfColumns(t *testing.T) {
	t.Parallel()
	tab := open(t, svt4+"2")
	arm := strings.NewReplacer("dataset", "arm", ",1\n", ",treated\n", ",0\n", ",control\n").Replace(noisyCounts(2000, 1, 1))
	one := "value,arm\n" // without the column of words
	for _, line := range strings.Split(strings.TrimSpace(arm), "\n")[1:] {
		cells := strings.Split(line, ",")
		one += cells[0] + "," + cells[2] + "\n"
	}
	drop(t, tab, "one.csv", one)
	choose(t, tab, "Does “arm” tell the datasets apart?", "No")
	until(t, tab, noticed+`.includes("arm: two values")`, 5*time.Second)
	drop(t, tab, "arm.csv", arm)
	choose(t, tab, "Which column tells the datasets apart?", "arm")
	until(t, tab, samplesRead+` && document.querySelector("#yours-preview").textContent.includes("rows with arm = control: 2")`, 20*time.Second)

	r := rand.New(rand.NewPCG(7, 8))
	loss := "loss,is_member\n"
	for i := range 400 {
		loss += fmt.Sprintf("%.6f,%d\n", r.NormFloat64()-2*float64(i%2), i%2)
	}
	drop(t, tab, "loss.csv", loss)
	choose(t, tab, "Does “is_member” say who was in the training?", "Yes, and a lower loss means in")
	until(t, tab, `document.body.dataset.door === "training" && document.querySelector("#k-epsilon-error").textContent.includes("claimed") && `+canaryIdle, 10*time.Second)
	set(t, tab, "k-epsilon", "0.5")
	set(t, tab, "k-scores-relation", "add-remove")
	click(t, tab, "#canaries-scores")
	until(t, tab, canaryReport+`?.files?.[0].name === "loss.csv" && `+canaryIdle, time.Minute)
	if got := eval[string](t, tab, `((p) => [p.score, p.member, p.lower, p.claim.epsilon, `+canaryReport+`.verdict].join())(`+canaryReport+`.plan)`); got != "loss,is_member,true,0.5,violation" {
		t.Errorf("the audit is %s", got)
	}
	click(t, tab, "#verify")
	until(t, tab, `document.querySelector("#result .verification").textContent.includes("is the same as in the report") && `+canaryIdle, time.Minute)
}
