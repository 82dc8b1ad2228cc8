package google

import (
	"github.com/google/differential-privacy/go/v3/dpagg"

	"github.com/dpscope/dpscope/audit"
)

var (
	quantilesSpec = quantilesFamily(family{name: "google-quantiles", title: "The library's quantiles of clamped values",
		calls: "dpagg.BoundedQuantiles, one object that answers every rank"}, false)
	quantilesBudgetTwice = quantilesFamily(family{name: "google-quantiles-budget-twice", title: "The library's quantiles, each rank with all of the budget",
		calls: "dpagg.BoundedQuantiles, an object for every rank",
		fault: "spends the budget once for every rank, where one object answers all ranks for it"}, true)
)

func quantilesFamily(f family, anew bool) family {
	f.dear = true
	f.params = with(maxPartitions, maxContributions, lowerBound, upperBound,
		audit.ParamSpec{Name: "ranks", Doc: "quantiles of a partition, at evenly spaced ranks; an output each", Default: 2, Min: 1, Max: 9, Integer: true},
		audit.ParamSpec{Name: "tree-height", Doc: "TreeHeight; the library's default of 4 costs more than ten times the time", Default: 1, Min: 1, Max: 8, Integer: true},
		audit.ParamSpec{Name: "branching-factor", Doc: "BranchingFactor; the library's default is 16", Default: 2, Min: 2, Max: 32, Integer: true})
	if anew {
		f.params[len(f.params)-3].Min = 2
	}
	f.claim = aggregateClaim
	f.truth = func(p audit.Params) string {
		if anew {
			return "not the claim, but at most " + show(p.Num("ranks")) + " times it, as every rank spends it"
		}
		return atMost(p)
	}
	f.unit = boundedMeanSpec.unit
	f.outputs = func(p audit.Params) []string {
		return partitions(p.Int(maxPartitions.Name)*p.Int("ranks"), "quantile")
	}
	f.release = func(p audit.Params) release {
		s, ranks := spends(p), p.Int("ranks")
		options := dpagg.BoundedQuantilesOptions{Epsilon: s.epsilon, Delta: s.delta, Noise: s.noise, Lower: p.Num("lower"), Upper: p.Num("upper"),
			MaxPartitionsContributed: int64(p.Int(maxPartitions.Name)), MaxContributionsPerPartition: int64(p.Int(maxContributions.Name)),
			TreeHeight: p.Int("tree-height"), BranchingFactor: p.Int("branching-factor")}
		return func(d audit.Dataset, out []float64) error {
			if err := checkBounds(options.Lower, options.Upper); err != nil {
				return err
			}
			var q *dpagg.BoundedQuantiles
			for k := range out {
				j, rank := k/ranks, k%ranks
				if rank == 0 || anew {
					var err error
					if q, err = dpagg.NewBoundedQuantiles(&options); err != nil {
						return err
					}
					if err := contributions(d, j, int(options.MaxContributionsPerPartition), q.Add); err != nil {
						return err
					}
				}
				var err error
				if out[k], err = q.Result(float64(rank+1) / float64(ranks+1)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return f
}
