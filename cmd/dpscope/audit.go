package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/google"
)

// auditFlags are the flags of dpscope audit.
type auditFlags struct {
	*cli.Flags

	mechanism, relation, pair, finder, learner string
	guarantee                                  string
	epsilon, delta, beta                       float64
	alpha, rho, mu, throughRenyi               float64
	samples, explore, trials                   int
	workers                                    *int
	seed                                       uint64
	strict, anytime                            bool
	params                                     audit.Params
	recorded                                   sampleFlags
	brought                                    broughtFlags

	out   formatFlags
	suite planFlags
}

func newAuditFlags(stderr io.Writer) *auditFlags {
	f := &auditFlags{Flags: cli.NewFlags("dpscope audit", stderr)}
	s := f.Flags
	s.StringVar(&f.mechanism, "mechanism", "", "mechanism to audit (dpscope list shows all)")
	s.StringVar(&f.guarantee, "guarantee", "", "kind of the claim: pure, approximate, renyi, zcdp or gaussian-dp; default: the kind that -alpha, -rho or -mu belongs to, else (epsilon, delta)")
	s.Float64Var(&f.epsilon, "epsilon", 0, "claimed epsilon, above 0; default: what the mechanism claims at its parameters, or what that implies. A parameter epsilon of the mechanism, which scales its noise, follows it where the claims are of one kind, unless -param sets it")
	s.Float64Var(&f.delta, "delta", 0, "claimed delta, in [0, 1); default: the delta of the mechanism's own claim, 0 for most")
	s.Float64Var(&f.alpha, "alpha", 0, "order of a Rényi claim, above 1")
	s.Float64Var(&f.rho, "rho", 0, "claimed rho of zCDP, above 0")
	s.Float64Var(&f.mu, "mu", 0, "claimed mu of Gaussian DP, above 0")
	s.Float64Var(&f.throughRenyi, "through-renyi", 0, "test a pure claim through its Rényi divergence of this order, above 1, instead of an event")
	s.BoolVar(&f.anytime, "anytime", false, "a bound that is valid at any time: the run ends when the claim is refuted, and may be stopped (Ctrl-C) with its bound intact; -samples is then the most that it draws")
	f.params = s.Params("mechanism")
	f.recorded.register(s)
	f.brought.register(s)
	s.StringVar(&f.relation, "relation", "", "neighbouring relation: "+audit.Searchable+"; default: the mechanism's first")
	s.StringVar(&f.pair, "pair", "", `neighbouring pair as JSON, instead of a search: {"first":{"columns":1,"values":[1]},"second":{"columns":1,"values":[1,0]}}`)
	s.StringVar(&f.finder, "finder", audit.Auto, "how pairs are found")
	s.StringVar(&f.learner, "learner", audit.Auto, "what learns the test; auto: a portfolio of all that apply")
	s.Count(&f.samples, "samples", 100_000, "certification outputs a side; by default fewer for google-* mechanisms, whose outputs cost more")
	s.Count(&f.explore, "explore", 0, "exploration outputs a side and trial; 0: as many as -samples, up to 2^24 numbers a side; at most 2^26")
	s.Count(&f.trials, "trials", 10, "pairs to explore")
	s.Float64Var(&f.beta, "beta", 0.05, "allowed error of the bound; its confidence is 1 - beta")
	s.Seed(&f.seed, 42, "seed of all randomness")
	f.workers = s.Workers(0, "parallel workers; 0: one a processor. The result does not depend on it")
	f.suite.register(s)
	f.out.register(s)
	s.BoolVar(&f.strict, "strict", false, "exit with 3 when the run is inconclusive")
	return f
}

// plan makes the plan that the flags ask for.
func (f *auditFlags) plan() (pair.Plan, error) {
	given := map[string]bool{}
	f.Visit(func(x *flag.Flag) { given[x.Name] = true })
	p := pair.Plan{Version: pair.PlanVersion, Mechanism: f.mechanism, Parameters: f.params, Relation: audit.Relation(f.relation),
		Finder: f.finder, Learner: f.learner, Samples: f.samples, Explore: f.explore, Trials: f.trials, Beta: f.beta, Seed: f.seed}
	bring := f.brought.checkUnused
	if f.brought.given() {
		bring = func(given map[string]bool) error { return f.brought.plan(&p, given) }
	}
	if err := bring(given); err != nil {
		return p, err
	}
	if f.recorded.given() {
		if err := f.recorded.plan(&p, given); err != nil {
			return p, err
		}
	} else if p.Mechanism == "" {
		return p, &audit.InputError{Field: "-mechanism", Found: "absent", Want: "a mechanism's name", Remedy: "dpscope list shows all; -exec or -wasm brings one of yours, -samples-file audits outputs that another program recorded"}
	}
	for _, n := range []struct {
		name  string
		value float64
		least float64
	}{{"samples", float64(f.samples), pair.MinSamples}, {"trials", float64(f.trials), 1}, {"beta", f.beta, 1e-9}} {
		if err := atLeast(f.Flags, n.name, n.value, n.least); err != nil {
			return p, err
		}
	}
	if n := google.Samples(f.mechanism); n > 0 && !given["samples"] {
		p.Samples = n
	}
	claim, err := f.claim(given)
	if err != nil {
		return p, err
	}
	p.Claim = claim
	if f.recorded.given() || f.brought.given() {
		if err := checkOwnClaim(claim); err != nil {
			return p, err
		}
	}
	if given["through-renyi"] && !(f.throughRenyi > 1) {
		return p, &audit.InputError{Field: "-through-renyi", Found: fmt.Sprint(f.throughRenyi), Want: "an order: a finite number above 1"}
	}
	p.ThroughRenyi, p.Anytime = f.throughRenyi, f.anytime
	if f.pair != "" {
		neighbours, err := audit.ParsePair([]byte(f.pair))
		if err != nil {
			return p, err
		}
		p.Pair = &neighbours
	}
	return p, nil
}

// claim makes the claim that the flags ask for, nil if they ask for none.
func (f *auditFlags) claim(given map[string]bool) (*audit.Claim, error) {
	asked := given["guarantee"]
	for _, x := range []struct {
		name  string
		value float64
	}{{"epsilon", f.epsilon}, {"rho", f.rho}, {"mu", f.mu}} {
		asked = asked || given[x.name]
		if given[x.name] && !(x.value > 0 && !math.IsInf(x.value, 1)) {
			return nil, &audit.InputError{Field: x.name, Found: fmt.Sprint(x.value), Want: "a finite number above 0"}
		}
	}
	if given["alpha"] && !(f.alpha > 1 && !math.IsInf(f.alpha, 1)) {
		return nil, &audit.InputError{Field: "alpha", Found: fmt.Sprint(f.alpha), Want: "a finite number above 1"}
	}
	if math.IsNaN(f.delta) || f.delta < 0 || f.delta >= 1 {
		return nil, audit.DPClaim(1, f.delta).Validate()
	}
	if !asked && !given["alpha"] && !given["delta"] {
		return nil, nil
	}
	c := &audit.Claim{Kind: audit.ClaimKind(f.guarantee), Epsilon: f.epsilon, Delta: f.delta, Alpha: f.alpha, Rho: f.rho, Mu: f.mu}
	if c.Kind == "" {
		switch {
		case given["alpha"]:
			c.Kind = audit.Renyi
		case given["rho"]:
			c.Kind = audit.ZCDP
		case given["mu"]:
			c.Kind = audit.GaussianDP
		case given["delta"] && f.delta == 0:
			c.Kind = audit.Pure
		}
	}
	return c, nil
}

// strayArgument says which flag an argument without one may want.
func strayArgument(args []string) error {
	remedy := "-mechanism NAME names a mechanism (dpscope list), -samples-file FILE outputs that were recorded, -plan FILE several audits"
	if _, err := catalogue.Mechanism(args[0]); err == nil {
		remedy = "the mechanism has a flag: dpscope audit -mechanism " + args[0]
	}
	return &audit.InputError{Field: "dpscope audit", Found: fmt.Sprintf("called with %q", args), Want: "given no argument besides flags", Remedy: remedy}
}

// auditCommand is dpscope audit.
func auditCommand(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f := newAuditFlags(stderr)
	stray, code, ok := f.ParseNames(args)
	if !ok {
		return code
	}
	if len(stray) > 0 {
		return fail(stderr, strayArgument(stray))
	}
	f.recorded.stdin = stdin
	if f.suite.given() {
		return auditPlan(f, stdin, stdout, stderr)
	}
	plan, err := f.plan()
	if err != nil {
		return fail(stderr, err)
	}
	cat, err := f.recorded.catalogue()
	if err != nil {
		return fail(stderr, err)
	}
	ctx, stop := untilSignal()
	defer stop()
	end := func() {}
	if f.brought.given() {
		cat, end, err = f.brought.catalogue(ctx, plan, &f.recorded, stderr)
	}
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(stderr, "dpscope: stopped before the first pair of datasets")
		return cli.ExitInconclusive
	}
	if err != nil {
		return fail(stderr, err)
	}
	defer end()
	show := newMeter(stderr)
	report, err := pair.Run{Plan: plan, Catalogue: cat, Pool: core.LocalPool(cat, *f.workers),
		Generator: cli.Generator(), Progress: show.progress, Now: cli.Clock()}.Do(ctx)
	show.clear()
	if err != nil && report.Schema == "" {
		return fail(stderr, err)
	}
	if err != nil {
		fail(stderr, err)
	}
	files, printed := f.out.write(stdout, f.rendered(report))
	return told(stderr, report.Summary, verdictCode(report.Verdict, report.Termination.Reason, f.strict), files, printed)
}

// meter shows progress on one line of a terminal, and nothing elsewhere.
type meter struct {
	w    io.Writer
	now  func() float64
	last float64
	wide int

	before string // stands before every line
}

// meterWidth keeps the line on one line of a usual terminal.
const meterWidth = 79

func newMeter(w io.Writer) *meter {
	if !cli.IsTerminal(w) {
		return &meter{}
	}
	return &meter{w: w, now: cli.Clock(), last: math.Inf(-1)}
}

func (m *meter) progress(p pair.Progress) {
	if m.w == nil || m.now()-m.last < 0.1 {
		return
	}
	m.last = m.now()
	line := m.before + fmt.Sprintf("%s %3.0f %%", p.Phase, 100*float64(p.Rows)/float64(max(1, p.Total)))
	if p.Phase == pair.Exploring {
		line += fmt.Sprintf(", trial %d of %d", p.Trial, p.Trials)
	}
	line += fmt.Sprintf(", %.2g outputs/s", float64(p.Rows)/max(m.last, 1e-3))
	if p.Provisional != nil {
		how := "not certified"
		if p.Valid {
			how = "valid if stopped now"
		}
		line += fmt.Sprintf(", >= %.3f so far (%s)", *p.Provisional, how)
	}
	m.show(line)
}

// show puts a line in place of the last.
func (m *meter) show(line string) {
	if len(line) > meterWidth {
		line = line[:meterWidth]
	}
	pad := max(0, m.wide-len(line))
	m.wide = len(line)
	fmt.Fprintf(m.w, "\r%s%s", line, strings.Repeat(" ", pad))
}

func (m *meter) clear() {
	if m.w != nil && m.wide > 0 {
		fmt.Fprintf(m.w, "\r%s\r", strings.Repeat(" ", m.wide))
	}
}
