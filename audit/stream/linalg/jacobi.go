package linalg

import "math"

const (
	// Least is the norm below which a row counts as zero, the largest entry being about 1.
	Least = 1e-100

	sweeps = 60
)

// Rows makes rows orthogonal, which is the singular value decomposition of their matrix: it rotates
// pairs of rows, over their whole length and in place, until their first n entries are orthogonal
// up to rounding; false where 60 sweeps do not suffice. Rows change places: those longest in the
// first n entries come first. Entries must be finite and at most about 1.
//
// With A for the first n entries and A = U S V', the rows end as those of S V'; what follows the
// first n entries, if it starts as the identity, ends as U'.
//
// Hestenes' method, Golub and Van Loan, Matrix Computations, 8.6.3, in de Rijk's order (1989).
func Rows(rows [][]float64, n int) bool {
	near := (10 + math.Sqrt(float64(n))) * 0x1p-52
	squares := make([]float64, len(rows))
	for range sweeps {
		for i, row := range rows {
			squares[i] = Dot4(row[:n], row)
		}
		done := true
		for i := range rows {
			most := i
			for k := i + 1; k < len(rows); k++ {
				if squares[k] > squares[most] {
					most = k
				}
			}
			rows[i], rows[most] = rows[most], rows[i]
			squares[i], squares[most] = squares[most], squares[i]
			for k := i + 1; k < len(rows); k++ {
				if !(squares[i] > Least*Least && squares[k] > Least*Least) {
					continue
				}
				product := Dot4(rows[i][:n], rows[k])
				if !(math.Abs(product) > near*math.Sqrt(squares[i])*math.Sqrt(squares[k])) {
					continue
				}
				done = false
				z := (squares[k] - squares[i]) / (2 * product)
				t := 1 / (math.Abs(z) + math.Sqrt(1+float64(z*z))) // the tangent
				if z < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(1+float64(t*t))
				rotate(rows[i], rows[k], c, float64(c*t))
				squares[i] -= float64(t * product)
				squares[k] = Dot4(rows[k][:n], rows[k])
			}
		}
		if done { // and what was selected without a rotation is sorted
			return true
		}
	}
	return false
}

func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for j, a := range x {
		b := y[j]
		x[j] = float64(c*a) - float64(s*b)
		y[j] = float64(s*a) + float64(c*b)
	}
}

// Dot4 is the inner product over the length of x, in four sums.
func Dot4(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	for len(x) >= 4 && len(y) >= 4 {
		a += float64(x[0] * y[0])
		b += float64(x[1] * y[1])
		c += float64(x[2] * y[2])
		d += float64(x[3] * y[3])
		x, y = x[4:], y[4:]
	}
	for j, v := range x {
		a += float64(v * y[j])
	}
	return (a + c) + (b + d)
}
