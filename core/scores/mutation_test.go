package scores

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/mutate"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// TestMutations: of small reports of every kind, each field deleted, each value
// changed and each two neighbours of an array swapped: none verifies, but for the
// fields that Verify names as not compared, and the evidence where it says that the
// report is taken at its word.
func TestMutations(t *testing.T) {
	testsize.Native(t)
	generator := audit.Generator{Name: "dpscope", Version: audit.Version, GoOS: "linux", GoArch: "amd64", Go: "go", CoreSHA256: "ab"}
	claim := audit.DPClaim(1, 1e-5)
	text := func(r any, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		data := must.Get(audit.Canonical(r))(t)
		return data
	}
	clock := 0.0
	now := func() float64 { clock++; return clock }
	own := func(p canary.Plan) []byte {
		r := planted(t, p, source.Sources(), now, 1)
		r.Generator = generator
		return text(r, nil)
	}
	canaries := own(canary.Plan{Version: canary.PlanVersion, Source: "gaussian-sum", Claim: &claim, Parameters: audit.Params{"d": {Number: 4}}, Runs: 20, K: 2, Explore: 6})
	once := own(canary.Plan{Version: canary.PlanVersion, Mode: canary.OneRun, Source: "gaussian-sum", Claim: &claim, DeltaDefaulted: true, K: 40, GuessPlan: membership.GuessPlan{Guesses: []int{10, 20}}})
	type verify = func([]byte) (engine.Verification, error)
	verifyCanaries := func(whole bool) verify {
		return func(data []byte) (engine.Verification, error) {
			r, err := canary.ParseReport(data)
			if err != nil {
				return engine.Verification{}, err
			}
			return verifyPlanted(source.Sources(), r, whole)
		}
	}
	verifyScores := func(s *Scores) verify {
		return func(data []byte) (engine.Verification, error) {
			r, err := ParseReport(data)
			if err != nil {
				return engine.Verification{}, err
			}
			return Verify(r, s)
		}
	}
	flat := gaussianScores(1, 12, 0.5)
	flat.Files, flat.Notes = []ScoreFile{{"in.csv", "aa"}, {"out.csv", "bb"}}, []string{"a note", "another"}
	matrix := sharedRuns(1, 12, 3)
	matrix.Files = []ScoreFile{{"x.csv", "cc"}}
	coins := laplaceSums(1, 24, 2)
	scores := func(relation audit.Relation, m report.Method, s Scores) []byte {
		p := Plan{Version: PlanVersion, Claim: &claim, Relation: relation, Method: m, Beta: 0.2}
		return text(Run(p, s, generator))
	}
	free := []string{"generator", "timing"}
	quick := append([]string{"evidence"}, free...)
	named := append([]string{"files[].name"}, free...)
	total := 0
	for _, c := range []struct {
		name   string
		report []byte
		verify verify
		passes []string // what the verification says that it does not compare
	}{
		{"canaries", canaries, verifyCanaries(true), free},
		{"canaries, quick", canaries, verifyCanaries(false), quick},
		{"one run", once, verifyCanaries(true), free},
		{"one run, quick", once, verifyCanaries(false), quick},
		{"scores", scores(audit.AddRemove, report.MethodPaired, flat), verifyScores(&flat), named},
		{"scores, quick", scores(audit.Replace, report.MethodExact, flat), verifyScores(nil), append([]string{"evidence", "notes"}, named...)},
		{"runs", scores(audit.Replace, "", matrix), verifyScores(&matrix), named},
		{"runs by coins", scores(audit.AddRemove, "", coins), verifyScores(&coins), named},
	} {
		v, err := c.verify(c.report)
		if err != nil || !v.OK() {
			t.Fatalf("%s: the report itself: %v, %q", c.name, err, v.Differences)
		}
		all := must.Get(mutate.All(c.report))(t)
		passed, tried := mutate.Unnoticed(every(mutate.Few(all)), nil, func(data []byte) bool {
			v, err := c.verify(data)
			return err == nil && v.OK()
		})
		total += tried
		for _, field := range slices.Sorted(maps.Keys(passed)) {
			if !slices.ContainsFunc(c.passes, func(f string) bool { return strings.HasPrefix(field+".", f+".") || strings.HasPrefix(field, f+"[") }) {
				t.Errorf("%s: %d mutations of %s verify, such as %v", c.name, len(passed[field]), field, passed[field][0])
			}
		}
		for _, f := range c.passes {
			if !slices.Contains(v.NotCompared(), f) {
				t.Errorf("%s: the verification does not say that %s is not compared: %q", c.name, f, v.NotCompared())
			}
		}
		for _, f := range v.NotCompared() {
			if !slices.ContainsFunc(c.passes, func(free string) bool { return f == free || strings.HasPrefix(f, free+".") }) {
				t.Errorf("%s: %s is not compared", c.name, f)
			}
		}
		t.Logf("%s: %d mutations; unnoticed %s", c.name, tried, fmt.Sprint(slices.Sorted(maps.Keys(passed))))
	}
	if total < testsize.Of(500, 2000) {
		t.Errorf("only %d mutations", total)
	}
}

// TestForgedSizes: a replay draws as many runs as the report counts. One that says
// other numbers is refused before anything is drawn, and sizes beyond the limits
// before anything is computed.
func TestForgedSizes(t *testing.T) {
	claim := audit.DPClaim(1, 1e-5)
	r := planted(t, canary.Plan{Version: canary.PlanVersion, Source: "gaussian-sum", Claim: &claim, Runs: 20, K: 2, Explore: 6}, source.Sources(), nil, 1)
	sources := source.Sources()
	for i := range sources {
		sources[i].New = func(source.Setup) (source.Source, error) {
			t.Error("a run is drawn")
			return nil, fmt.Errorf("a run is drawn")
		}
	}
	for name, forge := range map[string]func(r *canary.Report){
		"explored":  func(r *canary.Report) { r.Plan.Explore = 1 << 20 },
		"runs":      func(r *canary.Report) { r.Plan.Runs = 1 << 24 },
		"more runs": func(r *canary.Report) { r.Plan.Runs = 1 << 60 },
		"canaries":  func(r *canary.Report) { r.Plan.K = 1 << 40 },
		"unexplored": func(r *canary.Report) {
			e, x := *r.Evidence, *r.Evidence.Runs
			x.Explored.Table, e.Runs = nil, &x
			r.Evidence = &e
		},
	} {
		forged := r
		forge(&forged)
		for _, whole := range []bool{true, false} {
			must.Input(t, must.Err(verifyPlanted(sources, forged, whole)), "", name)
		}
	}
	for name, forge := range map[string]func(h *Shape){
		"scores":   func(h *Shape) { h.In = 1 << 40 },
		"runs":     func(h *Shape) { h.Runs, h.Canaries = 1<<60, 1 },
		"canaries": func(h *Shape) { h.Canaries = 1 << 60 },
		"half":     func(h *Shape) { h.Half = 1 << 60 },
		"members":  func(h *Shape) { h.CertifiedIn = 1 << 60 },
	} {
		r := checkScores(t, samplePlan(1, 1e-6, ""), laplaceSums(1, 60, 2))
		forge(&r.Evidence.Shape)
		must.Input(t, must.Err(Verify(r, nil)), "", name)
	}
}

// every is all mutations, or in the short tests one of four.
func every(all []mutate.Mutation) []mutate.Mutation {
	var some []mutate.Mutation
	for i := 0; i < len(all); i += testsize.Of(4, 1) {
		some = append(some, all[i])
	}
	return some
}
