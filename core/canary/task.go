package canary

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// Phase is what runs are drawn for.
type Phase string

const (
	Exploring  Phase = "explore" // to choose the threshold and the stakes: scores
	Certifying Phase = "certify" // to bound epsilon: counts
	Betting    Phase = "bet"     // both, in a sequential audit: scores
	Once       Phase = "one-run" // to guess who was in, in one run: evidence
)

func (m Mode) phase() Phase {
	return map[Mode]Phase{Fixed: Certifying, OneRun: Once, Sequential: Betting, UntilRefuted: Betting}[m]
}

// Task is the drawing of some runs of an audit. It returns a [Drawn].
type Task struct {
	Plan  Plan    `json:"plan"`           // resolved
	Data  []byte  `json:"data,omitempty"` // the user's file
	Phase Phase   `json:"phase"`
	First int     `json:"first"` // run
	Runs  int     `json:"runs"`
	Cut   float64 `json:"cut,omitempty"` // certify: the threshold

	audit *Audit
}

func (Task) Kind() string { return "canary/draw" }

func (t Task) Name() string {
	return fmt.Sprintf("%s, runs %d to %d of source %s", t.Phase, t.First, t.First+t.Runs-1, t.Plan.Source)
}

// Drawn is what a task returns, or several that follow each other together.
type Drawn struct {
	First    int                 `json:"first"` // run
	Runs     int                 `json:"runs"`
	Diverged []int               `json:"diverged,omitempty"` // runs with a side that is no use
	Scores   membership.Floats   `json:"scores,omitempty"`   // of explore and bet: K in and M out a run
	Table    *bounds.CanaryTable `json:"table,omitempty"`    // of certify
	OneRun   *Evidence           `json:"oneRun,omitempty"`
}

func (d *Drawn) add(more *Drawn) {
	d.Runs += more.Runs
	d.Diverged, d.Scores = append(d.Diverged, more.Diverged...), append(d.Scores, more.Scores...)
	if d.OneRun = more.OneRun; more.Table == nil {
		return
	}
	if d.Table == nil {
		d.Table = new(bounds.NewCanaryTable(more.Table.K, more.Table.M))
	}
	d.Table.Merge(*more.Table)
}

func (d Drawn) check(p Plan, phase Phase, first, runs int) error {
	ok, next := d.First == first && d.Runs == runs, first
	for _, i := range d.Diverged {
		ok, next = ok && i >= next && i < first+runs, i+1
	}
	switch phase {
	case Once:
		ok = ok && d.OneRun != nil && d.OneRun.check(p) == nil
	case Certifying:
		ok = ok && d.Table != nil && d.Table.Validate() == nil && d.Table.K == p.K && d.Table.M == p.M && d.Table.Runs() == runs
	default:
		ok = ok && len(d.Scores) == runs*(p.K+p.M)
	}
	if !ok {
		return fmt.Errorf("a %s task of %d runs returned something else", phase, runs)
	}
	return nil
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

func (t Task) check() error {
	most := t.Plan.Runs
	if t.Phase == Exploring {
		most = t.Plan.Explore
	} else if t.Phase != t.Plan.Mode.phase() {
		return audit.UnknownName("canary task: phase", string(t.Phase), []string{string(Exploring), string(t.Plan.Mode.phase())})
	}
	return audit.First(audit.Require(t.First >= 0 && t.Runs >= 1 && t.First <= most-t.Runs, "canary task: runs", fmt.Sprintf("%d from %d on", t.Runs, t.First), "some of %d", most),
		audit.Require(t.Cut-t.Cut == 0, "canary task: cut", t.Cut, "finite"))
}

// FirstTraining is the first request to a trainer: members and seed.
func (a *Audit) FirstTraining() (members []bool, seed uint64, err error) {
	phase := a.Plan.Mode.phase()
	if phase == Certifying {
		phase = Exploring
	}
	return source.FirstTraining(func(s source.Spec) error {
		first := *a
		first.Spec = s
		_, err := Task{Plan: a.Plan, Phase: phase, Runs: 1, audit: &first}.Run(func(int) error { return nil }, nil)
		return err
	})
}

// hookEvery is after about how many scores a task calls its hook: milliseconds of a sum.
const hookEvery = 4096

func (t Task) Run(hook engine.Hook, _ func(any)) (any, error) {
	a, d := t.audit, &Drawn{First: t.First, Runs: t.Runs}
	if a.Spec.New == nil {
		return nil, a.Plan.Trainer.Undrawn()
	}
	setup := a.Setup
	setup.Interrupt = func() error { return hook(0) }
	src, err := a.Spec.New(setup)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	if t.Phase == Once {
		return d, a.once(d, src.(source.OneRunSource), hook)
	}
	k, size := a.Plan.K, a.Plan.K+a.Plan.M
	if t.Phase == Certifying {
		d.Table = new(bounds.NewCanaryTable(k, a.Plan.M))
	}
	told := 0
	return d, a.each(src, t.Phase, t.First, t.Runs, func(i int, scores []float64, worst bool) error {
		if worst {
			d.Diverged = append(d.Diverged, t.First+i)
		}
		if t.Phase == Certifying {
			d.Table.Add(membership.Above(scores[:k], t.Cut), membership.Above(scores[k:], t.Cut), 1)
		} else {
			d.Scores = append(d.Scores, scores...)
		}
		n := i + 1 - told
		if n*size < hookEvery && a.Spec.ShardRuns >= 16 && i < t.Runs-1 {
			return nil
		}
		told = i + 1
		return hook(n)
	})
}

func (a *Audit) key(phase Phase, run int) stream.Key {
	return stream.Key{Seed: a.Plan.Seed, Purpose: "canary/" + string(phase), Trial: a.Plan.K, Side: a.Plan.M, Shard: run}
}

// each draws runs: their scores are of K canaries in and M out, the worst where they are no use.
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

// Scores draws the scores of so many runs of a phase, K in and M out each.
func (a *Audit) Scores(phase Phase, runs int) (all []float64, err error) {
	src, err := a.Spec.New(a.Setup)
	if err == nil {
		err = a.each(src, phase, 0, runs, func(_ int, scores []float64, _ bool) error {
			all = append(all, scores...)
			return nil
		})
	}
	return all, err
}

func (a *Audit) once(d *Drawn, src source.OneRunSource, hook engine.Hook) error {
	scores, member := make([]float64, a.Plan.K), make([]bool, a.Plan.K)
	diverged, err := src.OneRun(stream.New(a.key(Once, 0)), scores, member)
	if err != nil {
		return fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	one := &Coins{Diverged: source.Useless(scores) || diverged}
	in, out := membership.Split(scores, member)
	one.In, one.Guessed = len(in), a.Plan.guessing().Made(scores, member)
	d.OneRun = &Evidence{OneRun: one}
	if len(in) > 0 && len(out) > 0 {
		d.OneRun.Membership = membership.Count(in, out, a.Plan.Beta)
	}
	return hook(1)
}
