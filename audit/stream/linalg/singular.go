package linalg

import (
	"math"
	"slices"
)

// singularStep is the grid that singular vectors are rounded to, which takes other last bits away,
// unless singular values are equal.
const singularStep = 0x1p-20

// TailSingular returns the p right singular vectors of a matrix, given by rows, of the smallest
// singular values, the smallest first, largest entries positive; false: no convergence.
func TailSingular(v []float64, rows, columns, p int) ([]float64, bool) {
	vectors, ok := rightSingular(v, rows, columns)
	if !ok {
		return nil, false
	}
	out := make([]float64, p*columns)
	for i := range p {
		row := out[i*columns:][:columns]
		most := 0.0
		for j, x := range vectors[len(vectors)-1-i] {
			row[j] = float64(math.RoundToEven(x/singularStep) * singularStep)
			if math.Abs(row[j]) > math.Abs(most) {
				most = row[j]
			}
		}
		if most < 0 {
			for j := range row {
				row[j] = 0 - row[j]
			}
		}
	}
	return out, true
}

// rightSingular returns as many right singular vectors as the fewer of rows and columns, those of
// the largest singular values first. They are orthonormal, whatever the rank.
func rightSingular(of []float64, rows, columns int) ([][]float64, bool) {
	most := 0.0
	for _, x := range of {
		most = max(most, math.Abs(x))
	}
	_, size := math.Frexp(most)
	tall := rows > columns // then the columns are rotated, and the identity with them
	lines, n := rows, columns
	if tall {
		lines, n = n, lines
	}
	lists := make([][]float64, lines)
	for i := range lists {
		lists[i] = make([]float64, n, n+lines)
		for j := range lists[i] {
			at := i*columns + j
			if tall {
				at = j*columns + i
			}
			lists[i][j] = math.Ldexp(of[at], -size)
		}
		if tall {
			lists[i] = lists[i][:n+lines]
			lists[i][n+i] = 1
		}
	}
	if !Rows(lists, n) {
		return nil, false
	}
	for i, v := range lists {
		length := math.Sqrt(Dot(v[:n], v))
		switch {
		case tall:
			lists[i] = v[n:]
		case length > Least:
			for j := range v {
				v[j] /= length
			}
		default:
			complete(v, lists[:i])
		}
	}
	return lists, true
}

// complete makes v a unit vector orthogonal to the others, fewer than its entries: what is left of
// the axis farthest from them.
func complete(v []float64, others [][]float64) {
	clear(v)
	for _, o := range others {
		for j, x := range o {
			v[j] += float64(x * x)
		}
	}
	far := slices.Index(v, slices.Min(v))
	clear(v)
	v[far] = 1
	for range 2 { // once leaves rounding behind
		for _, o := range others {
			along := Dot(o, v)
			for j, x := range o {
				v[j] -= float64(along * x)
			}
		}
		length := math.Sqrt(Dot(v, v))
		for j := range v {
			v[j] /= length
		}
	}
}
