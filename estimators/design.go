package estimators

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

const (
	designRows  = 50_000  // most outputs a side that are fitted
	designCells = 1 << 23 // most numbers of a design (64 MiB)
	foldsOf     = 4       // one in four is held out to choose the penalty
	leastSpread = 1e-9    // of a feature that is kept
)

// rowWeights are how many outputs of each side a row stands for, fitted and held out.
type rowWeights struct{ fitted, held [2]float64 }

// design is the matrix of standardised features of the training outputs, in blocks of rows: feature j
// of row i of a block is at j*block + i. Equal outputs of symbols share a row.
type design struct {
	features  []feature
	deviation []float64 // before standardising
	blocks    [][]float64
	weights   []rowWeights
	most      int // outputs a side
}

// newDesign takes so many outputs a side at most, and drops features that do not vary.
func newDesign(ex audit.Exploration, list []feature, carriers []float64, most int) *design {
	d := &design{features: list, most: most}
	reader := newOutputReader(ex.First.Columns, carriers)
	rows := d.collect(ex, reader.width)
	for start := 0; start < len(d.weights); start += block {
		n := min(block, len(d.weights)-start)
		b := make([]float64, len(list)*block)
		for j, f := range list {
			reader.read(f, rows[start*reader.width:], n, (*floats)(b[j*block:]))
		}
		d.blocks = append(d.blocks, b)
		stopOn(ex.Check())
	}
	d.standardise()
	return d
}

// collect chooses rows and weights: distinct outputs if there are few, else some of each side by turns.
func (d *design) collect(ex audit.Exploration, width int) []float64 {
	sides := sides(ex)
	limit := max(block, min(d.most, designCells/2/max(1, len(d.features))))
	if rows := d.distinct(ex, width, limit); rows != nil {
		return rows
	}
	var stride [2]int
	turns := 0
	for s, side := range sides {
		stride[s] = (side.Len() + limit - 1) / limit
		turns = max(turns, (side.Len()+stride[s]-1)/stride[s])
	}
	rows := make([]float64, 0, 2*turns*width)
	for i := range turns {
		for s, side := range sides {
			if at := i * stride[s]; at < side.Len() {
				rows = append(rows, side.Row(at)...)
				d.weights = append(d.weights, rowWeights{})
				d.weights[len(d.weights)-1].add(s, i)
			}
		}
	}
	return rows
}

func (w *rowWeights) add(side, index int) {
	if index%foldsOf == foldsOf-1 {
		w.held[side]++
	} else {
		w.fitted[side]++
	}
}

// distinct counts equal outputs, if they hold symbols only and at most limit/8 are distinct; else nil.
func (d *design) distinct(ex audit.Exploration, width, limit int) []float64 {
	if !audit.AllSymbols(ex.First.Columns) {
		return nil
	}
	known := map[uint64]int{}
	var rows []float64
	for s, side := range sides(ex) {
		for i := range side.Len() {
			checked(&ex, i)
			row := side.Rows[i*width : (i+1)*width]
			key := audit.RowKey(row)
			at, ok := known[key]
			if !ok {
				if at = len(d.weights); at >= limit/8 {
					d.weights = d.weights[:0]
					return nil
				}
				known[key] = at
				rows = append(rows, row...)
				d.weights = append(d.weights, rowWeights{})
			}
			d.weights[at].add(s, i)
		}
	}
	return rows
}

// standardise brings features to mean 0 and deviation 1, and drops those that tell nothing more.
func (d *design) standardise() {
	d.deviation = make([]float64, len(d.features))
	var keep []int
	for j := range d.features {
		var total, sum, square, shift float64
		if len(d.blocks) > 0 {
			shift = d.blocks[0][j*block]
		}
		for k, b := range d.blocks {
			column := b[j*block : (j+1)*block]
			for i, weights := range d.weights[k*block : min(len(d.weights), (k+1)*block)] {
				v, w := column[i]-shift, weights.sum()
				total += w
				sum += float64(w * v)
				square += float64(w * float64(v*v))
			}
		}
		m := sum / total
		mean := m + shift
		d.deviation[j] = math.Sqrt(max(0, square/total-float64(m*m)))
		if !(d.deviation[j] > leastSpread) {
			continue
		}
		for k, b := range d.blocks {
			for i := range min(block, len(d.weights)-k*block) {
				b[j*block+i] = (b[j*block+i] - mean) / d.deviation[j]
			}
		}
		if !slices.ContainsFunc(keep, func(k int) bool { return d.double(k, j) }) {
			keep = append(keep, j)
		}
	}
	for k, b := range d.blocks {
		for to, from := range keep {
			copy(b[to*block:(to+1)*block], b[from*block:(from+1)*block])
		}
		d.blocks[k] = b[:len(keep)*block]
	}
	for to, from := range keep {
		d.features[to], d.deviation[to] = d.features[from], d.deviation[from]
	}
	d.features, d.deviation = d.features[:len(keep)], d.deviation[:len(keep)]
}

// double reports whether two standardised features are equal or opposite in all rows, but for rounding.
func (d *design) double(a, b int) bool {
	const tolerance = 1e-6
	for _, sign := range []float64{1, -1} {
		differ := func(all []float64) bool {
			x, y := all[a*block:(a+1)*block], all[b*block:(b+1)*block]
			for i, v := range x {
				if math.Abs(v-float64(sign*y[i])) > tolerance {
					return true
				}
			}
			return false
		}
		if !slices.ContainsFunc(d.blocks, differ) {
			return true
		}
	}
	return false
}

// caution is how many standard errors from 0 a log ratio lies whose score keeps half of it.
const caution = 2

// logRatio estimates log(p/q) from a of n outputs on the first side and b of m on the second, with
// half a count added to each, and the variance of the estimate.
func logRatio(a, n, b, m int) (ratio, variance float64) {
	x, y := float64(a)+0.5, float64(b)+0.5
	ratio = stream.Log(x) - stream.Log(y) - stream.Log(float64(n)+1) + stream.Log(float64(m)+1)
	return ratio, 1/x + 1/y
}

// cautious shrinks an estimated log ratio L of variance V to L^3/(L^2 + 4 V): what is mostly noise
// moves to the middle, so that rare outcomes do not lead the ranking by accident.
func cautious(ratio, variance float64) float64 {
	square := float64(ratio * ratio)
	return ratio * (square / (square + float64(caution*caution*variance)))
}

// logLoss is -log of the probability of the right side, for log odds z of an output of the first.
func logLoss(z float64) float64 {
	if z < 0 {
		return stream.Log1p(stream.Exp(z)) - z
	}
	return stream.Log1p(stream.Exp(-z))
}
