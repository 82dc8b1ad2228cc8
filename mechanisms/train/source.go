package train

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// Source draws runs of an audit of one training. It is for one goroutine.
type Source struct {
	// Check, if not nil, is called at every step and ends a run by its error.
	Check func() error

	t         *Model
	reference *network // trained without canaries and noise, where something is measured against it
	residual  []float64
}

// New makes a source; nil data means the built-in. It costs one training where the final model
// is to be scored or canaries are [Tail] ones; where that diverges it is an InputError.
func New(c Config, data *Dataset) (*Source, error) {
	c, err := c.Resolve(data)
	if err != nil {
		return nil, err
	}
	if data == nil {
		data = NewSynthetic(c.Data)
	}
	t := NewModel(c, data, data.Len())
	s := &Source{t: t}
	if c.Access != Final && c.Canary != Tail {
		return s, nil
	}
	finite, err := t.run(stream.New(stream.Key{Purpose: "train/reference"}), t.draw(nil, 0), 0, nil, nil)
	if err != nil {
		return nil, err
	}
	if !finite {
		return nil, &audit.InputError{Field: "learning-rate", Path: "p.learning-rate", Found: audit.Exactly(c.LearningRate), Want: "one at which a training without canaries stays finite"}
	}
	s.reference = newNetwork(c.sizes(data), c.Activation)
	copy(s.reference.theta, t.model.theta)
	s.reference.ready()
	if c.Canary == Tail {
		t.pool, err = t.tailPool(s.reference)
	}
	return s, err
}

// noise is the noise that is really added, over C.
func (t *Model) noise() float64 { return float64(t.config.Sigma * t.config.NoiseFactor) }

func (s *Source) Config() Config { return s.t.config }

// Parameters is the number of weights.
func (s *Source) Parameters() int { return len(s.t.start) }

// CheckCanaries refuses more canaries in one run than memory holds.
func (s *Source) CheckCanaries(n int) error {
	most := min(CanariesMost, canaryNumbers/s.Parameters())
	return audit.Remedy("take fewer canaries or a smaller model",
		audit.Require(n <= most, "canaries", n, "at most %d at %d weights", most, s.Parameters()))
}

// Run draws a run with len(in) canaries, at least one, and len(out) fresh ones. By addition and
// removal it trains twice, on all canaries for in and on all but the last for out; by replacement
// once, on all (LiDP appendix B.2). Where a training diverges, the scores under it, and only
// those, are -MaxFloat64. Errors are those of Check.
func (s *Source) Run(st *stream.Stream, in, out []float64) (diverged bool, err error) {
	k, m := len(in), len(out)
	all := s.t.draw(st, k+m)
	inside, fresh := all.part(0, k), all.part(k, k+m)
	if s.t.config.Relation == Replace {
		scores := make([]float64, k+m)
		diverged, err = s.trial(st, inside, &witness{scored: all, scores: scores, inside: k, lend: true})
		copy(in, scores[:k])
		copy(out, scores[k:])
		return diverged, err
	}
	first, err := s.trial(st, inside, &witness{scored: inside, scores: in, inside: k})
	if err != nil {
		return false, err
	}
	second, err := s.trial(st, all.part(0, k-1), &witness{scored: fresh, scores: out})
	return first || second, err
}

// OneRun trains once with canaries of which each is among the examples with probability
// 1/2, and says which were (Steinke, Nasr and Jagielski 2023). Where the training diverges
// all scores are -MaxFloat64. The scores use no canary's membership.
func (s *Source) OneRun(st *stream.Stream, scores []float64, member []bool) (diverged bool, err error) {
	all := s.t.draw(st, len(scores))
	coins := make([]float64, len(scores))
	st.Bernoulli(coins, 0.5)
	for k, v := range coins {
		member[k] = v != 0
	}
	return s.trial(st, members{all, member}, &witness{scored: all, scores: scores, coins: true})
}

func (s *Source) trial(st *stream.Stream, inside canaries, w *witness) (diverged bool, err error) {
	t := s.t
	clear(w.scores)
	var watch func(step)
	if t.config.Access == Steps {
		watch = func(at step) { s.see(w, at) }
	}
	finite, err := t.run(st, inside, t.noise(), watch, s.Check)
	if err != nil {
		return false, err
	}
	if finite && t.config.Access == Final {
		w.scored.final(t, s.reference, w.scores)
	}
	// Weights may be finite and the loss on one canary not, which is its score alone.
	diverged = !finite
	for k, v := range w.scores {
		if !finite || v-v != 0 {
			w.scores[k], diverged = worst, true
		}
	}
	return diverged, nil
}

const evaluated = 1024 // rows at a time

// Accuracy is the share of these examples whose class has the largest output of the last model.
func (s *Source) Accuracy(d *Dataset) float64 {
	m, width, right := s.t.model, len(d.Features), 0
	for at := 0; at < d.Len(); at += evaluated {
		to := min(d.Len(), at+evaluated)
		m.forward(d.X[at*width:to*width], d.Labels[at:to])
		for i, label := range d.Labels[at:to] {
			if p := m.probs[i*m.classes() : (i+1)*m.classes()]; slices.Index(p, slices.Max(p)) == int(label) {
				right++
			}
		}
	}
	return float64(right) / float64(d.Len())
}
