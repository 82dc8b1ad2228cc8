package classifier

import (
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// TestDataIsFull: data says when to give it no more, by distinct outputs of numbers and by
// all outputs of symbols, and what it was given stands on both sides alike.
func TestDataIsFull(t *testing.T) {
	for kind, most := range map[audit.ColumnKind]int{audit.Real: mostRows, audit.Symbol: mostOutputs} {
		d := NewData([]audit.Column{{Name: "x", Kind: kind}})
		rows := make([]float64, 50_000)
		given := 0
		for !d.Full() {
			for i := range rows {
				rows[i] = float64(i % 3)
			}
			d.Add(0, rows)
			d.Add(1, rows)
			given += len(rows)
		}
		if d.total != [2]int{given, given} || 2*given < most || 2*(given-len(rows)) >= most {
			t.Errorf("%s: full at %v of %d outputs", kind, d.total, most)
		}
		var n [2]float64
		for _, c := range d.count {
			n[0] += c[0]
			n[1] += c[1]
		}
		if n != [2]float64{float64(given), float64(given)} {
			t.Errorf("%s: it holds %v of %d outputs a side", kind, n, given)
		}
	}
}
