package estimators

import (
	"math"

	"github.com/dpscope/dpscope/audit"
)

// logistic fits log odds that are linear in summaries of an output: which
// symbols where and how many, where a symbol comes first, numbers on ramps
// between quantiles, their squares, and the sum, minimum and maximum of
// released values. A sum of counts sees what no single outcome of many
// thousands can.
//
// The weights are rounded to 20 significant bits: platforms, whose sums differ
// in the last bits, almost always agree on them.
var logistic = audit.LearnerSpec{
	Name:    "logistic",
	Title:   "Logistic regression on summaries of an output",
	Source:  "Logistic regression of DP-Sniper (Bichsel et al. 2021), L2 penalty chosen on held-out outputs, L-BFGS (Nocedal and Wright 2006, algorithm 7.5)",
	Applies: anyColumn("logistic regression needs at least one output column"),
	Learn:   learnFeatures(candidateFeatures, designRows),
	Decode:  decodeLogistic,
}

const weightBits = 20

// learnFeatures fits the weights of these features of an exploration on so many
// outputs a side at most.
func learnFeatures(of func(audit.Exploration) ([]feature, []float64, error), most int) func(audit.Exploration) (audit.Model, error) {
	return func(ex audit.Exploration) (audit.Model, error) {
		if err := learnable(ex); err != nil {
			return nil, err
		}
		list, carriers, err := of(ex)
		if err != nil {
			return nil, err
		}
		return fitLogistic(ex, list, carriers, most)
	}
}

// fitLogistic fits the weights of these features.
func fitLogistic(ex audit.Exploration, list []feature, carriers []float64, most int) (*logisticModel, error) {
	d, err := newDesign(ex, list, carriers, most)
	if err != nil {
		return nil, err
	}
	model := &logisticModel{Carriers: carriers, Features: []feature{}}
	if len(d.features) > 0 {
		w, err := d.fit(ex.Check)
		if err != nil {
			return nil, err
		}
		for j, f := range d.features {
			f.Weight = quantise(within(w[j]/d.deviation[j], -mostWeight, mostWeight))
			if f.Weight != 0 {
				model.Features = append(model.Features, f)
			}
		}
	}
	model.prepare(ex.First.Columns)
	return model, ex.Check()
}

// logisticVector is the logistic regression of the published classifiers: each
// number once, each symbol, and no summaries.
func logisticVector() audit.LearnerSpec {
	spec := logistic
	spec.Name = "logistic-vector"
	spec.Title = "Logistic regression on the plain outputs"
	spec.Source = "Logistic regression of DP-Sniper (Bichsel et al. 2021), without summaries of an output; L2 penalty chosen on held-out outputs"
	spec.Learn = learnFeatures(plainFeatures, designRows)
	return spec
}

// plainFeatures are the symbols of each column but its base, and each number
// between its outermost quantiles.
func plainFeatures(ex audit.Exploration) ([]feature, []float64, error) {
	inputs, carriers, err := fitInputs(ex)
	if err != nil {
		return nil, nil, err
	}
	var list []feature
	for _, in := range inputs {
		f := in.feature
		f.Weight = 0
		list = append(list, f)
	}
	return list, carriers, nil
}

// quantise rounds x to 20 significant bits.
func quantise(x float64) float64 {
	if x-x != 0 {
		return 0
	}
	fraction, exponent := math.Frexp(x)
	return math.Ldexp(math.RoundToEven(math.Ldexp(fraction, weightBits)), exponent-weightBits)
}
