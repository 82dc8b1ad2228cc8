package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/plain"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/cli"
)

type shareValue struct {
	k, n int
}

func (v *shareValue) String() string { return fmt.Sprintf("%d/%d", v.k, v.n) }

const mostCounted = 1_000_000_000

func (v *shareValue) Set(s string) error {
	of, all, ok := strings.Cut(s, "/")
	var k, n cli.CountValue
	if !ok || k.Set(strings.TrimSpace(of)) != nil || n.Set(strings.TrimSpace(all)) != nil {
		return fmt.Errorf("must be a count out of a total, such as 40/50")
	}
	if n < 1 || n > mostCounted || k < 0 || k > n {
		return fmt.Errorf("must be K/N with N from 1 to %d and K from 0 to N", mostCounted)
	}
	v.k, v.n = int(k), int(n)
	return nil
}

func counts(s streams, args []string) error {
	set := cli.NewFlags("dpscope counts", s.stderr)
	var in, out shareValue
	var p plain.Plan
	var claimed float64
	var format string
	set.Var(&in, "in", "how many of the trainings with the canary are in the event, as `K/N`, such as 40/50")
	set.Var(&out, "out", "the same for the trainings without it, as `K/N`")
	set.Float64Var(&p.Delta, "delta", report.DefaultDelta, "delta at which epsilon is bounded, in [0, 1)")
	set.Float64Var(&p.Beta, "beta", 0.05, "allowed error of the bound; its confidence is 1 - beta")
	set.Float64Var(&claimed, "epsilon", 0, "claimed epsilon, above 0; exit code 1 when it is refuted")
	set.TextOrJSON(&format)
	strict := set.Bool("strict", false, "exit with 3 when no counts of this many trainings could refute the claim")
	if code, ok := set.Parse(args, 0); !ok {
		return exit(code)
	}
	for _, name := range []string{"in", "out"} {
		if !set.Given(name) {
			return absent("-"+name, "a count out of a total", "for example -in 40/50 -out 2/50: 40 of 50 trainings with the canary, 2 of 50 without it")
		}
	}
	p.Counts = bounds.Counts{X: in.k, N1: in.n, Y: out.k, N0: out.n}
	p.DeltaDefaulted = !set.Given("delta")
	if set.Given("epsilon") {
		p.Claimed = &claimed
	}
	r, err := plain.Conclude(p)
	if err != nil {
		if in, ok := errors.AsType[*audit.InputError](err); ok {
			in.Field = "-" + in.Field
		}
		return err
	}
	printed := cli.Print(s.stdout, format, r.Text, r)
	return s.told(r.Summary, cli.VerdictCode(r.Verdict, audit.Completed, *strict && p.Claimed != nil), nil, printed)
}
