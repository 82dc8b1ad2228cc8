package pair_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/mutate"
	"github.com/dpscope/dpscope/internal/testsize"
)

// remembering executes each task once: mutated reports mostly have the same tasks.
type remembering struct {
	engine.LocalWorker
	mu   *sync.Mutex
	done map[string]any
}

func (w remembering) Execute(ctx context.Context, t engine.Task, progress func(int), part func(any)) (any, error) {
	key, err := engine.EncodeTask(t)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, ok := w.done[string(key)]; ok {
		return r, nil
	}
	r, err := w.LocalWorker.Execute(ctx, t, progress, part)
	if err == nil {
		w.done[string(key)] = r
	}
	return r, err
}

func rememberingPool() *engine.Pool {
	return engine.NewPool(remembering{engine.LocalWorker{}, new(sync.Mutex), map[string]any{}})
}

// mutated wants every mutation (in the short tests, every fourth) of these fields of a
// report noticed by its replay, but for those that the replay says it did not compare.
func mutated(t *testing.T, cat audit.Catalogue, r pair.Report, whole bool, fields ...string) {
	t.Helper()
	doc := must.Get(audit.Canonical(r))(t)
	pool := rememberingPool()
	var skipped []string
	verify := func(data []byte) (bool, error) {
		r, err := pair.ParseReport(data)
		if err != nil {
			return false, err
		}
		v, err := pair.Verify(t.Context(), cat, pool, r, whole)
		if err != nil {
			return false, err
		}
		skipped = v.NotCompared()
		return v.OK(), nil
	}
	if ok, err := verify(doc); err != nil || !ok {
		t.Fatalf("the report as it is: %v, %v", ok, err)
	}
	free := regexp.MustCompile(`^(generator|timing)$`)
	if !whole || !r.Certified() { // what was drawn is the report's own word
		free = regexp.MustCompile(`^(generator|timing|trials|sequential|evidence\..+)$`)
	}
	if i := slices.IndexFunc(skipped, func(field string) bool { return !free.MatchString(field) }); i >= 0 {
		t.Errorf("whole %v: %s is not compared", whole, skipped[i])
	}
	var all []mutate.Mutation
	for _, field := range fields {
		all = append(all, mutationsOf(t, doc, field)...)
	}
	tried, every := 0, testsize.Of(4, 1)
	for i, m := range all {
		if i%every != 0 || late.MatchString(m.Path) && !strings.HasPrefix(m.What, "swapped") {
			continue
		}
		tried++
		ok, err := verify(m.JSON)
		if err != nil || !ok {
			continue
		}
		if r, err := pair.ParseReport(m.JSON); err == nil {
			if again, err := audit.Canonical(r); err == nil && string(again) == string(doc) {
				continue // the same report in other words
			}
		}
		field := strings.ReplaceAll(m.Field(), ".[", "[")
		if !slices.ContainsFunc(skipped, func(s string) bool {
			return field == s || strings.HasPrefix(field, s+".") || strings.HasPrefix(field, s+"[")
		}) {
			t.Errorf("passes: %v", m)
		}
	}
	t.Logf("%d mutations", tried)
}

// mutationsOf are the mutations of one field of a document, "" for all of it.
func mutationsOf(t *testing.T, doc []byte, field string) []mutate.Mutation {
	t.Helper()
	before, part, after := []byte(nil), doc, []byte(nil)
	var whole map[string]any
	must.Do(t, json.Unmarshal(doc, &whole))
	if field != "" {
		const mark = "the place of the field"
		at, names := whole, strings.Split(field, ".")
		for _, name := range names[:len(names)-1] {
			at = at[name].(map[string]any)
		}
		last := names[len(names)-1]
		part = must.Get(json.Marshal(at[last]))(t)
		at[last] = mark
		marked := must.Get(json.Marshal(whole))(t)
		before, after, _ = bytes.Cut(marked, []byte(`"`+mark+`"`))
	}
	all := must.Get(mutate.All(part))(t)
	for i := range all {
		all[i].Path = strings.TrimPrefix(field+"."+all[i].Path, ".")
		all[i].JSON = slices.Concat(before, all[i].JSON, after)
	}
	return all
}

// late are elements of lists behind the first, which are as it is; they are only
// swapped where they come second.
var late = regexp.MustCompile(`\[([1-9]\d*)\]`)

// TestMutatedReports: whatever is deleted, changed or swapped in a report, its replay
// notices, or names the field as not compared.
func TestMutatedReports(t *testing.T) {
	t.Parallel()
	testsize.Native(t)
	claim := audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 1}
	few := audit.Params{"m": {Number: 2}}
	for name, c := range map[string]struct {
		plan   pair.Plan
		fields []string
	}{
		"event": {pair.Plan{Mechanism: "svt4", Parameters: few, Claim: &audit.Claim{Epsilon: 1}, Learner: "outcome-table"}, []string{""}},
		"plane": {pair.Plan{Mechanism: "svt3", Parameters: few, Learner: "logistic"}, []string{"evidence.chart.plane"}},
		"Rényi": {pair.Plan{Mechanism: "svt4", Parameters: few, Claim: &claim, Learner: "outcome-table"}, []string{"claim", "tables", "evidence.prepared"}},
		"delta": {pair.Plan{Mechanism: "svt4", Parameters: few, Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 1e-6}, Learner: "outcome-table"}, []string{"claim", "trials", "tables"}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := c.plan
			plan.Version, plan.Samples, plan.Explore, plan.Trials, plan.Seed = pair.PlanVersion, 100, 600, 2, 3
			r := must.Get(pair.Run{Plan: plan, Catalogue: catalogue, Pool: engine.LocalPool(1), Generator: audit.Generator{Name: "dpscope", Version: audit.Version}}.Do(t.Context()))(t)
			mutated(t, catalogue, r, true, c.fields...)
			if name == "event" {
				mutated(t, catalogue, r, false, "")
			}
		})
	}
}

// counting counts the tasks of each kind.
type counting struct {
	engine.LocalWorker
	done *sync.Map
}

func (w counting) Execute(ctx context.Context, t engine.Task, progress func(int), part func(any)) (any, error) {
	n, _ := w.done.LoadOrStore(t.Kind(), new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	return w.LocalWorker.Execute(ctx, t, progress, part)
}

// TestVerifyDoesNoMoreThanTheReportHolds: a replay explores no pair beyond those that
// the report lists, whatever its settings say.
func TestVerifyDoesNoMoreThanTheReportHolds(t *testing.T) {
	good := runAudit(t, pair.Plan{Mechanism: "svt4", Claim: &audit.Claim{Epsilon: 1}, Learner: "outcome-table", Samples: 200, Explore: 600, Trials: 2, Mode: pair.Fixed}, 1)
	for name, c := range map[string]struct {
		change func(*pair.Report)
		trials int64
		says   string
	}{
		"more planned than listed": {func(r *pair.Report) { r.Plan.Trials = 10_000 }, 2, "goes on beyond the 2 trials"},
		"another finder":           {func(r *pair.Report) { r.Plan.Finder, r.Plan.Trials = "random", 10_000 }, 2, "trials"},
		"more listed than planned": {func(r *pair.Report) { r.Trials = append(r.Trials, r.Trials...) }, 0, "trials is 4 of them, must be 1 to 2"},
		"none listed":              {func(r *pair.Report) { r.Trials = nil }, 0, "trials is 0 of them"},
		"more explored than held":  {func(r *pair.Report) { r.Plan.Explore = 1 << 20 }, 0, "evidence.explored is of 200 pairs, must be"},
		"more samples than held":   {func(r *pair.Report) { r.Plan.Samples = 1e9 }, 0, "plan.samples = 1000000000"},
	} {
		for _, stopped := range []bool{false, true} {
			r := copied(t, good)
			if stopped {
				r.Termination.Reason, r.Verdict = audit.Stopped, audit.Inconclusive
			}
			c.change(&r)
			w := counting{engine.LocalWorker{}, new(sync.Map)}
			v, err := pair.Verify(t.Context(), catalogue, engine.NewPool(w), r, true)
			said := strings.Join(v.Differences, "\n")
			if err != nil {
				said = err.Error()
			}
			if err == nil && v.OK() || !strings.Contains(said, c.says) && !stopped {
				t.Errorf("%s (stopped: %v): %v %q, want %q", name, stopped, v.OK(), said, c.says)
			}
			if n, ok := w.done.Load(pair.Explore{}.Kind()); ok && n.(*atomic.Int64).Load() > c.trials {
				t.Errorf("%s (stopped: %v): explored %d pairs", name, stopped, n.(*atomic.Int64).Load())
			}
		}
	}
}

// TestSections: a report may not lack a section, whatever version it says that it is of.
func TestSections(t *testing.T) {
	r := runAudit(t, pair.Plan{Mechanism: "svt3", Parameters: audit.Params{"m": {Number: 2}}, Learner: "logistic", Samples: 200, Explore: 200, Trials: 1}, 1)
	if r.Evidence.Chart.Plane == nil {
		t.Fatal("there is no plane to take away")
	}
	r.Evidence.Chart.Plane = nil
	for _, version := range []string{"0.1.0", "0.1.0+0123456789ab", audit.Version, "", "99.0.0", "old"} {
		r.Generator.Version = version
		v, err := pair.Verify(t.Context(), catalogue, engine.LocalPool(1), r, true)
		if err != nil || v.OK() || slices.Contains(v.NotCompared(), "evidence.chart.plane") {
			t.Errorf("version %q: %v %v %v", version, err, v.Differences, v.NotCompared())
		}
	}
}

// TestRunsThatEndedBeforeCertification have nothing to replay, but say nothing that
// does not follow from their settings.
func TestRunsThatEndedBeforeCertification(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	good := must.Get(pair.Run{Plan: pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4", Trials: 2}, Catalogue: catalogue, Pool: engine.LocalPool(1), Generator: audit.Generator{Version: audit.Version}}.Do(ctx))(t)
	if v, err := pair.Verify(t.Context(), catalogue, engine.LocalPool(1), good, true); err != nil || !v.OK() {
		t.Errorf("%v %v", err, v.Differences)
	}
	mutated(t, catalogue, good, true, "")
	good.Termination.Reason, good.Termination.Message = audit.Completed, ""
	good.Reword()
	if v, err := pair.Verify(t.Context(), catalogue, engine.LocalPool(1), good, true); err == nil && v.OK() {
		t.Error("it passes as completed")
	}
}

// TestHeadlines: no verdict calls a mechanism private, a bound that says nothing is
// none, and what a program wrote stays on its line.
func TestHeadlines(t *testing.T) {
	r := runAudit(t, pair.Plan{Mechanism: "svt1", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 0.1}, Learner: "outcome-table", Samples: 200, Explore: 200, Trials: 1, Mode: pair.Fixed}, 1)
	for _, verdict := range []audit.Verdict{audit.Violation, audit.NoViolation, audit.Inconclusive, audit.Invalid} {
		for _, reason := range []audit.TerminationReason{audit.Completed, audit.Refuted, audit.Stopped, audit.Failed} {
			for _, largest := range []float64{-2.1785, 0, 3} {
				x := copied(t, r)
				x.Verdict, x.Termination.Reason, x.Termination.Message, x.Power = verdict, reason, "\x1b[2JViolation\x07", &report.Power{Largest: largest}
				x.Reword()
				head := x.Summary
				text := report.Text(x)
				plain := strings.ReplaceAll(head, "This is not a proof of privacy.", "")
				if strings.Contains(strings.ToLower(plain), "privat") || strings.Contains(strings.ToLower(plain), "privacy") {
					t.Errorf("%s, %s: %s", verdict, reason, head)
				}
				if verdict == audit.NoViolation && !strings.Contains(head, "No violation found") || strings.Contains(text, "-2.178") {
					t.Errorf("%s, %s: %s", verdict, reason, text)
				}
				if strings.ContainsAny(text, "\x1b\x07") {
					t.Errorf("%s, %s: %q holds control characters", verdict, reason, text)
				}
			}
		}
	}
}
