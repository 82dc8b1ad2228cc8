package estimators

import "math"

// sideCounts are outputs a cell on each of the two sides.
type sideCounts struct {
	cells [2][]int
	total [2]int
}

func newSideCounts(cells int) sideCounts {
	return sideCounts{cells: [2][]int{make([]int, cells), make([]int, cells)}}
}

func (c sideCounts) plus(d sideCounts) sideCounts {
	sum := newSideCounts(len(c.cells[0]))
	for s := range sum.cells {
		sum.total[s] = c.total[s] + d.total[s]
		for i := range sum.cells[s] {
			sum.cells[s][i] = c.cells[s][i] + d.cells[s][i]
		}
	}
	return sum
}

// isAtom reports whether the bin (low, high] holds one number only.
func isAtom(low, high float64) bool { return math.Nextafter(high, math.Inf(-1)) == low }

// smoothed estimates the log likelihood ratio of each cell as the mean over its
// neighbours of the same run, weighted by a triangle of this reach and by how
// well each is known, and shrinks it by its own variance.
func smoothed(c sideCounts, run []int, reach int) []float64 {
	ratio := make([]float64, len(run))
	variance := make([]float64, len(run))
	for i := range run {
		ratio[i], variance[i] = logRatio(c.cells[0][i], c.total[0], c.cells[1][i], c.total[1])
	}
	out := make([]float64, len(run))
	for i := range run {
		if run[i] == 0 || reach == 0 {
			out[i] = cautious(ratio[i], variance[i])
			continue
		}
		var weight, sum, square float64
		for j := max(0, i-reach); j <= min(len(run)-1, i+reach); j++ {
			if run[j] != run[i] {
				continue
			}
			k := float64(reach + 1 - max(i-j, j-i))
			w := k / variance[j]
			weight += w
			sum += float64(w * ratio[j])
			square += float64(w * k)
		}
		out[i] = cautious(sum/weight, square/float64(weight*weight))
	}
	return out
}

// chooseSmoothing returns the reach that guesses best across two folds, and
// what it gains over no guess, in nats an output.
func chooseSmoothing(folds [2]sideCounts, run []int) (reach int, gain float64) {
	for r := 0; r <= min(roughest, len(run)-1); r = max(1, 2*r) {
		g := (heldOutGain(smoothed(folds[0], run, r), folds[1]) + heldOutGain(smoothed(folds[1], run, r), folds[0])) / 2
		if r == 0 || g > gain {
			reach, gain = r, g
		}
	}
	return reach, gain
}

// heldOutGain is the mean log score of guessing an output's side with these log
// odds, the sides equally likely, less that of guessing blindly.
func heldOutGain(scores []float64, c sideCounts) float64 {
	if c.total[0] == 0 || c.total[1] == 0 {
		return 0
	}
	var loss [2]float64
	var inside [2]int
	for i, s := range scores {
		loss[0] += float64(float64(c.cells[0][i]) * logLoss(s))
		loss[1] += float64(float64(c.cells[1][i]) * logLoss(-s))
		inside[0] += c.cells[0][i]
		inside[1] += c.cells[1][i]
	}
	gain := 0.0
	for s := range loss {
		outside := float64(float64(c.total[s]-inside[s]) * math.Ln2)
		gain += math.Ln2 - (loss[s]+outside)/float64(c.total[s])
	}
	return gain / 2
}
