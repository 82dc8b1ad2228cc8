package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/try"
)

// lab is what every study is run with. Its workers decide nothing but the time.
type lab struct {
	ctx     context.Context // ends with the first interrupt
	workers int
	say     func(format string, a ...any) // progress
}

// caught is the error that ended what it calls, nil where none did.
func caught(call func()) (err error) {
	defer try.To(&err)
	call()
	return nil
}

// in names the place of what fails in the call.
func in(place string, call func()) { try.Do(audit.Of(place, caught(call))) }

// results are those of the jobs 0 to n-1, in order, so many done at a time. The first error
// ends them, their context and the study. An end of the lab's context is cli.ErrStopped.
func results[R any](l lab, n int, do func(ctx context.Context, job int) R) []R {
	group, ctx := errgroup.WithContext(l.ctx)
	all := make([]R, n)
	var next atomic.Int64
	for range min(l.workers, n) {
		group.Go(func() (err error) {
			for err = ctx.Err(); err == nil; err = cmp.Or(err, ctx.Err()) {
				job := int(next.Add(1)) - 1
				if job >= n {
					return nil
				}
				err = caught(func() { all[job] = do(ctx, job) })
			}
			return err
		})
	}
	err := group.Wait()
	if l.ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = cli.ErrStopped
	}
	try.Do(err)
	return all
}

// repeated are the results of so many runs of each cell, by cell, done as [results] does jobs.
func repeated[R any](l lab, runs []int, do func(ctx context.Context, cell, run int) R) [][]R {
	var jobs [][2]int
	for cell, n := range runs {
		for run := range n {
			jobs = append(jobs, [2]int{cell, run})
		}
	}
	all := results(l, len(jobs), func(ctx context.Context, i int) R { return do(ctx, jobs[i][0], jobs[i][1]) })
	return audit.Each(runs, func(n int) (cell []R) {
		cell, all = all[:n], all[n:]
		return cell
	})
}

// audited is the report of an audit by one worker that ran to its end.
func audited(ctx context.Context, plan pair.Plan, cat audit.Catalogue) pair.Report {
	plan.Version = pair.PlanVersion
	r := try.Get(pair.Run{Plan: plan, Catalogue: cat, Pool: engine.LocalPool(1)}.Do(ctx))
	if end := r.Termination.Reason; end != audit.Completed && end != audit.Refuted {
		try.Do(cli.ErrStopped)
	}
	return r
}

type table struct {
	title   string
	columns []string // without that of the rows' names
	rows    []line
	notes   []string
}

type line struct {
	name  string
	cells []any // one a column
}

func (t *table) add(name string, cells ...any) {
	t.rows = append(t.rows, line{name, cells})
}

func (t *table) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n\n", t.title)
	out := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(out, "\t%s\n", strings.Join(t.columns, "\t"))
	for _, row := range t.rows {
		fmt.Fprint(out, row.name)
		for _, c := range row.cells {
			if x, ok := c.(float64); ok {
				c = decimal(x)
			}
			fmt.Fprintf(out, "\t%v", c)
		}
		fmt.Fprintln(out)
	}
	out.Flush()
	if len(t.notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range t.notes {
		fmt.Fprintf(w, "Note: %s.\n", n)
	}
}

func decimal(x float64) string {
	return fmt.Sprintf(audit.Pick(x != 0 && math.Abs(x) < 0.01, "%.2e", "%.3f"), x)
}

// crossed is of each pair of two lists, the second one's elements in turn for each of the first.
func crossed[A, B, R any](as []A, bs []B, of func(A, B) R) (all []R) {
	for _, a := range as {
		for _, b := range bs {
			all = append(all, of(a, b))
		}
	}
	return all
}

// unknown are the cells of which nothing is known yet, each once.
func unknown[C comparable, R any](known map[C]R, cells []C) (fresh []C) {
	for _, c := range cells {
		if _, ok := known[c]; !ok && !slices.Contains(fresh, c) {
			fresh = append(fresh, c)
		}
	}
	return fresh
}

// orNaN is what a map has of a key, or NaN.
func orNaN[K comparable](known map[K]float64, key K) float64 {
	x, ok := known[key]
	return audit.Pick(ok, x, math.NaN())
}

func of(some, all int) string { return fmt.Sprintf("%d/%d", some, all) }

// figure is a mean with its standard error, beside a published one; what is not there is NaN.
type figure struct{ mean, err, published float64 }

var noFigure = figure{math.NaN(), math.NaN(), math.NaN()}

// figureOf is the mean of values that are finite.
func figureOf(values ...float64) figure {
	f := noFigure
	mean, deviation := stat.MeanStdDev(values, nil) // NaN where there are none
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		return f
	}
	if f.mean = mean; len(values) > 1 {
		f.err = stat.StdErr(deviation, float64(len(values)))
	}
	return f
}

func (f figure) beside(published float64) figure {
	f.published = published
	return f
}

func (f figure) String() string {
	s := audit.Pick(math.IsNaN(f.mean), "-", decimal(f.mean))
	if !math.IsNaN(f.err) {
		s += " ± " + decimal(f.err)
	}
	if !math.IsNaN(f.published) {
		s += fmt.Sprintf(" [%.3g]", f.published)
	}
	return s
}

func sorted[X any, V cmp.Ordered](all []X, of func(X) V) []V {
	return slices.Sorted(slices.Values(audit.Each(all, of)))
}

func median(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// namesOf are the names of a list with commas, each once.
func namesOf(list string) (names []string) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// chosen reports whether a name contains a text of a list with commas, or the list is empty.
func chosen(list, name string) bool {
	return list == "" || slices.ContainsFunc(namesOf(list), func(text string) bool { return strings.Contains(name, text) })
}

type call struct {
	*cli.Flags
	lab
	args   []string
	stdout io.Writer
	exit   int
	tables []*table // that were printed
}

var errEnded = errors.New("flags that the study does not have, or help")

// parse reads the arguments; help, and wrong ones, end the study.
func (c *call) parse() {
	workers := c.Workers(c.workers, "parallel workers; 0: one a processor. No figure but seconds depends on it")
	exit, ok := c.Parse(c.args, 0)
	if c.exit, c.workers = exit, *workers; !ok {
		try.Do(errEnded)
	}
}

func (c *call) print(head string, tables ...*table) {
	c.tables = tables
	fmt.Fprintln(c.stdout, head)
	for _, t := range tables {
		t.print(c.stdout)
	}
}

// count is a flag of a whole number in a range.
func (c *call) count(p *int, name string, value, least, most int, usage string) {
	c.Count(p, name, value, usage)
	c.Check(func() error { return audit.Within("-"+name, *p, least, most) })
}

func refuse(wrong bool, flag, text, want string) {
	try.Do(audit.Require(!wrong, flag, fmt.Sprintf("%q", text), "%s", want))
}

// part is a table of a study whose state is B.
type part[B any] struct {
	name  string
	build func(B) *table
}

func pick[B any](only string, parts []part[B]) []part[B] {
	if only == "" {
		return parts
	}
	return audit.Each(namesOf(only), func(name string) part[B] {
		return try.Get(audit.Find("-only", name, parts, func(p part[B]) string { return p.name }))
	})
}

func built[B any](b B, parts []part[B]) []*table {
	return audit.Each(parts, func(p part[B]) *table { return p.build(b) })
}
