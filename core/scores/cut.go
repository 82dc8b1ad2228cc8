package scores

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/report"
	"github.com/dpscope/dpscope/stream"
)

// split divides the scores of a class at random into those that explore and those
// that certify.
func (p Plan) split(scores []float64, side int) (explore, certify []float64) {
	shuffled := slices.Clone(scores)
	stream.New(p.key("split", 0, side)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	n, _ := halves(len(scores))
	return shuffled[:n], shuffled[n:]
}

// events chooses the events of the methods for single trainings.
func (s Scores) events(p Plan) []ScoreEvent {
	delta, beta := p.Claim.Delta, p.Beta
	exploreIn, certifyIn := p.split(s.In, 1)
	exploreOut, certifyOut := p.split(s.Out, 0)
	n1, n0 := len(certifyIn), len(certifyOut)
	out := []ScoreEvent{
		{Methods: []report.Method{report.MethodExact, report.MethodClopperPearson}},
		{Methods: []report.Method{report.MethodPaired}},
		{Methods: []report.Method{report.MethodGaussian}},
	}
	best := make([]float64, len(out))
	// One side after the other, so that one half is held at a time.
	try := func(side string, from *half, x, y []float64) {
		for i := range out {
			e := &out[i]
			c := from.choose(e.Methods[0], delta, beta)
			if side != Above && !(c.Value > best[i]) {
				continue
			}
			best[i] = c.Value
			e.Side, e.Threshold, e.Ties = side, c.At, c.Ties
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
			if side == Below {
				e.Threshold = 0 - c.At
			}
		}
	}
	try(Above, newHalf(exploreIn, exploreOut, n1, n0), certifyIn, certifyOut)
	for _, x := range [][]float64{exploreIn, exploreOut, certifyIn, certifyOut} {
		negate(x)
	}
	try(Below, newHalf(exploreOut, exploreIn, n0, n1), certifyOut, certifyIn)
	return out
}

func roundTo(x, step float64) float64 { return float64(math.Round(float64(x/step)) * step) }

func negate(v []float64) {
	for i, x := range v {
		v[i] = -x
	}
}

// pairTable pairs the first of x with the first of y and so on, which are in random
// order, and counts events.
func pairTable(x, y []float64, cut float64) bounds.CanaryTable {
	var cells [2][2]int
	for i := range min(len(x), len(y)) {
		cells[one(x[i] > cut)][one(y[i] > cut)]++
	}
	t := bounds.NewCanaryTable(1, 1)
	for i := range cells {
		for j, n := range cells[i] {
			t.Add(i, j, n)
		}
	}
	return t
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
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
		sortedX: slices.Clone(x), sortedY: slices.Clone(y), pooled: slices.Concat(x, y)}
	for _, v := range [][]float64{h.sortedX, h.sortedY, h.pooled} {
		slices.Sort(v)
	}
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
	return &canary.Evidence{Portrait: canary.Portray(h.K, h.M, portrayed), Gathered: canary.Gathered{Threshold: c.At, Ties: c.Ties,
		Stakes: bounds.TuneCanary(table, certify, delta, p.Beta), Explored: canary.Counted{Table: &table}, Certified: canary.Counted{Table: &rest}}}
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
