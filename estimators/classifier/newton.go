package classifier

import (
	"math"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
)

// points are the rows of a logistic regression, and how often each was seen on either side.
type points struct {
	width int
	x     []float64
	n     [][2]float64
}

func (p *points) dot(i int, w []float64) float64 {
	return linalg.Dot(p.x[i*p.width:(i+1)*p.width], w)
}

type regression struct {
	points  *points
	penalty []float64 // a positive semidefinite matrix, rows of width
	w       []float64
	h       []float64 // Hessian at w, then its Cholesky factor
	g       []float64

	factored bool // h is the factor at the fit's last step
}

const (
	newtonSteps = 12
	smallStep   = 2e-3 // of any weight, where the fit stops
	longestStep = 4.0  // of any weight
)

func (r *regression) fit(steps int) {
	n := r.points.width
	r.h, r.g = make([]float64, n*n), make([]float64, n)
	for range steps {
		r.derivatives()
		if r.factored = linalg.Cholesky(r.h, n, 1e-12); !r.factored {
			return
		}
		linalg.Forward(r.h, r.g, n)
		linalg.Back(r.h, r.g, n)
		largest := 0.0
		for _, v := range r.g {
			largest = max(largest, math.Abs(v))
		}
		scale := 1.0
		if largest > longestStep {
			scale = longestStep / largest
		}
		for j, v := range r.g {
			r.w[j] -= float64(scale * v)
		}
		if largest < smallStep {
			return
		}
	}
}

// derivatives computes gradient and Hessian at w, four rows at a time.
func (r *regression) derivatives() {
	p, n := r.points, r.points.width
	copy(r.h, r.penalty)
	for i := range n {
		r.g[i] = 0
		for j := range n {
			r.g[i] += float64(r.penalty[i*n+j] * r.w[j])
		}
	}
	var x [4][]float64
	var e, v [4]float64
	for i := 0; i < len(p.n); {
		for lane := range x {
			for i < len(p.n) && p.n[i] == [2]float64{} {
				i++
			}
			if i == len(p.n) {
				e[lane], v[lane], x[lane] = 0, 0, p.x[:n]
				continue
			}
			both := p.n[i][0] + p.n[i][1]
			q := stream.Logistic(p.dot(i, r.w))
			e[lane], v[lane], x[lane] = float64(both*q)-p.n[i][0], float64(float64(both*q)*(1-q)), p.x[i*n:(i+1)*n]
			i++
		}
		for j := range n {
			x0, x1, x2, x3 := x[0][:j+1], x[1][:j+1], x[2][:j+1], x[3][:j+1]
			if x0[j] == 0 && x1[j] == 0 && x2[j] == 0 && x3[j] == 0 {
				continue
			}
			r.g[j] += float64(e[0]*x0[j]) + float64(e[1]*x1[j]) + (float64(e[2]*x2[j]) + float64(e[3]*x3[j]))
			a, b, c, d := float64(v[0]*x0[j]), float64(v[1]*x1[j]), float64(v[2]*x2[j]), float64(v[3]*x3[j])
			row := r.h[j*n : j*n+j+1]
			for k := range row {
				row[k] += float64(a*x0[k]) + float64(b*x1[k]) + (float64(c*x2[k]) + float64(d*x3[k]))
			}
		}
	}
}

// without are about the log odds of every row had one of its outputs of that side not been fitted: one
// Newton step away (approximate leave-one-out: Rad and Maleki 2020). The fit must have ended. They may
// be counted, but not learnt from: they tell the side that was left out.
func (r *regression) without() [2][]float64 {
	p, n := r.points, r.points.width
	x := make([]float64, n)
	out := [2][]float64{make([]float64, len(p.n)), make([]float64, len(p.n))}
	for i := range p.n {
		z := p.dot(i, r.w)
		q := stream.Logistic(z)
		leverage := 0.0
		if r.factored {
			copy(x, p.x[i*n:(i+1)*n])
			linalg.Forward(r.h, x, n)
			leverage = linalg.Dot(x, x)
		}
		rest := max(0.05, 1-float64(float64(leverage*q)*(1-q)))
		out[0][i] = z - float64(leverage*(1-q))/rest
		out[1][i] = z + float64(leverage*q)/rest
	}
	return out
}

func (r *regression) counted() *Table {
	by, t := r.without(), new(Table)
	for i, n := range r.points.n {
		t.count([2]float64{by[0][i], by[1][i]}, n)
	}
	return t
}
