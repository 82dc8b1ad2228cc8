package estimators

import (
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// gaussianVector is ten coordinates of N(0, 1), shifted by 0.2 on the second
// side.
func gaussianVector() scenario {
	const shift = 0.2
	return scenario{
		name: "gaussian-vector", columns: realColumns(10),
		draw: func(s *stream.Stream, side int, out []float64) {
			s.Gaussian(out, 1)
			for i := range out {
				out[i] += float64(side) * shift
			}
		},
		ratio: func(row []float64) float64 {
			sum := 0.0
			for _, v := range row {
				sum += shift * (shift/2 - v)
			}
			return sum
		},
	}
}

// BenchmarkTrain is five epochs of the papers' 2 x 100 network on 100,000
// ten-dimensional outputs, four fifths of them in the batches. On two busy
// cores, Go 1.26, seconds native (go test -run '^$' -bench Train) and in Node:
//
//	training                     3.6    7.0
//
// and microseconds an output, BenchmarkScoreNetwork:
//
//	2 x 32 units                 0.58   1.4
//	2 x 100 units                3.1    5.6
func BenchmarkTrain(b *testing.B) {
	ex := gaussianVector().exploration(50000)
	spec := must.Get(MLP("wide", MLPOptions{Hidden: [2]int{100, 100}, Epochs: 5}))(b)
	for b.Loop() {
		must.Get(spec.Learn(ex))(b)
	}
}

// BenchmarkScoreNetwork scores blocks of 4096 outputs.
func BenchmarkScoreNetwork(b *testing.B) {
	const rows = 4096
	c := gaussianVector()
	for _, hidden := range []int{32, 100} {
		spec := must.Get(MLP("mlp", MLPOptions{Hidden: [2]int{hidden, hidden}, Epochs: 1}))(b)
		b.Run(spec.Title, func(b *testing.B) {
			m := must.Get(spec.Learn(c.exploration(2000)))(b)
			in, out := c.samples("bench", 0, rows), make([]float64, rows)
			for b.Loop() {
				m.Score(in.Rows, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}
