package pair

import (
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/mechanisms"
)

// BenchmarkRace: until the claim is refuted, search included.
func BenchmarkRace(b *testing.B) {
	cat := audit.Catalogue{Mechanisms: mechanisms.All(), Finders: finders.All, Learners: estimators.Registry()}
	for _, name := range []string{"svt3", "laplace-mean-raw-denominator", "svt4"} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				p := Plan{Version: PlanVersion, Mechanism: name, Mode: UntilRefuted, Samples: 100000, Claim: new(audit.DPClaim(1, 0)), Seed: 5000 + uint64(i)}
				a, err := p.Resolve(cat)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := engine.Execute(a.SequentialTest(), nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
