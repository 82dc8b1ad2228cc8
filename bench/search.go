package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

// searchCase is a function of bench/search on rows in [0, 1], which claims epsilon 1 under add-remove.
type searchCase struct {
	name, program string
	sound         bool
}

var searchCases = func() (list []searchCase) {
	add := func(program string, sound bool, names string) {
		for name := range strings.FieldsSeq(names) {
			list = append(list, searchCase{name, program, sound})
		}
	}
	const python, node = "python3 functions.py", "node functions.js"
	add(python, false, "noise-skipped-1000 noise-skipped-column window-70 window-open four-rows five-rows missing-as-text zero-as-text nan-when-empty nan-of-three infinite raises-when-empty raises-sometimes ends-on-one-row half-noise whole-noise size-beside noise-shrinks noise-cut threshold-exact heavy-row zero-without-noise first-row-heavy refuses-many log-of-zero maximum narrow-window")
	add(node, false, "noise-skipped-500 null-mean window-33 shared-noise throws-on-four small-gaussian argmax-little-noise rounds-then-noise")
	add(python, true, "count sum two-largest-counts error-whatever nan-whatever word-whatever infinite-whatever zero-in-1000")
	add(node, true, "js-count js-rounded js-clamped js-throws-whatever")
	return list
}()

// refuted reports whether a default audit refutes the claim; what comes after that is left out.
func (c searchCase) refuted(ctx context.Context, dir string, seed uint64, workers int) bool {
	space := try.Get(audit.ParseSpace("", "", audit.AddRemove, false, 0))
	line := strings.Replace(c.program, "functions", filepath.Join(dir, "functions"), 1) + " " + c.name
	m := try.Get(command.Open(ctx, command.Options{Command: line, Space: space}))
	defer m.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found := false
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: string(audit.UserCommand), Claim: new(audit.DPClaim(1, 0)), Seed: seed}
	r, err := pair.Run{Plan: plan, Catalogue: catalogue.With(m.UserMechanism().Spec(m)), Pool: engine.LocalPool(workers), Progress: func(p pair.Progress) {
		if p.Refuted > 0 {
			found = true
			cancel()
		}
	}}.Do(ctx)
	return found || try.Get(r, err).Verdict == audit.Violation
}

func benchSearch(c *call) {
	var seeds int
	c.Count(&seeds, "seeds", 3, "audits of each, with seeds 1, 2, ...")
	dir := c.String("dir", "bench/search", "folder of the programs, which take Python 3 and Node.js")
	only := c.String("only", "", "only functions whose name contains one of these, comma between")
	c.parse()
	t := &table{title: "Functions of which nothing is known", columns: []string{"by", "is", "refuted"}}
	var broken, found, audits, alarms int
	for _, s := range searchCases {
		if !chosen(*only, s.name) {
			continue
		}
		refuted := 0
		in(s.name, func() {
			for seed := range seeds {
				refuted += audit.Pick(s.refuted(c.ctx, *dir, uint64(seed+1), c.workers), 1, 0)
			}
		})
		c.say("%s: %d", s.name, refuted)
		t.add(s.name, s.program, audit.Pick(s.sound, "sound", "broken"), of(refuted, seeds))
		if s.sound {
			audits, alarms = audits+seeds, alarms+refuted
		} else if broken++; refuted == seeds {
			found++
		}
	}
	t.notes = []string{
		fmt.Sprintf("sound functions refuted: %d of %d audits, each wrong with probability .05 at most; so many or more by chance with probability %.2g at most",
			alarms, audits, 1-distuv.Binomial{N: float64(audits), P: .05}.CDF(float64(max(1, alarms)-1))),
		fmt.Sprintf("broken functions found with every seed: %d of %d", found, broken)}
	c.print("The default search", t)
}
