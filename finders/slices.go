package finders

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

const (
	mostSlices = 8
	sliceParts = 32 // equal parts of a slice
)

// quantiles takes scores to the values that they stand for: those of trials, the
// quietest first, each score once.
type quantiles struct{ scores, values []float64 }

// newQuantiles takes the scores of values, both in one order.
func newQuantiles(scores, values []float64) quantiles {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	var q quantiles
	for _, i := range order {
		if n := len(q.scores); n > 0 && q.scores[n-1] == scores[i] {
			q.values[n-1] = values[i]
			continue
		}
		q.scores, q.values = append(q.scores, scores[i]), append(q.values, values[i])
	}
	return q
}

// loudest is the highest score of a trial.
func (q quantiles) loudest() float64 { return q.scores[len(q.scores)-1] }

// at is the value at a score: between two trials on the line between them, beyond
// all of them that of the last. Between silence and a value there is nothing: the
// nearer one counts.
func (q quantiles) at(score float64) float64 {
	for k, s := range q.scores {
		switch {
		case score > s:
			continue
		case k == 0:
			return q.values[0]
		}
		t := (score - q.scores[k-1]) / (s - q.scores[k-1])
		if q.values[k-1] < audit.Silence {
			t = math.Floor(t + 0.5)
		}
		return mix(q.values[k-1], q.values[k], t)
	}
	return q.values[len(q.values)-1]
}

// prediction is what the process says of a point, nil where it has heard nothing.
func (g fitted) prediction(x []float64) *audit.Prediction {
	if len(g.trials) == 0 {
		return nil
	}
	mean, sd := g.predict(x)
	p := audit.Prediction{Mean: mean, SD: sd, Low: g.values.at(mean - sd), Middle: g.values.at(mean), High: g.values.at(mean + sd),
		Beyond: mean+sd > g.values.loudest()}
	for _, v := range []*float64{&p.Mean, &p.SD, &p.Low, &p.Middle, &p.High} {
		*v = audit.SixDigits(*v)
	}
	return &p
}

// Predicted is what the process said of a pair when it was proposed, the trials
// that were still open imagined; nil for the design.
func (b *bandit) Predicted(p audit.Pair) *audit.Prediction { return b.said[pairKey(p)] }

// Model is the process after the history, and at most mostSlices slices: where
// there are more parameters, those along which its mean moves most.
func (b *bandit) Model(history []audit.Trial, through int) *audit.SurrogateModel {
	b.note(history)
	at, ok := b.find(history[through].Pair)
	if !ok {
		return nil
	}
	g := b.fit()
	m := &audit.SurrogateModel{Model: "Gaussian process, squared-exponential kernel", SqrtBeta: curiosity,
		Noise: audit.SixDigits(math.Sqrt(float64(g.noise * g.signal))), Through: through, Slices: []audit.SurrogateSlice{}}
	for k, i := range g.trials {
		m.Trials, m.Scores = append(m.Trials, b.tried[i].trial), append(m.Scores, audit.SixDigits(g.y[k]))
	}
	for i := range b.space.kinds {
		if s, ok := b.slice(g, b.tried[at].at, i); ok {
			m.Slices = append(m.Slices, s)
		}
	}
	for len(m.Slices) > mostSlices {
		flattest, least := 0, math.Inf(1)
		for i, s := range m.Slices {
			if move := slices.Max(s.Mean) - slices.Min(s.Mean); move <= least {
				flattest, least = i, move
			}
		}
		m.Slices = append(m.Slices[:flattest], m.Slices[flattest+1:]...)
	}
	return m
}

// slice is the process along coordinate i through a point; false where the pair
// there does not depend on it.
func (b *bandit) slice(g fitted, through []float64, i int) (audit.SurrogateSlice, bool) {
	s := b.space
	out := audit.SurrogateSlice{Parameter: s.parameter(i), Geometric: i == s.sizeAt}
	if !s.has(s.shape(through), i) {
		return out, false
	}
	moved := func(x float64) []float64 {
		u := slices.Clone(through)
		u[i] = x
		return u
	}
	var points [][]float64 // one for each position
	for _, t := range shares(func(t float64) float64 { return audit.SixDigits(s.position(moved(s.coordinate(i, t)), i)) }) {
		points = append(points, moved(s.coordinate(i, t)))
	}
	for _, u := range points {
		mean, sd := g.predict(s.features(u))
		out.Positions = append(out.Positions, audit.SixDigits(s.position(u, i)))
		out.Mean, out.SD = append(out.Mean, audit.SixDigits(mean)), append(out.SD, audit.SixDigits(sd))
	}
	for _, k := range g.trials {
		u := b.tried[k].at
		at, near := audit.SixDigits(s.position(u, i)), 0.0
		if s.has(s.shape(u), i) && out.Positions[0] <= at && at <= out.Positions[len(points)-1] {
			near = audit.SixDigits(g.kernel(s.features(u), s.features(moved(u[i]))))
		} else {
			at = 0
		}
		out.At, out.Near = append(out.At, at), append(out.Near, near)
	}
	return out, len(points) > 1
}

// shares are shares of a parameter's axis, one for each position: of those that
// share one an end of the axis, else the middle one.
func shares(position func(t float64) float64) []float64 {
	var out []float64
	for lo := 0; lo <= sliceParts; {
		hi := lo
		for hi < sliceParts && position(float64(hi+1)/sliceParts) == position(float64(lo)/sliceParts) {
			hi++
		}
		k := (lo + hi) / 2
		switch {
		case lo == 0:
			k = 0
		case hi == sliceParts:
			k = sliceParts
		}
		out = append(out, float64(k)/sliceParts)
		lo = hi + 1
	}
	return out
}

// coordinate is where on coordinate i a share t of the way along its parameter
// lies.
func (s *space) coordinate(i int, t float64) float64 {
	if s.kinds[i] == moveAxis {
		switch move := float64(2*t) - 1; {
		case move < 0:
			return 1 - (0.6 - float64(0.1*move))
		case move > 0:
			return 0.6 + float64(0.1*move)
		}
		return 0.5
	}
	m := s.margin(i)
	return m + float64(t*(1-2*m))
}

// position is what coordinate i stands for in a point's pair, in units of its own.
func (s *space) position(u []float64, i int) float64 {
	sh := s.shape(u)
	switch i {
	case s.sizeAt:
		return float64(sh.rows)
	case s.runsAt:
		return float64(sh.runs)
	case s.placeAt:
		switch s.relation {
		case audit.AddRemove:
			return float64(sh.place) / float64(max(sh.rows, 1))
		case audit.Replace, audit.BoundedReplace:
			return float64(sh.place) / float64(max(sh.rows-1, 1))
		}
		return float64(sh.place+1) / float64(sh.rows)
	}
	c := s.firstColumn(i)
	low, high := s.bounds(c)
	switch {
	case s.kinds[i] == moveAxis:
		move := float64(staircase(u[i]) * s.domain.Reach)
		if s.domain.Integer {
			move = math.Trunc(move)
		}
		return move
	case s.isMiddle(i):
		return mix(low, high, stretched(u[i], answerMargin))
	}
	return s.row(u, s.rowStart(i))[c]
}

// rowStart is the first coordinate of the row that coordinate i is of.
func (s *space) rowStart(i int) int {
	if i < s.rowsAt {
		return s.changedAt
	}
	return s.rowAt(s.runOf(i))
}

// firstColumn is the first of the columns that share coordinate i.
func (s *space) firstColumn(i int) int {
	k := (i - s.rowStart(i)) % s.columns
	for c := range s.domain.Columns {
		if s.sharedBy(c) == k {
			return c
		}
	}
	panic("finder: a coordinate of no column")
}

// parameter is what coordinate i is, in words.
func (s *space) parameter(i int) string {
	words := [4]string{"rows of the smaller dataset", "runs of equal rows", "share of the rows before the one that is added", "row that is added"}
	switch s.relation {
	case audit.Replace:
		words = [4]string{"rows", "runs of equal rows", "share of the others before the row that is replaced", "row that takes its place"}
	case audit.BoundedReplace:
		words = [4]string{"rows", "runs of equal rows", "share of the others before the row that moves", "row that moves"}
	case audit.LInfinity:
		words = [4]string{"answers", "runs of equal answers", "which answer stands alone, as a share of them (0: none)", "answer that stands alone"}
	}
	switch i {
	case s.sizeAt:
		return words[0]
	case s.runsAt:
		return words[1]
	case s.placeAt:
		return words[2]
	}
	what := words[3]
	if i >= s.rowsAt {
		what = fmt.Sprintf("rows of run %d", s.runOf(i)+1)
		if s.relation == audit.LInfinity {
			what = fmt.Sprintf("answers of run %d", s.runOf(i)+1)
		}
	}
	if n := s.domain.Columns; n > 1 {
		first := s.firstColumn(i)
		last := first
		for last+1 < n && s.sharedBy(last+1) == s.sharedBy(first) {
			last++
		}
		if what += fmt.Sprintf(", column %d", first+1); last > first {
			what += fmt.Sprintf(" and those up to %d", last+1)
		}
	}
	switch {
	case s.kinds[i] == moveAxis:
		return "move of the " + what
	case s.isMiddle(i):
		return "middle of the " + what
	}
	return what
}
