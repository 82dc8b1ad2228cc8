package scores

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/ranks"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// content names the scores of both classes, in whatever order and form a file has them.
func content(r *ranks.Ranks) string {
	h := sha256.New()
	for _, class := range []int{recorded.In, recorded.Out} {
		ranks := r.Sorted(class)
		row := binary.BigEndian.AppendUint64(nil, uint64(len(ranks)))
		for i, k := range ranks {
			if i == 0 || k != ranks[i-1] {
				binary.BigEndian.PutUint64(row, math.Float64bits(r.Value(k)))
			}
			h.Write(row)
		}
		binary.BigEndian.PutUint64(row, uint64(len(ranks)))
		h.Write(row)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// split divides the ranks of a class at random into those that explore and those that
// certify. It begins with them in their order, so that nothing depends on that of the file.
func (p Plan) split(r *ranks.Ranks, class int) (explore, certify []uint32) {
	shuffled := r.Sorted(class)
	stream.New(p.key("split", 0, one(class == recorded.In))).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	n, _ := halves(len(shuffled))
	return shuffled[:n], shuffled[n:]
}

// events chooses the events of the methods for single trainings on the half that explores,
// and then counts them in the other.
func (p Plan) events(r *ranks.Ranks) []ScoreEvent {
	delta, beta := p.Claim.Delta, p.Beta
	out := []ScoreEvent{
		{Methods: []report.Method{report.MethodExact, report.MethodClopperPearson}, Side: Above},
		{Methods: []report.Method{report.MethodPaired}, Side: Above},
		{Methods: []report.Method{report.MethodGaussian}, Side: Above},
	}
	chosen := make([]event, len(out))
	h := p.explore(r)
	for i := range out {
		e, method := &out[i], out[i].Methods[0]
		c := h.choose(false, method, delta, beta)
		if below := h.choose(true, method, delta, beta); below.Value > c.Value {
			c, chosen[i].below, e.Side = below, true, Below
		}
		chosen[i] = eventOf(chosen[i].below, c.At)
		e.Threshold, e.Ties, e.Explored = r.Value(chosen[i].t), c.Ties, h.counts(chosen[i])
		n1, n0 := h.certify(chosen[i].below)
		switch method {
		case report.MethodExact:
			e.Split = roundTo(bounds.TuneSplit(e.Explored, n1, n0, delta, beta), 1e-6)
		case report.MethodPaired:
			stakes := bounds.TuneCanary(h.pairTable(chosen[i]), min(n1, n0), delta, beta)
			e.Stakes = &stakes
		}
	}
	h = nil // memory need not hold both halves
	_, in := p.split(r, recorded.In)
	_, absent := p.split(r, recorded.Out)
	for i, c := range chosen {
		x, y := c.likelier(in, absent)
		out[i].Certified = bounds.Counts{X: c.count(x), N1: len(x), Y: c.count(y), N0: len(y)}
		if out[i].Stakes != nil {
			out[i].Pairs = pairTable(c, x, y)
		}
	}
	return out
}

func roundTo(x, step float64) float64 { return float64(math.Round(float64(x/step)) * step) }

// event is a score above a rank, which is likelier of canaries that were in, or one below
// it, which is likelier of those out.
type event struct {
	below bool
	t     uint32
}

// eventOf is the event beyond a cut: of events below, cuts are ranks with the other sign, so
// that they rise as the event becomes rarer.
func eventOf(below bool, cut float64) event { return event{below, uint32(math.Abs(cut))} }

// likelier are the lists of the class in which the event is likelier, and of the other.
func (e event) likelier(in, out []uint32) (x, y []uint32) {
	if e.below {
		return out, in
	}
	return in, out
}

func (e event) has(rank uint32) bool { return rank != e.t && rank < e.t == e.below }

// count counts the ranks, in any order, that are in the event.
func (e event) count(ranks []uint32) int {
	n := 0
	for _, x := range ranks {
		if e.has(x) {
			n++
		}
	}
	return n
}

// countSorted is count of ranks in ascending order.
func (e event) countSorted(ranks []uint32) int {
	if !e.below {
		return membership.AboveSorted(ranks, e.t)
	}
	return sort.Search(len(ranks), func(i int) bool { return ranks[i] >= e.t })
}

// pairTable pairs the first of x with the first of y and so on, which are in random
// order, and counts events.
func pairTable(e event, x, y []uint32) *bounds.CanaryTable {
	var cells [2][2]int
	for i := range min(len(x), len(y)) {
		cells[one(e.has(x[i]))][one(e.has(y[i]))]++
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

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// half is the exploration half of the scores, by rank and sorted.
type half struct {
	in, out []uint32
	// Pairs of one of each class, in random order, as many as the smaller class has: their
	// scores by class, and the lower ones of all pairs.
	pairedIn, pairedOut, lower []uint32
	certifyIn, certifyOut      int
}

func (p Plan) explore(r *ranks.Ranks) *half {
	h := &half{}
	of := func(class int) (explore []uint32, certify int) {
		explore, rest := p.split(r, class)
		return slices.Clone(explore), len(rest)
	}
	h.in, h.certifyIn = of(recorded.In)
	h.out, h.certifyOut = of(recorded.Out)
	n := min(len(h.in), len(h.out))
	h.lower = make([]uint32, n)
	for i := range h.lower {
		h.lower[i] = min(h.in[i], h.out[i])
	}
	h.pairedIn, h.pairedOut = h.in, h.out
	for _, x := range []*[]uint32{&h.pairedIn, &h.pairedOut} {
		if len(*x) > n {
			*x = slices.Clone((*x)[:n])
			slices.Sort(*x)
		}
	}
	for _, x := range [][]uint32{h.in, h.out, h.lower} {
		slices.Sort(x)
	}
	return h
}

// certify is how many scores of the class in which an event is likelier certify, and how
// many of the other.
func (h *half) certify(below bool) (n1, n0 int) {
	if below {
		return h.certifyOut, h.certifyIn
	}
	return h.certifyIn, h.certifyOut
}

func (h *half) counts(e event) bounds.Counts {
	x, y := e.likelier(h.in, h.out)
	return bounds.Counts{X: e.countSorted(x), N1: len(x), Y: e.countSorted(y), N0: len(y)}
}

// pairTable is [pairTable] of the pairs, by what counts of sorted lists tell.
func (h *half) pairTable(e event) bounds.CanaryTable {
	x, y := e.likelier(h.pairedIn, h.pairedOut)
	nx, ny, both := e.countSorted(x), e.countSorted(y), e.countSorted(h.lower)
	if e.below { // the lower of two is in the event where one is
		both = nx + ny - both
	}
	return *tableOf([2][2]int{{len(x) - nx - ny + both, ny - both}, {nx - both, both}})
}

// cuts are the scores of both classes as cuts of events, in ascending order.
type cuts struct {
	*half
	below bool
}

func (c cuts) Len() int { return len(c.in) + len(c.out) }

func (c cuts) At(i int) float64 {
	if c.below {
		return -float64(ranks.Nth(c.Len()-1-i, c.in, c.out))
	}
	return float64(ranks.Nth(i, c.in, c.out))
}

func (c cuts) Above(cut float64) int {
	e := eventOf(c.below, cut)
	return e.countSorted(c.in) + e.countSorted(c.out)
}

// choose sweeps thresholds by what the certification half would certify by a method
// if it repeated the exploration.
func (h *half) choose(below bool, m report.Method, delta, beta float64) membership.Cut {
	pooled := cuts{h, below}
	certify1, certify0 := h.certify(below)
	return membership.SweepCuts(pooled, 1, pooled.Len()-1, func(at float64) (value, caution, gap float64) {
		e := eventOf(below, at)
		c := h.counts(e)
		n1, n0 := float64(c.N1), float64(c.N0)
		p1, p0 := float64(c.X)/n1, float64(c.Y)/n0
		if p1 <= delta || p1 <= p0 {
			return math.Inf(-1), membership.MostCaution, p1 - p0
		}
		// Half a score, where there was none.
		y0 := math.Max(p0, 0.5/n0)
		caution = math.Min(membership.MostCaution, math.Sqrt(float64(p1*(1-p1))/(n1*float64((p1-delta)*(p1-delta)))+(1-p0)/float64(n0*y0)))
		expected := bounds.Counts{X: int(math.Round(float64(p1 * float64(certify1)))), N1: certify1, Y: int(math.Round(float64(p0 * float64(certify0)))), N0: certify0}
		switch m {
		case report.MethodPaired:
			// The margins with independent sides.
			value = bounds.CanaryValue(h.pairTable(e), min(certify1, certify0), delta, beta)
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
func (s Scores) byRuns(p Plan, h Shape) *membership.Gathered {
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
	chosen := membership.NewExplored(k, m, scores[0]).Choose(membership.Aim{Interval: kind, Delta: delta, Beta: p.Beta, Runs: certify})
	rest := membership.NewExplored(k, m, scores[1]).Table(chosen.Threshold)
	chosen.Certified.Table, chosen.ScoreSample = &rest, membership.Portray(h.K, h.M, portrayed)
	return &chosen
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
