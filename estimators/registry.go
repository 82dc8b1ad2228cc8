package estimators

import "github.com/dpscope/dpscope/core"

// All is the registry of learners, one line each.
var All = []core.LearnerSpec{
	outcomeTable,
	histogram,
	logistic,
}
