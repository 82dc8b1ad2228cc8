package finders

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// The process agrees with the textbook: mean k'(K+rI)⁻¹y and variance
// s²(1 - k'(K+rI)⁻¹k) by an explicit inverse, and a likelihood that falls when
// the noise is far from that of the data.
func TestProcessAgainstTextbook(t *testing.T) {
	r := stream.New(stream.Key{Seed: 4, Purpose: "test"})
	axes := []axis{{kind: shapeAxis}, {kind: valueAxis}, {kind: valueAxis}, {kind: moveAxis}}
	const n = 12
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = []float64{r.Float64(), r.Float64(), r.Float64(), r.Float64()}
		y[i] = math.Sin(3*x[i][1]) + x[i][3]
	}
	g := fitProcess(axes, x, normalScores(y))
	k := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			v := g.kernel(x[i], x[j])
			if i == j {
				v += g.noise
			}
			k.Set(i, j, v)
		}
	}
	var inverse mat.Dense
	must.Do(t, inverse.Inverse(k))
	at := []float64{0.2, 0.4, 0.6, 0.8}
	row := mat.NewVecDense(n, nil)
	for i := range n {
		row.SetVec(i, g.kernel(at, x[i]))
	}
	yv := mat.NewVecDense(n, g.y)
	signal := mat.Inner(yv, &inverse, yv) / n
	wantMean := mat.Inner(row, &inverse, yv)
	wantSD := math.Sqrt(signal * (1 - mat.Inner(row, &inverse, row)))
	mean, sd := g.predict(at)
	if math.Abs(mean-wantMean) > 1e-9 || math.Abs(sd-wantSD) > 1e-9 {
		t.Errorf("mean %v, sd %v; want %v, %v", mean, sd, wantMean, wantSD)
	}
	// What is imagined leaves the mean there, and takes doubt away.
	g.imagine(at)
	after, less := g.predict(at)
	if math.Abs(after-mean) > 1e-9 || less > 0.9*sd {
		t.Errorf("after an imagined trial: mean %v and sd %v, before %v and %v", after, less, mean, sd)
	}
	far, _ := g.predict([]float64{100, 100, 100, 100})
	if math.Abs(far) > 1e-9 {
		t.Errorf("far from all points the mean is %v", far)
	}
}

// Lengths follow the data: the axis that matters gets the shorter one.
func TestLengthsFollowTheData(t *testing.T) {
	r := stream.New(stream.Key{Seed: 5, Purpose: "test"})
	const n = 60
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = []float64{r.Float64(), r.Float64()}
		y[i] = math.Sin(8 * x[i][1])
	}
	g := fitProcess([]axis{{kind: valueAxis}, {kind: moveAxis}}, x, normalScores(y))
	if g.length[moveAxis] >= g.length[valueAxis] {
		t.Errorf("lengths %v; the second kind alone matters", g.length)
	}
}

func TestNormalScores(t *testing.T) {
	s := normalScores([]float64{3, -99, 3, 7})
	if !(s[1] < s[0] && s[0] == s[2] && s[2] < s[3] && math.Abs(s[1]+s[3]) < 1e-12) {
		t.Errorf("scores %v", s)
	}
	if one := normalScores([]float64{5}); one[0] != 0 {
		t.Errorf("one score: %v", one)
	}
}
