package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

func (r anytimeResult) print(w io.Writer) {
	p := r.Plan
	fmt.Fprintf(w, "Monitors under continuous looks: %d runs, %d looks at 1 to %d pairs (every pair at first, then at equal ratios), beta = %g, seed %d\n\n", p.Runs, p.Looks, p.Pairs, p.Beta, p.Seed)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "Claims that just hold: runs that refute the true value at any look")
	fmt.Fprintln(w)
	fmt.Fprintln(t, "pairs\tmonitor\ttruth\tfalse alarms\trate\t99 % interval\tallowed")
	for _, a := range r.Alarms {
		fmt.Fprintf(t, "%s\t%s\t%.6g\t%d/%d\t%.4f\t%.4f..%.4f\t%g\n", a.Name, a.Method, a.Truth, a.Alarms, a.Runs, a.Rate, a.Lower, a.Upper, p.Beta)
	}
	t.Flush()
	fmt.Fprintf(w, "\nClaims of half the truth: pairs until they are refuted, up to %d\nReference: the median at beta = .05 by cmd/dpscope/testdata/anytime_reference.py, which shares no code with this and looks every 1 to 400 pairs\n\n", longer*p.Pairs)
	fmt.Fprintln(t, "pairs\tmonitor\tclaim\trefuted\tmedian\t99 % interval\treference")
	for _, s := range r.Stops {
		known := func(n int) string {
			if n == 0 {
				return fmt.Sprintf("> %d", longer*p.Pairs)
			}
			return strconv.Itoa(n)
		}
		reference := ""
		if s.Reference > 0 {
			reference = strconv.FormatFloat(s.Reference, 'f', -1, 64)
		}
		fmt.Fprintf(t, "%s\t%s\t%.6g\t%d/%d\t%s\t%s..%s\t%s\n", s.Name, s.Method, s.Claim, s.Refuted, s.Runs, known(s.Median), known(s.Lower), known(s.Upper), reference)
	}
	t.Flush()
	fmt.Fprintf(w, "\nWhat monitors are for: the exact test of a fixed sample, looked at %d times from 1 to %d pairs, against the true value\n\n", p.Looks/coarser, p.Pairs)
	fmt.Fprintln(t, "pairs\ttruth\tfalse alarms at any look\trate\t99 % interval\tat the last look alone\t99 % interval")
	for _, k := range r.Peeks {
		fmt.Fprintf(t, "%s\t%.6g\t%d/%d\t%.4f\t%.4f..%.4f\t%d/%d\t%.4f..%.4f\n", k.Name, k.Truth, k.Any.Count, k.Any.Runs,
			float64(k.Any.Count)/float64(k.Any.Runs), k.Any.Lower, k.Any.Upper, k.Last.Count, k.Last.Runs, k.Last.Lower, k.Last.Upper)
	}
	t.Flush()
	verdict := "No monitor's error is significantly above " + fmt.Sprint(p.Beta)
	if len(r.Above) > 0 {
		verdict = fmt.Sprintf("Significantly above %g: %s", p.Beta, strings.Join(r.Above, "; "))
	}
	fmt.Fprintf(w, "\n%s (that takes more than %d false alarms in %d runs; exact binomial tests of all %d cells, which accuse sound monitors with probability %g at most)\n",
		verdict, r.MostAlarms, p.Runs, len(r.Alarms), r.AlarmBeta)
}
