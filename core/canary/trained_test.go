package canary

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/mechanisms/train"
)

func trainedPlan() Plan {
	return Plan{Version: PlanVersion, Source: "dp-sgd", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 2, Delta: 1e-5}, Parameters: audit.Params{"examples": {Number: 60}, "features": {Number: 4}, "hidden": {Number: 4}, "steps": {Number: 10}}, Runs: 8, K: 2, Explore: 8, Seed: 5}
}

// TestTrained: models train, the noise is written into the plan, and the report
// replays with other workers and verifies.
func TestTrained(t *testing.T) {
	for _, change := range []func(*Plan){
		func(p *Plan) {},
		func(p *Plan) { p.Relation, p.Parameters["access"] = audit.Replace, audit.ParamValue{Text: train.Final} },
		func(p *Plan) {
			p.Design, p.Parameters["model"] = source.DataPoisoning, audit.ParamValue{Text: train.Linear}
		},
		func(p *Plan) {
			p.Design, p.Pool, p.Parameters["access"] = source.TailSingular, &source.Pool{Scale: source.MedianNorm}, audit.ParamValue{Text: train.Final}
		},
	} {
		p := trainedPlan()
		change(&p)
		r := runAudit(t, p, 1)
		if r.Plan.Parameters.Num("sigma") <= 0 || !strings.Contains(r.Reproduce.CLI, "-param sigma=") || len(r.Source.Facts) == 0 {
			t.Errorf("%+v", r.Plan)
		}
		other := runAudit(t, p, 3)
		if !audit.EqualJSON(r.Evidence, other.Evidence) {
			t.Error("the evidence depends on the number of workers")
		}
		if v, err := verify(context.Background(), source.Sources(), engine.LocalPool(2), r, nil, true); err != nil || !v.OK() {
			t.Errorf("%v, %q", err, v.Differences)
		}
	}
}

// TestTrainedOnFile: a file of examples is read as the plan says, and what is
// wrong with it is named.
func TestTrainedOnFile(t *testing.T) {
	var file strings.Builder
	file.WriteString("a,b,kind\n")
	for i := range 40 {
		file.WriteString([]string{"0.5,-0.25,x\n", "-0.5,0.75,y\n"}[i%2])
	}
	p := trainedPlan()
	p.Parameters = audit.Params{"hidden": {Number: 3}, "steps": {Number: 5}}
	p.CSV = &train.CSV{Label: "kind"}
	data := []byte(file.String())
	r := must.Get(testRun{Plan: p, File: data, Sources: source.Sources(), Pool: engine.LocalPool(2), Generator: audit.Generator{Version: audit.Version}}.Do(context.Background()))(t)
	if v, err := verify(context.Background(), source.Sources(), engine.LocalPool(2), r, data, true); err != nil || !v.OK() {
		t.Errorf("%v, %q", err, v.Differences)
	}
	for _, whole := range []bool{true, false} {
		for what, other := range map[string][]byte{"without the file": nil, "with another file": data[1:]} {
			must.Input(t, must.Err(verify(context.Background(), source.Sources(), engine.LocalPool(1), r, other, whole)), "", what)
		}
	}
	must.Say(t, r.Reproduce.CLI, " -label kind", " -data FILE")
	p.CSV = &train.CSV{Label: "sort"}
	must.Input(t, must.Err(p.Resolve(source.Sources(), data)), "", "an unknown label column")
	q := samplePlan(64, 4)
	q.CSV = &train.CSV{}
	must.Input(t, must.Err(q.Resolve(source.Sources(), nil)), "", "csv for a sum")
}

// TestInterrupted: a training ends in its midst when the hook says so.
func TestInterrupted(t *testing.T) {
	a := must.Get(trainedPlan().Resolve(source.Sources(), nil))(t)
	calls, stop := 0, errors.New("stop")
	_, err := engine.Execute(Task{Plan: a.Plan, Phase: Exploring, Runs: 4, audit: a}, func(int) error {
		if calls++; calls == 3 {
			return stop
		}
		return nil
	}, nil)
	if !errors.Is(err, stop) || calls != 3 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
