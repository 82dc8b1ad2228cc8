package e2e

import (
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// TestLearnersDoor takes the page's door to private learners: the cell is refuted, and the
// tables of its pair are drawn with the row in which they differ; finders that do not fit the learner are not offered, and one that an
// address names is refused.
func TestLearnersDoor(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=laplace-mean&epsilon=1")
	const offered = `[...document.querySelector("#finder").options].map(o => o.value).join()`
	if got := eval[string](t, tab, offered); strings.Contains(got, "flip") {
		t.Errorf("for laplace-mean the form offers %s", got)
	}
	enter(t, tab, "training")
	click(t, tab, `.try a[href*="naive-bayes-counts"]`)
	until(t, tab, `document.querySelector("#mechanism").value === "naive-bayes-counts" && document.querySelector("#p-table").value === "iris-petals" && document.querySelector("#finder").value === "corner-flip"`)
	if got := eval[string](t, tab, offered); !strings.Contains(got, "corner-flip") || strings.Contains(got, "influence") {
		t.Errorf("for naive Bayes the form offers %s", got)
	}
	set(t, tab, "samples", "5000")
	until(t, tab, `location.hash.includes("samples=5000")`)
	click(t, tab, "#run")
	r := finish(t, tab)
	if r.Verdict != audit.Violation || !strings.Contains(eval[string](t, tab, `document.querySelector("#verdict").textContent`), "Violation: ε > ") {
		t.Errorf("the verdict is %s", r.Verdict)
	}
	const data = `document.querySelector("#data`
	unfold(t, tab, "fold-pair")
	until(t, tab, data+`-section").checkVisibility() && `+data+` .picture > svg") !== null`)
	if said := eval[string](t, tab, data+` .chart-words").textContent`); !strings.Contains(said, "declared bounds") || !strings.Contains(said, "oisoned row") {
		t.Errorf("the picture of the data says %q", said)
	}
	if rows, places := eval[int](t, tab, `document.querySelectorAll("#data details tbody tr").length`), eval[int](t, tab, `document.querySelectorAll("#data .picture .target title").length`); rows < 20 || rows != places {
		t.Errorf("%d rows in the table, %d places in the picture", rows, places)
	}

	eval[bool](t, tab, `(location.hash = "#v=1&mechanism=random-forest&epsilon=1&finder=influence", true)`)
	until(t, tab, `document.querySelector("#finder").value !== "influence" && document.body.innerText.includes("as it poisons the table of a learner")`)
}
