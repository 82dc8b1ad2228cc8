package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/user"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

// searchCase is a function that nobody tells the audit anything about but that its rows lie
// in [0, 1] and that it claims epsilon 1 under add-remove.
type searchCase struct {
	name  string
	how   string // the language
	sound bool
	// draw is one output on rows, in Go; nil: a program of bench/search.
	draw func(rows []float64, s *searchNoise) (float64, error)
}

// searchNoise draws for a function.
type searchNoise struct{ s *stream.Stream }

func (n *searchNoise) uniform() float64 { return n.s.Float64() }

func (n *searchNoise) laplace(scale float64) float64 {
	var out [1]float64
	n.s.Laplace(out[:], scale)
	return out[0]
}

func searchTotal(rows []float64) (sum float64) {
	for _, x := range rows {
		sum += x
	}
	return sum
}

var searchCases = func() (list []searchCase) {
	add := func(how string, sound bool, names string) {
		for name := range strings.FieldsSeq(names) {
			list = append(list, searchCase{name: name, how: how, sound: sound})
		}
	}
	add("Python", false, "noise-skipped-1000 noise-skipped-column window-70 window-open four-rows five-rows missing-as-text zero-as-text nan-when-empty nan-of-three infinite raises-when-empty raises-sometimes ends-on-one-row half-noise whole-noise size-beside noise-shrinks noise-cut threshold-exact heavy-row")
	add("JavaScript", false, "noise-skipped-500 null-mean window-33 shared-noise throws-on-four small-gaussian argmax-little-noise rounds-then-noise")
	in := func(name string, sound bool, draw func(rows []float64, n *searchNoise) (float64, error)) {
		list = append(list, searchCase{name, "Go", sound, draw})
	}
	in("zero-without-noise", false, func(rows []float64, n *searchNoise) (float64, error) {
		for _, x := range rows {
			if x == 0 {
				return searchTotal(rows), nil
			}
		}
		return searchTotal(rows) + n.laplace(1), nil
	})
	in("first-row-heavy", false, func(rows []float64, n *searchNoise) (float64, error) {
		if len(rows) > 0 {
			return searchTotal(rows) + rows[0] + n.laplace(1), nil
		}
		return n.laplace(1), nil
	})
	in("refuses-many", false, func(rows []float64, n *searchNoise) (float64, error) {
		if len(rows) == 5 {
			return 0, &user.Failed{Err: errors.New("more than four rows")}
		}
		return float64(len(rows)) + n.laplace(1), nil
	})
	in("log-of-zero", false, func(rows []float64, n *searchNoise) (float64, error) {
		return math.Log(searchTotal(rows)) + n.laplace(1), nil
	})
	in("maximum", false, func(rows []float64, n *searchNoise) (most float64, _ error) {
		for _, x := range rows {
			most = max(most, 2*x)
		}
		return most + n.laplace(1), nil
	})
	in("narrow-window", false, func(rows []float64, n *searchNoise) (float64, error) {
		for _, x := range rows {
			if x > 0.125 && x < 0.136 {
				return float64(len(rows)) + n.laplace(0.1), nil
			}
		}
		return float64(len(rows)) + n.laplace(1), nil
	})
	add("Python", true, "count sum two-largest-counts error-whatever nan-whatever word-whatever zero-in-1000")
	add("JavaScript", true, "js-count js-rounded js-clamped js-throws-whatever")
	in("fails-whatever", true, func(rows []float64, n *searchNoise) (float64, error) {
		if n.uniform() < 0.4 {
			return 0, &user.Failed{Err: errors.New("by chance")}
		}
		return float64(len(rows)) + n.laplace(1), nil
	})
	in("infinite-whatever", true, func(rows []float64, n *searchNoise) (float64, error) {
		if n.uniform() < 0.3 {
			return math.Inf(1), nil
		}
		return searchTotal(rows) + n.laplace(1), nil
	})
	return list
}()

// open is the function in a catalogue of its own.
func (c searchCase) open(ctx context.Context, dir string) (cat audit.Catalogue, end func(), err error) {
	space, err := audit.ParseSpace("", "", audit.AddRemove, false, 0)
	if err != nil {
		return cat, nil, err
	}
	if c.draw == nil {
		line := "python3 " + filepath.Join(dir, "functions.py")
		if c.how == "JavaScript" {
			line = "node " + filepath.Join(dir, "functions.js")
		}
		m, err := command.Open(ctx, command.Options{Command: line + " " + c.name, Space: space})
		if err != nil {
			return cat, nil, err
		}
		return catalogue.With(m.UserMechanism().Spec(m)), m.Close, nil
	}
	call := func(d audit.Dataset, seed uint64, out []float64) (err error) {
		n := searchNoise{stream.New(stream.Key{Seed: seed, Purpose: "bench search"})}
		for i := range out {
			if out[i], err = c.draw(d.Values, &n); err != nil {
				return err
			}
		}
		return nil
	}
	b := audit.UserMechanism{Kind: audit.UserCommand, Name: c.name, Datasets: space, Columns: []audit.Column{{Name: "c1", Kind: audit.Real}}}
	return catalogue.With(b.Spec(user.New(b.Columns, call))), func() {}, nil
}

// refuted reports whether an audit by default refutes the function's claim. Once it has, the
// rest of the audit is left out.
func (c searchCase) refuted(ctx context.Context, dir string, seed uint64, workers int) (bool, error) {
	cat, end, err := c.open(ctx, dir)
	if err != nil {
		return false, err
	}
	defer end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found := false
	claim := audit.DPClaim(1, 0)
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: string(audit.UserCommand), Claim: &claim, Seed: seed}
	r, err := pair.Run{Plan: plan, Catalogue: cat, Pool: engine.LocalPool(workers), Progress: func(p pair.Progress) {
		if p.Refuted > 0 {
			found = true
			cancel()
		}
	}}.Do(ctx)
	if found {
		return true, nil
	}
	return r.Verdict == audit.Violation, err
}

// searchShare of the broken functions has to be found.
const searchShare = 0.9

// benchSearch tries the default search on functions of which nothing is known.
func benchSearch(c *call) (int, error) {
	seeds := c.Int("seeds", 3, "audits of each, with seeds 1, 2, ...")
	dir := c.String("dir", "bench/search", "folder of the programs, which take Python 3 and Node.js")
	only := c.String("only", "", "only functions whose name contains this")
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	const row = "%-22s%-12s%-8s%s\n" // each as it comes
	fmt.Fprintf(c.stdout, row, "function", "in", "is", "refuted")
	var broken, found, audits, alarms int
	for _, s := range searchCases {
		if !strings.Contains(s.name, *only) {
			continue
		}
		refuted := 0
		for seed := range *seeds {
			yes, err := s.refuted(c.ctx, *dir, uint64(seed+1), c.workers)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", s.name, err)
			}
			if yes {
				refuted++
			}
		}
		is := "broken"
		if s.sound {
			is = "sound"
			audits, alarms = audits+*seeds, alarms+refuted
		} else if broken++; refuted == *seeds {
			found++
		}
		fmt.Fprintf(c.stdout, row, s.name, s.how, is, fmt.Sprintf("%d of %d", refuted, *seeds))
	}
	fmt.Fprintf(c.stdout, "\nSound functions refuted: %d of %d audits, each wrong with probability .05 at most: %.1f expected at most, %d or more by chance with probability %.2g at most\n",
		alarms, audits, .05*float64(audits), max(1, alarms), 1-distuv.Binomial{N: float64(audits), P: .05}.CDF(float64(max(1, alarms)-1)))
	fmt.Fprintf(c.stdout, "Broken functions found with every seed: %d of %d (%.0f %%, at least %.0f %% wanted)\n", found, broken, 100*float64(found)/float64(max(1, broken)), 100*searchShare)
	return cli.ExitOK, nil
}
