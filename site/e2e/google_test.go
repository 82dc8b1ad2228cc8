package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/must"
)

// TestGoogleLibrary: the real library runs in the page and is not flagged, its
// misuse is, and a replay says that it recomputed. A bound above a claim that is
// kept has probability at most 1e-6; the misuse's bound was eight of its standard
// deviations above the claim in twelve native runs.
func TestGoogleLibrary(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=google-laplace&samples=4000&trials=1&beta=1e-6&workers=2")
	if group := eval[string](t, tab, `document.querySelector("#mechanism").selectedOptions[0].parentElement.label`); !strings.Contains(group, "runs the real library") {
		t.Errorf("it stands under %q", group)
	}
	for _, c := range []struct {
		mechanism string
		verdict   audit.Verdict
	}{{"google-laplace", audit.NoViolation}, {"google-laplace-wrong-sensitivity", audit.Violation}} {
		set(t, tab, "mechanism", c.mechanism)
		if c.verdict == audit.Violation {
			set(t, tab, "p-most", "3")
		}
		until(t, tab, `document.body.dataset.state !== "loading" && location.hash.includes("mechanism=`+c.mechanism+`&")`, 5*time.Second)
		click(t, tab, "#run")
		r := finish(t, tab, 2*time.Minute)
		if r.Subject != c.mechanism || r.Verdict != c.verdict || r.Generator.CoreSHA256 != shaOf(t, coreFile) {
			t.Errorf("%s on core %s: %s", r.Subject, r.Generator.CoreSHA256, r.Summary)
		}
		if note := r.Reproduce.Note; !strings.Contains(note, "takes no seed") || r.Inputs.Unseeded == "" {
			t.Errorf("the report says %q", note)
		}
		if !gear.All() && c.verdict == audit.NoViolation {
			continue
		}
		click(t, tab, "#verify")
		until(t, tab, `document.body.dataset.state === "done" && !document.querySelector("#verification").hidden`, time.Minute)
		if said := eval[string](t, tab, `document.querySelector("#verification").textContent`); !strings.Contains(said, "✓ Recomputed in this browser") || strings.Contains(said, "Replayed") {
			t.Errorf("the replay says %q", said)
		}
		file := filepath.Join(t.TempDir(), "report.json")
		must.Do(t, os.WriteFile(file, []byte(eval[string](t, tab, `JSON.stringify(window.dpscope.report)`)), 0o644))
		if out, err := exec.Command(program, "verify", file).CombinedOutput(); err != nil || !strings.Contains(string(out), "Recomputed: bound and verdict") {
			t.Errorf("dpscope verify: %v\n%s", err, out)
		}
	}
}

// TestGoogleLibraryByChoice: the samples of a mechanism of the library are fewer by
// default, and only while it is chosen.
func TestGoogleLibraryByChoice(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&trials=2&seed=7&workers=2")
	for _, c := range [][2]string{{"google-count", "20000"}, {"svt4", "100000"}} {
		set(t, tab, "mechanism", c[0])
		until(t, tab, fmt.Sprintf(`location.hash.includes("mechanism=%s") && document.querySelector("#samples").placeholder === %q`, c[0], c[1]), 5*time.Second)
	}
}
