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

func accountCommand(s streams, args []string) error {
	set := cli.NewFlags("dpscope account", s.stderr)
	asked := cli.Settings(set, accounting.Keys())
	var format string
	set.TextOrJSON(&format)
	if code, ok := set.Parse(args, 0); !ok {
		return exit(code)
	}
	var q accounting.Query
	if err := asked.Read(&q); err != nil {
		return err
	}
	kinds := accounting.KindNames()
	if q.Mechanism == "" {
		return absent("-mechanism", "one of "+strings.Join(kinds, ", "), "for example -mechanism gaussian -sigma 2")
	}
	if q.Mechanism.Parameters() == nil {
		return audit.UnknownName("-mechanism", string(q.Mechanism), kinds)
	}
	a, err := accounting.Answer(q)
	if err != nil {
		return asked.Blame(err)
	}
	return cli.Print(s.stdout, format, func() string { return accountText(a) }, a)
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
	if len(a.Curve) > 0 || a.KL != nil {
		lemma := len(a.Curve) > 0 && a.Curve[0].Lemma != nil
		fmt.Fprintf(w, "\nRényi divergence in nats, by order%s\n\n", audit.Pick(lemma, ", and 2 alpha epsilon^2 (Mironov 2017, lemma 1)", ""))
		var rows [][]any
		if a.KL != nil {
			rows = append(rows, []any{1, *a.KL})
		}
		for _, p := range a.Curve {
			row := []any{p.Alpha, p.Divergence}
			if lemma {
				row = append(row, *p.Lemma)
			}
			rows = append(rows, row)
		}
		if a.MaxDivergence != nil {
			rows = append(rows, []any{"infinite", *a.MaxDivergence})
		}
		writeRight(w, rows)
	}
	if len(a.Outcomes) > 0 {
		fmt.Fprintf(w, "\nProbability of an event on the neighbour, by order and by its probability on one dataset (Mironov 2017, proposition 10)\n\n")
		rows, best, composed := [][]any{{"order"}}, []any{"best"}, []any{"published, composed"}
		for _, p := range a.Curve {
			rows = append(rows, []any{p.Alpha})
		}
		for _, o := range a.Outcomes {
			rows[0] = append(rows[0], o.Event)
			for i, r := range o.Orders {
				rows[i+1] = append(rows[i+1], fmt.Sprintf("[%v, %v]", r.Lower, r.Upper))
			}
			best = append(best, fmt.Sprintf("[%v, %v]", o.Lower, o.Upper))
			if o.Composed != nil {
				composed = append(composed, fmt.Sprintf("at most %v", *o.Composed))
			}
		}
		if rows = append(rows, best); len(composed) > 1 {
			rows = append(rows, composed)
		}
		writeRight(w, rows)
	}
	for _, f := range a.Factors {
		fmt.Fprintf(w, "\nPosterior odds of one dataset over the other exceed %v times the prior odds with probability at most %v (Mironov 2017, section III)\n\n", f.Odds, f.Probability)
		rows := [][]any{{"order", "mean of the factor's power of alpha-1, at most", "probability, at most"}}
		for _, x := range f.Orders {
			mean := any("-")
			if x.Mean != nil {
				mean = *x.Mean
			}
			rows = append(rows, []any{x.Alpha, mean, x.Probability})
		}
		writeRight(w, rows)
	}
	for i, note := range a.Notes {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "Note: %s\n", note)
	}
	return w.String()
}

func writeRight(w io.Writer, rows [][]any) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintf(t, strings.Repeat("%v\t", len(row))+"\n", row...)
	}
	t.Flush()
}

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
