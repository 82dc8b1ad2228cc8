package canary

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
)

// Phase is what runs are drawn for.
type Phase string

const (
	Exploring  Phase = "explore" // to choose the threshold and the stakes: scores
	Certifying Phase = "certify" // to bound epsilon: counts
	Betting    Phase = "bet"     // both, in a sequential audit: scores
)

// Task is the drawing of some runs of a canary audit. It returns a [Drawn].
type Task struct {
	Plan  Plan    `json:"plan"`           // resolved
	Data  []byte  `json:"data,omitempty"` // prepared
	Phase Phase   `json:"phase"`
	First int     `json:"first"` // run
	Runs  int     `json:"runs"`
	Cut   float64 `json:"cut,omitempty"` // certify: the threshold

	audit *Audit // of the plan
}

// Kind and Name implement [engine.Task].
func (Task) Kind() string { return "canary/draw" }

func (t Task) Name() string {
	return fmt.Sprintf("%s, runs %d to %d of source %s", t.Phase, t.First, t.First+t.Runs-1, t.Plan.Source)
}

// Drawn is what a task returns.
type Drawn struct {
	Runs     int `json:"runs"`
	Diverged int `json:"diverged,omitempty"` // of them, those with a side that is no use
	// Scores of explore and bet: K in and M out a run.
	Scores floats `json:"scores,omitempty"`
	// Worst says of each run of bet whether it diverged, where one did.
	Worst []bool `json:"worst,omitempty"`
	// Table of certify.
	Table *bounds.CanaryTable `json:"table,omitempty"`

	first int // run, once it is there
}

// floats are numbers that JSON has packed, little-endian.
type floats []float64

// MarshalJSON implements [json.Marshaler].
func (f floats) MarshalJSON() ([]byte, error) { return json.Marshal(source.PackFloats(f)) }

// UnmarshalJSON implements [json.Unmarshaler].
func (f *floats) UnmarshalJSON(text []byte) error {
	var data []byte
	err := json.Unmarshal(text, &data)
	*f = source.UnpackFloats(data)
	return err
}

// Codecs read the tasks of audits with canaries.
func Codecs(sources []source.Spec) engine.Codecs {
	return engine.Codecs{engine.NewCodec[Task, Drawn](func(t *Task) (err error) {
		if t.audit, err = t.Plan.resolve(sources, func(a *Audit) error { a.Setup.Data = t.Data; return nil }); err != nil {
			return err
		}
		return t.check()
	})}
}

// key names the stream of a run.
func (a *Audit) key(phase Phase, run int) stream.Key {
	return stream.Key{Seed: a.Plan.Seed, Purpose: "canary/" + string(phase), Trial: a.Plan.K, Side: a.Plan.M, Shard: run}
}

// FirstTraining is the request for the first training of an audit of a trainer's: who is a
// member, and the seed.
func (a *Audit) FirstTraining() (members []bool, seed uint64, err error) {
	phase := Exploring
	if a.Plan.sequential() {
		phase = Betting
	}
	return source.FirstTraining(func(s source.Spec) error {
		src, err := s.New(a.Setup)
		if err == nil {
			err = a.each(src, phase, 0, 1, nil)
		}
		return err
	})
}

// hookEvery is after about how many scores a task asks whether to go on: a few
// milliseconds of a sum. Models are slower than that each.
const hookEvery = 4096

// check refuses a task that its audit does not have.
func (t Task) check() error {
	var most int
	switch t.Phase {
	case Exploring:
		most = t.Plan.Explore
	case Certifying, Betting:
		most = t.Plan.Runs
	default:
		return audit.UnknownName("canary task: phase", string(t.Phase), []string{string(Exploring), string(Certifying), string(Betting)})
	}
	if t.First < 0 || t.Runs < 1 || t.First > most-t.Runs {
		return &audit.InputError{Field: "canary task: runs", Found: fmt.Sprintf("%d from %d on", t.Runs, t.First), Want: fmt.Sprintf("some of %d", most)}
	}
	if math.IsNaN(t.Cut) || math.IsInf(t.Cut, 0) {
		return &audit.InputError{Field: "canary task: cut", Found: fmt.Sprint(t.Cut), Want: "finite"}
	}
	return nil
}

// Run implements [engine.Task].
func (t Task) Run(hook engine.Hook, _ func(any)) (any, error) {
	a := t.audit
	if a.Spec.New == nil {
		return nil, a.Plan.Trainer.Undrawn()
	}
	src, err := a.Spec.New(a.Setup)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	return t.draw(a, src, hook)
}

// each draws runs, from first on: their scores are of K canaries in and M out, the worst
// where they are no use.
func (a *Audit) each(src source.Source, phase Phase, first, runs int, take func(i int, scores []float64, worst bool) error) error {
	scores := make([]float64, a.Plan.K+a.Plan.M)
	in, out := scores[:a.Plan.K], scores[a.Plan.K:]
	for i := range runs {
		diverged, err := src.Run(stream.New(a.key(phase, first+i)), in, out)
		if err != nil {
			return fmt.Errorf("source %s, run %d: %w", a.Spec.Name, first+i, err)
		}
		x, y := source.Useless(in), source.Useless(out)
		if err := take(i, scores, x || y || diverged); err != nil {
			return err
		}
	}
	return nil
}

func (t Task) draw(a *Audit, src source.Source, hook engine.Hook) (*Drawn, error) {
	k, m := a.Plan.K, a.Plan.M
	d := &Drawn{Runs: t.Runs}
	if t.Phase == Certifying {
		table := bounds.NewCanaryTable(k, m)
		d.Table = &table
	}
	if x, ok := src.(source.Interruptible); ok {
		x.InterruptedBy(func() error { return hook(0) })
	}
	told := 0
	err := a.each(src, t.Phase, t.First, t.Runs, func(i int, scores []float64, worst bool) error {
		if worst {
			if d.Diverged++; t.Phase == Betting {
				if d.Worst == nil {
					d.Worst = make([]bool, t.Runs)
				}
				d.Worst[i] = true
			}
		}
		if t.Phase != Certifying {
			d.Scores = append(d.Scores, scores...)
		} else {
			d.Table.Add(above(scores[:k], t.Cut), above(scores[k:], t.Cut), 1)
		}
		if (i+1-told)*(k+m) >= hookEvery || a.Spec.ShardRuns < 16 || i == t.Runs-1 {
			n := i + 1 - told
			told = i + 1
			return hook(n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d, nil
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
