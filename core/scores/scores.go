package scores

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/report"
	"github.com/dpscope/dpscope/stream"
)

func (p Plan) promise() report.Promise {
	return report.Promise{Claim: *p.Claim, Relation: p.Relation, Defaulted: p.DeltaDefaulted}
}

func (p Plan) guessing(h Shape) onerun.Guessing {
	return onerun.NewGuessing(h.In+h.Out, onerun.UsualOfScores, p.Sides, p.Guesses, p.GDPGuesses, p.Claim.Delta, p.Beta)
}

// Scores are membership scores that another program made, as package mechanisms/recorded
// reads them: the higher the likelier the canary was in.
type Scores struct {
	In, Out []float64 // of canaries that were in and that were out, finite; of a matrix, all runs
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

// ReadScores takes the scores of one parsed file, or of two, as [intake.ReadScores]
// does.
func ReadScores(files []*recorded.File) (*Scores, error) {
	in, err := recorded.ReadScores(files)
	if err != nil {
		return nil, err
	}
	s := &Scores{In: in.In, Out: in.Out, Notes: in.Notes}
	if m := in.Matrix; m != nil {
		s.Runs, s.Canaries, s.Score, s.Member = m.Runs, m.Canaries, m.Score, m.Member
	}
	for _, f := range files {
		s.Files = append(s.Files, ScoreFile{Name: f.Name, SHA256: f.SHA256})
	}
	return s, nil
}

func sums(files []ScoreFile) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.SHA256
	}
	return out
}

// Plan says how scores are audited. Zero values mean the documented
// defaults.
type Plan struct {
	Version int          `json:"version"` // PlanVersion
	Claim   *audit.Claim `json:"claim,omitempty"`
	// DeltaDefaulted: the claim named no delta and has DefaultDelta.
	DeltaDefaulted bool `json:"deltaDefaulted,omitempty"`
	// Relation is what the claim calls neighbours, audit.AddRemove or audit.Replace. No
	// default: scores do not tell.
	Relation audit.Relation `json:"relation"`
	// Method is whose bound the verdict is by: named before, since the largest of
	// all has no confidence. Default: one-run, which holds for scores of one training
	// under add-remove; of a matrix paired-betting, by runs. Without runs there is no
	// default under replace.
	Method report.Method `json:"method,omitempty"`
	// Sides, Guesses and GDPGuesses are as in [onerun.Plan]; sides by default are chosen,
	// or both where numbers are given.
	Sides      onerun.Sides `json:"sides,omitempty"`
	Guesses    []int        `json:"guesses,omitempty"`
	GDPGuesses []int        `json:"gdpGuesses,omitempty"`
	Data       []string     `json:"data,omitempty"` // SHA-256 of the files
	Beta       float64      `json:"beta,omitempty"` // default 0.05
	Seed       uint64       `json:"seed"`           // of the split, the pairing and the order of ties
}

// ParsePlan reads a plan from JSON; unknown fields are refused.
func ParsePlan(data []byte) (Plan, error) {
	var p Plan
	err := audit.DecodeStrict(data, "scores plan", &p)
	report.ReadDefaultDelta(data, p.Claim, &p.DeltaDefaulted)
	return p, err
}

// FlatMethods are those for scores without runs, MatrixMethods those for a matrix,
// the default first.
func FlatMethods() []report.Method {
	return []report.Method{report.MethodOneRun, report.MethodOneRunGDP, report.MethodExact, report.MethodClopperPearson, report.MethodPaired, report.MethodGaussian}
}

// MatrixMethods are the methods for a matrix of runs by canaries, the default first.
func MatrixMethods() []report.Method {
	var out []report.Method
	for _, kind := range bounds.CanaryIntervals() {
		out = append(out, report.Method(kind))
	}
	return append(out, report.MethodOneRun, report.MethodOneRunGDP)
}

// mostScores bounds the scores of an audit.
const mostScores = 1 << 26

// resolve checks a plan against the sizes of the scores and fills in its defaults.
func (p Plan) resolve(s Shape, files []ScoreFile) (Plan, error) {
	if p.Version != canary.PlanVersion {
		return p, &audit.InputError{Field: "scores plan: version", Path: "/version", Found: fmt.Sprint(p.Version), Want: fmt.Sprint(canary.PlanVersion)}
	}
	if p.Relation == "" {
		return p, &audit.InputError{Field: "relation", Found: "absent", Want: `"add-remove" or "replace": what the claim calls neighbours, which scores do not tell`,
			Remedy: "add-remove, where one record is there or not, is what accountants of DP-SGD with Poisson sampling assume unless told otherwise; replace is one record in the place of another, where the number of records is public. A mechanism that is private under add-remove may have twice its epsilon under replace"}
	}
	if err := report.CheckRelation(p.Relation, audit.AddRemove, audit.Replace); err != nil {
		return p, err
	}
	claim, err := report.ResolveClaim(p.Claim, p.DeltaDefaulted)
	if err != nil {
		return p, err
	}
	p.Claim = &claim
	if err := report.ResolveBetaSeed(&p.Beta, p.Seed); err != nil {
		return p, err
	}
	methods := FlatMethods()
	if s.Runs > 0 {
		methods = MatrixMethods()
	}
	if p.Method == "" {
		p.Method = methods[0]
	}
	if !slices.Contains(methods, p.Method) {
		return p, audit.UnknownName("method", string(p.Method), report.Texts(methods))
	}
	if k, m, _, _ := s.counted(p.Relation, 0); s.byRuns(p.Method) && max(k, m) > source.MaxCanaries {
		return p, &audit.InputError{Field: "scores", Path: "/data", Found: fmt.Sprintf("%d canaries a run", max(k, m)), Want: fmt.Sprintf("at most %d for bounds by runs", source.MaxCanaries)}
	}
	if s.assumes(p.Method)[p.Relation] == "" {
		return p, &audit.InputError{Field: "method", Found: fmt.Sprintf("%q with the relation %q", p.Method, p.Relation), Want: "another: the " + report.OneRunOfReplace,
			Remedy: fmt.Sprintf("if each score is of a training of its own, with its canary or with another record in its place, name the method %s; else record several runs in one file, with columns run, score and member", report.MethodExact)}
	}
	if claim.Delta == 0 && (p.Method == report.MethodGaussian || p.Method == report.MethodOneRunGDP) {
		return p, &audit.InputError{Field: "method", Found: fmt.Sprintf("%q with delta = 0", p.Method), Want: "another, or a delta above 0", Remedy: "no Gaussian trade-off has a finite epsilon at delta = 0"}
	}
	if err := onerun.ResolveGuesses(s.In+s.Out, onerun.UsualOfScores, &p.Sides, &p.Guesses, &p.GDPGuesses); err != nil {
		return p, err
	}
	if data := sums(files); !slices.Equal(data, p.Data) {
		return p, &audit.InputError{Field: "data", Path: "/data", Found: fmt.Sprintf("files with SHA-256 %v", data), Want: fmt.Sprintf("those with SHA-256 %v", p.Data), Remedy: "give the files that the audit was made with, in their order"}
	}
	return p, s.enough(p)
}

// Shape is what is known of scores without their values.
type Shape struct {
	In   int `json:"in"` // scores of each class
	Out  int `json:"out"`
	Runs int `json:"runs,omitempty"` // of a matrix
	// Canaries a run of the matrix. Under replace, K of those in and M of those out are
	// used, of Used runs that have as many. (The portrait shows them under add-remove
	// too, where the bounds use all canaries of all runs.)
	Canaries int `json:"canaries,omitempty"`
	K        int `json:"k,omitempty"`
	M        int `json:"m,omitempty"`
	Used     int `json:"usedRuns,omitempty"`
	// Fixed: in every run the same canaries were in.
	Fixed bool `json:"fixed,omitempty"`
	// Half are the runs in which half of the canaries were in, rounded down; Farthest
	// is how often the canary was in whose number of runs is farthest from half.
	Half     int `json:"half,omitempty"`
	Farthest int `json:"farthest,omitempty"`
	// CertifiedIn are the memberships in, over the runs that certify; of add-remove.
	CertifiedIn int `json:"certifiedIn,omitempty"`
}

// halves are how many of n explore and how many certify.
func halves(n int) (explore, certify int) { return n / 2, n - n/2 }

// enough refuses so few scores that no outcome certifies anything by the plan's
// method, and says the smallest number.
func (s Shape) enough(p Plan) error {
	c, beta := *p.Claim, p.Beta
	if s.In < 2 || s.Out < 2 {
		return &audit.InputError{Field: "scores", Path: "/data", Found: fmt.Sprintf("%d in and %d out", s.In, s.Out), Want: "at least two of each class: half of them choose the threshold"}
	}
	if s.largest(p, p.Method) > 0 {
		return nil
	}
	n := s.needed(p, p.Method, 0)
	if n == 0 {
		return nil // nothing helps; the report says so
	}
	found, want := fmt.Sprintf("%d in and %d out", s.In, s.Out), fmt.Sprintf("at least %d of each class", n)
	switch {
	case s.byRuns(p.Method):
		found, want = fmt.Sprintf("%d runs", s.Used), fmt.Sprintf("at least %d", n)
	case p.Method == report.MethodOneRun || p.Method == report.MethodOneRunGDP:
		if s.In+s.Out >= n {
			return nil // the guesses are the user's own
		}
		found, want = fmt.Sprintf("%d canaries", s.In+s.Out), fmt.Sprintf("at least %d", n)
	}
	return &audit.InputError{Field: "scores", Path: "/data", Found: found, Want: want + fmt.Sprintf(": no outcome of fewer certifies any epsilon above 0 by the method %s at delta = %v, beta = %v", p.Method, c.Delta, beta)}
}

func (s Shape) byRuns(m report.Method) bool {
	return s.Runs > 0 && m != report.MethodOneRun && m != report.MethodOneRunGDP
}

// assumes is what a method takes for granted by relation, see [assumes].
func (s Shape) assumes(m report.Method) report.Assumes {
	if s.byRuns(m) {
		return report.ByRuns
	}
	return report.MethodWords[m].Assumes
}

// counted is what a table of the runs of a matrix counts under a relation: of k
// canaries that were in and of m that were out, in so many runs, and the delta that
// bounds of it take. Under add-remove every run counts, with all its canaries on both
// sides, see [bounds.CoinDelta].
func (s Shape) counted(r audit.Relation, delta float64) (k, m, runs int, of float64) {
	if r == audit.AddRemove {
		return s.Canaries, s.Canaries, s.Runs, bounds.CoinDelta(delta)
	}
	return s.K, s.M, s.Used, delta
}

// ceiling is the largest bound that n runs can give by an interval, where in canaries
// of theirs were in (of add-remove).
func (s Shape) ceiling(kind bounds.CanaryInterval, r audit.Relation, n, in int, delta, beta float64) float64 {
	k, m, _, _ := s.counted(r, delta)
	if n < 1 || min(k, m) < max(1, kind.Order()) {
		return math.Inf(-1)
	}
	if r == audit.AddRemove {
		return bounds.CoinCeiling(kind, k, n, in, delta, beta)
	}
	return bounds.CanaryCeiling(kind, k, m, n, delta, beta)
}

// largest is the bound of the best outcome by a method, -Inf where none bounds
// anything.
func (s Shape) largest(p Plan, m report.Method) float64 {
	c, beta := *p.Claim, p.Beta
	switch {
	case m == report.MethodOneRun || m == report.MethodOneRunGDP:
		return p.guessing(s).Largest(m)
	case s.Runs > 0:
		_, _, runs, _ := s.counted(p.Relation, c.Delta)
		_, n := halves(runs)
		return s.ceiling(bounds.CanaryInterval(m), p.Relation, n, s.CertifiedIn, c.Delta, beta)
	}
	_, n1 := halves(s.In)
	_, n0 := halves(s.Out)
	return eventLargest(m, n1, n0, c.Delta, beta)
}

// eventLargest is that of n1 and n0 certification scores.
func eventLargest(m report.Method, n1, n0 int, delta, beta float64) float64 {
	best := bounds.Counts{X: n1, N1: n1, N0: n0}
	switch m {
	case report.MethodExact:
		return bounds.Exact(best, delta, beta)
	case report.MethodClopperPearson:
		return report.Down6(bounds.ClopperPearson(best, delta, beta, bounds.TuneSplit(best, n1, n0, delta, beta)))
	case report.MethodGaussian:
		return bounds.GaussianEpsilon(bounds.GaussianMu(best, beta), delta)
	}
	return bounds.CanaryCeiling(bounds.CanaryPairedBetting, 1, 1, min(n1, n0), delta, beta)
}

// needed is the number (of canaries, runs or scores of each class) from which on
// the best outcome certifies more than eps; 0: no number that is tried.
func (s Shape) needed(p Plan, m report.Method, eps float64) int {
	c, beta := *p.Claim, p.Beta
	switch {
	case m == report.MethodOneRun || m == report.MethodOneRunGDP:
		return onerun.Needed(m, onerun.UsualOfScores, audit.Claim{Epsilon: eps, Delta: c.Delta}, beta)
	case s.Runs > 0:
		kind := bounds.CanaryInterval(m)
		if k, m, _, _ := s.counted(p.Relation, c.Delta); min(k, m) < max(1, kind.Order()) {
			return 0
		}
		return report.Least(1, source.MaxRuns, func(n int) bool {
			_, n = halves(n)
			return s.ceiling(kind, p.Relation, n, n*s.Canaries/2, c.Delta, beta) > eps
		})
	}
	return report.Least(2, source.MaxRuns, func(n int) bool {
		_, n = halves(n)
		return eventLargest(m, n, n, c.Delta, beta) > eps
	})
}

func (s Shape) unit(m report.Method) string {
	switch {
	case m == report.MethodOneRun || m == report.MethodOneRunGDP:
		return "canaries"
	case s.Runs > 0:
		return "runs"
	}
	return "scores of each class"
}

// Evidence is what the bounds of scores are computed from.
type Evidence struct {
	Shape Shape `json:"shape"`
	// Events of the methods that take each score to be of a training of its own;
	// absent of a matrix.
	Events []ScoreEvent `json:"events,omitempty"`
	// Guesses are all scores taken together.
	Guesses    []onerun.Guess `json:"guesses"`
	GDPGuesses []onerun.Guess `json:"gdpGuesses"`
	// Runs of a matrix: threshold and stakes from half of them, counts of the rest.
	Runs *canary.Evidence `json:"runs,omitempty"`
}

// Sides of an event.
const (
	Above = "above" // score > threshold, likelier in
	Below = "below" // score < threshold, likelier out
)

// ScoreEvent is an event that was chosen on one half of the scores, and its counts.
// X and N1 are of the class in which it is likelier: of those in where Side is
// above, of those out where it is below. Differential privacy bounds both.
type ScoreEvent struct {
	Methods   []report.Method `json:"methods"` // that use it
	Side      string          `json:"side"`
	Threshold float64         `json:"threshold"`
	Ties      bool            `json:"ties,omitempty"` // all explored scores were the same
	Explored  bounds.Counts   `json:"explored"`
	Certified bounds.Counts   `json:"certified"`
	Split     float64         `json:"split,omitempty"` // of clopper-pearson, from exploration
	// Pairs are the certification scores paired at random, one of each class; of
	// paired-betting.
	Pairs  *bounds.CanaryTable  `json:"pairs,omitempty"`
	Stakes *bounds.CanaryStakes `json:"stakes,omitempty"`
}

// key names a stream of a scores audit. The files' hashes are part of it: files say
// who was in by the order of their rows, so that one seed would break ties for all files of
// a size in one way, and a false alarm of it would be one of all of them.
func (p Plan) key(purpose string, trial, side int) stream.Key {
	return stream.Key{Seed: p.Seed, Purpose: strings.Join(append([]string{"canary/scores/" + purpose}, p.Data...), "/"), Trial: trial, Side: side}
}

// check refuses scores that are none.
func (s Scores) check() error {
	for _, x := range []struct {
		class, other string
		scores       []float64
	}{{"in", "out", s.In}, {"out", "in", s.Out}} {
		if len(x.scores) == 0 {
			return &audit.InputError{Field: "scores", Path: "/data", Found: "of one class: all canaries were " + x.other, Want: "of canaries that were in and of such that were out"}
		}
		for i, v := range x.scores {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &audit.InputError{Field: fmt.Sprintf("score number %d of those %s", i+1, x.class), Path: "/data", Found: fmt.Sprint(v), Want: "finite", Remedy: "a training that diverged counts with the lowest score; to leave it out would bias the bound"}
			}
		}
	}
	if n := len(s.In) + len(s.Out); n > mostScores {
		return &audit.InputError{Field: "scores", Path: "/data", Found: fmt.Sprint(n), Want: fmt.Sprintf("at most %d", mostScores)}
	}
	if s.Runs < 0 || s.Runs > 0 && (len(s.Score) != s.Runs*s.Canaries || len(s.Member) != len(s.Score) || len(s.In)+len(s.Out) != len(s.Score)) {
		return &audit.InputError{Field: "scores: matrix", Path: "/data", Found: fmt.Sprintf("%d scores", len(s.Score)), Want: fmt.Sprintf("%d runs of %d canaries", s.Runs, s.Canaries)}
	}
	return nil
}

// shape finds sizes, and of a matrix how many canaries of each class a run gives:
// as many as nine runs of ten have, by class. Only membership is looked at.
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

// Resolve is the plan with its defaults filled in for these scores.
func Resolve(p Plan, s Scores) (Plan, error) {
	p, _, err := p.of(s)
	return p, err
}

// of resolves the plan for these scores, whose shape it returns.
func (p Plan) of(s Scores) (Plan, Shape, error) {
	if err := s.check(); err != nil {
		return Plan{}, Shape{}, err
	}
	if len(p.Data) == 0 {
		p.Data = sums(s.Files)
	}
	h := s.shape(p)
	p, err := p.resolve(h, s.Files)
	return p, h, err
}

// Run audits scores. The report is a function of plan and scores.
func Run(p Plan, s Scores, g audit.Generator) (Report, error) {
	p, h, err := p.of(s)
	if err != nil {
		return Report{}, err
	}
	ev := &Evidence{Shape: h}
	// In a random order, so that ties are broken without regard to membership.
	pooled, member := slices.Concat(s.In, s.Out), make([]bool, len(s.In)+len(s.Out))
	scores := make([]float64, len(pooled))
	for i, k := range stream.New(p.key("order", 0, 0)).Perm(len(pooled)) {
		scores[i], member[i] = pooled[k], k < len(s.In)
	}
	ev.Guesses, ev.GDPGuesses = p.guessing(h).Made(scores, member)
	if h.Runs > 0 {
		if _, _, runs, _ := h.counted(p.Relation, 0); runs > 1 {
			ev.Runs = s.byRuns(p, h)
		}
	} else {
		ev.Events = s.events(p)
	}
	r := assemble(p, ev, s.Files, s.Notes)
	r.Generator = g
	return r, nil
}

// split divides the scores of a class at random into those that explore and those
// that certify.
func (p Plan) split(scores []float64, side int) (explore, certify []float64) {
	shuffled := make([]float64, len(scores))
	for i, k := range stream.New(p.key("split", 0, side)).Perm(len(scores)) {
		shuffled[i] = scores[k]
	}
	n, _ := halves(len(scores))
	return shuffled[:n], shuffled[n:]
}

// events chooses the events of the methods for single trainings.
func (s Scores) events(p Plan) []ScoreEvent {
	delta, beta := p.Claim.Delta, p.Beta
	exploreIn, certifyIn := p.split(s.In, 1)
	exploreOut, certifyOut := p.split(s.Out, 0)
	n1, n0 := len(certifyIn), len(certifyOut)
	higher := newHalf(exploreIn, exploreOut, n1, n0)
	lower := newHalf(negated(exploreOut), negated(exploreIn), n0, n1)
	out := []ScoreEvent{
		{Methods: []report.Method{report.MethodExact, report.MethodClopperPearson}},
		{Methods: []report.Method{report.MethodPaired}},
		{Methods: []report.Method{report.MethodGaussian}},
	}
	for i := range out {
		e := &out[i]
		up, down := higher.choose(e.Methods[0], delta, beta), lower.choose(e.Methods[0], delta, beta)
		from, c := higher, up
		x, y := certifyIn, certifyOut
		e.Side = Above
		if down.Value > up.Value {
			from, c, e.Side = lower, down, Below
			x, y = negated(certifyOut), negated(certifyIn)
		}
		e.Threshold, e.Ties = c.At, c.Ties
		if e.Side == Below {
			e.Threshold = 0 - c.At
		}
		e.Explored = from.counts(c.At)
		e.Certified = bounds.Counts{X: canary.Above(x, c.At), N1: len(x), Y: canary.Above(y, c.At), N0: len(y)}
		switch e.Methods[0] {
		case report.MethodExact:
			e.Split = roundTo(bounds.TuneSplit(e.Explored, len(x), len(y), delta, beta), 1e-6)
		case report.MethodPaired:
			pairs := pairTable(x, y, c.At)
			e.Pairs = &pairs
			stakes := bounds.TuneCanary(pairTable(from.x, from.y, c.At), pairs.Runs(), delta, beta)
			e.Stakes = &stakes
		}
	}
	return out
}

func roundTo(x, step float64) float64 { return float64(math.Round(float64(x/step)) * step) }

func negated(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = -x
	}
	return out
}

// pairTable pairs the first of x with the first of y and so on, which are in random
// order, and counts events.
func pairTable(x, y []float64, cut float64) bounds.CanaryTable {
	var cells [2][2]int
	for i := range min(len(x), len(y)) {
		cells[canary.Above(x[i:i+1], cut)][canary.Above(y[i:i+1], cut)]++
	}
	t := bounds.NewCanaryTable(1, 1)
	for i := range cells {
		for j, n := range cells[i] {
			t.Add(i, j, n)
		}
	}
	return t
}

// half is the exploration half of the scores, x of the class in which the event is
// likelier; n1 and n0 are how many certify.
type half struct {
	x, y           []float64
	sortedX        []float64
	sortedY        []float64
	pooled         []float64
	n1, n0         int
	pairsCertified int
}

func newHalf(x, y []float64, n1, n0 int) *half {
	h := &half{x: x, y: y, n1: n1, n0: n0, pairsCertified: min(n1, n0),
		sortedX: slices.Sorted(slices.Values(x)), sortedY: slices.Sorted(slices.Values(y)), pooled: slices.Concat(x, y)}
	slices.Sort(h.pooled)
	return h
}

func (h *half) counts(cut float64) bounds.Counts {
	return bounds.Counts{X: canary.AboveSorted(h.sortedX, cut), N1: len(h.x), Y: canary.AboveSorted(h.sortedY, cut), N0: len(h.y)}
}

// choose sweeps thresholds by what the certification half would certify by a method
// if it repeated the exploration.
func (h *half) choose(m report.Method, delta, beta float64) canary.Cut {
	return canary.SweepCuts(h.pooled, 1, len(h.pooled)-1, func(at float64) (value, caution, gap float64) {
		c := h.counts(at)
		n1, n0 := float64(c.N1), float64(c.N0)
		p1, p0 := float64(c.X)/n1, float64(c.Y)/n0
		if p1 <= delta || p1 <= p0 {
			return math.Inf(-1), canary.MostCaution, p1 - p0
		}
		// Half a score, where there was none.
		y0 := math.Max(p0, 0.5/n0)
		caution = math.Min(canary.MostCaution, math.Sqrt(float64(p1*(1-p1))/(n1*float64((p1-delta)*(p1-delta)))+(1-p0)/float64(n0*y0)))
		expected := bounds.Counts{X: int(math.Round(float64(p1 * float64(h.n1)))), N1: h.n1, Y: int(math.Round(float64(p0 * float64(h.n0)))), N0: h.n0}
		switch m {
		case report.MethodPaired:
			// The margins with independent sides.
			value = bounds.CanaryValue(pairTable(h.x, h.y, at), h.pairsCertified, delta, beta)
		case report.MethodGaussian:
			// mu, which epsilon grows with. Its limits are cautious by themselves.
			if value, caution = bounds.GaussianMu(expected, beta), 0; value == 0 {
				value = math.Inf(-1)
			}
		default:
			value = math.Inf(-1)
			for _, split := range []float64{0.5, 0.1, 0.02} {
				value = math.Max(value, report.Down6(bounds.ClopperPearson(expected, delta, beta, split)))
			}
		}
		return value, caution, p1 - p0
	})
}

// shuffled are so many runs in the order of the seed: the first half explores.
func (p Plan) shuffled(runs int) []int { return stream.New(p.key("runs", 0, 0)).Perm(runs) }

// byRuns counts the runs of a matrix: half of them choose threshold and stakes, the
// other half certifies.
func (s Scores) byRuns(p Plan, h Shape) *canary.Evidence {
	k, m, runs, delta := h.counted(p.Relation, p.Claim.Delta)
	var enough []int // runs with K canaries in and M out
	has := make([]bool, s.Runs)
	for i := range s.Runs {
		n := 0
		for _, in := range s.Member[i*s.Canaries : (i+1)*s.Canaries] {
			if in {
				n++
			}
		}
		if n >= h.K && s.Canaries-n >= h.M {
			enough, has[i] = append(enough, i), true
		}
	}
	explore, certify := halves(runs)
	var scores [2][]float64
	var portrayed []float64
	for at, i := range p.shuffled(runs) {
		phase := 0
		if at >= explore {
			phase = 1
		}
		if p.Relation == audit.AddRemove {
			scores[phase] = s.both(scores[phase], i)
			if phase == 0 && has[i] {
				portrayed = s.drawn(portrayed, p, h, i)
			}
			continue
		}
		scores[phase] = s.drawn(scores[phase], p, h, enough[i])
	}
	if p.Relation != audit.AddRemove {
		portrayed = scores[0]
	}
	kind := bounds.CanaryPairedBetting
	if h.byRuns(p.Method) {
		kind = bounds.CanaryInterval(p.Method)
	}
	if min(k, m) < kind.Order() {
		kind = bounds.CanaryPairedBetting
	}
	claim := audit.DPClaim(p.Claim.Epsilon, delta)
	plan := canary.Plan{Claim: &claim, Interval: kind, Runs: certify, K: k, M: m, Beta: p.Beta}
	e := canary.NewExplored(k, m, scores[0])
	c := e.Choose(plan)
	table := e.Table(c.At, explore)
	rest := canary.NewExplored(k, m, scores[1]).Table(c.At, certify)
	return &canary.Evidence{Threshold: c.At, Ties: c.Ties, Stakes: bounds.TuneCanary(table, certify, delta, p.Beta),
		Explored: canary.Counted{Table: &table}, Certified: canary.Counted{Table: &rest}, Portrait: canary.Portray(h.K, h.M, portrayed)}
}

// drawn appends the scores of K canaries of run i that were in and of M that were out.
// Which ones is decided by the seed.
func (s Scores) drawn(to []float64, p Plan, h Shape, i int) []float64 {
	st := stream.New(p.key("canaries", i, 0))
	var in, out []float64
	for _, k := range st.Perm(s.Canaries) {
		switch x := s.Score[i*s.Canaries+k]; {
		case s.Member[i*s.Canaries+k] && len(in) < h.K:
			in = append(in, x)
		case !s.Member[i*s.Canaries+k] && len(out) < h.M:
			out = append(out, x)
		}
	}
	return append(append(to, in...), out...)
}

// both appends the scores of all canaries of run i as those of canaries in, and again
// as those of canaries out, with the worst score where they were not.
func (s Scores) both(to []float64, i int) []float64 {
	for _, side := range []bool{true, false} {
		for k := range s.Canaries {
			x := s.Score[i*s.Canaries+k]
			if s.Member[i*s.Canaries+k] != side {
				x = -math.MaxFloat64
			}
			to = append(to, x)
		}
	}
	return to
}
