package estimators

import "github.com/dpscope/dpscope/core"

// All is the registry of learners, one line each. What comes first is easier
// to read, and wins where another learner does hardly better.
var All = []core.LearnerSpec{
	histogram,
	outcomeTable,
	logistic,
}
