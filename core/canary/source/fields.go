package source

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// Subject is what a plan says of what is audited, whether in many runs or in one: what is
// claimed of a source, and which canaries are planted. A plan has its fields.
type Subject struct {
	Source string `json:"source"` // gaussian-sum, ...
	// Trainer is the program whose trainings are audited; the source is [TrainerName].
	Trainer    *Trainer     `json:"trainer,omitempty"`
	Parameters audit.Params `json:"parameters,omitempty"`
	// Claim of kind approximate or pure; no default.
	Claim *audit.Claim `json:"claim,omitempty"`
	// DeltaDefaulted: the claim named no delta and has DefaultDelta.
	DeltaDefaulted bool `json:"deltaDefaulted,omitempty"`
	// Relation is the neighbouring relation of the claim, audit.AddRemove or
	// audit.Replace; default: the source's first, add-remove. Of one run it is
	// audit.AddRemove: a coin decides whether a canary is there.
	Relation audit.Relation `json:"relation"`
	Design   Design         `json:"design,omitempty"` // default: the source's first
	// CSV says how a file of examples is read, for dp-sgd.
	CSV *train.CSV `json:"csv,omitempty"`
	// Data is the SHA-256 of the user's file, in hexadecimal: its content is
	// passed beside the plan. Empty: none, or whatever is passed.
	Data string `json:"data,omitempty"`
}

// StatedClaim is what the audit is against; of a plan with a claim.
func (u Subject) StatedClaim() report.StatedClaim {
	return report.StatedClaim{Claim: *u.Claim, Relation: u.Relation, Defaulted: u.DeltaDefaulted}
}

// Setup checks claim, parameters, relation and design, fills in their defaults, and says
// what a source is to be made of, but for K, M and the file. pool is nil where none was given.
func (u *Subject) Setup(spec Spec, pool *Pool) (Setup, error) {
	claim, err := report.ResolveClaim(u.Claim, u.DeltaDefaulted)
	if err != nil {
		return Setup{}, err
	}
	params, err := audit.ResolveParams(spec.Params, u.Parameters, claim)
	if err != nil {
		return Setup{}, fmt.Errorf("source %s: %w", spec.Name, err)
	}
	u.Claim = &claim
	if u.Relation == "" {
		u.Relation = spec.Relations[0]
	}
	if err := report.CheckRelation(u.Relation, spec.Relations...); err != nil {
		return Setup{}, err
	}
	if u.Design == "" {
		u.Design = spec.Designs[0]
	}
	if !slices.Contains(spec.Designs, u.Design) {
		return Setup{}, audit.UnknownName("design", string(u.Design), report.Texts(spec.Designs))
	}
	if u.CSV != nil && !spec.TakesData {
		return Setup{}, &audit.InputError{Field: "csv", Path: "/csv", Found: "given for " + spec.Name, Want: "absent: it takes no file of examples"}
	}
	made := Setup{Params: params, Claim: claim, Relation: u.Relation, Design: u.Design, CSV: u.CSV, Trainer: u.Trainer}
	made.Pool, err = pool.of(u.Design)
	return made, err
}

func (given *Pool) of(d Design) (Pool, error) {
	var p Pool
	pools := d == TailSingular || d == Vectors
	if given != nil && !pools {
		return p, &audit.InputError{Field: "pool", Path: "/pool", Found: fmt.Sprintf("given for the design %q", d), Want: fmt.Sprintf("absent except for %q and %q", TailSingular, Vectors)}
	}
	if given != nil {
		p = *given
	}
	if pools {
		p.Scale = cmp.Or(p.Scale, UnitNorm)
	}
	return p, nil
}

// TakeFile checks the user's file, nil if there is none.
func (u *Subject) TakeFile(spec Spec, s *Setup, file []byte) error {
	sha := &u.Data
	switch {
	case file == nil && s.Design == Vectors:
		return &audit.InputError{Field: "data", Path: "/data", Found: audit.Absent, Want: fmt.Sprintf("a file for the design %q", s.Design), Remedy: "give a CSV file of vectors, one a line"}
	case file == nil && *sha != "":
		return &audit.InputError{Field: "data", Path: "/data", Found: audit.Absent, Want: "the file with SHA-256 " + *sha, Remedy: "give the file that the audit was made with"}
	case file == nil:
		return nil
	case !spec.TakesData && s.Design != Vectors:
		return &audit.InputError{Field: "data", Path: "/data", Found: "given", Want: fmt.Sprintf("absent for the design %q of %s", s.Design, spec.Name)}
	}
	sum := sha256.Sum256(file)
	found := hex.EncodeToString(sum[:])
	if *sha != "" && *sha != found {
		return &audit.InputError{Field: "data", Path: "/data", Found: "a file with SHA-256 " + found, Want: "the file with SHA-256 " + *sha, Remedy: "give the file that the audit was made with"}
	}
	*sha, s.Data = found, file
	return nil
}
