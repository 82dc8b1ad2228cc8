package estimators

import (
	"errors"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// sumsRows is how many outputs a side logistic-sums is fitted to at most: it has
// so few weights that more of them cost little.
const sumsRows = 400_000

// logisticSums fits log odds that are linear in summaries of all columns
// together: how often a symbol occurs, in how many columns before the first one,
// ramps of every real number added up, and of its distance from the number in
// the column before. Where the columns of an output tell alike, as the parts of
// a budget that is spread over many answers do, or the noise of running sums,
// its few weights are learned from far fewer outputs than one a column.
func logisticSums() audit.LearnerSpec {
	spec := logistic
	spec.Name = "logistic-sums"
	spec.Title = "Logistic regression on sums over the columns"
	spec.Source = "Logistic regression of DP-Sniper (Bichsel et al. 2021), on summaries that treat columns alike; L2 penalty chosen on held-out outputs"
	spec.Applies = func(columns []audit.Column) error {
		if len(columns) < 2 {
			return errors.New("sums over columns need two of them")
		}
		return nil
	}
	spec.Learn = learnFeatures(sharedFeatures, sumsRows)
	return spec
}

// sharedFeatures are the summaries of all columns together.
func sharedFeatures(ex audit.Exploration) (list []feature, carriers []float64, err error) {
	columns := ex.First.Columns
	_, all, carriers, err := tallySymbols(ex)
	if err != nil {
		return nil, nil, err
	}
	if len(all) > 0 {
		list = countFeatures(all, len(columns))
	}
	var reals []int
	for i, offset := range offsets(columns) {
		if columns[i].Kind == audit.Real {
			reals = append(reals, offset)
		}
	}
	if len(reals) > 1 {
		for _, kind := range []featureKind{totalFeature, stepFeature} {
			pool, err := pooledReals(ex, reals, kind == stepFeature)
			if err != nil {
				return nil, nil, err
			}
			list = append(list, ramps(feature{Kind: kind}, pool, windows)...)
		}
	}
	more, err := summaryFeatures(ex, carriers)
	return append(list, more...), carriers, err
}

// pooledReals are the numbers of the columns at these offsets, or their
// distances from the one before, sorted; of evenly spaced outputs where there are
// many.
func pooledReals(ex audit.Exploration, reals []int, steps bool) ([]float64, error) {
	stride := 1 + (ex.First.Len()+ex.Second.Len())*len(reals)/sortedMost
	var pool []float64
	for _, side := range []audit.Samples{ex.First, ex.Second} {
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
		if err := ex.Check(); err != nil {
			return nil, err
		}
	}
	slices.Sort(pool)
	return pool, nil
}
