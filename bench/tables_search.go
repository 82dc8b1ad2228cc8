package main

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/stream"
)

// search explores the pairs of the plan's finder, none of which the mechanism
// told it, until one of them refutes the claim. A pair is tried, in the way that
// tableSearch says, only where its value exceeds the claim.
func (b *tablesBench) search(ctx context.Context, plan pair.Plan, pool *engine.Pool, out *tableRun) error {
	a, err := plan.Resolve(b.catalogue)
	if err != nil {
		return err
	}
	spec, err := b.catalogue.Finder(a.Plan.Finder)
	if err != nil {
		return err
	}
	find, err := spec.New(audit.FinderProblem{Relation: a.Plan.Relation, Domain: a.Domain, Trials: a.Plan.Trials,
		Stream: stream.New(stream.Key{Seed: plan.Seed, Purpose: "find"})})
	if err != nil {
		return fmt.Errorf("finder %s: %w", a.Plan.Finder, err)
	}
	tries := 0
	var history []audit.Trial
	for len(history) < a.Plan.Trials {
		pairs := find.Propose(history, a.Plan.Trials-len(history))
		if len(pairs) == 0 {
			break
		}
		for _, neighbours := range pairs {
			value, err := b.exploreOne(ctx, a.Plan, pool, neighbours, len(history))
			if err != nil {
				return err
			}
			history = append(history, audit.Trial{Index: len(history), Pair: neighbours, Value: value})
			out.Trials = len(history)
			out.Outputs += 2 * a.Plan.Explore
			if value <= a.Claim.Limit() {
				continue
			}
			tries++
			if err := b.confirm(ctx, a.Plan, pool, neighbours, tries, out); err != nil || out.Refuted {
				return err
			}
		}
	}
	return nil
}

// exploreOne is the value of a pair.
func (b *tablesBench) exploreOne(ctx context.Context, plan pair.Plan, pool *engine.Pool, neighbours audit.Pair, trial int) (float64, error) {
	task := pair.Explore{Plan: plan, Trial: trial, Pair: neighbours}
	results, err := engine.Do(ctx, pool, []pair.Explore{task}, engine.Events[pair.Explored]{})
	if ctx.Err() != nil {
		return 0, context.Canceled
	}
	if err != nil {
		return 0, err
	}
	return results[0].Value, nil
}

// confirm audits a pair on outputs that nothing before has seen, for the k-th
// time in the search with an error of beta/(k(k+1)): over all k they add up to
// beta.
func (b *tablesBench) confirm(ctx context.Context, plan pair.Plan, pool *engine.Pool, neighbours audit.Pair, k int, out *tableRun) error {
	plan.Pair = &neighbours
	plan.Beta /= float64(k * (k + 1))
	plan.Seed = confirmSeed(plan.Seed, k)
	trials := out.Trials
	err := b.audit(ctx, plan, pool, out)
	out.Trials = trials // the same pair again
	if err == nil && out.Refuted {
		out.Pair = neighbours.Label
	}
	return err
}

// mostConfirmed is how many trials a search may have, each of which may be
// confirmed. Seeds of confirmations are multiples of it, and a little: those of
// neighbouring runs are far apart.
const mostConfirmed = 4096

// confirmSeed is above every seed of a run.
func confirmSeed(seed uint64, k int) uint64 { return (seed+1)*mostConfirmed + uint64(k) }
