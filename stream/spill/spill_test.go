package spill_test

import (
	"os"
	"testing"

	"github.com/dpscope/dpscope/stream/spill"
)

// Values that are added together are those that are added one by one, in memory and beside
// it, whatever their number.
func TestAddAll(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, scratch := range []*spill.Scratch{nil, spill.New(file, 1<<10)} {
		one, all := spill.NewList[float64](100, scratch), spill.NewList[float64](100, scratch)
		var values []float64
		for size := range 200 {
			values = values[:0]
			for i := range size * 37 % 2900 {
				values = append(values, float64(size)+float64(i)/8)
				one.Add(values[i])
			}
			all.AddAll(values)
			if one.Len() != all.Len() {
				t.Fatalf("%d values, one by one %d", all.Len(), one.Len())
			}
		}
		if spilled := scratch != nil && spill.Possible; all.Spilled() != spilled {
			t.Errorf("spilled: %v", all.Spilled())
		}
		for i := range one.Len() {
			if one.At(i) != all.At(i) {
				t.Fatalf("value %d is %v, one by one %v", i, all.At(i), one.At(i))
			}
		}
		if err := scratch.Err(); err != nil {
			t.Error(err)
		}
	}
}
