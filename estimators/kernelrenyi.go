package estimators

import (
	"errors"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
)

// kernelRenyi is RKRDTester: it estimates the regularised kernel Rényi divergence at the claimed alpha,
// and scores by what that compares, the log ratio of <phi(z), (A + lambda) phi(z)> and <phi(z), (B +
// lambda) phi(z)>, mean squared kernels plus lambda (smoothed densities: Bach 2022, section 4). The
// estimate has no error bound, certifies nothing, and depends strongly on lambda and on the bandwidth
// (RényiTester, section B.6 and figure 2).
func kernelRenyi() audit.LearnerSpec {
	return settable([]audit.ParamSpec{
		{Name: "outputs", Doc: "outputs a side in the operators", Default: 100, Min: 1, Max: landmarksMost, Integer: true},
		{Name: "lambda", Doc: "the regularisation", Default: 0.001, Min: 1e-9, Max: 1},
		{Name: "bandwidth", Doc: "of the kernel, in median distances", Default: 0.5, Max: 100, Open: true},
	}, func(p audit.Params) audit.LearnerSpec {
		spec := published("kernel-renyi", "Regularised kernel Rényi divergence of RKRDTester",
			"Domingo-Enrich and Mroueh 2022, arXiv 2205.13941; RényiTester (Kong, Muñoz Medina and Ribero 2023), section B.6",
			kernelMean(p.Int("outputs"), p.Num("bandwidth")))
		spec.Learn = learner(func(ex audit.Exploration) *kernelMeanModel {
			alpha := renyiOrder(ex.Claim, chebyshevAlpha, "a kernel divergence")
			m := learnKernelMean(ex, p.Int("outputs"), p.Num("bandwidth"))
			m.Lambda = p.Num("lambda")
			m.Divergence = quantise(m.divergence(alpha, ex.Check))
			m.prepare()
			return m
		})
		return spec
	})
}

// divergence is the regularised kernel Rényi divergence of order alpha of the landmarks, the quantum
// divergence in its sandwiched form,
//
//	1/(alpha-1) log tr ((B^s A B^s)^alpha),  s = (1-alpha)/(2 alpha),
//
// of the covariance operators A of the first side's features and B, plus lambda, of the second's
// (Müller-Lennert et al. 2013, definition 2). With the true operators it would be at most the Rényi
// divergence; the empirical ones overfit. Features are the rows of a pivoted Cholesky factor of the
// kernel matrix, as many as leave less than 1e-12 of any output: n r^2 operations for r rows.
func (m *kernelMeanModel) divergence(alpha float64, check func() error) float64 {
	const left = 1e-12
	width := len(m.Inputs)
	all := len(m.Landmarks) / width
	second := all - m.First
	// Second side first: its entries are made orthogonal, and the others turn with them.
	at := func(i int) []float32 {
		i = (i + m.First) % all
		return m.Landmarks[i*width : (i+1)*width]
	}
	rest := slices.Repeat([]float64{1}, all)
	var rows [][]float64
	for len(rows) < all {
		pivot := slices.Index(rest, slices.Max(rest))
		if rest[pivot] < left {
			break
		}
		stopOn(check())
		row, x, scale := make([]float64, all), at(pivot), 1/math.Sqrt(rest[pivot])
		for i := range row {
			square := 0.0
			for j, v := range at(i) {
				d := float64(v-x[j]) / float64(m.Bandwidth)
				square += float64(d * d)
			}
			row[i] = stream.Exp(-square / 2)
		}
		for _, r := range rows {
			for i := range row {
				row[i] -= float64(r[pivot] * r[i])
			}
		}
		for i := range row {
			row[i] *= scale
			rest[i] -= float64(row[i] * row[i])
		}
		rows = append(rows, row)
	}
	if !linalg.Rows(rows, second) {
		stopOn(errNoEigenvalues)
	}
	stopOn(check())
	for k, row := range rows {
		b := linalg.Dot4(row[:second], row) / float64(second)
		scale := stream.Exp((1-alpha)/(2*alpha)*stream.Log(b+m.Lambda)) / math.Sqrt(float64(m.First))
		rows[k] = row[second:]
		for i := range rows[k] {
			rows[k][i] *= scale
		}
	}
	if !linalg.Rows(rows, m.First) {
		stopOn(errNoEigenvalues)
	}
	largest, sum := linalg.Dot4(rows[0], rows[0]), 0.0
	for _, row := range rows {
		if v := linalg.Dot4(row, row); v > 0 {
			sum += stream.Exp(alpha * stream.Log(v/largest))
		}
	}
	return (float64(alpha*stream.Log(largest)) + stream.Log(sum)) / (alpha - 1)
}

var errNoEigenvalues = errors.New("the eigenvalues of a kernel operator did not converge")
