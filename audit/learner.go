package audit

import (
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/audit/stream"
)

// Exploration is what a learner sees: outputs on both datasets of a pair, for training only.
type Exploration struct {
	First, Second Samples
	Claim         Claim
	Stream        *stream.Stream // for learners that need randomness
	// Check is to be called every few milliseconds; the learner returns its error at once.
	Check func() error
}

// LearnerSpec is one line of the registry of learners.
type LearnerSpec struct {
	Name   string
	Title  string
	Source string
	// ByName: not in the portfolio.
	ByName bool
	// Steady: a portfolio takes it where validation cannot tell that another does better.
	Steady bool
	// Bits: it reads how numbers are rounded. A plan that names it says that the claim is about
	// doubles, and a portfolio trains it where a column says so ([Column.Bits]).
	Bits bool
	// Settings stand behind the name ("mlp:epochs=5:units=64"), and With is the learner with all of
	// them.
	Settings []ParamSpec
	With     func(Params) LearnerSpec
	// Tester is the published tester whose witness the learner trains, if any.
	Tester Tester
	// Applies is nil where the learner can work on such outputs, else an error.
	Applies func(columns []Column) error
	// Learn returns a model that scores outputs, or an error that says why; a portfolio goes on
	// without it.
	Learn func(Exploration) (Model, error)
	// Decode reads a model that json.Marshal wrote, and refuses one that does not fit columns.
	Decode func(data json.RawMessage, columns []Column) (Model, error)
}

// Tester is a published tester whose statistic a report shows too.
type Tester string

const (
	RenyiTester       Tester = "RényiTester"
	ADPTester         Tester = "aDPTester"
	HockeyStickTester Tester = "HockeyStickTester"
	MMDTester         Tester = "MMDTester"
)

// Model is a score for each output, higher where it is likelier on the pair's first dataset. It is
// a JSON value, and its scores have the same bits on every platform (products rounded before they
// are added, no transcendental functions of package math), since counts depend on them.
type Model interface {
	// Score writes the finite score of each row of rows (flat) into out. Several goroutines may
	// call it at once.
	Score(rows, out []float64)
	// Describe says which outputs score above the threshold, or, not above, below it.
	Describe(threshold float64, above bool) string
}

// RoundingModel is a model of how numbers are rounded: its events lie all over an axis.
type RoundingModel interface {
	Model
	ReadsRounding()
}

// Labelled says where a table of labelled examples comes from.
type Labelled struct {
	File     RecordedFile    `json:"file"`
	Rows     int             `json:"rows"`
	Features []string        `json:"features"`
	Classes  []string        `json:"classes"` // the labels 0 and 1
	Clipped  int             `json:"clipped"` // values beyond the declared bounds, moved to the nearest
	Reading  LabelledReading `json:"reading"`

	Notes []string `json:"-"`
}

// LabelledReading is how a file of labelled examples is read.
type LabelledReading struct {
	Label string `json:"label,omitempty"` // name or number (from 1) of the label's column; the last
	// Bounds are declared ranges of features, as age=0:120,height=1:2.2; one without a name is of
	// all others.
	Bounds  string   `json:"bounds,omitempty"`
	Classes []string `json:"classes,omitempty"` // the two labels; those that occur
}

// Words are the facts of a table.
func (l *Labelled) Words() string {
	return fmt.Sprintf("%s (SHA-256 %.12s...), %d rows of %d features", l.File.Name, l.File.SHA256, l.Rows, len(l.Features))
}

// Learning is what a learner trains.
type Learning string

const (
	// Logistic is regularised logistic regression without an intercept: its model is the
	// coefficients.
	Logistic Learning = "logistic"
	// NaiveBayes is Gaussian: its model is, of label 0 and then of label 1, the mean of each
	// feature, then the variances alike, then the share of label 1.
	NaiveBayes Learning = "naive-bayes"
	// Forest is a forest whose splits do not depend on the rows.
	Forest Learning = "forest"
	// Network is anything else that Probability tells of.
	Network Learning = "network"
)

// Table is what an attack on a learner knows: rows of the domain, and the learner's twin without
// noise.
type Table struct {
	// Base has the features of a row and then its label, 0 or 1.
	Base Dataset
	// Features names the columns of Base but the last, Classes the labels 0 and 1.
	Features []string
	Classes  [2]string
	Learning
	// Ridge is lambda of [Logistic]: the mean of the losses and Ridge/2 times the squared norm are
	// minimised.
	Ridge float64
	// Radius is the L2 norm that the features of a row have at most; 0: any.
	Radius float64
	// Train makes the model's numbers without noise.
	Train func(Dataset) ([]float64, error)
	// Probability is that of label 1; nil where there is none.
	Probability func(model, features []float64) float64
}
