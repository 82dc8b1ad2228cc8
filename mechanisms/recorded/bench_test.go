package recorded_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// Rows of two columns: a number of 17 digits and the dataset, or a word.
func BenchmarkParse(b *testing.B) {
	const rows = 1_000_000
	var comma, words, quotes, lines bytes.Buffer
	values := make([]float64, 0, 2*rows)
	for i := range rows {
		x := float64(i*7919%rows)/3.7 - 1e4
		fmt.Fprintf(&comma, "%v,%d\n", x, i%2)
		fmt.Fprintf(&words, "%v,%v\n", x, i%2 == 0)
		fmt.Fprintf(&quotes, "\"%v\",%d\n", x, i%2)
		fmt.Fprintf(&lines, "{\"x\": %v, \"dataset\": %d}\n", x, i%2)
		values = append(values, x, float64(i%2))
	}
	for _, x := range []struct {
		name string
		data string
	}{{"csv", "x,dataset\n" + comma.String()}, {"words", "x,member\n" + words.String()}, {"quotes", "x,dataset\n" + quotes.String()}, {"csv.gz", packed("x,dataset\n" + comma.String())}, {"jsonl", lines.String()}, {"npy", npy(1, "<f8", false, []int{rows, 2}, values)}, {"npz", npz(true, entry{"a.npy", npy(1, "<f8", false, []int{rows, 2}, values)})}} {
		b.Run(x.name, func(b *testing.B) {
			b.SetBytes(int64(len(x.data)))
			b.ReportAllocs()
			for b.Loop() {
				f, err := recorded.Read(strings.NewReader(x.data), recorded.Options{})
				if err != nil || f.Tables[0].Rows() != rows {
					b.Fatal(err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
