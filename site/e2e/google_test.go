package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// TestGoogleLibrary: the real library runs in the page, its misuse is flagged, and a replay
// says that it recomputed. The misuse's bound was eight of its standard deviations above
// the claim in twelve native runs.
func TestGoogleLibrary(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=google-laplace&samples=4000&trials=1&beta=1e-6&workers=2")
	if group := eval[string](t, tab, `document.querySelector('.tile[data-mechanism="google-count"]').textContent`); !strings.Contains(group, "Runs the real library") {
		t.Errorf("it stands under %q", group)
	}
	set(t, tab, "mechanism", "google-laplace-wrong-sensitivity")
	set(t, tab, "p-most", "3")
	until(t, tab, `location.hash.includes("p.most=3")`)
	click(t, tab, "#run")
	r := finish(t, tab)
	if r.Verdict != audit.Violation || r.Generator.CoreSHA256 != shaOf(t, coreFile) || !strings.Contains(r.Reproduce.Note, "takes no seed") || r.Inputs.Unseeded == "" {
		t.Errorf("%s on core %s: %s; %s", r.Subject, r.Generator.CoreSHA256, r.Summary, r.Reproduce.Note)
	}
	click(t, tab, "#verify")
	until(t, tab, `document.body.dataset.state === "done" && !document.querySelector("#verification").hidden`)
	if said := eval[string](t, tab, `document.querySelector("#verification").textContent`); !strings.Contains(said, "✓ Recomputed in this browser") || strings.Contains(said, "Replayed") {
		t.Errorf("the replay says %q", said)
	}
	// Its samples are fewer by default, and only while it is chosen.
	set(t, tab, "samples", "")
	for _, c := range [][2]string{{"google-count", "20000"}, {"svt4", "200000"}} {
		set(t, tab, "mechanism", c[0])
		until(t, tab, fmt.Sprintf(`location.hash.includes("mechanism=%s") && document.querySelector("#samples").placeholder === %q`, c[0], c[1]))
	}
}
