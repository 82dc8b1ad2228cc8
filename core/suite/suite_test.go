package suite_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
)

const good = `{
  "$schema": "dpscope-plan-v1.schema.json",
  "version": 1,
  "beta": 0.04,
  "seed": 7,
  "audits": [
    {"name": "one", "mechanism": "svt4", "parameters": {"c": 2}, "claim": {"kind": "pure", "epsilon": 1},
     "samples": 5000, "explore": 4000, "trials": 3, "learner": "histogram", "finder": "random"},

    {
      "name": "two: Größe {x}", "mechanism": "rappor-once", "mode": "until-refuted", "location": "a.go:3",
      "pair": {"first": {"columns": 1, "values": [1]}, "second": {"columns": 1, "values": [0]}}
    }, {"name": "three", "recorded": {"files": ["a.csv", "b.csv"], "header": "no", "kinds": {"x": "symbol"}, "nonFinite": "symbol"}, "claim": {"rho": 0.5}},
    {"name": "four", "mechanism": "svt1", "throughRenyi": 4, "relation": "l-infinity"}
  ]
}`

func parse(t *testing.T, text string) *suite.File {
	t.Helper()
	f := must.Get(suite.Parse([]byte(text), "plan.json"))(t)
	return f
}

func TestParse(t *testing.T) {
	f := parse(t, good)
	if fmt.Sprint(f.Lines) != "[7 10 13 14]" {
		t.Errorf("the audits begin in lines %v", f.Lines)
	}
	if len(f.SHA256) != 64 || parse(t, good+"\n").SHA256 == f.SHA256 {
		t.Errorf("hash %q", f.SHA256)
	}
	p := f.Audit(0).(pair.Plan)
	if p.Mechanism != "svt4" || p.Parameters["c"].Number != 2 || p.Claim.Epsilon != 1 || p.Samples != 5000 || p.Explore != 4000 || p.Trials != 3 ||
		p.Learner != "histogram" || p.Finder != "random" || p.Version != pair.PlanVersion || p.Beta != 0.01 || p.Seed != suite.Seed(7, "one") {
		t.Errorf("the first plan is %+v", p)
	}
	if p := f.Audit(1).(pair.Plan); p.Mode != pair.UntilRefuted || p.Pair == nil || p.Pair.First.Values[0] != 1 {
		t.Errorf("the second plan is %+v", p)
	}
	if p := f.Audit(2).(pair.Plan); p.Mechanism != "samples" || p.Claim.Rho != 0.5 {
		t.Errorf("the third plan is %+v", p)
	}
	if p := f.Audit(3).(pair.Plan); p.ThroughRenyi != 4 || p.Relation != audit.LInfinity {
		t.Errorf("the fourth plan is %+v", p)
	}
	if got, err := f.Choose([]string{"four", "one"}); err != nil || fmt.Sprint(got) != "[0 3]" {
		t.Errorf("chose %v, %v", got, err)
	}
	must.Refuse(t, must.Err(f.Choose([]string{"tree"})), `did you mean "three"`)
}

func TestDefaults(t *testing.T) {
	f := parse(t, "\uFEFF"+`{"version": 1, "audits": [{"name": "a", "mechanism": "svt1"}, {"name": "b", "mechanism": "svt1"}]}`)
	if f.Beta != 0.05 || *f.Seed != suite.DefaultSeed || f.Audit(0).(pair.Plan).Beta != 0.025 || f.Audit(0).(pair.Plan).Seed == f.Audit(1).(pair.Plan).Seed {
		t.Errorf("defaults: %+v", f.Plan)
	}
	if f := parse(t, `{"version": 1, "confidence": 0.95, "seed": 0, "audits": [{"name": "a", "mechanism": "svt1"}]}`); f.Beta != 0.05 || *f.Seed != 0 {
		t.Errorf("confidence 0.95 is beta %v, seed 0 is %v", f.Beta, *f.Seed)
	}
}

// Every fault is an input error that names the place and what is right.
func TestErrors(t *testing.T) {
	audits := func(s string) string { return `{"version": 1, "audits": [` + s + `]}` }
	for text, says := range map[string]string{
		"":                             "plan.json is empty",
		"[]":                           "must be an object",
		`{"version": 1, "audits": [`:   "cut off at line 1",
		`{"audits": [{"name":"a"}]}`:   "version is missing: give 1",
		`{"version": 2, "audits": []}`: "version is 2, must be 1",
		audits(""):                     "audits is 0 of them, must be 1 to 1000",
		`{"version": 1, "audit": []}`:  `plan.json: field is "audit", must be a known name; did you mean "audits"?`,
		audits(`{"name": "a", "mechansim": "svt1"}`):                                                                        `plan.json: audits[0]: field is "mechansim", must be a known name; did you mean "mechanism"?`,
		audits(`{"name": "a", "mechanism": "svt1", "claim": {"epsilom": 1}}`):                                               `audits[0].claim: field is "epsilom", must be a known name; did you mean "epsilon"?`,
		audits(`{"name": "a", "recorded": {"file": "x"}, "claim": {"epsilon": 1}}`):                                         `audits[0].recorded: field is "file", must be a known name; did you mean "files"?`,
		audits(`{"name": "a", "mechanism": "svt1", "seed": 3}`):                                                             "audits[0].seed is given, must be absent; it follows from the plan's seed",
		audits(`{"name": "a", "mechanism": "svt1", "beta": 0.1}`):                                                           "audits[0].beta is given, must be absent; it is the plan's beta over",
		audits(`{"mechanism": "svt1"}`):                                                                                     "audits[0].name is missing",
		audits(`{"name": "a\nb", "mechanism": "svt1"}`):                                                                     `audits[0].name is "a\nb"`,
		audits(`{"name": "a", "mechanism": "svt1"}, {"name": "a", "mechanism": "svt1"}`):                                    `audits[1].name is "a" as in audits[0]`,
		audits(`{"name": "a"}`):                                                                                             "audits[0] (a) is without any of them, must be with one of mechanism, recorded, brought, canaries and scores",
		audits(`{"name": "a", "mechanism": "svt1", "recorded": {"files": ["x"]}}`):                                          "with mechanism and recorded",
		audits(`{"name": "a", "brought": {"exe": "x"}, "claim": {"epsilon": 1}}`):                                           `audits[0].brought: field is "exe", must be a known name; did you mean "exec"?`,
		audits(`{"name": "a", "brought": {"exec": "x", "relation": "replace"}, "claim": {"epsilon": 1}}`):                   `audits[0].brought.relation is given, must be absent; it belongs beside brought: {"brought": {...}, "relation": ...}`,
		audits(`{"name": "a", "brought": {"exec": "x", "epsilon": 1}}`):                                                     `audits[0].brought.epsilon is given, must be absent; it belongs within claim: {"brought": {...}, "claim": {"epsilon": ...}}`,
		audits(`{"name": "a", "canaries": {"source": "gaussian-sum", "epsilon": 1}}`):                                       `audits[0].canaries.epsilon is given, must be absent; it belongs within its claim: {"canaries": {"claim": {"epsilon": ...}}}`,
		audits(`{"name": "a", "canaries": {"source": "gaussian-sum", "trials": 1}}`):                                        `audits[0].canaries: field is "trials", must be a known name`,
		audits(`{"name": "a", "exec": "x", "claim": {"epsilon": 1}}`):                                                       `audits[0].exec is given, must be absent; it belongs within brought: {"brought": {"exec": ...}}`,
		audits(`{"name": "a", "brought": {"rows": "3"}, "claim": {"epsilon": 1}}`):                                          "audits[0] (a).brought is without exec and wasm",
		audits(`{"name": "a", "brought": {"exec": "x", "wasm": "y"}, "claim": {"epsilon": 1}}`):                             "brought is with both exec and wasm",
		audits(`{"name": "a", "brought": {"exec": "x"}}`):                                                                   "claim is missing",
		audits(`{"name": "a", "brought": {"exec": "x"}, "claim": {"epsilon": 1}, "parameters": {"c": 1}}`):                  "parameters is given, must be absent with brought",
		audits(`{"name": "a", "recorded": {"files": ["x"]}}`):                                                               "audits[0] (a).claim is missing",
		audits(`{"name": "a", "recorded": {"files": []}, "claim": {"epsilon": 1}}`):                                         "recorded.files is 0 names",
		audits(`{"name": "a", "recorded": {"files": ["x"]}, "claim": {"epsilon": 1}, "trials": 3}`):                         "trials is given, must be absent with recorded",
		audits(`{"name": "a", "brought": {"exec": "x", "domain": [0, 1]}}`):                                                 "field audits.brought.domain is of type array",
		audits(`{"name": "a", "mechanism": "svt1", "samples": "many"}`):                                                     "samples is of type string",
		audits(`{"name": "a", "Name": "b", "mechanism": "svt1"}`):                                                           `"Name"`,
		`{"version": 1, "beta": 0.1, "confidence": 0.9, "audits": [{"name": "a", "mechanism": "svt1"}]}`:                    "confidence is given beside beta",
		`{"version": 1, "confidence": 1, "audits": [{"name": "a", "mechanism": "svt1"}]}`:                                   "confidence is 1, must be in [0.5, 1)",
		`{"version": 1, "beta": 0.6, "audits": [{"name": "a", "mechanism": "svt1"}]}`:                                       "beta is 0.6, must be in [1e-9, 0.5]",
		`{"version": 1, "beta": 1e-9, "audits": [{"name":"a","mechanism":"m"},{"name":"b","mechanism":"m"}]}`:               "beta is 1e-09, must be at least 2e-09 for 2 audits",
		`{"version": 1, "seed": 9007199254740993, "audits": [{"name": "a", "mechanism": "svt1"}]}`:                          "seed is 9007199254740993, must be in [0,",
		`{"version": 1, "audits": [{"name": "a", "mechanism": "svt1"}]} {}`:                                                 "followed by more text",
		`{"version": 1, "version": 1, "audits": [{"name": "a", "mechanism": "svt1"}]}`:                                      "given twice",
		audits(`{"name": "` + strings.Repeat("x", 201) + `", "mechanism": "svt1"}`):                                         "201 bytes long",
		audits(`{"name": "a", "mechanism": "svt1", "pair": {"first": 1}}`):                                                  "pair",
		audits(`{"name": "a", "canaries": {"sauce": "x", "claim": {"epsilon": 1}}}`):                                        `audits[0].canaries: field is "sauce", must be a known name; did you mean "source"?`,
		audits(`{"name": "a", "canaries": {"claim": {"epsilon": 1}, "beta": 0.1}}`):                                         "audits[0].canaries.beta is given, must be absent",
		audits(`{"name": "a", "canaries": {"claim": {"epsilon": 1}}, "trials": 3}`):                                         "with settings beside canaries",
		audits(`{"name": "a", "scores": {"files": ["x"], "claim": {"epsilon": 1}}, "canaries": {"claim": {"epsilon": 1}}}`): "with canaries and scores",
		audits(`{"name": "a", "scores": {"files": [], "claim": {"epsilon": 1}}}`):                                           "scores.files is 0 names",
		audits(`{"name": "a", "scores": {"files": ["x"], "claim": {"epsilon": 1}}, "data": "y"}`):                           "data is given, must be absent with scores",
		audits(`{"name": "a", "recorded": {"files": ["x", "y", "z"]}, "claim": {"epsilon": 1}, "samples": 3}`):              "recorded.files is 3 names",
	} {
		must.Input(t, must.Err(suite.Parse([]byte(text), "plan.json")), says, text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"version":1,"audits":[{"name":"a","mechanism":"m"}]}`))
	f.Add([]byte(`{"audits":{"a":[1]},"version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := suite.Parse(data, "plan")
		if err != nil {
			return
		}
		if len(file.Lines) != len(file.Audits) {
			t.Errorf("%d lines of %d audits", len(file.Lines), len(file.Audits))
		}
		for i := range file.Audits {
			file.Audit(i)
		}
	})
}

// The shares of all audits never exceed the whole, and lose no more than the
// last bits of it: with the union bound, the error of all is beta at most.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		beta, n := rapid.Float64Range(1e-6, 0.5).Draw(t, "beta"), rapid.IntRange(1, suite.MaxAudits).Draw(t, "n")
		s := suite.Share(beta, n)
		if total := float64(n) * s; total > beta || total < beta*(1-1e-15*4) {
			t.Errorf("%d shares of %v make %v", n, beta, total)
		}
	})
}

// A seed never changes: an audit is run again by it. The values are of Python's
// hashlib.
func TestSeed(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		name string
		want uint64
	}{{7, "one", 2056430774771203}, {42, "Größe", 8762745584820360}, {0, "x", 4813434060856616}} {
		if got := suite.Seed(c.seed, c.name); got != c.want {
			t.Errorf("seed of %d %q is %d, want %d", c.seed, c.name, got, c.want)
		}
	}
	seen := map[uint64]string{}
	for seed := range uint64(100) {
		for _, name := range []string{"a", "b", "aa", "a\x00"} {
			s := suite.Seed(seed, name)
			if s > audit.MaxSeed {
				t.Errorf("seed %d is too large", s)
			}
			if other, ok := seen[s]; ok {
				t.Errorf("%d %q and %s share seed %d", seed, name, other, s)
			}
			seen[s] = fmt.Sprintf("%d %q", seed, name)
		}
	}
}

// answer is randomised response on one bit, exactly epsilon = 1.
type answer struct{}

func (answer) Columns() []audit.Column { return []audit.Column{{Name: "answer", Kind: audit.Symbol}} }

func (answer) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	const lie = 0.2689414213699951 // 1/(1 + e)
	for i := range out {
		out[i] = d.Values[0]
		if s.Float64() < lie {
			out[i] = 1 - out[i]
		}
	}
	return nil
}

func exact() audit.Catalogue {
	domain := audit.Domain{Columns: 1, MinRows: 1, MaxRows: 1, Lower: []float64{0}, Upper: []float64{1}, Integer: true}
	return audit.Catalogue{Learners: estimators.Registry(), Finders: finders.Registry(), Mechanisms: []audit.MechanismSpec{{
		Name: "answer", Title: "answer", Source: "this test", Custom: true,
		Relations: func(audit.Params) []audit.Relation { return []audit.Relation{audit.Replace} },
		Claim:     func(audit.Params) audit.Claim { return audit.DPClaim(1, 0) },
		Truth:     func(audit.Params) string { return "epsilon = 1" },
		Domain:    func(audit.Params, audit.Relation) audit.Domain { return domain },
		Pairs: func(audit.Params, audit.Relation) []audit.Pair {
			return []audit.Pair{{First: audit.Records(1), Second: audit.Records(0)}}
		},
		New: func(audit.Params) (audit.Mechanism, error) { return answer{}, nil },
	}}}
}

// Of plans with five audits of a mechanism that keeps its claim to the last bit,
// at most the share beta accuses any. The number of accusing plans is binomial:
// a sound plan fails this test with probability 1e-4. Audits that each had the
// whole error would fail it nearly always, which shows that it can fail.
func TestFamilyWiseError(t *testing.T) {
	const plans, beta, alarm = 50, 0.3, 1e-4
	var text strings.Builder
	text.WriteString(`{"version": 1, "beta": 0.3, "seed": %d, "audits": [`)
	for i := range 5 {
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, `{"name": "%d", "mechanism": "answer", "samples": 500, "explore": 100, "trials": 1, "mode": "fixed", "learner": "outcome-table"}`, i)
	}
	text.WriteString(`]}`)
	cat := exact()
	pool := engine.LocalPool(2)
	accusing := func(whole bool) (count int) {
		for seed := range plans {
			f := parse(t, fmt.Sprintf(text.String(), seed))
			var audited []suite.Audited
			for i, e := range f.Audits {
				plan := f.Audit(i).(pair.Plan)
				if whole {
					plan.Beta = f.Beta
				}
				r := must.Get(pair.Run{Plan: plan, Catalogue: cat, Pool: pool}.Do(context.Background()))(t)
				audited = append(audited, suite.Audited{Name: e.Name, Report: r})
			}
			if suite.NewReport(f, audit.Generator{}, audited).Verdict == audit.Violation {
				count++
			}
		}
		return count
	}
	dist := distuv.Binomial{N: plans, P: beta}
	limit := int(math.Ceil(beta * plans))
	for 1-dist.CDF(float64(limit)) > alarm {
		limit++
	}
	if got := accusing(false); got > limit {
		t.Errorf("%d of %d plans accuse, more than %d", got, plans, limit)
	} else if got == 0 {
		t.Errorf("no plan of %d accuses: the mechanism is not at its claim", plans)
	} else {
		t.Logf("%d of %d plans accuse; limit %d", got, plans, limit)
	}
	if got := accusing(true); got <= limit {
		t.Errorf("with the whole error for each audit, %d of %d plans accuse, no more than %d: this test sees nothing", got, plans, limit)
	}
}
