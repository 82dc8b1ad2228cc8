package estimators

import (
	"errors"
	"math"

	"github.com/dpscope/dpscope/core"
)

// logistic fits log odds that are linear in summaries of an output: which
// symbols where and how many, where a symbol comes first, numbers on ramps
// between quantiles, their squares, and the sum, minimum and maximum of
// released values. A sum of counts sees what no single outcome of many
// thousands can.
//
// The weights are rounded to 20 significant bits: platforms, whose sums differ
// in the last bits, almost always agree on them.
var logistic = core.LearnerSpec{
	Name:   "logistic",
	Title:  "Logistic regression on summaries of an output",
	Source: "Logistic regression of DP-Sniper (Bichsel et al. 2021), L2 penalty chosen on held-out outputs, L-BFGS (Nocedal and Wright 2006, algorithm 7.5)",
	Applies: func(columns []core.Column) error {
		if len(columns) == 0 {
			return errors.New("logistic regression needs at least one output column")
		}
		return nil
	},
	Learn:  learnLogistic,
	Decode: decodeLogistic,
}

const weightBits = 20

func learnLogistic(ex core.Exploration) (core.Model, error) {
	if err := learnable(ex); err != nil {
		return nil, err
	}
	list, carriers, err := candidateFeatures(ex)
	if err != nil {
		return nil, err
	}
	d, err := newDesign(ex, list, carriers)
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

// quantise rounds x to 20 significant bits.
func quantise(x float64) float64 {
	if x-x != 0 {
		return 0
	}
	fraction, exponent := math.Frexp(x)
	return math.Ldexp(math.RoundToEven(math.Ldexp(fraction, weightBits)), exponent-weightBits)
}
