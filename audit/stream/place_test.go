package stream

import (
	"math"
	"slices"
	"testing"
)

// Places are in the order of the numbers, and tell them.
func TestPlace(t *testing.T) {
	values := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 0x1p-1022, 1, math.Nextafter(1, 2), math.MaxFloat64, math.Inf(1)}
	s := New(Key{Seed: 1, Purpose: "test/place"})
	for range 1000 {
		if v := math.Float64frombits(s.Uint64()); v == v {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	for i, v := range values {
		if AtPlace(Place(v)) != v {
			t.Errorf("%v is at %d, where %v is", v, Place(v), AtPlace(Place(v)))
		}
		if i > 0 && (Place(values[i-1]) < Place(v)) != (values[i-1] < v) {
			t.Errorf("%v and %v are at %d and %d", values[i-1], v, Place(values[i-1]), Place(v))
		}
	}
	if Place(math.Copysign(0, -1)) != Place(0) || math.Signbit(AtPlace(Place(0))) {
		t.Error("0 and -0 are at two places")
	}
}
