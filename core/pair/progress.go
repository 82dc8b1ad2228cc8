package pair

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/report"
)

// Phase is a stage of a run.
type Phase string

const (
	Betting    Phase = "bet" // the sequential stage alone
	Exploring  Phase = "explore"
	Certifying Phase = "certify"
	Bounding   Phase = "bound"
)

// Progress is what a run tells while it works.
type Progress struct {
	Phase  Phase `json:"phase"`
	Trial  int   `json:"trial"`  // trials explored so far
	Trials int   `json:"trials"` // at most so many
	Rows   int   `json:"rows"`   // outputs drawn so far, both sides; a recorded one for each stage that took it
	Total  int   `json:"total"`  // outputs to draw in all, both sides
	// Left is how many seconds the run still takes, by what this phase did; absent while that is little.
	Left   *float64 `json:"left,omitempty"`
	AtMost bool     `json:"atMost,omitempty"` // what follows may cost less than Left, or need not be done
	// Provisional is the bound on the goal so far: in exploration the best value of a trial, in
	// certification a bound as if the run ended here. It is no certificate, unless Valid: then it
	// holds whenever the run is stopped. Once the claim is refuted it is absent until above it.
	Provisional *float64 `json:"provisional,omitempty"`
	Valid       bool     `json:"valid,omitempty"`
	Quantity    string   `json:"quantity"`          // what it bounds, in words
	Letter      string   `json:"letter"`            // that stands for it
	Claimed     float64  `json:"claimed"`           // what the claim allows
	Pairs       int      `json:"pairs,omitempty"`   // certification pairs that it was computed from
	Message     string   `json:"message,omitempty"` // a worker was lost
	// Refuted, above 0, is after how many outputs of all pairs and sides the sequential stage refuted
	// the claim, whatever else the run finds.
	Refuted int     `json:"refuted,omitempty"`
	Betted  *Betted `json:"betted,omitempty"`
	Live    *Live   `json:"live,omitempty"` // holds during the call
}

// Betted is how far a sequential stage came.
type Betted struct {
	PValue  float64 `json:"pValue"`  // of the claim, valid at any time, for all of the error
	Outputs int     `json:"outputs"` // of all pairs and sides
	Pairs   int     `json:"pairs"`   // that were drawn from
}

// Live is the chart so far of the certification or, before, of the sequential stage's pair in the lead.
type Live struct {
	Chart     chart.Chart   `json:"chart"`
	Claim     audit.Claim   `json:"claim"`
	Direction string        `json:"direction"`       // of the event, as in a [report.Row]
	Event     *report.Event `json:"event,omitempty"` // absent in the sequential stage, which bets on all outputs
	Rows      int           `json:"rows"`            // outputs counted a side, of Samples
	Samples   int           `json:"samples"`
	Beta      float64       `json:"beta"`            // error of the limits of the shares, in all charts of the run
	Share     float64       `json:"share,omitempty"` // of Beta, that this chart has; absent where it has all
	People    People        `json:"people"`          // of the pair that is counted
	Output    string        `json:"output"`          // what is released is called
}

func (a *Audit) output() string {
	return audit.Pick(len(a.Columns) == 1, chart.Called(a.Columns[0].Name), "output")
}

func (s *state) tell(change func(*Progress)) {
	s.telling.Lock()
	defer s.telling.Unlock()
	change(&s.progress)
	if v := s.progress.Provisional; v != nil && s.progress.Refuted > 0 && *v <= s.progress.Claimed {
		s.progress.Provisional = nil // that the claim is refuted says more
	}
	s.progress.Rows = s.rows[0] + s.rows[1] + s.rows[2]
	if s.told != nil {
		s.estimate(&s.progress)
		s.told(s.progress)
	}
}

func (s *state) estimate(g *Progress) {
	p := s.Plan
	done, total, pace := s.rows[2], 2*p.Samples, &s.paces[1]
	g.Left, g.AtMost = nil, g.Phase == Betting || g.Phase == Exploring
	switch g.Phase {
	case Betting:
		done, pace = s.whole[0], &s.paces[0]
	case Exploring:
		done, total = s.whole[1], total+2*p.Explore
	case Certifying:
	default:
		return
	}
	if left, known := pace.Left(s.on.Clock(), string(g.Phase), done, total); known && left > 0 {
		g.Left = &left
	}
}

// events relays a pool's events as progress. stage is a place in [state.rows].
func events[R any](s *state, stage int, done func(int, *Progress, *R)) engine.Events[R] {
	before := s.rows[stage]
	return engine.Events[R]{
		Rows: func(total int) { s.tell(func(g *Progress) { s.rows[stage] = before + total; g.Message = "" }) },
		Done: func(i int, res *R) { s.tell(func(g *Progress) { done(i, g, res) }) },
		Lost: func(_ int, err error) {
			s.tell(func(g *Progress) {
				g.Message = phrase.Line(err.Error())
				s.on.Warnings = append(s.on.Warnings, engine.LostWorker+g.Message)
			})
		},
	}
}

// provisionalBounds are shown on the way, at most: each is dearer than a shard.
const provisionalBounds = 50

func (s *state) provisional() func(*Progress) {
	if s.told == nil || s.found.Sequential != nil { // which has the bound
		return func(*Progress) {}
	}
	every, done := max(1, s.shards(s.Plan.Samples)/provisionalBounds), 0
	roughly := s.rough()
	return func(g *Progress) {
		if done++; done%every == 0 {
			g.Provisional, g.Pairs = new(max(0, phrase.Floor(roughly(), 6))), s.counted.Rows
		}
	}
}

// rough is a quick bound on the goal from the counts so far.
func (s *state) rough() func() float64 {
	p, pr, explored := s.Plan, s.found.Evidence.Prepared, s.found.Evidence.Explored
	switch p.goal() {
	case report.Epsilon:
		_, delta := s.at(pr.Point).grouped(pr.Steps).dpLimits()
		split := bounds.TuneSplit(pr.Event.Counts(explored), p.Samples, p.Samples, delta, p.Beta)
		return func() float64 {
			return bounds.ClopperPearson(pr.Event.Counts(s.counted.table()), delta, p.Beta, split) / float64(max(1, pr.Steps))
		}
	case report.Mu:
		return func() float64 { return bounds.GaussianMu(pr.MuEvent.Counts(s.counted.table()), p.Beta) }
	}
	return func() float64 {
		return fromDivergence(p.goal(), bounds.Renyi(pr.Goal.side(s.counted.table()), pr.Goal.RenyiPlan, p.Beta), pr.Goal.Alpha)
	}
}
