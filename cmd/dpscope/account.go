package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/internal/cli"
)

// accountCommand is dpscope account: what a mechanism guarantees after sampling,
// composition and for groups.
func accountCommand(args []string, stdout, stderr io.Writer) int {
	set := cli.NewFlags("dpscope account", stderr)
	asked := cli.Settings(set, accounting.Keys())
	var format string
	set.TextOrJSON(&format)
	if code, ok := set.Parse(args, 0); !ok {
		return code
	}
	var q accounting.Query
	if err := asked.Read(&q); err != nil {
		return fail(stderr, err)
	}
	kinds := accounting.KindNames()
	if q.Mechanism == "" {
		return fail(stderr, &audit.InputError{Field: "-mechanism", Found: audit.Absent, Want: "one of " + strings.Join(kinds, ", "), Remedy: "for example -mechanism gaussian -sigma 2"})
	}
	if q.Mechanism.Parameters() == nil {
		return fail(stderr, audit.UnknownName("-mechanism", string(q.Mechanism), kinds))
	}
	a, err := accounting.Answer(q)
	if err != nil {
		return fail(stderr, asked.Blame(err))
	}
	return show(stdout, stderr, format, func() string { return accountText(a) }, a)
}

func accountText(a accounting.Account) string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s.\n\n", a.Title)
	delta := *a.Query.Delta
	if a.Epsilon != nil {
		fmt.Fprintf(w, "epsilon = %v holds at delta = %v%s\n", *a.Epsilon, delta, nothingBelow(a.Epsilons))
	} else {
		fmt.Fprintf(w, "no epsilon holds at delta = %v\n", delta)
	}
	if a.Delta != nil {
		fmt.Fprintf(w, "delta = %v holds at epsilon = %v%s\n", *a.Delta, *a.Query.AtEpsilon, nothingBelow(a.Deltas))
	}
	if a.Needed != nil {
		fmt.Fprintf(w, "%s = %v is the least noise for epsilon = %v at delta = %v (%s)\n", a.Needed.Parameter, a.Needed.Noise, *a.Query.TargetEpsilon, delta, a.Needed.Source)
	}
	writeGuarantees(w, "Ways to epsilon", a.Epsilons)
	writeGuarantees(w, "Ways to delta", a.Deltas)
	if len(a.Sigmas) > 0 {
		fmt.Fprintf(w, "\nNoise that one step without sampling would need for (%v, %v)\n", *a.Query.AtEpsilon, delta)
		for _, s := range a.Sigmas {
			fmt.Fprintf(w, "  sigma = %v  %s (%s)\n", s.Sigma, s.Words, s.Source)
		}
	}
	if len(a.Curve) > 0 {
		fmt.Fprintf(w, "\nRényi divergence in nats, by order\n\n")
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		if a.KL != nil {
			fmt.Fprintf(t, "1\t%v\t\n", *a.KL)
		}
		for _, p := range a.Curve {
			fmt.Fprintf(t, "%v\t%v\t\n", p.Alpha, p.Divergence)
		}
		if a.MaxDivergence != nil {
			fmt.Fprintf(t, "infinite\t%v\t\n", *a.MaxDivergence)
		}
		t.Flush()
	}
	for i, note := range a.Notes {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "Note: %s\n", note)
	}
	return w.String()
}

// nothingBelow says what cannot hold, where that is known.
func nothingBelow(all []accounting.Guarantee) string {
	for _, g := range all {
		if g.AtLeast != nil {
			return fmt.Sprintf(", and no value below %v does", *g.AtLeast)
		}
	}
	return ""
}

func writeGuarantees(w io.Writer, head string, all []accounting.Guarantee) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", head)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range all {
		order := ""
		if g.Order != nil {
			order = fmt.Sprintf("order %.4g", *g.Order)
		}
		if g.Exact {
			order = "exact"
		}
		if g.AtLeast != nil {
			order = fmt.Sprintf("at least %v", *g.AtLeast)
		}
		fmt.Fprintf(t, "  %s\tepsilon %v\tdelta %v\t%s\t%s\n", g.Method, g.Epsilon, g.Delta, order, g.Source)
	}
	t.Flush()
}
