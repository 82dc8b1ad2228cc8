package scores

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
)

// content names the scores of both classes, in whatever order and form a file has them.
func (s Scores) content() string {
	h := sha256.New()
	for _, scores := range [][]float64{s.In, s.Out} {
		binary.Write(h, binary.BigEndian, scores)
		binary.Write(h, binary.BigEndian, uint64(len(scores)))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// split divides a class's scores at random into those that explore and those that certify.
func (s Scores) split(p Plan, in bool) (explore, certify []float64) {
	shuffled := slices.Clone(audit.Pick(in, s.In, s.Out))
	stream.New(p.key("split", 0, one(in))).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	n, _ := halves(len(shuffled))
	return shuffled[:n], shuffled[n:]
}

// side is one half of the scores: x of the class in which an event, a score above another, is likelier,
// and y of the other. Below a threshold x are those out, and scores are negated.
type side struct{ x, y []float64 }

func (s Scores) sides(p Plan, below bool) (explore, certify side) {
	exploreIn, certifyIn := s.split(p, true)
	exploreOut, certifyOut := s.split(p, false)
	if !below {
		return side{exploreIn, exploreOut}, side{certifyIn, certifyOut}
	}
	for _, list := range [][]float64{exploreIn, certifyIn, exploreOut, certifyOut} {
		for i, v := range list {
			list[i] = 0 - v
		}
	}
	return side{exploreOut, exploreIn}, side{certifyOut, certifyIn}
}

// events chooses events for single trainings on one half, and counts them in the other.
func (s Scores) events(p Plan) []ScoreEvent {
	delta, beta := p.Claim.Delta, p.Beta
	out := audit.Each(eventMethods(), func(m []report.Method) ScoreEvent { return ScoreEvent{Methods: m} })
	best := make([]float64, len(out))
	for _, name := range []string{Above, Below} {
		explore, certify := s.sides(p, name == Below)
		h := newHalf(explore, len(certify.x), len(certify.y))
		for i := range out {
			e, method := &out[i], out[i].Methods[0]
			c := h.choose(method, delta, beta)
			if len(h.pooled) == 0 { // one score of each class
				c.At = min(certify.x[0], certify.y[0])
			}
			if name == Below && c.Value <= best[i] {
				continue
			}
			best[i] = c.Value
			*e = ScoreEvent{Methods: e.Methods, Side: name, Threshold: c.At, Ties: c.Ties, Explored: h.counts(c.At),
				Certified: bounds.Counts{X: membership.Above(certify.x, c.At), N1: len(certify.x), Y: membership.Above(certify.y, c.At), N0: len(certify.y)}}
			if name == Below {
				e.Threshold = 0 - c.At
			}
			switch method {
			case report.MethodExact:
				e.Split = math.Round(bounds.TuneSplit(e.Explored, h.n1, h.n0, delta, beta)/1e-6) * 1e-6
			case report.MethodPaired:
				e.Stakes, e.Pairs = new(bounds.TuneCanary(h.pairs(c.At), min(h.n1, h.n0), delta, beta)), certify.pairs(c.At)
			}
		}
	}
	return out
}

// pairs counts events in random pairs of x and y.
func (s side) pairs(cut float64) *bounds.CanaryTable {
	var cells [2][2]int
	for i := range min(len(s.x), len(s.y)) {
		cells[one(s.x[i] > cut)][one(s.y[i] > cut)]++
	}
	return tableOf(cells)
}

func tableOf(cells [2][2]int) *bounds.CanaryTable {
	t := bounds.NewCanaryTable(1, 1)
	for i := range cells {
		for j, n := range cells[i] {
			t.Add(i, j, n)
		}
	}
	return &t
}

func one(b bool) int { return audit.Pick(b, 1, 0) }

// half is the exploration half, sorted: both classes, all together, and of random pairs, as many as the
// smaller class has, each class and the lower of every pair.
type half struct {
	side
	pooled []float64
	paired side
	lower  []float64
	n1, n0 int // that certify, of each class
}

func newHalf(s side, n1, n0 int) *half {
	n := min(len(s.x), len(s.y))
	h := &half{side{slices.Clone(s.x), slices.Clone(s.y)}, slices.Concat(s.x, s.y), side{slices.Clone(s.x[:n]), slices.Clone(s.y[:n])}, make([]float64, n), n1, n0}
	for i := range h.lower {
		h.lower[i] = min(s.x[i], s.y[i])
	}
	for _, list := range [][]float64{h.x, h.y, h.pooled, h.paired.x, h.paired.y, h.lower} {
		slices.Sort(list)
	}
	return h
}

func (h *half) counts(cut float64) bounds.Counts {
	return bounds.Counts{X: membership.AboveSorted(h.x, cut), N1: len(h.x), Y: membership.AboveSorted(h.y, cut), N0: len(h.y)}
}

// pairs is [side.pairs], by what counts of sorted lists tell.
func (h *half) pairs(cut float64) bounds.CanaryTable {
	x, y, both := membership.AboveSorted(h.paired.x, cut), membership.AboveSorted(h.paired.y, cut), membership.AboveSorted(h.lower, cut)
	return *tableOf([2][2]int{{len(h.lower) - x - y + both, y - both}, {x - both, both}})
}

// choose sweeps thresholds by what would be certified if the exploration were repeated.
func (h *half) choose(m report.Method, delta, beta float64) membership.Cut {
	return membership.SweepCuts(h.pooled, 1, len(h.pooled)-1, func(cut float64) (value, caution, gap float64) {
		c := h.counts(cut)
		n1, n0 := float64(c.N1), float64(c.N0)
		p1, p0 := float64(c.X)/n1, float64(c.Y)/n0
		if p1 <= delta || p1 <= p0 {
			return math.Inf(-1), membership.MostCaution, p1 - p0
		}
		// Half a score, where there was none.
		y0 := math.Max(p0, 0.5/n0)
		caution = math.Min(membership.MostCaution, math.Sqrt(float64(p1*(1-p1))/(n1*float64((p1-delta)*(p1-delta)))+(1-p0)/float64(n0*y0)))
		expected := bounds.Counts{X: int(math.Round(float64(p1 * float64(h.n1)))), N1: h.n1, Y: int(math.Round(float64(p0 * float64(h.n0)))), N0: h.n0}
		switch m {
		case report.MethodPaired:
			// The margins with independent sides.
			value = bounds.CanaryValue(h.pairs(cut), min(h.n1, h.n0), delta, beta)
		case report.MethodGaussian:
			// mu, which epsilon grows with. Its limits are cautious by themselves.
			if value, caution = bounds.GaussianMu(expected, beta), 0; value == 0 {
				value = math.Inf(-1)
			}
		default:
			value = math.Inf(-1)
			for _, split := range []float64{0.5, 0.1, 0.02} {
				value = math.Max(value, bounds.RoundDown(bounds.ClopperPearson(expected, delta, beta, split)))
			}
		}
		return value, caution, p1 - p0
	})
}

func (p Plan) shuffled(runs int) []int { return stream.New(p.key("runs", 0, 0)).Perm(runs) }

func (s Scores) byRuns(p Plan, h Shape) *membership.Gathered {
	k, m, runs, delta := h.counted(p.Relation, p.Claim.Delta)
	var enough []int // runs with K canaries in and M out
	has := make([]bool, s.Runs)
	for i := range s.Runs {
		n := audit.Count(s.Member[i*s.Canaries:(i+1)*s.Canaries], func(in bool) bool { return in })
		if n >= h.K && s.Canaries-n >= h.M {
			enough, has[i] = append(enough, i), true
		}
	}
	explore, certify := halves(runs)
	var scores [2][]float64
	var portrayed []float64
	for at, i := range p.shuffled(runs) {
		phase := one(at >= explore)
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
	kind := bounds.CanaryInterval(p.Method)
	kind = audit.Pick(h.byRuns(p.Method) && min(k, m) >= kind.Order(), kind, bounds.CanaryPairedBetting)
	chosen := membership.NewExplored(k, m, scores[0]).Choose(membership.Aim{Interval: kind, Delta: delta, Beta: p.Beta, Runs: certify})
	rest := membership.NewExplored(k, m, scores[1]).Table(chosen.Threshold)
	chosen.Certified.Table, chosen.ScoreSample = &rest, membership.Portray(h.K, h.M, portrayed)
	return &chosen
}

// drawn appends the scores of K canaries of run i that were in and of M that were out, by the seed.
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

// both appends all canaries of run i as if in and again as if out, with the worst score where they were
// not.
func (s Scores) both(to []float64, i int) []float64 {
	for _, side := range []bool{true, false} {
		for k := range s.Canaries {
			at := i*s.Canaries + k
			to = append(to, audit.Pick(s.Member[at] == side, s.Score[at], -math.MaxFloat64))
		}
	}
	return to
}
