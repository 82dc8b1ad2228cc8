package source

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// Fields are those of a plan that audits of many runs and of one resolve alike: what is
// claimed of a source, and which canaries are planted. They point into the plan, where
// defaults are filled in.
type Fields struct {
	Spec       Spec
	Designs    []Design     // of this kind of audit, the first is the default
	Parameters audit.Params // as the user gave them
	Claim      **audit.Claim
	Defaulted  bool // the delta of the claim
	Relation   *audit.Relation
	Design     *Design
	Pool       *Pool // nil: none was given
	CSV        *train.CSV
	Trainer    *Trainer
	Data       *string // SHA-256 of the user's file
}

// Setup checks claim, parameters, relation and design, and says what a source is to be
// made of, but for K, M and the file.
func (f Fields) Setup() (Setup, error) {
	claim, err := report.ResolveClaim(*f.Claim, f.Defaulted)
	if err != nil {
		return Setup{}, err
	}
	params, err := audit.ResolveParams(f.Spec.Params, f.Parameters, claim)
	if err != nil {
		return Setup{}, fmt.Errorf("source %s: %w", f.Spec.Name, err)
	}
	*f.Claim = &claim
	if *f.Relation == "" {
		*f.Relation = f.Spec.Relations[0]
	}
	if err := report.CheckRelation(*f.Relation, f.Spec.Relations...); err != nil {
		return Setup{}, err
	}
	if *f.Design == "" {
		*f.Design = f.Designs[0]
	}
	if !slices.Contains(f.Designs, *f.Design) {
		return Setup{}, audit.UnknownName("design", string(*f.Design), report.Texts(f.Designs))
	}
	if f.CSV != nil && !f.Spec.TakesData {
		return Setup{}, &audit.InputError{Field: "csv", Path: "/csv", Found: "given for " + f.Spec.Name, Want: "absent: it takes no file of examples"}
	}
	s := Setup{Params: params, Claim: claim, Relation: *f.Relation, Design: *f.Design, CSV: f.CSV, Trainer: f.Trainer}
	s.Pool, err = f.pool()
	return s, err
}

func (f Fields) pool() (Pool, error) {
	var p Pool
	pools := *f.Design == TailSingular || *f.Design == Vectors
	if f.Pool != nil && !pools {
		return p, &audit.InputError{Field: "pool", Path: "/pool", Found: fmt.Sprintf("given for the design %q", *f.Design), Want: fmt.Sprintf("absent but for %q and %q", TailSingular, Vectors)}
	}
	if f.Pool != nil {
		p = *f.Pool
	}
	if !pools {
		return p, nil
	}
	if p.Scale == "" {
		p.Scale = UnitNorm
	}
	if known := []Scale{UnitNorm, MedianNorm, OwnNorm}; !slices.Contains(known, p.Scale) {
		return p, audit.UnknownName("scale", string(p.Scale), report.Texts(known))
	}
	if p.Tail != 0 && *f.Design != TailSingular {
		return p, &audit.InputError{Field: "tail", Found: fmt.Sprint(p.Tail), Want: fmt.Sprintf("absent but for the design %q", TailSingular)}
	}
	return p, nil
}

// TakeFile checks the user's file, nil if there is none, and prepares it.
func (f Fields) TakeFile(s *Setup, file []byte) error {
	spec, sha := f.Spec, f.Data
	needs := spec.NeedsData != nil && spec.NeedsData(s.Design)
	switch {
	case file == nil && (needs || *sha != ""):
		return &audit.InputError{Field: "data", Path: "/data", Found: audit.Absent, Want: fmt.Sprintf("a file for the design %q of %s", s.Design, spec.Name), Remedy: "give a CSV file of vectors, one a line"}
	case file == nil:
		return nil
	case !needs && !spec.TakesData:
		return &audit.InputError{Field: "data", Path: "/data", Found: "given", Want: fmt.Sprintf("absent for the design %q of %s", s.Design, spec.Name)}
	}
	sum := stream.SHA256(file)
	found := hex.EncodeToString(sum[:])
	if *sha != "" && *sha != found {
		return &audit.InputError{Field: "data", Path: "/data", Found: "a file with SHA-256 " + found, Want: "the file with SHA-256 " + *sha, Remedy: "give the file that the audit was made with"}
	}
	*sha, s.Data = found, file
	if spec.Prepare == nil {
		return nil
	}
	var err error
	s.Data, err = spec.Prepare(s, file)
	return audit.At("/data", err)
}
