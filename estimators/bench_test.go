package estimators

import (
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

// BenchmarkScore scores blocks of 4096 outputs, as certification does; ns/row
// is what counts. On two nearly idle cores, Go 1.26, nanoseconds a row, native
// (go test -run '^$' -bench Score) and in Node:
//
//	histogram, one real column         5   13
//	outcome-table, 10 symbol columns  18   54
//	logistic, 10 symbol columns       40  119
//	logistic, 20 real columns        298  530
func BenchmarkScore(b *testing.B) {
	const rows = 4096
	for _, c := range []struct {
		spec     audit.LearnerSpec
		scenario scenario
	}{
		{histogram, laplaceShift(1)},
		{histogram, mixedScenario()},
		{outcomeTable, svt6(5, 1)},
		{outcomeTable, mixedScenario()},
		{outcomeTable, svt6(25, 1)},
		{logistic, laplaceShift(1)},
		{logistic, svt6(5, 1)},
		{logistic, mixedScenario()},
		{logistic, laplaceVector()},
	} {
		columns := len(c.scenario.columns)
		b.Run(c.spec.Name+"/"+c.scenario.name+"-"+string(rune('0'+columns/10))+string(rune('0'+columns%10)), func(b *testing.B) {
			m := must.Get(c.spec.Learn(c.scenario.exploration(20000)))(b)
			in := c.scenario.samples("bench", 0, rows)
			out := make([]float64, rows)
			for b.Loop() {
				m.Score(in.Rows, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkLearn learns from 50000 outputs a side, half of the default budget.
func BenchmarkLearn(b *testing.B) {
	for _, c := range []scenario{laplaceShift(1), svt6(5, 1), svt6(25, 0.1), mixedScenario(), laplaceVector()} {
		ex := c.exploration(50000)
		for _, spec := range Registry() {
			if spec.Applies(c.columns) != nil {
				continue
			}
			b.Run(spec.Name+"/"+c.name+"-"+string(rune('0'+len(c.columns)/10)), func(b *testing.B) {
				for b.Loop() {
					must.Get(spec.Learn(ex))(b)
				}
			})
		}
	}
}
