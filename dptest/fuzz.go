package dptest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/suite"
)

const (
	screenBeta = 0.01 // error of a screening's bound
	leastBeta  = 1e-9 // that an audit may have
)

// Fuzz lets Go's fuzzer look for neighbouring datasets on which m breaks the claim. Call it at the end of a fuzz test:
//
//	func FuzzCount(f *testing.F) {
//		dptest.Fuzz(f, myCount{}, audit.DPClaim(1, 0), dptest.Options{
//			Domain: &audit.Domain{Columns: 1, MaxRows: 4, Lower: []float64{0}, Upper: []float64{10}},
//		})
//	}
//
// The fuzzer's bytes become a pair in Options.Domain (or that of [From]) under Options.Relation. It is explored with
// Options.Explore outputs a side, default 2000, and, if it looks loud, audited with as many. Where that bound exceeds
// the claim, the pair is certified with Options.Samples fresh outputs a side, default 20000.
//
// Only a certification can fail the test. The k-th of a process has the error
//
//	FalseAlarm * 6/(pi^2 k^2)
//
// which sums to FalseAlarm however many pairs are tried and however they are chosen: given all before it, a
// certification of a pair on which m keeps its claim errs with that probability at most. A pair that comes again is not
// drawn again. A certification with an error below 1e-9 (the 780th by default) is not done.
//
// With -fuzz there are -parallel processes, each with a count of its own and FalseAlarm / -parallel. A process that the
// fuzzer starts anew counts anew; FalseAlarm is then that of each generation of processes.
//
// An input takes some 10 ms; -fuzzminimizetime 10x keeps Go from long minimizing. A failing input runs in every go test
// from then on, on the same outputs; the message says how to run its certification alone.
func Fuzz(f *testing.F, m audit.Mechanism, claim audit.Claim, opts Options) {
	f.Helper()
	z, err := newFuzzer(m, claim, opts, processes())
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range z.seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := z.try(data)
		if skip, ok := errors.AsType[skipError](err); ok {
			t.Skip(skip)
		}
		if err != nil {
			keep(t, r)
			t.Fatal(err)
		}
	})
}

func processes() int {
	n := 1
	if fuzz := flag.Lookup("test.fuzz"); fuzz != nil && fuzz.Value.String() != "" {
		n, _ = strconv.Atoi(flag.Lookup("test.parallel").Value.String()) // 0 with an error
	}
	return max(1, n)
}

type skipError string // why an input was not certified

func (e skipError) Error() string { return "dptest: " + string(e) }

type fuzzer struct {
	m          audit.Mechanism
	claim      audit.Claim
	opts       Options
	seeds      [][]byte                             // the points that a search begins with
	at         func(u []float64) (audit.Pair, bool) // see [finders.Points]
	falseAlarm float64                              // of this process

	mu        sync.Mutex
	certified map[string]verdict // by pair
	tried     bool               // a screening of this size could show something
	rungs     int                // of the last screening
}

type verdict struct {
	report pair.Report
	err    error
}

// steps are those of a coordinate, a byte: halves, thirds, fifths and eighths are among 240.
const steps = 240

func newFuzzer(m audit.Mechanism, claim audit.Claim, opts Options, processes int) (*fuzzer, error) {
	z := &fuzzer{m: m, claim: claim, opts: opts, certified: map[string]verdict{}, falseAlarm: opts.falseAlarm() / float64(processes)}
	if len(opts.Pairs) > 0 {
		return nil, &audit.InputError{Field: "Options.Pairs", Found: "given", Want: "absent in Fuzz, which proposes pairs itself", Remedy: "dptest.Run audits known pairs"}
	}
	if _, ok := m.(*registered); !ok && m != nil && opts.Domain == nil {
		return nil, &audit.InputError{Field: "Options.Domain", Found: audit.Absent, Want: "the datasets that the fuzzer may propose"}
	}
	z.opts.Explore, z.opts.Samples = cmp.Or(opts.Explore, 2000), cmp.Or(opts.Samples, 20_000)
	z.opts.Workers = max(1, opts.Workers) // the processes are parallel already
	spec, params, err := specOf(m, claim, opts)
	if err != nil {
		return nil, err
	}
	z.opts.Relation = cmp.Or(opts.Relation, spec.Relations(params)[0])
	openings, at, err := finders.Points(z.opts.Relation, spec.Domain(params, z.opts.Relation))
	if err != nil {
		return nil, audit.At("Options", err)
	}
	z.at, z.seeds = at, [][]byte{slices.Repeat([]byte{0}, len(openings[0])), slices.Repeat([]byte{0xff}, len(openings[0]))}
	for _, u := range openings {
		z.seeds = append(z.seeds, audit.Listed(len(u), func(i int) byte { return byte(math.Round(steps * u[i])) }))
	}
	// What is wrong with the plan is wrong with every input.
	p, _ := z.pair(z.seeds[2])
	for _, o := range []Options{z.alone(p, z.opts.Explore, screenBeta, 0), z.alone(p, z.opts.Samples, z.spend(1), 0)} {
		if _, err := resolve(m, claim, o); err != nil {
			return nil, err
		}
	}
	return z, nil
}

func resolve(m audit.Mechanism, claim audit.Claim, opts Options) (*pair.Audit, error) {
	cat, plan, err := prepare(m, claim, opts)
	if err != nil {
		return nil, err
	}
	return plan.Resolve(cat)
}

// pair is what bytes stand for; false where its datasets are the same.
func (z *fuzzer) pair(data []byte) (audit.Pair, bool) {
	u := make([]float64, len(z.seeds[0]))
	for i := range min(len(u), len(data)) {
		u[i] = float64(min(data[i], steps)) / steps
	}
	return z.at(u)
}

// spend is the error of the k-th certification of this process.
func (z *fuzzer) spend(k int) float64 {
	return z.falseAlarm * 6 / (math.Pi * math.Pi * float64(k) * float64(k))
}

func (z *fuzzer) alone(p audit.Pair, outputs int, beta float64, seed uint64) Options {
	o := z.opts
	o.Mode, o.Samples, o.Explore, o.FalseAlarm, o.Seed = pair.Fixed, outputs, outputs, beta, seed
	o.Pairs, o.only, o.Trials = []audit.Pair{p}, &p, 1
	return o
}

// try screens a pair, and certifies a loud one. skipError: nothing was found out.
func (z *fuzzer) try(data []byte) (pair.Report, error) {
	p, ok := z.pair(data)
	if !ok {
		return pair.Report{}, skipError("the datasets are the same")
	}
	key, err := json.Marshal(p)
	if err != nil {
		return pair.Report{}, err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if v, ok := z.certified[string(key)]; ok {
		return v.report, v.err
	}
	screen, loud, err := z.screen(p, suite.Seed(z.opts.Seed, "screen "+string(key)))
	if err != nil {
		return screen, fmt.Errorf("dptest: the pair %s could not be audited: %w", key, err)
	}
	if !loud {
		return screen, nil
	}
	beta := z.spend(len(z.certified) + 1)
	if beta < leastBeta {
		return screen, skipError("the allowed error is used up: no further pair can be certified; continue with another seed")
	}
	opts := z.alone(p, z.opts.Samples, beta, suite.Seed(z.opts.Seed, "certify "+string(key)))
	r, err := Audit(context.Background(), z.m, z.claim, opts)
	if broken, ok := errors.AsType[*ViolationError](err); ok {
		learner := ""
		if opts.Learner != "" {
			learner = fmt.Sprintf(", Learner: %q", opts.Learner)
		}
		err = fmt.Errorf("%w\nReplay: dptest.Check with dptest.Options{Pairs: []audit.Pair{%s}, Mode: pair.Fixed, Relation: %q, Samples: %d, Explore: %d, FalseAlarm: %v, Seed: %d%s}\nA mechanism that keeps its claim fails in one process with probability at most %g, however many pairs are tried; this was its pair number %d",
			broken, pairLiteral(p), opts.Relation, opts.Samples, opts.Explore, beta, opts.Seed, learner, z.falseAlarm, len(z.certified)+1)
	} else if err != nil {
		err = skipError(err.Error())
	}
	z.certified[string(key)] = verdict{r, err}
	return r, err
}

// screen reports whether the pair looks loud. Most take an exploration; the first of all takes an audit, which tells
// whether this size could show anything.
func (z *fuzzer) screen(p audit.Pair, seed uint64) (r pair.Report, loud bool, err error) {
	opts := z.alone(p, z.opts.Explore, screenBeta, seed)
	a, err := resolve(z.m, z.claim, opts)
	if err != nil {
		return r, false, err
	}
	explored, err := engine.Result[pair.Explored](a.Explore(0, p, a.Plan.Explore), nil)
	if err != nil {
		return r, false, err
	}
	share := explored.Value / a.Claim.Limit()
	if z.rungs = rungs(share); share <= 1 && z.tried {
		return r, false, nil
	}
	r, err = Audit(context.Background(), z.m, z.claim, opts)
	if _, loud = errors.AsType[*ViolationError](err); loud {
		err = nil
	}
	z.tried = z.tried || err == nil
	return r, loud, err
}

func pairLiteral(p audit.Pair) string {
	set := func(d audit.Dataset) string {
		return fmt.Sprintf("{Columns: %d, Values: %#v}", d.Columns, d.Values)
	}
	return fmt.Sprintf("{First: audit.Dataset%s, Second: audit.Dataset%s}", set(p.First), set(p.Second))
}

// rungs is how many tenths of the claim were reached, by a branch for each: the fuzzer keeps what reaches new code.
func rungs(share float64) int {
	switch {
	case share >= 0.9:
		return 9
	case share >= 0.8:
		return 8
	case share >= 0.7:
		return 7
	case share >= 0.6:
		return 6
	case share >= 0.5:
		return 5
	case share >= 0.4:
		return 4
	case share >= 0.3:
		return 3
	case share >= 0.2:
		return 2
	case share >= 0.1:
		return 1
	}
	return 0
}
