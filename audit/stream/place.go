package stream

import "math"

// Place is the place of x, which is no NaN, among all float64 in ascending order; 0 and -0
// have one.
func Place(x float64) uint64 {
	b := math.Float64bits(x + 0)
	return b ^ (uint64(int64(b)>>63) | 1<<63) // of negative ones all bits are turned, of others the sign
}

// AtPlace is the number with that [Place].
func AtPlace(p uint64) float64 {
	if p>>63 == 0 {
		return math.Float64frombits(^p)
	}
	return math.Float64frombits(p &^ (1 << 63))
}
