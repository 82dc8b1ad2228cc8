package report

import (
	"math"
)

// Finite is a pointer to x, nil where x is not finite.
func Finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}
