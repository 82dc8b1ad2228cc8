package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/user/command"
	"github.com/dpscope/dpscope/report"
	"github.com/dpscope/dpscope/stream"
)

// faintTimes is how many times the usual outputs are drawn where there is little to
// see in each.
const faintTimes = 5

// zooShare is the share of the built-in mechanism's bound that a stranger's copy is
// asked for.
const zooShare = 0.9

// zooCase is one mechanism twice: as a stranger wrote it, who told nothing but where
// its datasets live, and built in, with the pairs that it is known to be loud on.
type zooCase struct {
	mechanism string // built in
	params    string // of it, with spaces between
	program   string // of docs/examples/zoo with its arguments; "": in Go, as for dptest
	claim     audit.Claim

	domain, rows string
	relation     audit.Relation // default add-remove
	integer      bool
	names        int    // outputs are so many names, written as numbers
	nonFinite    string // as a flag
	faint        bool   // it takes faintTimes as many outputs to see anything
	// plain is the mechanism in Go where the stranger's datasets are others than
	// those of the one that is built in.
	plain audit.Mechanism
}

var zoo = []zooCase{
	zooSVT("svt1", "svt.py 1"),
	zooSVT("svt3", "svt.py 3"),
	zooSVT("svt4", "svt.py 4"),
	zooSVT("svt5", "svt.py 5"),
	zooSVT("svt6", "svt6.js"),
	zooSVT("numeric-svt", "svt.py numeric"),
	zooMax("noisy-max-laplace", "noisy_max.py 1", "-10:10"),
	zooMax("noisy-max-exponential", "noisy_max.py 2", "-10:10"),
	zooMax("noisy-max-value-laplace", "noisy_max.py 3", "-10:10"),
	zooMax("noisy-max-value-exponential", "noisy_max.py 4", "-20:20"),
	{mechanism: "noisy-histogram", program: "histogram.py counts 1", claim: audit.DPClaim(1, 0), domain: "0:10", rows: "5", relation: audit.BoundedReplace, plain: noisyRows{1, 5, false}},
	{mechanism: "noisy-histogram-wrong-scale", program: "histogram.py counts 0.5", claim: audit.DPClaim(0.5, 0), domain: "0:10", rows: "5", relation: audit.BoundedReplace, plain: noisyRows{0.5, 5, false}},
	{mechanism: "domain-from-data", program: "histogram.py present", claim: audit.DPClaim(1, 0), domain: "0:4", integer: true},
	{mechanism: "count-replace-as-add", claim: audit.DPClaim(1, 0), domain: "0:1", rows: "1:10", relation: audit.Replace, integer: true},
	{mechanism: "rappor", program: "rappor.py 0.75", params: "f=0.75", claim: audit.DPClaim(0.1, 0), domain: "0:99", rows: "1", relation: audit.Replace, integer: true, faint: true},
	{mechanism: "rappor-once", program: "rappor.py 0.95 once", params: "f=0.95", claim: audit.DPClaim(0.1, 0), domain: "0:99", rows: "1", relation: audit.Replace, integer: true, faint: true},
	{mechanism: "laplace-mean", program: "mean.py private 1", claim: audit.DPClaim(1, 0), domain: "0:1"},
	{mechanism: "laplace-mean-raw-count", program: "mean.py raw-count 1", claim: audit.DPClaim(1, 0), domain: "0:1", rows: "1:6"},
	{mechanism: "laplace-mean-raw-denominator", program: "mean.py raw-denominator 0.1", claim: audit.DPClaim(0.1, 0), domain: "0:1", rows: "1:6"},
	{mechanism: "gaussian-mean-raw-count", claim: audit.DPClaim(1, 0.01), domain: "0:1", rows: "1:20"},
	{mechanism: "dp-sgd-scaled-noise", program: "dp_sgd.py scaled", claim: audit.DPClaim(1, 1e-3), domain: "-2:2"},
	{mechanism: "dp-sgd-microbatch", program: "dp_sgd.py microbatch", claim: audit.DPClaim(1, 1e-3), domain: "-2:2"},
	{mechanism: "dp-sgd-clip-late", program: "clip_late.js", claim: audit.DPClaim(1, 1e-3), domain: "-2:2"},
	{mechanism: "dp-sgd-reused-key", claim: audit.DPClaim(1, 1e-3), domain: "-2:2"},
	{mechanism: "truncated-geometric", program: "counts.py geometric", claim: audit.DPClaim(0.1, 0), domain: "0:1", rows: "5", relation: audit.Replace, integer: true, faint: true},
	{mechanism: "size-leak", program: "counts.py leaky", claim: audit.DPClaim(1, 0), domain: "0:1"},
	{mechanism: "sum-unclipped", program: "sums.py unclipped", claim: audit.DPClaim(1, 0), domain: "0:5"},
	{mechanism: "sum-nan", program: "sums.py nan", claim: audit.DPClaim(1, 0), domain: "0:10,0:10", integer: true, nonFinite: command.AsSymbol},
	{mechanism: "prefix-sum", program: "sums.py prefix", claim: audit.DPClaim(1, 0), domain: "-10:10", rows: "10", relation: audit.BoundedReplace, plain: noisyRows{1, 10, true}},
	{mechanism: "budget-spent-twice", program: "twice.js", claim: audit.DPClaim(1, 0), domain: "-10:10", rows: "1", relation: audit.BoundedReplace},
	{mechanism: "laplace-parallel", claim: audit.DPClaim(1, 0), domain: "-10:10", rows: "1", relation: audit.BoundedReplace},
	{mechanism: "exponential-median", claim: audit.DPClaim(1, 0), domain: "0:1", rows: "1:5", relation: audit.Replace},
	{mechanism: "randomised-response", program: "bit.js", claim: audit.DPClaim(1, 0), domain: "0:1", rows: "1", relation: audit.Replace, integer: true, names: 1},
}

// zooSVT is a sparse vector technique on ten queries whose threshold the domain does
// not tell.
func zooSVT(mechanism, program string) zooCase {
	c := zooCase{mechanism: mechanism, program: program, params: "threshold=1", claim: audit.DPClaim(1, 0), domain: "-10:10", rows: "10", relation: audit.LInfinity}
	if strings.HasSuffix(program, ".js") {
		c.names = 10
	}
	return c
}

// zooMax is report noisy max of five queries.
func zooMax(mechanism, program, domain string) zooCase {
	return zooCase{mechanism: mechanism, program: program, claim: audit.DPClaim(1, 0), domain: domain, rows: "5", relation: audit.LInfinity}
}

// noisyRows adds Laplace noise to each of so many rows, and sums them up or not.
type noisyRows struct {
	scale float64
	rows  int
	sums  bool
}

func (m noisyRows) Columns() []audit.Column {
	out := make([]audit.Column, m.rows)
	for i := range out {
		out[i] = audit.Column{Name: fmt.Sprintf("c%d", i+1), Kind: audit.Real}
	}
	return out
}

func (m noisyRows) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	s.Laplace(out, m.scale)
	for i := range out {
		if out[i] += d.Values[i%m.rows]; m.sums && i%m.rows > 0 {
			out[i] += out[i-1]
		}
	}
	return nil
}

// zooRow is one line of the table.
type zooRow struct {
	zooCase
	how        string    // the language
	own, bound []float64 // certified of the built-in mechanism and of the stranger's, one a seed
	pair       string    // of the last bound
	seconds    float64   // of the stranger's
}

// ratio is of the means over the seeds; a bound below 0 says nothing.
func (r zooRow) ratio() float64 { return positiveMean(r.bound) / positiveMean(r.own) }

func positiveMean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += max(v, 0)
	}
	return sum / float64(len(x))
}

// zooRun is what all cases have in common.
type zooRun struct {
	plan    pair.Plan
	seeds   int
	workers int
	dir     string // of the programs
	native  bool   // the mechanisms in Go instead of the programs
	now     func() float64
}

// measure audits both forms of a mechanism at the same budget.
func (z zooRun) measure(ctx context.Context, c zooCase) (zooRow, error) {
	row := zooRow{zooCase: c}
	plan := z.plan
	plan.Claim = &c.claim
	if c.faint {
		plan.Samples, plan.Explore = faintTimes*plan.Samples, faintTimes*plan.Explore
	}
	own := plan
	own.Mechanism, own.Finder, own.Parameters = c.mechanism, audit.Auto, audit.Params{}
	for word := range strings.FieldsSeq(c.params) {
		name, value, err := audit.ParseParam(word)
		if err != nil {
			return row, err
		}
		own.Parameters[name] = value
	}
	for seed := range z.seeds {
		own.Seed, plan.Seed = uint64(seed+1), uint64(seed+1)
		bound, _, err := zooBound(ctx, own, catalogue, z.workers)
		if err != nil {
			return row, err
		}
		row.own = append(row.own, bound)
		start := z.now()
		cat, end, how, err := c.open(ctx, z, own)
		if err != nil {
			return row, err
		}
		plan.Mechanism, row.how = string(audit.BroughtCommand), how
		bound, row.pair, err = zooBound(ctx, plan, cat, z.workers)
		end()
		if err != nil {
			return row, err
		}
		row.bound, row.seconds = append(row.bound, bound), row.seconds+z.now()-start
	}
	return row, nil
}

// open is the stranger's mechanism in a catalogue of its own.
func (c zooCase) open(ctx context.Context, z zooRun, own pair.Plan) (cat audit.Catalogue, end func(), how string, err error) {
	space, err := audit.ParseSpace(c.domain, c.rows, c.relation, c.integer, 0)
	if err != nil {
		return cat, nil, "", err
	}
	if c.program == "" || z.native {
		m := c.plain
		if m == nil {
			a, err := own.Resolve(catalogue)
			if err != nil {
				return cat, nil, "", err
			}
			m = a.Mechanism
		}
		return cli.With(catalogue, audit.Brought{Kind: audit.BroughtCommand, Name: c.mechanism, Datasets: space, Columns: m.Columns()}.Spec(m)), func() {}, "Go", nil
	}
	file, arguments, _ := strings.Cut(c.program, " ")
	line, how := "python3 "+filepath.Join(z.dir, file)+" "+arguments, "Python"
	if strings.HasSuffix(file, ".js") {
		line, how = "node "+filepath.Join(z.dir, "run.js")+" "+filepath.Join(z.dir, file)+" "+arguments, "JavaScript"
	}
	kinds := map[string]audit.ColumnKind{}
	for i := range c.names {
		kinds[fmt.Sprintf("c%d", i+1)] = audit.Symbol
	}
	m, err := command.Open(ctx, command.Options{Command: line, Space: space, NonFinite: c.nonFinite, Kinds: kinds})
	if err != nil {
		return cat, nil, "", err
	}
	return cli.With(catalogue, m.Brought().Spec(m)), m.Close, how, nil
}

// benchZoo compares what audits of strangers' mechanisms certify with what audits
// of the built-in ones do.
func benchZoo(c *call) (int, error) {
	z := zooRun{plan: pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed}, now: cli.Clock()}
	c.Count(&z.plan.Samples, "samples", 20_000, "certification outputs a side")
	c.Count(&z.plan.Explore, "explore", 0, "exploration outputs a side, of all pairs; 0: one and a half times -samples")
	c.IntVar(&z.plan.Trials, "trials", 10, "pairs to explore, at most")
	c.StringVar(&z.plan.Finder, "finder", audit.Auto, "how pairs are found for the strangers' mechanisms")
	c.IntVar(&z.seeds, "seeds", 1, "runs of each, with seeds 1, 2, ...")
	workers := c.workersFlag()
	c.StringVar(&z.dir, "dir", "docs/examples/zoo", "folder of the programs, which take Python 3 and Node.js")
	c.BoolVar(&z.native, "native", false, "run the same mechanisms in Go instead of the programs")
	only := c.String("only", "", "only mechanisms whose name contains this")
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	z.workers = *workers
	if z.seeds < 1 {
		return 0, &audit.InputError{Field: "-seeds", Found: fmt.Sprint(z.seeds), Want: "at least 1"}
	}
	var rows []zooRow
	for _, m := range zoo {
		if !strings.Contains(m.mechanism, *only) {
			continue
		}
		row, err := z.measure(c.ctx, m)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", m.mechanism, err)
		}
		c.say("%s: %.2f, %s", m.mechanism, row.ratio(), row.pair)
		rows = append(rows, row)
	}
	printZoo(c.stdout, rows)
	return cli.ExitOK, nil
}

// zooBound is the bound that an audit certifies, and the pair of it.
func zooBound(ctx context.Context, plan pair.Plan, cat audit.Catalogue, workers int) (float64, string, error) {
	r, err := audited(ctx, plan, cat, core.LocalPool(cat, workers))
	if err != nil {
		return 0, "", err
	}
	label := ""
	for _, t := range r.Trials {
		if t.Chosen {
			label = fmt.Sprintf("trial %d: %s", t.Trial, t.Pair.Label)
		}
	}
	return *r.Rows(report.Bounds)[0].LowerBound, label, nil
}

func printZoo(w io.Writer, rows []zooRow) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "mechanism\tin\tclaim\tbuilt in\tbrought\tratio\tseconds")
	reached := 0
	for _, r := range rows {
		if r.ratio() >= zooShare {
			reached++
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.4f\t%.4f\t%.2f\t%.0f\n", r.mechanism, r.how, r.claim, positiveMean(r.own), positiveMean(r.bound), r.ratio(), r.seconds)
	}
	t.Flush()
	fmt.Fprintf(w, "\nAt least %g of what is certified of the built-in mechanism: %d of %d\n", zooShare, reached, len(rows))
}
