package source

import (
	"math"

	"github.com/dpscope/dpscope/stream"
)

// fewSquares is up to how many degrees of freedom a chi-square is drawn as a sum
// of squares.
const fewSquares = 8

// chiSquare draws the squared length of a standard normal vector of n dimensions,
// n >= 0. A few are summed; else twice a gamma variate of shape n/2, by
// rejection, exact but for rounding: G. Marsaglia and W. W. Tsang, A simple
// method for generating gamma variables, ACM TOMS 26(3), 2000.
func chiSquare(st *stream.Stream, n int) float64 {
	var z [fewSquares]float64
	if n <= fewSquares {
		st.Gaussian(z[:n], 1)
		sum := 0.0
		for _, x := range z[:n] {
			sum += float64(x * x)
		}
		return sum
	}
	d := float64(float64(n)/2) - 1.0/3
	c := 1 / math.Sqrt(float64(9*d))
	for {
		st.Gaussian(z[:1], 1)
		v := 1 + float64(c*z[0])
		if v <= 0 {
			continue
		}
		v = float64(float64(v*v) * v)
		u, s := 1-st.Float64(), float64(z[0]*z[0]) // u in (0, 1]
		// Step 4, which saves nearly all logarithms, and step 5.
		if u < 1-float64(0.0331*float64(s*s)) ||
			stream.Log(u) < float64(s/2)+float64(d*(1-v+stream.Log(v))) {
			return float64(2 * float64(d*v))
		}
	}
}
