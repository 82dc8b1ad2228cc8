package estimators

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// logistic fits log odds that are linear in summaries of an output: which symbols where and how many,
// where one comes first, numbers on ramps between quantiles, their squares, and the sum, minimum and
// maximum of released values. A sum of counts sees what no single outcome of many thousands can.
// Weights are quantised.
var logistic = regression(candidateFeatures, designRows, audit.LearnerSpec{
	Name:   "logistic",
	Title:  "Logistic regression on summaries of an output",
	Source: ", L2 penalty chosen on held-out outputs, L-BFGS (Nocedal and Wright 2006, algorithm 7.5)",
})

const weightBits = 20

// featuresOf are features of an exploration, and the symbols that carry values.
type featuresOf func(audit.Exploration) (list []feature, carriers []float64)

// regression is a logistic regression on these features, of so many outputs a side at most.
func regression(of featuresOf, most int, spec audit.LearnerSpec) audit.LearnerSpec {
	spec.Source = "Logistic regression of DP-Sniper (Bichsel et al. 2021)" + spec.Source
	if spec.Applies == nil {
		spec.Applies = needs(anyColumn, "logistic regression needs at least one output column")
	}
	spec.Learn = learner(func(ex audit.Exploration) *logisticModel { return fitFeatures(ex, of, most) })
	spec.Decode, spec.Steady = decoder[logisticModel], true
	return spec
}

func fitFeatures(ex audit.Exploration, of featuresOf, most int) *logisticModel {
	list, carriers := of(ex)
	d := newDesign(ex, list, carriers, most)
	model := &logisticModel{Carriers: carriers, Features: []feature{}}
	if len(d.features) > 0 {
		w := d.fit(ex.Check)
		for j, f := range d.features {
			f.Weight = quantise(within(w[j]/d.deviation[j], -mostWeight, mostWeight))
			if f.Weight != 0 {
				model.Features = append(model.Features, f)
			}
		}
	}
	model.prepare(ex.First.Columns)
	return model
}

// logisticVector is that of the published classifiers: each number once, each symbol, no summaries.
var logisticVector = regression(plainFeatures, designRows, audit.LearnerSpec{
	Name:   "logistic-vector",
	Title:  "Logistic regression on the raw outputs",
	Source: ", without summaries of an output; L2 penalty chosen on held-out outputs",
})

// plainFeatures are each column's symbols but its base, and each number between its outermost quantiles.
func plainFeatures(ex audit.Exploration) ([]feature, []float64) {
	r := fitInputs(ex)
	return audit.Each(r.Inputs, func(in input) feature {
		in.feature.Weight = 0
		return in.feature
	}), r.Carriers
}

// quantise rounds x to 20 significant bits, on which platforms, whose sums differ in the last, almost
// always agree.
func quantise(x float64) float64 {
	if x-x != 0 {
		return 0
	}
	fraction, exponent := math.Frexp(x)
	return math.Ldexp(math.RoundToEven(math.Ldexp(fraction, weightBits)), exponent-weightBits)
}

// sumsRows is on how many outputs a side logistic-sums is fitted: few weights make that cheap.
const sumsRows = 400_000

// logisticSums is linear in summaries of all columns together: how often a symbol occurs, in how many
// columns before the first one, ramps of every real number added up, and of its step from the one before.
// Where columns tell alike, as the parts of a budget spread over many answers do, or the noise of running
// sums, few weights are learnt from far fewer outputs than one a column.
var logisticSums = regression(sharedFeatures, sumsRows, audit.LearnerSpec{
	Name:    "logistic-sums",
	Title:   "Logistic regression on sums over the columns",
	Source:  ", on summaries that treat columns alike; L2 penalty chosen on held-out outputs",
	Applies: needs(func(columns []audit.Column) bool { return len(columns) > 1 }, "sums over columns need two of them"),
})

func sharedFeatures(ex audit.Exploration) (list []feature, carriers []float64) {
	columns := ex.First.Columns
	_, all, carriers := tallySymbols(ex)
	if len(all) > 0 {
		list = countFeatures(all, len(columns))
	}
	var reals []int
	for i, offset := range audit.Offsets(columns) {
		if columns[i].Kind == audit.Real {
			reals = append(reals, offset)
		}
	}
	if len(reals) > 1 {
		for _, kind := range []featureKind{totalFeature, stepFeature} {
			pool := pooledReals(ex, reals, kind == stepFeature)
			list = append(list, ramps(feature{Kind: kind}, pool, windows)...)
		}
	}
	return append(list, summaryFeatures(ex, carriers)...), carriers
}

// pooledReals are the numbers at these offsets, or their steps, sorted; of evenly spaced outputs.
func pooledReals(ex audit.Exploration, reals []int, steps bool) []float64 {
	stride := 1 + (ex.First.Len()+ex.Second.Len())*len(reals)/sortedMost
	var pool []float64
	for _, side := range sides(ex) {
		w := audit.Width(side.Columns)
		for i := 0; i < side.Len(); i += stride {
			before := 0.0
			for _, offset := range reals {
				v := side.Rows[i*w+offset]
				if steps {
					v, before = v-before, v
				}
				pool = append(pool, within(v, -hugeValue, hugeValue))
			}
		}
		stopOn(ex.Check())
	}
	slices.Sort(pool)
	return pool
}
