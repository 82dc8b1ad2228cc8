package estimators

import "math"

// The exponential of kernels: 2^(n + f) with |f| <= 1/2, the fraction by its
// Taylor polynomial of degree 6, to within 2e-7 of the value, the same bits on
// every platform. Below 2^-120 it is 0.
const (
	log2e32  = 1.44269504088896340736
	exp2c1   = 0.69314718055994530942
	exp2c2   = 0.24022650695910071233
	exp2c3   = 0.05550410866482157995
	exp2c4   = 0.00961812910762847716
	exp2c5   = 0.00133335581464284434
	exp2c6   = 0.00015403530393381609
	exp2Most = 120
)

// kernelSums writes into out, for each of n points, the sum over the landmarks
// of weight times exp(-rate |point - landmark|^2). products holds the inner
// products, a point a row, pointSquares and landmarkSquares the squared norms.
func kernelSums(products, pointSquares, landmarkSquares, weights []float32, rate float64, out []float64) {
	k := len(landmarkSquares)
	scale := float32(rate * log2e32)
	for i, p := range pointSquares {
		out[i] = kernelSum(products[i*k:(i+1)*k], landmarkSquares, weights, p, scale)
	}
}

func kernelSum(products, squares, weights []float32, square, scale float32) float64 {
	squares, weights = squares[:len(products)], weights[:len(products)]
	sum := 0.0
	for j, p := range products {
		d := (square + squares[j]) - float32(2*p)
		if d < 0 { // rounding
			d = 0
		}
		t := float32(d * scale)
		if t > exp2Most {
			continue
		}
		n := int32(t + 0.5)
		f := float32(n) - t
		e := 1 + float32(f*(exp2c1+float32(f*(exp2c2+float32(f*(exp2c3+float32(f*(exp2c4+float32(f*(exp2c5+float32(f*exp2c6)))))))))))
		sum += float64(weights[j] * float32(e*math.Float32frombits(uint32(127-n)<<23)))
	}
	return sum
}
