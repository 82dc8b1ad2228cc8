// Package classifier learns the probability that an output came from the first of two datasets: what a
// sequential audit bets by. Several learners work on the same outputs, from the first few on, and each
// says of every output that it learnt from what it would have said without it.
//
// Log odds are on a grid of [Cells] cells, so that what a bet earns is a function of one table of counts.
// A bad learner costs power, never validity.
package classifier

import "math"

// Cells is how many cells log odds have: from -8 to 8 in steps of 1/16.
const (
	Cells  = 257
	middle = Cells / 2
	fine   = 16 // cells of a unit
)

// Logit is the log odds of a cell.
func Logit(cell int) float64 { return float64(cell-middle) / fine }

func cellOf(z float64) int {
	c := math.Floor(float64(z*fine) + (middle + 0.5))
	if !(c > 0) {
		return 0
	}
	return int(min(c, Cells-1))
}

// Table counts outputs of the first and of the second dataset by the cell of their log odds.
type Table [2][Cells]int

// Candidate is one of the learners.
type Candidate int

// The candidates. Logistic regressions need a feature that varies, splines one real column alone.
const (
	Tree4     Candidate = iota // a tree of counts, each node shrunk to the one above by 4 outputs
	Tree16                     // by 16
	Tree64                     // by 64
	Ridge1                     // logistic regression on features, with a ridge penalty of 1
	Ridge16                    // of 16
	Spline3                    // a spline of the only real column, with a roughness penalty of 3
	Spline30                   // of 30
	Spline300                  // of 300
	Binned                     // counts in quantile bins of Ridge16's log odds
	Stacked                    // logistic regression on the log odds of the best tree and the best ridge
	Rounded                    // a tree, as Tree4, of how numbers are rounded, where a claim is about that
	Candidates
)

var names = [Candidates]string{"tree-4", "tree-16", "tree-64", "ridge-1", "ridge-16", "spline-3", "spline-30", "spline-300", "binned", "stacked", "rounded"}

func (c Candidate) String() string { return names[c] }
