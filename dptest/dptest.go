// Package dptest audits differential privacy inside go test.
//
//	func TestCountIsPrivate(t *testing.T) {
//		dptest.RequireNoViolation(t, myCount{}, audit.DPClaim(1, 0), dptest.Options{
//			Pairs: []audit.Pair{{First: audit.Records(1), Second: audit.Records(1, 0)}},
//		})
//	}
//
// A test that passes found no violation. It has not shown that the mechanism is private.
package dptest

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators"
)

// Options of an audit. The zero value of a field means its default.
type Options struct {
	// Name of the mechanism in messages; default "under test".
	Name string
	// Pairs of neighbouring datasets to try; needed without Domain and [From].
	Pairs []audit.Pair
	// Relation of the pairs; default add-remove, or the registered mechanism's own.
	Relation audit.Relation
	// Domain to search for further pairs, up to Trials; its Reach is needed for bounded-replace and l-infinity.
	// Default none, or the registered mechanism's own.
	Domain *audit.Domain
	// Samples is the most outputs a side; default 100000, with go test -short 10000.
	Samples int
	// Mode: default [pair.UntilRefuted], which ends with a violation as soon as the claim is refuted, after Samples
	// outputs a side of all pairs at most; [pair.Fixed] where Explore is given. Other modes go on to a bound.
	Mode pair.Mode
	// Explore is the number of exploration outputs a side, of all pairs, of a fixed audit; default 1.5 times Samples.
	Explore int
	// Trials is how many pairs are explored; default all of Pairs, ten where a domain is searched.
	Trials int
	// FalseAlarm is the most probability, over the seed, that the call reports a violation of a mechanism that keeps
	// its claim, however many pairs are tried. Default 0.001.
	FalseAlarm float64
	// Learner by name, with settings as in mlp:epochs=5:units=64; default all that apply.
	Learner string
	// Seed of all randomness.
	Seed uint64
	// Workers run in parallel; default one a processor. The result does not depend on it.
	Workers int
	// Learners are further learners to choose from.
	Learners []audit.LearnerSpec

	only *audit.Pair // instead of a search
}

// ViolationError says that a mechanism broke its claim.
type ViolationError struct{ Report pair.Report }

func (e *ViolationError) Error() string {
	var b strings.Builder
	b.WriteString(e.Report.Summary)
	for _, row := range e.Report.Facts() {
		fmt.Fprintf(&b, "\n  %-15s %s", row.Name, row.Value)
	}
	if e.Report.Reproduce.CLI != "" {
		b.WriteString("\nReplay: " + e.Report.Reproduce.CLI)
	}
	return b.String()
}

// Check audits m against the claim. It returns a [*ViolationError] if the audit refutes the claim with confidence
// 1 - FalseAlarm, nil if it found no violation, and another error if it could not be done or find any at this size.
func Check(m audit.Mechanism, claim audit.Claim, opts Options) error {
	_, err := Audit(context.Background(), m, claim, opts)
	return err
}

// Audit is [Check] with the report, and ends early when ctx does.
func Audit(ctx context.Context, m audit.Mechanism, claim audit.Claim, opts Options) (pair.Report, error) {
	cat, plan, err := prepare(m, claim, opts)
	if err != nil {
		return pair.Report{}, err
	}
	r, err := pair.Run{Plan: plan, Catalogue: cat, Pool: engine.LocalPool(opts.workers()),
		Generator: audit.Generator{Name: "dpscope/dptest", Version: audit.Version, GoOS: runtime.GOOS, GoArch: runtime.GOARCH, Go: runtime.Version()}}.Do(ctx)
	switch {
	case err != nil:
		return r, err
	case ctx.Err() != nil:
		return r, ctx.Err()
	case r.Verdict == audit.Violation:
		return r, &ViolationError{r}
	case r.Verdict != audit.NoViolation:
		return r, fmt.Errorf("dptest: %s", r.Summary)
	}
	return r, nil
}

func (o Options) falseAlarm() float64 { return cmp.Or(o.FalseAlarm, 0.001) }

func (o Options) samples() int {
	if o.Samples == 0 && testing.Testing() && flag.Parsed() && testing.Short() {
		return 10_000
	}
	return cmp.Or(o.Samples, 100_000)
}

func (o Options) workers() int { return cmp.Or(max(0, o.Workers), runtime.GOMAXPROCS(0)) }

func prepare(m audit.Mechanism, claim audit.Claim, opts Options) (audit.Catalogue, pair.Plan, error) {
	cat := audit.Catalogue{Learners: slices.Concat(estimators.Registry(), opts.Learners), Finders: finders.Registry()}
	plan := pair.Plan{Version: pair.PlanVersion, Mode: opts.Mode, Claim: &claim, Relation: opts.Relation, Learner: opts.Learner, Samples: opts.samples(),
		Explore: opts.Explore, Trials: opts.Trials, Beta: opts.falseAlarm(), Seed: opts.Seed, Pair: opts.only}.ForVerdict()
	spec, _, err := specOf(m, claim, opts)
	if err != nil {
		return cat, plan, err
	}
	cat.Mechanisms, plan.Mechanism = []audit.MechanismSpec{spec}, spec.Name
	reg, ok := m.(*registered)
	if ok {
		plan.Parameters = reg.params
	}
	if !ok || len(opts.Pairs) > 0 {
		// The caller's pairs, unless there is a domain to search too.
		if opts.Domain == nil {
			plan.Finder = "candidates"
		}
		plan.Trials = cmp.Or(opts.Trials, max(audit.Pick(opts.Domain != nil, 10, 0), len(opts.Pairs)))
	}
	return cat, plan, nil
}
