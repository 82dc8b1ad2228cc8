package canary

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/stream"
)

// TaskVersion is the version of the task's JSON form.
const TaskVersion = 1

// Phase is what runs are drawn for.
type Phase string

const (
	Exploring  Phase = "explore" // to choose the threshold and the stakes: scores
	Certifying Phase = "certify" // to bound epsilon: counts
)

// Task is a piece of a canary audit. Executing it is a pure function of it.
type Task struct {
	Version int     `json:"version"`
	Plan    Plan    `json:"plan"`           // resolved
	Data    []byte  `json:"data,omitempty"` // prepared
	Phase   Phase   `json:"phase"`
	First   int     `json:"first"` // run
	Runs    int     `json:"runs"`
	Cut     float64 `json:"cut,omitempty"` // certify: the threshold

	OneRun *OneRunPlan `json:"oneRun,omitempty"` // one-run: its plan, resolved, instead of Plan
}

// Drawn is what a task returns.
type Drawn struct {
	Runs     int `json:"runs"`
	Diverged int `json:"diverged,omitempty"` // of them, those with a side that is no use
	// Scores of explore: K in and M out a run, packed little-endian.
	Scores []byte `json:"scores,omitempty"`
	// Table of certify.
	Table *bounds.CanaryTable `json:"table,omitempty"`
	// One is the evidence of one-run.
	One *OneRunEvidence `json:"one,omitempty"`
}

// Engine executes canary tasks of these sources, for audit.Catalogue.
func Engine(sources []SourceSpec) func(json.RawMessage, audit.Hook) (json.RawMessage, error) {
	return func(data json.RawMessage, hook audit.Hook) (json.RawMessage, error) {
		var t Task
		if err := audit.DecodeStrict(data, "canary task", &t); err != nil {
			return nil, err
		}
		d, err := t.execute(sources, hook)
		if err != nil {
			return nil, err
		}
		return json.Marshal(d)
	}
}

// key names the stream of a run.
func (a *Audit) key(phase Phase, run int) stream.Key {
	return stream.Key{Seed: a.Plan.Seed, Purpose: "canary/" + string(phase), Trial: a.Plan.K, Side: a.Plan.M, Shard: run}
}

// hookEvery is after about how many scores a task asks whether to go on: a few
// milliseconds of a sum. Models are slower than that each.
const hookEvery = 4096

func (t Task) execute(sources []SourceSpec, hook audit.Hook) (Drawn, error) {
	if t.Version != TaskVersion {
		return Drawn{}, &audit.InputError{Field: "canary task: version", Found: fmt.Sprint(t.Version), Want: fmt.Sprint(TaskVersion)}
	}
	if t.Phase == OneRunning {
		return t.executeOneRun(sources, hook)
	}
	a, err := t.Plan.resolve(sources, func(a *Audit) error { a.Setup.Data = t.Data; return nil })
	if err != nil {
		return Drawn{}, err
	}
	var most int
	switch t.Phase {
	case Exploring:
		most = a.Plan.Explore
	case Certifying:
		most = a.Plan.Runs
	default:
		return Drawn{}, audit.UnknownName("canary task: phase", string(t.Phase), []string{string(Exploring), string(Certifying)})
	}
	if t.First < 0 || t.Runs < 1 || t.First > most-t.Runs {
		return Drawn{}, &audit.InputError{Field: "canary task: runs", Found: fmt.Sprintf("%d from %d on", t.Runs, t.First), Want: fmt.Sprintf("some of %d", most)}
	}
	if math.IsNaN(t.Cut) || math.IsInf(t.Cut, 0) {
		return Drawn{}, &audit.InputError{Field: "canary task: cut", Found: fmt.Sprint(t.Cut), Want: "finite"}
	}
	src, err := a.Spec.New(a.Setup)
	if err != nil {
		return Drawn{}, fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	return t.draw(a, src, hook)
}

func (t Task) draw(a *Audit, src Source, hook audit.Hook) (Drawn, error) {
	k, m := a.Plan.K, a.Plan.M
	d := Drawn{Runs: t.Runs}
	if t.Phase == Certifying {
		table := bounds.NewCanaryTable(k, m)
		d.Table = &table
	}
	scores := make([]float64, k+m)
	in, out := scores[:k], scores[k:]
	if x, ok := src.(interruptible); ok && hook != nil {
		x.interruptedBy(func() error { return hook(0) })
	}
	told := 0
	for i := range t.Runs {
		st := stream.New(a.key(t.Phase, t.First+i))
		diverged, err := src.Run(st, in, out)
		if err != nil {
			return Drawn{}, fmt.Errorf("source %s, run %d: %w", a.Spec.Name, t.First+i, err)
		}
		if x, y := useless(in), useless(out); x || y || diverged {
			d.Diverged++
		}
		if t.Phase == Exploring {
			d.Scores = append(d.Scores, packFloats(scores)...)
		} else {
			d.Table.Add(above(in, t.Cut), above(out, t.Cut), 1)
		}
		if hook != nil && ((i+1-told)*(k+m) >= hookEvery || a.Spec.ShardRuns < 16 || i == t.Runs-1) {
			if err := hook(i + 1 - told); err != nil {
				return Drawn{}, err
			}
			told = i + 1
		}
	}
	return d, nil
}

// useless makes scores that are not finite the worst, and reports whether there
// were any. It leaves the others alone: whether a canary is in the event may not
// depend on the other canaries that are scored.
func useless(side []float64) bool {
	any := false
	for i, x := range side {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			side[i], any = -math.MaxFloat64, true
		}
	}
	return any
}

// above counts the scores above the cut.
func above(side []float64, cut float64) int {
	n := 0
	for _, x := range side {
		if x > cut {
			n++
		}
	}
	return n
}
