package poison

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
)

const (
	mostClimbs = 200
	leastClimb = 1e-6 // of the reach, at which it ends
)

// climb moves x uphill. A step is as long as the last one that helped, and halved where it does not.
func (q *problem) climb(x []float64, value func(x []float64) float64, slope func(x, g []float64)) []float64 {
	at, g, trial := slices.Clone(x), make([]float64, q.d), make([]float64, q.d)
	q.project(at)
	best, step := value(at), float64(q.reach()/2)
	for range mostClimbs {
		slope(at, g)
		norm := math.Sqrt(linalg.Dot(g, g))
		if !(norm > 0) {
			break
		}
		for {
			for j := range trial {
				trial[j] = at[j] + float64(step*g[j])/norm
			}
			q.project(trial)
			if v := value(trial); v > best+float64(1e-12*math.Abs(best)) {
				best = v
				copy(at, trial)
				break
			}
			if step /= 2; step < leastClimb*q.reach() {
				return at
			}
		}
	}
	return at
}

type fit struct {
	w    []float64
	chol []float64 // of X'WX + n lambda I, the Hessian of the sum of all losses
}

// train is the twin without noise. Its first error, or [problem.fit]'s, is kept: what follows is void.
func (q *problem) train(d audit.Dataset) []float64 {
	w, err := q.Table.Train(d)
	if err != nil {
		q.failed, w = cmp.Or(q.failed, err), make([]float64, q.d)
	}
	return w
}

func (q *problem) fit(d audit.Dataset) *fit {
	w := q.train(d)
	h := make([]float64, q.d*q.d)
	for j := range q.d {
		h[j*q.d+j] = float64(float64(d.Len()) * q.Table.Ridge)
	}
	for i := range d.Len() {
		x := q.seen(d.Row(i)[:q.d])
		p := stream.Logistic(linalg.Dot(w, x))
		weight := float64(p * (1 - p))
		for j, v := range x {
			for k, u := range x {
				h[j*q.d+k] += float64(float64(weight*v) * u)
			}
		}
	}
	if !linalg.Cholesky(h, q.d, 0) {
		q.failed = cmp.Or(q.failed, errors.New("the Hessian of the table is not definite"))
	}
	return &fit{w, h}
}

func (f *fit) times(x []float64) []float64 {
	out := slices.Clone(x)
	linalg.Forward(f.chol, out, len(out))
	linalg.Back(f.chol, out, len(out))
	return out
}

// influence of a row on the coefficients: (y - ŷ) (X'WX + n lambda I)^-1 x.
func (f *fit) influence(x []float64, y float64) []float64 {
	wrong := y - stream.Logistic(linalg.Dot(f.w, x))
	return audit.Each(f.times(x), func(v float64) float64 { return float64(v * wrong) })
}

// slope is along the gradient of the influence's norm: that of its logarithm, of |y - ŷ| and |H^-1 x|.
func (f *fit) slope(x []float64, y float64, g []float64) {
	p := stream.Logistic(linalg.Dot(f.w, x))
	of := audit.Pick(y == 1, -p, 1-p) // d log (1 - p), d log p
	u := f.times(x)
	v, square := f.times(u), linalg.Dot(u, u)
	for j := range g {
		g[j] = float64(of * f.w[j])
		if square > 0 {
			g[j] += v[j] / square
		}
	}
}

// influence climbs to where the influence function's norm is largest. "We first select (x, y) closest
// to the corner of the hyper-rectangle containing the data [...] and initialize (x*, y*) as the mean
// point in the opposite class" (section 4.1). There are several summits: it climbs from the means of both
// classes and the ends of the axes of least variance and of the features, with either label, and takes the
// summit that moves coefficients trained anew most (step 3). A second proposal takes the place of the row
// whose removal moves them on.
func influence(q *problem) []point {
	f := q.fit(q.Table.Base)
	if q.failed != nil {
		return nil
	}
	lower, upper := slices.Clone(q.x[0]), slices.Clone(q.x[0])
	for _, x := range q.x {
		for j, v := range x {
			lower[j], upper[j] = min(lower[j], v), max(upper[j], v)
		}
	}
	order := q.cornered(lower, upper)
	opposite := 1 - q.y[order[0]]
	starts := [][]float64{q.mean(opposite), q.mean(1 - opposite)}
	ends := [][]float64{q.least()}
	for j := range min(q.d, 16) {
		ends = append(ends, make([]float64, q.d))
		ends[len(ends)-1][j] = 1
	}
	for _, e := range ends {
		for _, sign := range []float64{1, -1} {
			starts = append(starts, audit.Each(e, func(v float64) float64 { return float64(float64(sign*v) * q.reach()) }))
		}
	}
	var row []float64
	most := -1.0
	for _, start := range starts {
		for _, y := range []float64{opposite, 1 - opposite} {
			x := q.climb(start, func(x []float64) float64 { i := f.influence(x, y); return linalg.Dot(i, i) }, func(x, g []float64) { f.slope(x, y, g) })
			summit := poisoned(x, y)
			w := q.train(q.with(summit, order))
			if v := squared(w, f.w); v > float64(most*(1+1e-9)) {
				most, row = v, summit
			}
		}
	}
	what := "the row of the largest influence"
	points := []point{{what, row, order}}
	if q.Relation == audit.Replace {
		in := f.influence(row[:q.d], row[q.d])
		points = append(points, point{what, row, q.nearest(func(i int) float64 { return -squared(in, f.influence(q.x[i], q.y[i])) })})
	}
	return points
}

// coefficient descends to the row with which the coefficients, trained anew at each step, lie nearest
// to a target of the same norm at right angles to them, on either side.
func coefficient(q *problem) []point {
	f := q.fit(q.Table.Base)
	if q.failed != nil {
		return nil
	}
	// Across w: the axis along which w is shortest, less its part along w.
	sizes := audit.Each(f.w, math.Abs)
	at, square := slices.Index(sizes, slices.Min(sizes)), linalg.Dot(f.w, f.w)
	across := make([]float64, q.d)
	across[at] = 1
	if square > 0 {
		for j, v := range f.w {
			across[j] -= float64(v*f.w[at]) / square
		}
	}
	norm, size := math.Sqrt(linalg.Dot(across, across)), math.Sqrt(square)
	if !(norm > 1e-9) {
		across[at], norm = 1, 1 // of one feature nothing lies across
	}
	rows := q.cornered(q.Domain.Lower, q.Domain.Upper)
	var points []point
	var moved []float64
	for _, sign := range []float64{1, -1} {
		target := audit.Each(across, func(v float64) float64 { return float64(float64(sign*size)*v) / norm })
		y := 1 - q.y[rows[0]]
		with := func(x []float64) audit.Dataset { return q.with(append(slices.Clone(x), y), rows) }
		x := q.climb(q.mean(y), func(x []float64) float64 { return -squared(q.train(with(x)), target) }, func(x, g []float64) {
			// The coefficients solve a stationarity, whose derivative by x is (y - p) I - p (1 - p) x w'.
			to := q.fit(with(x))
			gap := audit.Listed(q.d, func(j int) float64 { return target[j] - to.w[j] })
			u, p := to.times(gap), stream.Logistic(linalg.Dot(to.w, x))
			pull := float64(float64(p*(1-p)) * linalg.Dot(x, u))
			for j := range g {
				g[j] = float64((y-p)*u[j]) - float64(pull*to.w[j])
			}
		})
		points = append(points, point{"the row that pulls the coefficients to a perpendicular target", poisoned(x, y), rows})
		moved = append(moved, squared(q.fit(with(x)).w, f.w))
	}
	if moved[1] > moved[0] {
		points[0], points[1] = points[1], points[0]
	}
	return points
}

const (
	shadows     = 8
	shadowSlope = 1e-4 // of the reach: the step of its differences
)

// shadow moves a random row to where its loss is largest, by models of random halves of the table.
func shadow(q *problem) []point {
	q.failed = audit.Require(q.Table.Probability != nil && q.Table.Train != nil, "finder", `"shadow"`, "another for a learner that predicts no probability")
	var models [][]float64
	for len(models) < shadows && q.failed == nil {
		half := audit.Dataset{Columns: q.d + 1}
		for i := range q.n {
			if q.Stream.Intn(2) == 1 {
				half.Values = append(half.Values, q.Table.Base.Row(i)...)
			}
		}
		if half.Len() == 0 {
			half = q.Table.Base
		}
		models = append(models, q.train(half))
	}
	if q.failed != nil {
		return nil
	}
	i := q.Stream.Intn(q.n)
	y := q.y[i]
	loss := func(x []float64) float64 {
		sum := 0.0
		for _, m := range models {
			p := q.Table.Probability(m, x)
			if y == 0 {
				p = 1 - p
			}
			sum -= stream.Log(max(p, 1e-300))
		}
		return sum
	}
	h := float64(shadowSlope * q.reach())
	x := q.climb(q.x[i], loss, func(x, g []float64) {
		moved := slices.Clone(x)
		for j, v := range x {
			moved[j] = v + h
			g[j] = loss(moved)
			moved[j] = v - h
			g[j] -= loss(moved)
			moved[j] = v
		}
	})
	return []point{{"a row where shadow models are most wrong", poisoned(x, y), q.alike(i)}}
}
