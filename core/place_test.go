package core_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/catalogue"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/mutate"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// placed wants every refusal of a changed plan to say where its fault is: at a setting,
// a parameter or a JSON pointer.
func placed[P any](t *testing.T, plan P, keys []settings.Key[P], resolve func(data []byte) error) {
	t.Helper()
	data := must.Get(json.Marshal(plan))(t)
	must.Do(t, resolve(data))
	changed := must.Get(mutate.All(data))(t)
	refused := 0
	for _, m := range changed {
		var in *audit.InputError
		if !errors.As(resolve(m.JSON), &in) {
			continue
		}
		refused++
		if at := in.Place(); !strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "p.") && !slices.Contains(settings.Names(keys), at) {
			t.Errorf("%s: %q is no place: %v", m, at, in)
		}
	}
	if refused < 20 {
		t.Errorf("%d of %d changed plans were refused", refused, len(changed))
	}
}

func TestRefusalsSayWhere(t *testing.T) {
	claim := audit.DPClaim(2, 1e-5)
	sum := canary.Plan{Version: canary.PlanVersion, Source: "gaussian-sum", Claim: &claim, Relation: audit.AddRemove, Design: source.Sphere, Parameters: audit.Params{"d": {Number: 10}}, Runs: 1024, K: 8, M: 8, Explore: 512, Interval: "wilson-2", Quantile: 0.1, Beta: 0.05, Seed: 42}
	of := func(file []byte) func([]byte) error {
		return func(data []byte) error {
			p, err := canary.ParsePlan(data)
			if err == nil {
				_, err = p.Resolve(source.Sources(), file)
			}
			return err
		}
	}
	placed(t, sum, canary.Keys(), of(nil))
	tail := canary.Plan{Version: canary.PlanVersion, Source: "dp-sgd", Claim: &claim, Relation: audit.Replace, Design: source.TailSingular, Pool: &source.Pool{Tail: 2, Scale: source.UnitNorm}, Mode: canary.Fixed, Runs: 1024, K: 2, M: 2, Explore: 64, Beta: 0.05, Seed: 42}
	placed(t, tail, canary.Keys(), of(nil))
	for _, file := range []string{"1,x\n", ""} {
		data, _ := json.Marshal(tail)
		var in *audit.InputError
		if err := of([]byte(file))(data); !errors.As(err, &in) || in.Place() != "/data" {
			t.Errorf("%q: %v", file, err)
		}
	}
	one := canary.Plan{Version: canary.PlanVersion, Mode: canary.OneRun, Source: "dp-sgd", Claim: &claim, Relation: audit.AddRemove, Design: source.RandomGradients, Parameters: audit.Params{"strength": {Number: 10}, "sigma": {Number: 2}, "model": {Text: "mlp"}, "hidden": {Number: 8}}, Runs: 1, K: 100, GuessPlan: membership.GuessPlan{Sides: membership.BothSides, Guesses: []int{10, 20}, GDPGuesses: []int{30}}, Beta: 0.05, Seed: 42}
	placed(t, one, canary.OneRunKeys(), func(data []byte) error {
		p, err := canary.ParsePlan(data)
		if err == nil {
			_, err = p.Resolve(source.Sources(), nil)
		}
		return err
	})
	ofScores := scores.Plan{Version: scores.PlanVersion, Claim: &claim, Relation: audit.AddRemove, Method: report.MethodOneRun, GuessPlan: membership.GuessPlan{Sides: membership.BothSides, Guesses: []int{10, 20}, GDPGuesses: []int{30}}, Beta: 0.05, Seed: 42}
	given := scores.Scores{In: make([]float64, 400), Out: make([]float64, 400)}
	for i := range given.In {
		given.In[i], given.Out[i] = float64(i), float64(i)-100
	}
	placed(t, ofScores, scores.Keys(), func(data []byte) error {
		p, err := scores.ParsePlan(data)
		if err == nil {
			_, err = scores.Run(p, given, audit.Generator{})
		}
		return err
	})
	pure, approximate := audit.DPClaim(1, 0), audit.DPClaim(1, 1e-5)
	rest := pair.Plan{Version: pair.PlanVersion, Relation: audit.LInfinity, Finder: "patterns", Learner: "histogram", Samples: 1000, Explore: 500, Trials: 3, Beta: 0.05, Seed: 42, Mechanism: "svt4"}
	known := catalogue.All()
	through, gaussian, renyi := rest, rest, rest
	through.Claim, through.ThroughRenyi, through.Parameters = &pure, 2, audit.Params{"c": {Number: 1}}
	spec := must.Get(known.Mechanism("svt4"))(t)
	through.Pair = &spec.Pairs(must.Get(through.Resolve(known))(t).Plan.Parameters, through.Relation)[0]
	gaussian.Mechanism, gaussian.Relation, gaussian.Claim = "gaussian-mean", "", &approximate
	renyi.Claim = &audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 1}
	for _, plan := range []pair.Plan{through, gaussian, renyi} {
		placed(t, plan, pair.Keys(), func(data []byte) error {
			p, err := pair.ParsePlan(data)
			if err == nil {
				_, err = p.Resolve(known)
			}
			return err
		})
	}
}
