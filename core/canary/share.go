package canary

import (
	"context"
	"iter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

// Search implements [report.Shared]: it explores, where the audit is fixed.
func (a *Audit) Search(ctx context.Context, on *engine.Runner, tell func(Progress)) (*Evidence, error) {
	s := newState(a, on, tell)
	if a.Plan.sequential() {
		return nil, nil
	}
	err := s.explore(ctx)
	return s.evidence, err
}

// Pieces implements [report.Shared]: they are runs. A sequential audit has one fixed
// allocation, all of the plan's runs, as who draws a part does not know what the bets on
// others came to; runs beyond its end are not counted.
func (a *Audit) Pieces(ev *Evidence) (int, error) {
	p := a.Plan
	if (ev == nil) != p.sequential() || ev != nil && ev.Certified.Table != nil {
		return 0, &audit.InputError{Field: "search", Found: "of another audit", Want: "explored runs, of an audit that is not sequential"}
	}
	if ev == nil {
		return p.Runs, nil
	}
	return p.Runs, ev.check(p)
}

// stage is the phase that is shared, with what takes a part of it.
func (s *state) stage() (Phase, func(*Drawn)) {
	if s.Plan.sequential() {
		return Betting, s.trained
	}
	return Certifying, s.certified
}

// Draw implements [report.Shared].
func (a *Audit) Draw(ctx context.Context, on *engine.Runner, tell func(Progress), ev *Evidence, first, end int) (any, error) {
	s := newState(a, on, tell)
	s.evidence = ev
	phase, _ := s.stage()
	all, err := s.draw(ctx, phase, first, end, a.Plan.Explore, nil)
	if err != nil {
		return nil, err
	}
	return joined(all), nil
}

// Join implements [report.Shared].
func (a *Audit) Join(ev *Evidence, parts iter.Seq2[report.Part, error]) (*Evidence, audit.Termination, error) {
	s := newState(a, &engine.Runner{}, nil)
	s.evidence = ev
	phase, take := s.stage()
	for part, err := range parts {
		d := Drawn{first: part.First}
		if err == nil {
			err = audit.DecodeStrict(part.Result, "partial: runs", &d)
		}
		if err == nil {
			err = d.check(Task{Plan: a.Plan, Phase: phase, First: part.First, Runs: part.End - part.First})
		}
		if err != nil {
			return ev, audit.Termination{}, err
		}
		take(&d)
	}
	var err error
	if phase == Betting {
		err = s.betted(a.Plan.Runs, nil)
	} else {
		err = s.counted(nil)
	}
	return s.evidence, audit.Termination{Reason: audit.Completed}, err
}

// joined is what one task of all the runs would have returned.
func joined(all []*Drawn) *Drawn {
	sum := &Drawn{}
	for _, d := range all {
		if d.Worst != nil && sum.Worst == nil {
			sum.Worst = make([]bool, sum.Runs)
		}
		if sum.Worst != nil {
			sum.Worst = append(sum.Worst, d.Worst...)
			sum.Worst = append(sum.Worst, make([]bool, sum.Runs+d.Runs-len(sum.Worst))...)
		}
		sum.Runs += d.Runs
		sum.Diverged += d.Diverged
		sum.Scores = append(sum.Scores, d.Scores...)
		switch {
		case d.Table == nil:
		case sum.Table == nil:
			t := *d.Table
			sum.Table = &t
		default:
			sum.Table.Merge(*d.Table)
		}
	}
	return sum
}
