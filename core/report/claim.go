package report

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
)

// DefaultDelta is the delta of a claim that names none, in plans, on the command line
// and in the page. A claim of pure differential privacy says delta 0.
const DefaultDelta = 1e-5

// StatedClaim is what an audit is against: a claim, what it calls neighbours, and
// whether its delta is the default because none was named.
type StatedClaim struct {
	audit.Claim
	Relation  audit.Relation
	Defaulted bool
}

// At is what follows an epsilon in words: its delta and its relation.
func (c StatedClaim) At() string {
	s := " at delta = " + phrase.Number(c.Delta)
	if c.Defaulted {
		s += " (the default)"
	}
	return s + " under " + string(c.Relation)
}

// String is the whole claim in words.
func (c StatedClaim) String() string {
	s := fmt.Sprintf("epsilon = %s at delta = %s", phrase.Number(c.Epsilon), phrase.Number(c.Delta))
	if c.Defaulted {
		s += ", the default because none was given,"
	}
	return s + fmt.Sprintf(" under %s: %s", c.Relation, relationWords[c.Relation])
}

var relationWords = map[audit.Relation]string{
	audit.AddRemove: "a record is present or absent",
	audit.Replace:   "a record is replaced by another",
}

// CheckRelation refuses what is no relation of an audit with canaries.
func CheckRelation(r audit.Relation, known ...audit.Relation) error {
	if slices.Contains(known, r) {
		return nil
	}
	if r == "replace-one" { // its name elsewhere
		return &audit.InputError{Field: "relation", Found: `"replace-one"`, Want: fmt.Sprintf("one of %v", Texts(known)), Remedy: `"replace" is its name here`}
	}
	return audit.UnknownName("relation", string(r), Texts(known))
}

// ResolveClaim checks a claim of kind pure or approximate.
func ResolveClaim(c *audit.Claim, defaulted bool) (audit.Claim, error) {
	if c == nil {
		return audit.Claim{}, &audit.InputError{Field: "claim", Path: "epsilon", Found: audit.Absent, Want: "epsilon and delta that the mechanism claims", Remedy: "for example epsilon = 2, delta = 1e-5"}
	}
	claim := *c
	if claim.Kind == "" {
		claim.Kind = audit.DPClaim(claim.Epsilon, claim.Delta).Kind
	}
	if claim.Kind != audit.Approximate && claim.Kind != audit.Pure {
		return claim, &audit.InputError{Field: "claim.kind", Path: "/claim/kind", Found: fmt.Sprintf("%q", claim.Kind), Want: fmt.Sprintf("%q or %q", audit.Approximate, audit.Pure), Remedy: "canaries test an event against epsilon at one delta"}
	}
	if defaulted && claim.Delta != DefaultDelta {
		return claim, &audit.InputError{Field: "deltaDefaulted", Path: "/deltaDefaulted", Found: fmt.Sprintf("true with delta = %v", claim.Delta), Want: fmt.Sprintf("absent, or delta = %v", DefaultDelta)}
	}
	return claim, claim.Validate()
}

// ReadDefaultDelta completes the claim of a plan that was read from data and names no
// delta.
func ReadDefaultDelta(data []byte, claim *audit.Claim, defaulted *bool) {
	var plan struct {
		Claim struct {
			Delta *float64 `json:"delta"`
		} `json:"claim"`
	}
	if claim == nil || claim.Kind != "" && claim.Kind != audit.Approximate || json.Unmarshal(data, &plan) != nil || plan.Claim.Delta != nil {
		return
	}
	claim.Kind, claim.Delta, *defaulted = audit.Approximate, DefaultDelta, true
}

// Texts are words of a type of their own as strings.
func Texts[T ~string](v []T) []string {
	out := make([]string, len(v))
	for i, x := range v {
		out[i] = string(x)
	}
	return out
}
