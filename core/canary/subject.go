package canary

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// Subject is what a plan says of what is audited, whether in many runs or in one: what is
// claimed of a source, and which canaries are planted. A plan has its fields.
type Subject struct {
	Source string `json:"source"` // gaussian-sum, ...
	// Trainer is the program whose trainings are audited; the source is [TrainerName].
	Trainer    *source.Trainer `json:"trainer,omitempty"`
	Parameters audit.Params    `json:"parameters,omitempty"`
	// Claim of kind approximate or pure; no default.
	Claim *audit.Claim `json:"claim,omitempty"`
	// DeltaDefaulted: the claim named no delta and has DefaultDelta.
	DeltaDefaulted bool `json:"deltaDefaulted,omitempty"`
	// Relation is the neighbouring relation of the claim, audit.AddRemove or
	// audit.Replace; default: the source's first, add-remove. Of one run it is
	// audit.AddRemove: a coin decides whether a canary is there.
	Relation audit.Relation `json:"relation"`
	Design   source.Design  `json:"design,omitempty"` // default: the source's first
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
func (u *Subject) Setup(spec source.Spec, pool *source.Pool) (source.Setup, error) {
	claim, err := report.ResolveClaim(u.Claim, u.DeltaDefaulted)
	if err != nil {
		return source.Setup{}, err
	}
	params, err := audit.ResolveParams(spec.Params, u.Parameters, claim)
	if err != nil {
		return source.Setup{}, fmt.Errorf("source %s: %w", spec.Name, err)
	}
	u.Claim = &claim
	u.Relation, u.Design = cmp.Or(u.Relation, spec.Relations[0]), cmp.Or(u.Design, spec.Designs[0])
	if err := report.CheckRelation(u.Relation, spec.Relations...); err != nil {
		return source.Setup{}, err
	}
	if !slices.Contains(spec.Designs, u.Design) {
		return source.Setup{}, audit.UnknownName("design", string(u.Design), report.Texts(spec.Designs))
	}
	if u.CSV != nil && !spec.TakesData {
		return source.Setup{}, &audit.InputError{Field: "csv", Path: "/csv", Found: "given for " + spec.Name, Want: "absent: it takes no file of examples"}
	}
	made := source.Setup{Params: params, Claim: claim, Relation: u.Relation, Design: u.Design, CSV: u.CSV, Trainer: u.Trainer}
	made.Pool, err = poolOf(pool, u.Design)
	return made, err
}

// poolOf is the pool of a design, with its defaults.
func poolOf(given *source.Pool, d source.Design) (source.Pool, error) {
	var p source.Pool
	pools := d == source.TailSingular || d == source.Vectors
	if given != nil && !pools {
		return p, &audit.InputError{Field: "pool", Path: "/pool", Found: fmt.Sprintf("given for the design %q", d), Want: fmt.Sprintf("absent except for %q and %q", source.TailSingular, source.Vectors)}
	}
	if given != nil {
		p = *given
	}
	if pools {
		p.Scale = cmp.Or(p.Scale, source.UnitNorm)
	}
	return p, nil
}

// TakeFile checks the user's file, nil if there is none.
func (u *Subject) TakeFile(spec source.Spec, s *source.Setup, file []byte) error {
	found, sum := audit.Absent, ""
	if file == nil && s.Design == source.Vectors {
		return &audit.InputError{Field: "data", Path: "/data", Found: found, Want: fmt.Sprintf("a file for the design %q", s.Design), Remedy: "give a CSV file of vectors, one a line"}
	}
	if file != nil {
		if !spec.TakesData && s.Design != source.Vectors {
			return &audit.InputError{Field: "data", Path: "/data", Found: "given", Want: fmt.Sprintf("absent for the design %q of %s", s.Design, spec.Name)}
		}
		hash := sha256.Sum256(file)
		sum = hex.EncodeToString(hash[:])
		found = "a file with SHA-256 " + sum
	}
	if u.Data != "" && u.Data != sum {
		return &audit.InputError{Field: "data", Path: "/data", Found: found, Want: "the file with SHA-256 " + u.Data, Remedy: "give the file that the audit was made with"}
	}
	u.Data, s.Data = sum, file
	return nil
}

// Spec is the source of a plan among sources. A trainer that is not among them is only
// named.
func (u *Subject) Spec(sources []source.Spec) (source.Spec, error) {
	name, t := &u.Source, u.Trainer
	if t == nil {
		if *name == source.TrainerName {
			return source.Spec{}, &audit.InputError{Field: "trainer", Path: "/trainer", Found: audit.Absent, Want: "the program that trains", Remedy: "name it with -exec (docs/training.md)"}
		}
		return audit.Find("source", *name, sources, func(s source.Spec) string { return s.Name })
	}
	if *name == "" {
		*name = source.TrainerName
	}
	if *name != source.TrainerName {
		return source.Spec{}, &audit.InputError{Field: "source", Found: fmt.Sprintf("%q with a trainer", *name), Want: fmt.Sprintf("%q or absent", source.TrainerName)}
	}
	if err := t.Check(); err != nil {
		return source.Spec{}, err
	}
	if i := slices.IndexFunc(sources, func(s source.Spec) bool { return s.Name == source.TrainerName }); i >= 0 {
		return sources[i], nil
	}
	return source.TrainerSpec(nil), nil
}
