package estimators

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"gonum.org/v1/gonum/mat"
)

// KernelRenyiOptions set up the estimate. Zero values mean the defaults.
type KernelRenyiOptions struct {
	Bandwidth      float64      // sigma of the kernel exp(-|x - y|^2 / (2 sigma^2)), in units of the outputs; > 0; default: half of their median distance
	Regularisation float64      // lambda; in (1e-9, 1], below which rounding drowns it; default 0.001, the best of RényiTester's figure 2 at 100 outputs
	Check          func() error // called between the steps; an error ends the work; may be nil
}

// kernelOutputs is the most outputs a side: two eigenproblems of that size,
// some 3 s at 1000.
const kernelOutputs = 1000

// KernelRenyi estimates the regularised kernel Rényi divergence of order alpha
// between the distributions of first and second, in nats: the quantum Rényi
// divergence, in its sandwiched form,
//
//	1/(alpha-1) log tr ((B^s A B^s)^alpha),  s = (1-alpha)/(2 alpha),
//
// of the empirical covariance operators A of first and B, plus lambda times the
// identity, of second, of a Gaussian kernel. Symbols count as the numbers that
// stand for them.
//
// It is a baseline without a certificate: nothing is said about its error. With
// the true operators it would be a lower bound on the Rényi divergence, by the
// data processing inequality and since B + lambda I exceeds B; the empirical
// ones overfit, and where bandwidth and lambda are small against the distance
// of the outputs it exceeds the divergence without limit. It depends strongly on
// both (RényiTester, section B.6 and figure 2), and on single outputs far out:
// between N(0, 1) and N(1, 1) at alpha 2, 200 outputs and lambda 0.003 it has
// mean 0.85 and standard deviation 0.19; the divergence is 1. It may be negative.
//
// Source: Domingo-Enrich and Mroueh 2022, arXiv 2205.13941; Müller-Lennert et
// al. 2013, definition 2, for the sandwiched form. Cost: n^2 w + 30 n^3 for n
// outputs a side of width w; at most 1000 a side.
//
// It returns an error if alpha is not in (1, 700], an option is out of range,
// the columns differ, a side is empty or too long, or outputs are not finite or
// too large to square.
func KernelRenyi(first, second audit.Samples, alpha float64, o KernelRenyiOptions) (float64, error) {
	bad := func(field, found, want string) (float64, error) {
		return 0, &audit.InputError{Field: field, Found: found, Want: want}
	}
	n, m, width := first.Len(), second.Len(), audit.Width(first.Columns)
	if audit.Width(second.Columns) != width {
		return bad("second", fmt.Sprintf("outputs of width %d", audit.Width(second.Columns)), fmt.Sprintf("of width %d, as on the first side", width))
	}
	for _, k := range []int{n, m} {
		if k < 1 || k > kernelOutputs {
			return bad("outputs", fmt.Sprintf("%d and %d", n, m), fmt.Sprintf("1 to %d on each side", kernelOutputs))
		}
	}
	if !(alpha > 1 && alpha <= largestPower) {
		return bad("alpha", fmt.Sprint(alpha), fmt.Sprintf("in (1, %d]", largestPower))
	}
	if o.Regularisation == 0 {
		o.Regularisation = 0.001
	}
	if !(o.Regularisation > 1e-9 && o.Regularisation <= 1) {
		return bad("regularisation", fmt.Sprint(o.Regularisation), "in (1e-9, 1]")
	}
	for _, side := range []audit.Samples{first, second} {
		for _, v := range side.Rows {
			if !(math.Abs(v) <= 1e150) {
				return bad("outputs", fmt.Sprint(v), "in [-1e150, 1e150]")
			}
		}
	}
	if o.Bandwidth == 0 {
		o.Bandwidth = medianOf(first, second) / 2
	}
	if !(o.Bandwidth > 0 && !math.IsInf(o.Bandwidth, 1)) {
		return bad("bandwidth", fmt.Sprint(o.Bandwidth), "a finite number above 0")
	}
	if o.Check == nil {
		o.Check = func() error { return nil }
	}

	// B's eigenvalues b and vectors w: of the Gram matrix of second, over m.
	gram := mat.NewSymDense(m, nil)
	for i := range m {
		for j := range i + 1 {
			gram.SetSym(i, j, gaussianKernel(second.Row(i), second.Row(j), o.Bandwidth)/float64(m))
		}
	}
	if err := o.Check(); err != nil {
		return 0, err
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return 0, errNoEigen
	}
	b := eigen.Values(nil)
	var w mat.Dense
	eigen.VectorsTo(&w)
	if err := o.Check(); err != nil {
		return 0, err
	}

	// The other outputs along w: <phi(x_i), w_j> = (K v_j)_i / sqrt(m b_j).
	cross := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			cross.Set(i, j, gaussianKernel(first.Row(i), second.Row(j), o.Bandwidth))
		}
	}
	var along mat.Dense
	along.Mul(cross, &w)
	if err := o.Check(); err != nil {
		return 0, err
	}

	// B^s A B^s has the eigenvalues of the n x n matrix with entries
	// <phi(x_i), (B + lambda)^2s phi(x_k)>/n; off the span of second's outputs
	// (B + lambda)^2s is lambda^2s.
	power := (1 - alpha) / alpha
	base := math.Pow(o.Regularisation, power)
	scaled := mat.NewDense(n, m, nil)
	for j, v := range b {
		if v <= 1e-14 {
			continue // along such a vector B + lambda is lambda to rounding
		}
		weight := (math.Pow(v+o.Regularisation, power) - base) / (float64(m) * v)
		for i := range n {
			scaled.Set(i, j, weight*along.At(i, j))
		}
	}
	var inner mat.Dense
	inner.Mul(scaled, along.T())
	whole := mat.NewSymDense(n, nil)
	for i := range n {
		for k := range i + 1 {
			direct := float64(base * gaussianKernel(first.Row(i), first.Row(k), o.Bandwidth))
			whole.SetSym(i, k, (direct+float64((inner.At(i, k)+inner.At(k, i))/2))/float64(n))
		}
	}
	if err := o.Check(); err != nil {
		return 0, err
	}
	if !eigen.Factorize(whole, false) {
		return 0, errNoEigen
	}
	values := eigen.Values(nil)
	top := values[len(values)-1]
	sum := 0.0
	for _, v := range values {
		if v > 0 {
			sum += math.Pow(v/top, alpha)
		}
	}
	return (float64(alpha*math.Log(top)) + math.Log(sum)) / (alpha - 1), nil
}

var errNoEigen = errors.New("the eigenvalues of a kernel matrix did not converge")

// gaussianKernel is exp(-|x - y|^2 / (2 sigma^2)).
func gaussianKernel(x, y []float64, sigma float64) float64 {
	sum := 0.0
	for i, v := range x {
		d := (v - y[i]) / sigma
		sum += float64(d * d)
	}
	return math.Exp(-sum / 2)
}

// medianOf is the median distance between different outputs of both sides, of
// at most 256 of them.
func medianOf(first, second audit.Samples) float64 {
	rows := append(append([]float64{}, first.Rows...), second.Rows...)
	width := audit.Width(first.Columns)
	return medianSpread(rows, width, len(rows)/width)
}
