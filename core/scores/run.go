package scores

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// Scores are membership scores of another program: the higher the likelier the canary was in.
type Scores struct {
	In, Out []float64 // of canaries that were in and that were out, finite; those of a matrix stand in it alone
	// A matrix of runs by canaries, flat by rows; Runs is 0 where there is none.
	Runs, Canaries int
	Score          []float64
	Member         []bool
	Files          []ScoreFile
	Notes          []string // in words: what was taken for granted when reading
}

// ScoreFile names a file of scores.
type ScoreFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // in hexadecimal
}

// ReadScores takes the scores of one file, or of two, see [recorded.ReadScores].
func ReadScores(files []*recorded.File, columns recorded.ScoreColumns) (*Scores, error) {
	in, err := recorded.ReadScores(files, columns)
	if err != nil {
		return nil, err
	}
	s := &Scores{In: in.Sorted[recorded.In], Out: in.Sorted[recorded.Out], Notes: in.Notes}
	if m := in.Matrix; m != nil {
		s.Runs, s.Canaries, s.Score, s.Member = m.Runs, m.Canaries, m.Score, m.Member
	}
	for _, f := range files {
		s.Files = append(s.Files, ScoreFile{Name: f.Name, SHA256: f.SHA256})
	}
	return s, nil
}

func sums(files []ScoreFile) []string {
	return audit.Each(files, func(f ScoreFile) string { return f.SHA256 })
}

// sorted has both classes ascending. It refuses scores that are none.
func (s Scores) sorted() (*Scores, error) {
	if s.Runs < 0 || s.Runs > 0 && (len(s.Score) != s.Runs*s.Canaries || len(s.Member) != len(s.Score)) {
		return nil, &audit.InputError{Field: "scores: matrix", Path: "/data", Found: fmt.Sprintf("%d scores", len(s.Score)), Want: fmt.Sprintf("%d runs of %d canaries", s.Runs, s.Canaries)}
	}
	if s.Runs > 0 {
		s.In, s.Out = membership.Split(s.Score, s.Member)
	}
	for i, list := range []*[]float64{&s.In, &s.Out} {
		if at := audit.NonFinite(*list); at >= 0 {
			return nil, &audit.InputError{Field: fmt.Sprintf("score number %d of those %s", at+1, []string{"in", "out"}[i]), Path: "/data", Found: fmt.Sprint((*list)[at]), Want: "finite",
				Remedy: "a training that diverged counts with the lowest score; to leave it out would bias the bound"}
		}
		*list = audit.Ascending(*list)
	}
	in, out := len(s.In), len(s.Out)
	return &s, audit.At("/data", audit.First(
		audit.Require(in > 0 && out > 0, "scores", "of one class: all canaries were "+audit.Pick(in == 0, "out", "in"), "of canaries that were in and of canaries that were out"),
		audit.Require(in+out <= mostScores, "scores", in+out, "at most %d", mostScores),
	))
}

// shape is the sizes of sorted scores, and how many canaries of each class a run of a matrix gives: as
// many as nine of ten have. Only membership is looked at.
func (s Scores) shape(p Plan) Shape {
	h := Shape{In: len(s.In), Out: len(s.Out), Runs: s.Runs}
	if s.Runs == 0 {
		return h
	}
	h.Canaries, h.Fixed = s.Canaries, true
	ins, often := make([]int, s.Runs), make([]int, s.Canaries)
	for i := range s.Runs {
		for k, in := range s.Member[i*s.Canaries : (i+1)*s.Canaries] {
			if in {
				ins[i]++
				often[k]++
			}
			h.Fixed = h.Fixed && in == s.Member[k]
		}
		if ins[i] == s.Canaries/2 {
			h.Half++
		}
	}
	h.Farthest = slices.MaxFunc(often, func(x, y int) int { return max(2*x-s.Runs, s.Runs-2*x) - max(2*y-s.Runs, s.Runs-2*y) })
	if p.Relation == audit.AddRemove {
		explore, _ := halves(s.Runs)
		for _, i := range p.shuffled(s.Runs)[explore:] {
			h.CertifiedIn += ins[i]
		}
	}
	sorted := slices.Sorted(slices.Values(ins))
	h.K = max(1, sorted[s.Runs/10])
	h.M = max(1, s.Canaries-sorted[s.Runs-1-s.Runs/10])
	for _, n := range ins {
		if n >= h.K && s.Canaries-n >= h.M {
			h.Used++
		}
	}
	return h
}

// Audit is a plan that was checked against scores, or what a report says of them.
type Audit struct {
	Plan   Plan
	shape  Shape
	scores *Scores // nil: a report's counts are concluded from
	files  []ScoreFile
	notes  []string // on how they were read
}

// Resolve checks a plan against scores, and fills in its defaults.
func (p Plan) Resolve(s *Scores) (*Audit, error) {
	s, err := s.sorted()
	if err != nil {
		return nil, err
	}
	if len(p.Data) == 0 {
		p.Data = sums(s.Files)
	}
	h := s.shape(p)
	p, err = p.resolve(h, s.Files)
	return &Audit{p, h, s, slices.Clone(s.Files), s.Notes}, err
}

// Run audits scores. The report is a function of plan and scores.
func Run(p Plan, s Scores, g audit.Generator) (Report, error) {
	a, err := p.Resolve(&s)
	if err != nil {
		return Report{}, err
	}
	return report.Do(context.Background(), a, &engine.Runner{}, nil, g)
}

func (a *Audit) Run(context.Context, *engine.Runner, func(struct{})) (*Evidence, audit.Termination, error) {
	p, s, h := a.Plan, a.scores, a.shape
	ev := &Evidence{Shape: h}
	drawn := p // by the scores alone
	drawn.Data = []string{s.content()}
	ev.Guessed = s.guesses(drawn, h)
	if h.Runs > 0 {
		if _, _, runs, _ := h.counted(p.Relation, 0); runs > 1 {
			ev.Runs = s.byRuns(p, h)
		}
	} else {
		ev.Events = s.events(drawn)
	}
	if max(h.In, h.Out) <= bounds.MostScores {
		ev.Membership = membership.Count(s.In, s.Out, p.Beta)
		ev.Membership.Within(h.Runs, s.run)
	}
	return ev, audit.Termination{Reason: audit.Completed}, nil
}

// guesses are in a random order: ties are broken without regard to membership.
func (s Scores) guesses(p Plan, h Shape) membership.Guessed {
	scores, member := slices.Concat(s.In, s.Out), make([]bool, h.In+h.Out)
	for i := range h.In {
		member[i] = true
	}
	stream.New(p.key("order", 0, 0)).Shuffle(len(scores), func(i, j int) {
		scores[i], scores[j] = scores[j], scores[i]
		member[i], member[j] = member[j], member[i]
	})
	return p.guessing(h).Made(scores, member)
}

func (s Scores) run(i int) (in, out []float64) {
	return membership.Split(s.Score[i*s.Canaries:][:s.Canaries], s.Member[i*s.Canaries:])
}

// key names a stream. A hash of the scores, of a matrix of its files, is part of it: else one seed would
// break ties for all scores of a size in one way, and a false alarm of it would be one of all of them.
func (p Plan) key(purpose string, trial, side int) stream.Key {
	return stream.Key{Seed: p.Seed, Purpose: strings.Join(append([]string{"canary/scores/" + purpose}, p.Data...), "/"), Trial: trial, Side: side}
}
