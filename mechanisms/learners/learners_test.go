package learners

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/dptest"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

var update = flag.Bool("update", false, "write testdata/digests.txt anew")

// loud are the audits of faults that the contract's own audit does not show.
var loud = map[string]pair.Plan{
	"logistic-output-half-noise": {Samples: 30_000, Explore: 5_000}, // the truth is 1.3 of its claim
}

// TestEveryLearner holds every line of the registry to the contract of mechanisms,
// with one audit each: what is broken is refuted, and what is not is not. In the short
// tests it is over one small table.
func TestEveryLearner(t *testing.T) {
	testsize.Native(t)
	for _, spec := range testsize.Of(On(BuiltIn()[1]), All()) {
		t.Run(spec.Name, func(t *testing.T) {
			plan, ok := loud[spec.Name]
			plan.Seed = 3
			plan.Finder = "candidates"
			if !ok {
				plan.Samples, plan.Explore = 2000, 1000
			}
			if strings.HasPrefix(spec.Name, "sgd") {
				plan.Samples, plan.Explore = 1000, 600
				plan.Parameters = audit.Params{"steps": {Number: 2}}
			}
			dptest.TestMechanism(t, spec, plan)
		})
	}
}

// TestEveryTable: every learner trains on every table that it has, and its pairs there
// are neighbours in its domain.
func TestEveryTable(t *testing.T) {
	for _, spec := range All() {
		tables := spec.Params[len(spec.Params)-1].Choices
		if len(tables) < 4 {
			t.Errorf("%s has tables %v", spec.Name, tables)
		}
		for _, name := range tables {
			p := resolved(t, spec, audit.Params{"table": {Text: name}})
			m := must.Get(spec.New(p))(t)
			for _, r := range spec.Relations(p) {
				for _, two := range spec.Pairs(p, r) {
					if err := r.Check(two, spec.Domain(p, r)); err != nil {
						t.Errorf("%s on %s: %q: %v", spec.Name, name, two.Label, err)
					}
					of := m
					if s, ok := m.(audit.Summariser); ok {
						of = s.For(two)
					}
					for _, v := range draw(t, of, two.Second, 2) {
						if v-v != 0 || math.Abs(v) >= -diverged {
							t.Errorf("%s on %s: output %v", spec.Name, name, v)
						}
					}
				}
			}
			if known := spec.Table(p); known.Base.Len() < 100 || known.Learning == "" || known.Learning != audit.Forest && known.Train == nil {
				t.Errorf("%s on %s: an attack knows %d rows, learning %q", spec.Name, name, known.Base.Len(), known.Learning)
			}
		}
	}
}

func resolved(t testing.TB, spec audit.MechanismSpec, given audit.Params) audit.Params {
	t.Helper()
	return must.Get(audit.ResolveParams(spec.Params, given, audit.Claim{}))(t)
}

// TestSameBitsOfLearners: a digest of the outputs at the defaults, in view of the default
// pair, is the same on every platform. Its reference is this package itself: go test
// -run TestSameBitsOfLearners -update, after a change of what a seed means.
func TestSameBitsOfLearners(t *testing.T) {
	const file = "testdata/digests.txt"
	var got strings.Builder
	for _, spec := range All() {
		p := resolved(t, spec, nil)
		m := must.Get(spec.New(p))(t)
		two := spec.Pairs(p, spec.Relations(p)[0])[0]
		if s, ok := m.(audit.Summariser); ok {
			m = s.For(two)
		}
		sum := fnv.New64a()
		for _, v := range draw(t, m, two.Second, 50) {
			binary.Write(sum, binary.LittleEndian, v)
		}
		fmt.Fprintf(&got, "%s %016x\n", spec.Name, sum.Sum64())
	}
	if *update {
		must.Do(t, os.WriteFile(file, []byte(got.String()), 0o666))
	}
	want := must.Get(os.ReadFile(file))(t)
	if got.String() != string(want) {
		t.Errorf("outputs changed; digests are now\n%swant\n%s", got.String(), want)
	}
}
