package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// museumClaims are the claims of the museum's pages where they are not epsilon = 1: the
// zero value is the mechanism's own.
var museumClaims = map[string]audit.Claim{
	"noisy-histogram-wrong-scale":         audit.DPClaim(0.5, 0),
	"truncated-geometric":                 audit.DPClaim(0.1, 0),
	"gaussian-mean-raw-count":             {},
	"gaussian-mean-raw-denominator":       {},
	"gaussian-mean-raw-count-renyi":       {},
	"gaussian-mean-raw-denominator-renyi": {},
	"dp-sgd-clip-late":                    {},
	"dp-sgd-microbatch":                   {},
	"dp-sgd-reused-key":                   {},
	"dp-sgd-scaled-noise":                 {},
}

// museumClaim is the claim of the museum's page of a mechanism, nil for its own, and
// whether it has a page: only one with a known fault has.
func museumClaim(m audit.MechanismSpec) (*audit.Claim, bool) {
	claim, ok := museumClaims[m.Name]
	if !ok {
		claim = audit.DPClaim(1, 0)
	}
	if claim == (audit.Claim{}) {
		return nil, m.Fault != ""
	}
	return &claim, m.Fault != ""
}

const (
	museumSeconds = 0.3 // to the verdict, at the median
	museumLeast   = 18  // mechanisms that are to have one by then
)

// sequentialMuseum races every mechanism with a known fault.
func sequentialMuseum(ctx context.Context, cat audit.Catalogue, plan pair.Plan, only []string, seeds, workers int, say func(string, ...any)) ([]sequentialRow, error) {
	var rows []sequentialRow
	for _, m := range cat.Mechanisms {
		claim, ok := museumClaim(m)
		if !ok || len(only) > 0 && !slices.Contains(only, m.Name) {
			continue
		}
		p := plan
		p.Mechanism, p.Claim = m.Name, claim
		row, err := sequentialRuns(ctx, cat, p, seeds, workers)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		row.Mechanism = m.Name
		rows = append(rows, row)
		say("%s: median %d", m.Name, row.Outputs[0])
	}
	return rows, nil
}

// showMuseum prints the rows; the exit code says whether so many are as quick as asked.
func (c *call) showMuseum(plan pair.Plan, rows []sequentialRow) (int, error) {
	quick := 0
	for _, r := range rows {
		if r.Refuted == r.Runs && r.Seconds[0] <= museumSeconds {
			quick++
		}
	}
	return code(quick >= min(museumLeast, len(rows))), c.emit(rows, func(w io.Writer) {
		fmt.Fprintf(w, "Known faults at the claims of their pages: outputs of both sides of all pairs, and seconds, until the claim is refuted (beta %s, at most %d outputs a side)\n", audit.Number(plan.Beta), plan.Samples)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "mechanism\tmedian\t90 %\tmost\tseconds\t90 %\trefuted\t")
		for _, r := range rows {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.3f\t%.3f\t%d/%d\t\n", r.Mechanism, r.Outputs[0], r.Outputs[1], r.Outputs[2], r.Seconds[0], r.Seconds[1], r.Refuted, r.Runs)
		}
		t.Flush()
		fmt.Fprintf(w, "%d of %d are refuted by every seed within %s seconds at the median\n", quick, len(rows), audit.Number(museumSeconds))
	})
}
