package estimators

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream/matmul"
)

const (
	chebyshevDegree = 8
	degreeMost      = 32 // of a model that is read
	chebyshevAlpha  = 2  // where the claim has none
)

// chebyshev fits a polynomial of one real column for the Rényi objective, in the Chebyshev basis of an
// interval between quantiles, cut to a perceptron's bound. Interval and degree are chosen on held-out
// outputs. Counts in a fine grid make it some tens of milliseconds for any number of outputs.
// Coefficients are quantised.
var chebyshev = settable([]audit.ParamSpec{
	{Name: "degree", Doc: "at most, of 1, 2, 4, 8, 16 and 32", Default: chebyshevDegree, Min: 1, Max: degreeMost, Integer: true},
}, func(p audit.Params) audit.LearnerSpec {
	return audit.LearnerSpec{
		Name:    "chebyshev",
		Title:   fmt.Sprintf("Chebyshev polynomial of degree %d at most on the Rényi objective", p.Int("degree")),
		Source:  "Polynomial witnesses of DP-Auditorium (Kong et al. 2023), section 4.1.2; L-BFGS (Nocedal and Wright 2006, algorithm 7.5)",
		ByName:  true,
		Applies: needs(oneReal, "polynomials need outputs of one real column"),
		Learn:   learner(func(ex audit.Exploration) *chebyshevModel { return learnChebyshev(ex, p.Int("degree")) }),
		Decode:  decoder[chebyshevModel],
	}
})

// chebyshevModel is a polynomial of t = 2 (x - low) / (high - low) - 1, with t and the score cut.
type chebyshevModel struct {
	Low          float64   `json:"low"`
	High         float64   `json:"high"`
	Bound        float64   `json:"bound"`
	Coefficients []float64 `json:"coefficients"` // of T_0, T_1, ...

	columns []audit.Column
}

func (m *chebyshevModel) ramp() feature {
	return feature{Kind: valueFeature, Low: m.Low, High: m.High}
}

func (m *chebyshevModel) Score(rows, out []float64) {
	var v, one, two floats
	ramp := m.ramp()
	for len(out) > 0 {
		n := min(block, len(out))
		copy(v[:n], rows[:n])
		ramp.ramps(&v, n)
		for i, r := range v[:n] {
			v[i] = float64(2*r) - 1
		}
		clear(one[:n])
		clear(two[:n])
		// Clenshaw's recurrence, b_k = c_k + 2 t b_{k+1} - b_{k+2}.
		for k := len(m.Coefficients) - 1; k > 0; k-- {
			c := m.Coefficients[k]
			for i, t := range v[:n] {
				b := c + float64(float64(2*t)*one[i]) - two[i]
				two[i], one[i] = one[i], b
			}
		}
		for i, t := range v[:n] {
			out[i] = within(m.Coefficients[0]+float64(t*one[i])-two[i], -m.Bound, m.Bound)
		}
		rows, out = rows[n:], out[n:]
	}
}

func (m *chebyshevModel) Describe(threshold float64, above bool) string {
	return fmt.Sprintf("polynomial of degree %d of %s, clipped to [%s, %s], %s %s", len(m.Coefficients)-1,
		columnName(m.columns, 0), figure(m.Low), figure(m.High), side(above), figure(threshold))
}

func (m *chebyshevModel) open(columns []audit.Column) {
	k := len(m.Coefficients)
	require(oneReal(columns), "model", "a polynomial", "a learner for these columns: a polynomial takes one real column")
	require(m.ramp().sound(), "model.low, high", fmt.Sprintf("%g, %g", m.Low, m.High), soundRamps)
	checkBound(m.Bound)
	require(k >= 1 && k <= degreeMost+1, "model.coefficients", fmt.Sprintf("a list of %d", k), "a list of %d", degreeMost+1)
	for i, c := range m.Coefficients {
		require(math.Abs(c) <= mostWeight, fmt.Sprintf("model.coefficients[%d]", i), c, "in [%g, %g]", -mostWeight, mostWeight)
	}
	m.columns = columns
}

const (
	gridCells       = 1024 // equal cells of the interval, the tails in the outermost
	gridIterations  = 200
	gridGradient    = 1e-7
	gridRidge       = 1e-6 // of the squares, for a minimum in flat directions
	coefficientMost = 1e3
	degreeMargin    = 0.005 // by which a higher degree must do better, of the loss
	windowMargin    = 0.03  // a narrower interval: tails make held-out losses noisy
)

// chebyshevWindows are quantiles between which the polynomial runs, the widest first.
var chebyshevWindows = [][2]float64{{0.0005, 0.9995}, {0.005, 0.995}, {0.05, 0.95}}

// grid counts outputs by cell and the basis at their middles.
type grid struct {
	fitted [2][]float64 // outputs a side
	held   [2][]float64
	basis  [][]float64 // T_k by cell
}

func learnChebyshev(ex audit.Exploration, most int) *chebyshevModel {
	alpha := renyiOrder(ex.Claim, chebyshevAlpha, "a polynomial")
	loss := witnessLoss{alpha: alpha}
	bound := mlpOptions{}.witnessBound(ex.Claim, loss.alpha)
	pool := pooled(ex, 0, nil)
	var best *chebyshevModel
	least := math.Inf(1)
	var tried []feature
	for _, w := range chebyshevWindows {
		last := float64(len(pool) - 1)
		low := within(pool[int(w[0]*last)], -hugeValue, hugeValue)
		high := within(pool[int(w[1]*last)], -hugeValue, hugeValue)
		m := &chebyshevModel{Low: low, High: high, Bound: bound, columns: ex.First.Columns}
		if !m.ramp().sound() || slices.Contains(tried, m.ramp()) {
			continue
		}
		tried = append(tried, m.ramp())
		g := newGrid(ex, m.ramp(), most)
		basis := g.basis
		for degree := 1; degree <= most; degree *= 2 {
			g.basis = basis[:degree+1]
			c := g.fit(loss, bound, ex.Check)
			margin := degreeMargin
			if best != nil && best.Low != low {
				margin = windowMargin
			}
			if value := g.loss(loss, bound, c, g.held, nil); best == nil || value < least-float64(margin*math.Abs(least)) {
				fit := *m
				fit.Coefficients, least, best = c, value, &fit
			}
		}
	}
	if best == nil {
		stopOn(errNoVariety)
	}
	return best
}

func newGrid(ex audit.Exploration, ramp feature, degree int) *grid {
	g := new(grid)
	for s := range g.fitted {
		g.fitted[s], g.held[s] = make([]float64, gridCells), make([]float64, gridCells)
	}
	var v floats
	eachBlock(ex, 1, func(s, start int, rows []float64) {
		n := copy(v[:], rows)
		ramp.ramps(&v, n)
		for i, r := range v[:n] {
			cell := min(int(float64(r*gridCells)), gridCells-1)
			if (start+i)%validationOf == validationOf-1 {
				g.held[s][cell]++
			} else {
				g.fitted[s][cell]++
			}
		}
	})
	for s, side := range sides(ex) {
		if side.Len() < validationOf {
			copy(g.held[s], g.fitted[s])
		}
	}
	for k := range degree + 1 {
		row := make([]float64, gridCells)
		for i := range row {
			t := float64((float64(2*i)+1)/gridCells) - 1
			switch k {
			case 0:
				row[i] = 1
			case 1:
				row[i] = t
			default:
				row[i] = float64(float64(2*t)*g.basis[k-1][i]) - g.basis[k-2][i]
			}
		}
		g.basis = append(g.basis, row)
	}
	return g
}

// fit minimises the logistic loss, which is convex, from the blind witness, and this loss from there.
func (g *grid) fit(loss witnessLoss, bound float64, check func() error) []float64 {
	c := make([]float64, len(g.basis))
	for _, l := range []witnessLoss{{theta: 1}, loss} {
		f := func(gradient, x []float64) float64 {
			stopOn(check())
			return g.loss(l, bound, x, g.fitted, gradient)
		}
		c = minimise(f, c, gridGradient, gridIterations)
	}
	for i := range c {
		c[i] = quantise(within(c[i], -coefficientMost, coefficientMost))
	}
	return c
}

// loss is the polynomial's on these counts, and its gradient if asked for: none of values that are cut.
func (g *grid) loss(l witnessLoss, bound float64, c []float64, counts [2][]float64, gradient []float64) float64 {
	h := make([]float64, gridCells)
	for k, row := range g.basis {
		matmul.AddScaled(h, row, c[k])
	}
	free := make([]float64, gridCells)
	for i, x := range h {
		if x >= -bound && x <= bound {
			free[i] = 1
		}
		h[i] = within(x, -bound, bound)
	}
	var slopes [2][]float64
	for s := range slopes {
		slopes[s] = make([]float64, gridCells)
	}
	value := l.value([2][]float64{h, h}, counts, slopes)
	for k := range c {
		value += float64(0.5 * gridRidge * float64(c[k]*c[k]))
	}
	if gradient != nil {
		for i := range h {
			slopes[0][i] = (slopes[0][i] + slopes[1][i]) * free[i]
		}
		for k, row := range g.basis {
			gradient[k] = matmul.Dot(slopes[0], row) + float64(gridRidge*c[k])
		}
	}
	return value
}
