package estimators

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
	"github.com/dpscope/dpscope/audit/stream/matmul"
)

const (
	fitGradient     = 3e-5 // where fits stop, in the coordinates of a metric
	roughIterations = 40   // of fits that choose the penalty
	fineIterations  = 200
	checkCells      = 1 << 19 // numbers of a design between calls of Check, some 0.5 ms
)

// penalties are tried from the strongest on until one guesses worse than the one before: half of one
// times the squared norm of the weights is added to the mean loss.
var penalties = []float64{3, 0.3, 0.03, 3e-3, 3e-4, 3e-5}

// fit chooses the penalty on held-out outputs.
func (d *design) fit(check func() error) []float64 {
	moments := d.secondMoments(check)
	o := &objective{design: d, moments: moments, check: check}
	w := make([]float64, len(d.features)+1) // last: the intercept
	best, chosen, start := math.Inf(1), penalties[0], w
	for _, penalty := range penalties {
		o.penalty = penalty
		next := o.minimise(w, roughIterations)
		loss := o.heldOut(next)
		if !(loss < best) {
			break
		}
		best, chosen, start, w = loss, penalty, next, next
	}
	o.penalty, o.held = chosen, 1
	return o.minimise(start, fineIterations)
}

// objective is the penalised mean logistic loss of a design.
type objective struct {
	design  *design
	penalty float64
	moments []float64
	metric  *metric
	held    float64 // 1: the held-out outputs are fitted too
	check   func() error
}

func (o *objective) minimise(w []float64, iterations int) []float64 {
	o.metric = newMetric(o.moments, len(w), o.penalty)
	u := minimise(o.evaluate, o.metric.coordinates(w), fitGradient, iterations)
	return slices.Clone(o.metric.weights(u))
}

func (o *objective) evaluate(gradient, u []float64) float64 {
	d := o.design
	p := len(d.features)
	x := o.metric.weights(u)
	clear(gradient)
	var z, r floats
	var loss, total float64
	for k, b := range d.blocks {
		if k%max(1, checkCells/block/(p+1)) == 0 {
			stopOn(o.check())
		}
		weights := d.weights[k*block : min(len(d.weights), (k+1)*block)]
		forward(b, x, p, &z)
		clear(r[:])
		product := 1.0 // of 1 + e over outputs that stand alone: at most 2^512
		for i, w := range weights {
			first := w.fitted[0] + float64(o.held*w.held[0])
			both := first + w.fitted[1] + float64(o.held*w.held[1])
			if both == 0 {
				continue
			}
			total += both
			e := stream.Exp(-math.Abs(z[i]))
			if both == 1 {
				product *= 1 + e
			} else {
				loss += float64(both * stream.Log1p(e))
			}
			share := 1 / (1 + e) // probability of the likelier side
			if z[i] >= 0 {
				loss += float64((both - first) * z[i])
			} else {
				loss -= float64(first * z[i])
				share = 1 - share
			}
			r[i] = float64(both*share) - first
			gradient[p] += r[i]
		}
		loss += stream.Log(product)
		backward(b, &r, p, gradient)
	}
	total = cmp.Or(total, 1)
	value := loss / total
	for j := range gradient {
		gradient[j] /= total
		if j < p { // the intercept goes free
			value += float64(0.5 * o.penalty * float64(x[j]*x[j]))
			gradient[j] += float64(o.penalty * x[j])
		}
	}
	linalg.Forward(o.metric.tri, gradient, o.metric.n) // a gradient in w becomes one in u
	return value
}

func (o *objective) heldOut(x []float64) float64 {
	d := o.design
	var z floats
	var loss, total float64
	for k, b := range d.blocks {
		forward(b, x, len(d.features), &z)
		for i, w := range d.weights[k*block : min(len(d.weights), (k+1)*block)] {
			loss += float64(w.held[0]*logLoss(z[i])) + float64(w.held[1]*logLoss(-z[i]))
			total += w.held[0] + w.held[1]
		}
	}
	return loss / max(1, total)
}

// forward is b's rows times x, four features at a time.
func forward(b, x []float64, p int, z *floats) {
	for i := range z {
		z[i] = x[p]
	}
	j := 0
	for ; j+4 <= p; j += 4 {
		x0, x1, x2, x3 := x[j], x[j+1], x[j+2], x[j+3]
		f := (*[4 * block]float64)(b[j*block:])
		for i := range z {
			z[i] += (float64(x0*f[i]) + float64(x1*f[block+i])) + (float64(x2*f[2*block+i]) + float64(x3*f[3*block+i]))
		}
	}
	for ; j < p; j++ {
		x0 := x[j]
		f := (*floats)(b[j*block:])
		for i := range z {
			z[i] += float64(x0 * f[i])
		}
	}
}

// backward adds b's columns times r to gradient.
func backward(b []float64, r *floats, p int, gradient []float64) {
	j := 0
	for ; j+4 <= p; j += 4 {
		var g0, g1, g2, g3 float64
		f := (*[4 * block]float64)(b[j*block:])
		for i := range r {
			v := r[i]
			g0 += float64(v * f[i])
			g1 += float64(v * f[block+i])
			g2 += float64(v * f[2*block+i])
			g3 += float64(v * f[3*block+i])
		}
		gradient[j] += g0
		gradient[j+1] += g1
		gradient[j+2] += g2
		gradient[j+3] += g3
	}
	for ; j < p; j++ {
		f := (*floats)(b[j*block:])
		g := 0.0
		for i := range r {
			g += float64(r[i] * f[i])
		}
		gradient[j] += g
	}
}

const gramRows = 1 << 13

// metric is a lower triangular L with L L' near the Hessian of a penalised logistic loss at small
// scores: a quarter of the features' second moments, plus the penalty. In u = L' w the loss is nearly
// round: L-BFGS needs tens of iterations where features that overlap cost it hundreds.
type metric struct {
	n    int
	tri  []float64 // row i at i*n
	temp []float64
}

// secondMoments are the mean products of the features, the constant last; row i at i*(p+1).
func (d *design) secondMoments(check func() error) []float64 {
	n := len(d.features) + 1
	moments := make([]float64, n*n)
	stride := max(1, len(d.blocks)*block/gramRows)
	ones := slices.Repeat([]float64{1}, block)
	total := 0
	for k := 0; k < len(d.blocks); k += stride {
		rows := min(block, len(d.weights)-k*block)
		total += rows
		var weighted floats
		for i := range n {
			if i%8 == 0 {
				stopOn(check())
			}
			x := ones
			if i < n-1 {
				x = d.blocks[k][i*block : (i+1)*block]
			}
			clear(weighted[:])
			for r := range rows {
				weighted[r] = x[r] * d.weights[k*block+r].sum()
			}
			backward(d.blocks[k], &weighted, min(i+1, n-1), moments[i*n:])
			if i == n-1 {
				for _, v := range weighted {
					moments[i*n+i] += v
				}
			}
		}
	}
	whole := moments[n*n-1]
	for i := range moments {
		moments[i] /= whole
	}
	return moments
}

func (w rowWeights) sum() float64 { return w.fitted[0] + w.fitted[1] + w.held[0] + w.held[1] }

func newMetric(moments []float64, n int, penalty float64) *metric {
	m := &metric{n: n, tri: make([]float64, n*n), temp: make([]float64, n)}
	for i := range n {
		for j := range i + 1 {
			m.tri[i*n+j] = float64(moments[i*n+j] / 4)
		}
		if i < n-1 {
			m.tri[i*n+i] += penalty
		}
	}
	linalg.Cholesky(m.tri, n, 1e-9) // rounding must not stop the fit
	return m
}

// weights returns w with L' w = u.
func (m *metric) weights(u []float64) []float64 {
	w := m.temp
	copy(w, u)
	for i := m.n - 1; i >= 0; i-- {
		row := m.tri[i*m.n : (i+1)*m.n]
		w[i] /= row[i]
		for k, v := range row[:i] {
			w[k] -= float64(v * w[i])
		}
	}
	return w
}

// coordinates returns u = L' w.
func (m *metric) coordinates(w []float64) []float64 {
	u := make([]float64, m.n)
	for i, x := range w {
		for k, v := range m.tri[i*m.n : i*m.n+i+1] {
			u[k] += float64(v * x)
		}
	}
	return u
}

const storedSteps = 15

// minimise runs L-BFGS from x, which it changes, until the gradient's largest entry falls below
// tolerance. It returns the best point found if it stops before: after as many iterations, the start
// being the first, or three times as many values, or where a line search finds nothing better. f is the
// value at a point and writes its gradient; it keeps and changes neither. Learning ends where they are not
// finite at x.
//
// The directions are those of Nocedal and Wright, Numerical Optimization (2006), algorithm 7.4, the line
// search a bisection: the same points on every platform, unlike gonum's.
func minimise(f func(gradient, x []float64) float64, x []float64, tolerance float64, iterations int) []float64 {
	g := make([]float64, len(x))
	value := f(g, x)
	steepest := largest(g)
	if start := value + steepest; math.IsNaN(start) || math.IsInf(start, 0) {
		stopOn(fmt.Errorf("the loss of a fit is %v at its start, its gradient up to %v", value, steepest))
	}
	best := slices.Clone(x)
	if steepest < tolerance || iterations < 2 {
		return best
	}
	past := newCurvature(x, g)
	values := 1
	for steps := 1; ; {
		from := slices.Clone(x)
		direction, step := past.direction(x, g, steps == 1)
		slope := linalg.Dot4(g, direction)
		if slope >= 0 {
			return best
		}
		// The least value is between the steps low and high, as far as is known.
		start, atLow, atHigh := value, value, math.NaN()
		low, high := 0.0, math.Inf(1)
		for {
			for i, d := range direction {
				x[i] = from[i] + float64(step*d)
			}
			if slices.Equal(x, from) {
				return best
			}
			value = f(g, x)
			values++
			if values >= 3*iterations {
				return best
			}
			up := false // the least value is at a smaller step
			if value > start || value > atLow || value > atHigh || value != value {
				up = math.IsInf(high, 1) || atLow <= atHigh
			} else {
				now := linalg.Dot4(g, direction)
				if math.Abs(now) < float64(enoughSlope*math.Abs(slope)) {
					break
				}
				up = now > 0 || !math.IsInf(high, 1) && !(now < 0)
			}
			if up {
				high, atHigh = step, value
			} else {
				low, atLow = step, value
			}
			next := audit.Pick(math.IsInf(high, 1), step*2, (low+high)/2)
			if next == step {
				return best
			}
			step = next
		}
		copy(best, x)
		steps++
		if steps >= iterations || math.IsInf(value, -1) || largest(g) < tolerance {
			return best
		}
	}
}

const enoughSlope = 0.9

// curvature is the last point and gradient, and the last differences of points (s) and gradients (y).
type curvature struct {
	x, g   []float64
	s, y   [storedSteps][]float64
	rho    [storedSteps]float64 // 1 / s'y
	oldest int
}

func newCurvature(x, g []float64) *curvature {
	c := &curvature{x: slices.Clone(x), g: slices.Clone(g)}
	for i := range c.s {
		c.s[i], c.y[i] = make([]float64, len(x)), make([]float64, len(x))
	}
	return c
}

// direction is where to go from a point, and the step to try.
func (c *curvature) direction(x, g []float64, first bool) (d []float64, step float64) {
	d = slices.Clone(g)
	step = 1
	if first {
		// Scaled sums, in which nothing overflows.
		scale, squares := 0.0, 1.0
		for _, v := range g {
			if v = math.Abs(v); v > scale {
				r := scale / v
				squares = 1 + float64(float64(squares*r)*r)
				scale = v
			} else if v > 0 {
				r := v / scale
				squares += float64(r * r)
			}
		}
		step = 1 / float64(scale*math.Sqrt(squares))
	} else {
		s, y := c.s[c.oldest], c.y[c.oldest]
		for i := range x {
			s[i], y[i] = x[i]-c.x[i], g[i]-c.g[i]
		}
		product := linalg.Dot4(s, y)
		c.rho[c.oldest] = 1 / product
		c.oldest = (c.oldest + 1) % storedSteps
		copy(c.x, x)
		copy(c.g, g)
		var a [storedSteps]float64
		for i := range storedSteps { // from the latest back
			k := (c.oldest + storedSteps - 1 - i) % storedSteps
			a[k] = float64(c.rho[k] * linalg.Dot4(c.s[k], d))
			matmul.AddScaled(d, c.y[k], -a[k])
		}
		scale(d, product/linalg.Dot4(y, y))
		for i := range storedSteps {
			k := (c.oldest + i) % storedSteps
			matmul.AddScaled(d, c.s[k], a[k]-float64(c.rho[k]*linalg.Dot4(c.y[k], d)))
		}
	}
	scale(d, -1)
	return d, step
}

func scale(x []float64, a float64) {
	for i := range x {
		x[i] *= a
	}
}

// largest is the largest absolute value, or NaN if that is in list.
func largest(list []float64) float64 {
	most := 0.0
	for _, v := range list {
		most = max(most, math.Abs(v))
	}
	return most
}
