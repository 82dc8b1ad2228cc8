package estimators

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// All is the registry of the learners that a portfolio trains, one line each.
// What comes first is easier to read, and wins where another learner does
// hardly better.
var All = []audit.LearnerSpec{
	histogram,
	outcomeTable,
	logistic,
	logisticVector(), // fewer weights: better where summaries over-fit the tails
	logisticSums(),   // fewer still: better where columns tell alike
}

// Named are the learners that are used only when a plan names them. Networks
// take several times as long as all of All and do better only where columns
// depend on each other; kernels, polynomials and equal bins hardly ever do.
// float-bits refutes the claim of every mechanism that adds its noise in
// floating point, and no portfolio should hide a mechanism's other faults
// behind that.
func Named() []audit.LearnerSpec {
	return []audit.LearnerSpec{
		mlp("mlp", MLPOptions{}),
		mlp("mlp-100", MLPOptions{Hidden: papersLayers}), // the papers' network with this package's training
		histogramM("histogram-m", 100, true),
		floatBits,
		renyiTester(),
		hockeyStickTester(),
		histogramTester(),
		dpSniper(),
		chebyshev,
		kernelMean("kernel-mean", 128),
		mmdTester(),
	}
}

// Registry is all of them, for a catalogue.
func Registry() []audit.LearnerSpec { return slices.Concat(All, Named()) }
