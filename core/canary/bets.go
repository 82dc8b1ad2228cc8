package canary

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
)

// Bets is the evidence of a sequential audit: what was bet on, and what came of it.
type Bets struct {
	Epochs []Epoch `json:"epochs"`
	// Scores of all trainings, K in and M out each, as float64 packed little-endian;
	// absent where they would be more than 3 MiB (4 MB in base64). A run that goes on
	// learns from them.
	Scores []byte `json:"scores,omitempty"`
}

// Epoch is a stretch of trainings with one event.
type Epoch struct {
	First     int     `json:"first"`     // training
	Threshold float64 `json:"threshold"` // a canary is in the event if its score exceeds it
	// Learnt are the trainings before, at this threshold: the stakes follow from them.
	Learnt bounds.CanarySums `json:"learnt"`
	// Counts are, of each training in its order, the canaries inside in the event and
	// the fresh ones, as unsigned varints.
	Counts []byte `json:"counts"`
}

// mostScores is how many bytes of scores a report holds.
const mostScores = 3 << 20

func (e *Epoch) add(x, y int) {
	e.Counts = binary.AppendUvarint(binary.AppendUvarint(e.Counts, uint64(x)), uint64(y))
}

// each tells the counts of every training.
func (e Epoch) each(k, m int, take func(x, y int)) error {
	for b := e.Counts; len(b) > 0; {
		x, i := binary.Uvarint(b)
		y, j := binary.Uvarint(b[max(i, 0):])
		if i <= 0 || j <= 0 || x > uint64(k) || y > uint64(m) {
			return &audit.InputError{Field: "report: evidence.sequential.epochs.counts", Found: "something else", Want: fmt.Sprintf("pairs of counts, at most %d and %d", k, m)}
		}
		take(int(x), int(y))
		b = b[i+j:]
	}
	return nil
}

// follow bets again as the epochs say. tell, which may be nil, hears every training from
// the first on that was bet on.
func (b *Bets) follow(p Plan, tell func(x, y int)) (*bounds.CanarySequence, error) {
	s := p.sequence()
	bad := func(i int, what, found, want string) error {
		return &audit.InputError{Field: fmt.Sprintf("report: evidence.sequential.epochs[%d].%s", i, what), Found: found, Want: want}
	}
	for i, e := range b.Epochs {
		switch err := e.Learnt.Validate(p.K, p.M); {
		case e.First != s.Runs():
			return nil, bad(i, "first", fmt.Sprint(e.First), fmt.Sprint(s.Runs()))
		case err != nil || e.Learnt.Runs != e.First:
			return nil, bad(i, "learnt", fmt.Sprintf("of %d trainings", e.Learnt.Runs), fmt.Sprintf("sums of the %d trainings before", e.First))
		case math.IsNaN(e.Threshold) || math.IsInf(e.Threshold, 0):
			return nil, bad(i, "threshold", fmt.Sprint(e.Threshold), "finite")
		}
		s.Epoch(e.Learnt)
		err := e.each(p.K, p.M, func(x, y int) {
			if s.Observe(x, y); i > 0 && tell != nil {
				tell(x, y)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if n := s.Runs(); n > p.Runs {
		return nil, &audit.InputError{Field: "report: evidence.sequential", Found: fmt.Sprintf("%d trainings", n), Want: fmt.Sprintf("at most %d, as the plan says", p.Runs)}
	}
	return s, nil
}

// table counts the trainings that were bet on, each by the event of its epoch; nil of
// none.
func (b *Bets) table(p Plan) (*bounds.CanaryTable, error) {
	t := bounds.NewCanaryTable(p.K, p.M)
	_, err := b.follow(p, func(x, y int) { t.Add(x, y, 1) })
	if len(t.Cells) == 0 {
		return nil, err
	}
	return &t, err
}

// evidence is what l did, with the scores in the order of the trainings.
func (l *leader) evidence(p Plan, scores []float64, diverged int) (*Evidence, error) {
	b := &Bets{Epochs: l.Epochs}
	if n := len(b.Epochs); n > 1 && len(b.Epochs[n-1].Counts) == 0 {
		b.Epochs = b.Epochs[:n-1] // nothing came of it yet
	}
	if 8*len(scores) <= mostScores {
		b.Scores = membership.Floats(scores).Pack()
	}
	t, err := b.table(p)
	if err != nil {
		return nil, err
	}
	return &Evidence{Sequential: b, Membership: membership.OfRuns(p.K, p.M, scores, p.Beta), Runs: &membership.Gathered{
		Threshold: b.Epochs[len(b.Epochs)-1].Threshold, Certified: membership.Counted{Table: t, Diverged: diverged},
		Ties: len(l.pooled) > 0 && l.pooled[0] == l.pooled[len(l.pooled)-1], ScoreSample: membership.Portray(p.K, p.M, scores)}}, nil
}

// replayed is the evidence that follows from scores. The count of trainings that
// diverged is the report's own.
func replayed(p Plan, packed []byte, diverged int) (*leader, *Evidence, error) {
	scores := membership.UnpackFloats(packed)
	for _, x := range scores {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, nil, &audit.InputError{Field: "report: evidence.sequential.scores", Found: fmt.Sprint(x), Want: "finite"}
		}
	}
	l := newLeader(p)
	l.takeAll(scores)
	ev, err := l.evidence(p, scores, diverged)
	return l, ev, err
}
