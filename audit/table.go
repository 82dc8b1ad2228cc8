package audit

// Learning is what a learner trains.
type Learning string

const (
	// Logistic is regularised logistic regression without an intercept, by any
	// perturbation or by gradients: its model is the coefficients, one a feature.
	Logistic Learning = "logistic"
	// NaiveBayes is Gaussian naive Bayes: its model is, of label 0 and then of label 1,
	// the mean of each feature, then the variances alike, then the share of label 1.
	NaiveBayes Learning = "naive-bayes"
	// Forest is a forest whose splits do not depend on the rows.
	Forest Learning = "forest"
	// Network is anything else that Probability tells of.
	Network Learning = "network"
)

// Table is what an attack on a learner knows: the rows that it starts from, the domain
// of which is the mechanism's, and the learner's twin without noise.
type Table struct {
	// Base has the features of a row and then its label, 0 or 1.
	Base Dataset
	// Features names the columns of Base but the last, Classes the labels 0 and 1.
	Features []string
	Classes  [2]string
	Learning
	// Ridge is lambda of [Logistic]: the mean of the losses and Ridge/2 times the squared
	// norm of the coefficients are minimised.
	Ridge float64
	// Radius is the L2 norm that the features of a row have at most, beside their bounds;
	// 0: any.
	Radius float64
	// Train is the learner's twin without noise: its model's numbers.
	Train func(Dataset) ([]float64, error)
	// Probability is that of label 1 by a model that Train made; nil where there is none.
	Probability func(model, features []float64) float64
}
