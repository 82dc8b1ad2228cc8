package main

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary/train"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/report"
)

// claimFlags are the claim of an audit with canaries or of scores.
type claimFlags struct{ epsilon, delta float64 }

func (f *claimFlags) register(s *cli.Flags, epsilon, delta string) {
	s.Float64Var(&f.epsilon, "epsilon", 0, "claimed epsilon, above 0"+epsilon)
	s.Float64Var(&f.delta, "delta", report.DefaultDelta, "claimed delta, in [0, 1); "+delta)
}

// claim is the claim that the flags give, and whether its delta is the default.
func (f *claimFlags) claim(s *cli.Flags) (claim audit.Claim, defaulted bool, err error) {
	if !s.Given("epsilon") {
		return claim, false, &audit.InputError{Field: "-epsilon", Found: "absent", Want: "the epsilon that is claimed", Remedy: "for example -epsilon 2 -delta 1e-5"}
	}
	if !(f.epsilon > 0) {
		return claim, false, &audit.InputError{Field: "epsilon", Found: fmt.Sprint(f.epsilon), Want: "a finite number above 0"}
	}
	claim = audit.DPClaim(f.epsilon, f.delta)
	return claim, !s.Given("delta"), claim.Validate()
}

// dataFlags name a file of the user's, and say how examples in it are read.
type dataFlags struct{ data, label, bounds, scaling string }

func (f *dataFlags) register(s *cli.Flags, data, file string) {
	s.StringVar(&f.data, "data", "", data)
	s.StringVar(&f.label, "label", "", "column of the labels in "+file+", its name or number; default the last")
	s.StringVar(&f.bounds, "bounds", "", "declared bounds of all features of "+file+", as LOW,HIGH; default -1,1")
	s.StringVar(&f.scaling, "scaling", "", "of "+file+": box (each feature into [-1, 1] by the bounds) or unit (each row to norm 1); default box")
}

// csv is how examples are read, nil where nothing is said.
func (f *dataFlags) csv(s *cli.Flags) (*train.CSV, error) {
	if !s.Given("label") && !s.Given("bounds") && !s.Given("scaling") {
		return nil, nil
	}
	c := &train.CSV{Label: f.label, Scaling: f.scaling}
	if s.Given("bounds") {
		if n, err := fmt.Sscanf(f.bounds, "%g,%g", &c.Lower, &c.Upper); n != 2 || err != nil {
			return nil, &audit.InputError{Field: "-bounds", Found: fmt.Sprintf("%q", f.bounds), Want: "two numbers with a comma between", Remedy: "for example -bounds 0,255"}
		}
	}
	return c, nil
}

// atLeast refuses a number that was given and is too small: zero means the default in
// a plan, and a user who typed it meant it.
func atLeast(s *cli.Flags, name string, value, least float64) error {
	if s.Given(name) && !(value >= least) {
		return &audit.InputError{Field: "-" + name, Found: fmt.Sprint(value), Want: fmt.Sprintf("at least %v", least)}
	}
	return nil
}
