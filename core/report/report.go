// Package report holds what reports of every kind share: rows of bounds by method, their verdict, and their words.
package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
)

// SchemaVersion is the version of the JSON form of reports.
const SchemaVersion = 1

// Report is what reports of all kinds share. A kind embeds it and adds plan, evidence and what it audited, from
// which all but generator and timing follows. The tag same says how [Compare] holds a field against a replay:
// exactly where there is none; as [near] says, up to what platforms differ by; "words" as text; "own" not at all.
type Report struct {
	Schema        string          `json:"$schema"`
	Kind          string          `json:"kind"`
	SchemaVersion int             `json:"schemaVersion"`
	Generator     audit.Generator `json:"generator" same:"own"`
	Subject       string          `json:"subject"` // by name: a mechanism, a source, files of scores
	Claim         audit.Claim     `json:"claim"`
	StatedClaim   string          `json:"promise" same:"words"` // the claim in words, with all that it depends on
	Verdict       audit.Verdict   `json:"verdict"`
	Headline      string          `json:"headline" same:"words"` // the verdict in a sentence
	Summary       string          `json:"summary" same:"words"`  // the headline, and what else there is to say
	// LowerBound is certified, of the Quantity that the claim limits, at least 0, rounded down.
	LowerBound  *float64          `json:"lowerBound,omitempty" same:"near"`
	Quantity    string            `json:"quantity,omitempty" same:"words"`
	Confidence  float64           `json:"confidence" same:"near"`         // of the bound: 1 - beta
	PValue      *float64          `json:"pValue,omitempty" same:"pvalue"` // of the claim, by the method of the bound where it has one
	Tables      []Table           `json:"tables"`                         // of bounds; the row that decides is in the first
	Power       *Power            `json:"power,omitempty"`                // of an audit of a pair absent where the claim is refuted, or nothing was certified
	Warnings    []string          `json:"warnings"`                       // what the reader of these numbers should know
	Termination audit.Termination `json:"termination"`
	Timing      audit.Timing      `json:"timing" same:"own"`
	Reproduce   audit.Reproduce   `json:"reproduce" same:"words"`
	Limitations []string          `json:"limitations" same:"words"`
	References  []string          `json:"references" same:"words"`
}

// View is a report of any kind.
type View interface {
	Head() Report
	Chance() (beta float64, seed uint64) // the allowed error of the bound, and the seed
	Facts() []audit.FactRow              // in words, the most important first
}

// Head implements [View] for the reports that embed r.
func (r Report) Head() Report { return r }

// New is a report without what follows from an audit.
func New(kind, subject string, p StatedClaim, beta float64) Report {
	return Report{Schema: SchemaName(kind), Kind: kind, SchemaVersion: SchemaVersion, Subject: subject, Claim: p.Claim, StatedClaim: p.String(),
		Confidence: 1 - beta, Tables: []Table{}, Warnings: []string{}}
}

// SchemaName is of the reports of a kind; the schema lies in docs/.
func SchemaName(kind string) string { return "dpscope-" + kind + "-v1.schema.json" }

// Say puts the verdict into words: its headline, and what follows that.
func (r *Report) Say(headline, rest string) {
	r.Headline, r.Summary = headline, headline+audit.Pick(rest == "", "", " "+rest)
}

// Power says what an audit of this size can show.
type Power struct {
	// Smallest is the smallest true value of what the claim limits that a witness like the one
	// found would show in about half of all runs of this size; absent where none would.
	Smallest *float64 `json:"smallest,omitempty" same:"power"`
	Largest  float64  `json:"largest" same:"near"` // lower bound that any outcome can give, by the method that decides
	// Needed is the size from which on some outcome could refute the claim; 0: none that is tried.
	Needed int    `json:"neededForClaim,omitempty"`
	Unit   string `json:"unit,omitempty" same:"words"` // what Needed counts
}

// DefaultDelta is the delta of a claim that names none; pure differential privacy says 0.
const DefaultDelta = 1e-5

// StatedClaim is what an audit is against.
type StatedClaim struct {
	audit.Claim
	Relation  audit.Relation
	Defaulted bool // its delta, because none was named
}

// At is what follows an epsilon in words: its delta and its relation.
func (c StatedClaim) At() string {
	why := audit.Pick(c.Defaulted, " (the default)", "")
	return fmt.Sprintf(" at delta = %s%s under %s", phrase.Number(c.Delta), why, c.Relation)
}

func (c StatedClaim) String() string {
	why := audit.Pick(c.Defaulted, ", the default because none was given,", "")
	return fmt.Sprintf("epsilon = %s at delta = %s%s under %s: %s",
		phrase.Number(c.Epsilon), phrase.Number(c.Delta), why, c.Relation, relationWords[c.Relation])
}

var relationWords = map[audit.Relation]string{
	audit.AddRemove: "a record is present or absent",
	audit.Replace:   "a record is replaced by another",
}

// CheckRelation refuses what is no relation of an audit with canaries.
func CheckRelation(r audit.Relation, known ...audit.Relation) error {
	if r == "replace-one" { // its name elsewhere
		return &audit.InputError{Field: "relation", Found: `"replace-one"`, Want: fmt.Sprintf("one of %v", Texts(known)), Remedy: `"replace" is its name here`}
	}
	return OneOf("relation", r, known...)
}

// OneOf refuses a word that is not among those known.
func OneOf[T ~string](field string, word T, known ...T) error {
	if slices.Contains(known, word) {
		return nil
	}
	return audit.UnknownName(field, string(word), Texts(known))
}

// ResolveClaim checks a claim of kind pure or approximate.
func ResolveClaim(c *audit.Claim, defaulted bool) (audit.Claim, error) {
	if c == nil {
		return audit.Claim{}, &audit.InputError{Field: "claim", Path: "epsilon", Found: audit.Absent, Want: "epsilon and delta that the mechanism claims", Remedy: "for example epsilon = 2, delta = 1e-5"}
	}
	claim := *c
	claim.Kind = cmp.Or(claim.Kind, audit.DPClaim(claim.Epsilon, claim.Delta).Kind)
	return claim, audit.First(
		audit.At("/claim/kind", audit.Remedy("canaries test an event against epsilon at one delta",
			audit.Require(claim.Kind == audit.Approximate || claim.Kind == audit.Pure, "claim.kind", fmt.Sprintf("%q", claim.Kind), "%q or %q", audit.Approximate, audit.Pure))),
		audit.At("/deltaDefaulted", audit.Require(!defaulted || claim.Delta == DefaultDelta, "deltaDefaulted", fmt.Sprintf("true with delta = %v", claim.Delta), "absent, or delta = %v", DefaultDelta)),
		claim.Validate(),
	)
}

// ReadDefaultDelta completes the claim of a plan, read from data, that names no delta.
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
	return audit.Each(v, func(x T) string { return string(x) })
}

// Pair is the kind of audits of pairs of datasets.
const Pair = "pair"

type head struct {
	Kind          string          `json:"kind"`
	SchemaVersion *int            `json:"schemaVersion"`
	Generator     audit.Generator `json:"generator"`
}

func headOf(data []byte) (h head, err error) {
	err = json.Unmarshal(bytes.TrimPrefix(data, []byte("\uFEFF")), &h)
	return h, err
}

// KindOf is the kind of a report; empty for what does not say it.
func KindOf(data []byte) string {
	h, _ := headOf(data) // whoever reads it refuses what is no JSON
	return h.Kind
}

var readable = []string{audit.Version}

// CheckVersion refuses a report by a version of dpscope that this one does not know.
func CheckVersion(data []byte) error {
	h, _ := headOf(data)
	wrote := h.Generator.Release()
	if slices.Contains(readable, wrote) || strings.Count(wrote, ".") != 2 { // no version of ours
		return nil
	}
	return &audit.InputError{Field: "report: generator.version", Path: "/generator/version", Found: wrote, Want: audit.Version + ", the version of this dpscope",
		Remedy: "audit again with the command in the report's reproduce, or use dpscope " + wrote}
}

// CheckPlanVersion refuses a plan of another version than the one that is known.
func CheckPlanVersion(plan string, version, known int) error {
	err := audit.Require(version == known, plan+" version", version, "%d, the version of plans of dpscope %s", known, audit.Version)
	return audit.At("/version", audit.Remedy("write the plan again, or use the version of dpscope that wrote it", err))
}

// Read reads a report R of this kind; it refuses unknown fields and versions, and what check does.
func Read[R any](data []byte, kind string, check func(R) error) (R, error) {
	var none, r R
	if err := parse(data, kind, &r); err != nil {
		return none, err
	}
	return r, check(r)
}

func parse(data []byte, kind string, r any) error {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	var whole json.RawMessage
	if err := audit.DecodeStrict(data, "report", &whole); err != nil {
		return err
	}
	if err := CheckVersion(data); err != nil {
		return err
	}
	h, err := headOf(data)
	if err != nil {
		return audit.JsonError(data, "report", err)
	}
	const field = "report: field schemaVersion"
	version := *cmp.Or(h.SchemaVersion, new(SchemaVersion))
	err = audit.First(
		audit.Remedy("is this a report of dpscope?",
			audit.Require(h.SchemaVersion != nil, field, audit.Absent, "%d", SchemaVersion)),
		audit.Remedy("use the version of dpscope that wrote it",
			audit.Require(version == SchemaVersion, field, version, "%d", SchemaVersion)),
		audit.Remedy("is this a report of another command?",
			audit.Require(h.Kind == kind, "report: field kind", strconv.Quote(h.Kind), "%q", kind)),
	)
	if err != nil {
		return err
	}
	if err := audit.DecodeStrict(data, "report", r); err != nil {
		return err
	}
	// What a report always has must be there: its absence would read as zero.
	back, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var given, full any
	if json.Unmarshal(data, &given) == nil && json.Unmarshal(back, &full) == nil {
		if path := absent(given, full); path != "" {
			return &audit.InputError{Field: "report: field " + strings.TrimPrefix(path, "."), Found: "absent or null", Want: "present, as in every report of this version", Remedy: "run the audit again"}
		}
	}
	return nil
}

// Check refuses a report whose parts do not fit together.
func (r Report) Check() error {
	violates := r.LowerBound != nil && r.above(r.Deciding(), r.Claim.Limit())
	told := r.Verdict == audit.NoViolation && r.LowerBound != nil && !violates || r.Verdict == audit.Violation && violates
	err := audit.First(
		OneOf("report: field verdict", r.Verdict, audit.Violation, audit.NoViolation, audit.Inconclusive, audit.Invalid),
		OneOf("report: termination.reason", r.Termination.Reason, audit.Completed, audit.Refuted, audit.Stopped, audit.Failed),
		audit.Of("report", r.Claim.Validate()),
		audit.Require(told || r.Verdict == audit.Inconclusive || r.Verdict == audit.Invalid, "report: verdict", fmt.Sprintf("%q, but the report's own bound contradicts it", r.Verdict), "what the bound says about the claim %s", r.Claim),
		audit.Require(r.LowerBound == nil || r.Deciding() != nil, "report: tables", "without a row that is chosen", "one, as there is a lower bound"),
	)
	for _, t := range r.Tables {
		for i, x := range t.Rows {
			field := fmt.Sprintf("report: tables: %s[%d]", t.Name, i)
			for _, c := range []*bounds.Counts{x.Counts, x.Explored} {
				if c != nil {
					err = audit.First(err, audit.Of(field+".counts", c.Validate()))
				}
			}
			direction := cmp.Or(x.Direction, FirstOverSecond)
			err = audit.First(err, OneOf(field+".direction", direction, FirstOverSecond, SecondOverFirst))
		}
	}
	return err
}

// absent is the path of something that full has and given lacks, or has as null.
func absent(given, full any) string {
	switch full := full.(type) {
	case map[string]any:
		object, ok := given.(map[string]any)
		if !ok {
			return "." // decoding has refused it
		}
		for name, x := range full {
			if object[name] == nil { // what may be absent is left out, not null
				return "." + name
			}
			if path := absent(object[name], x); path != "" {
				return "." + name + path
			}
		}
	case []any:
		list, ok := given.([]any)
		for i, x := range full {
			if !ok || i >= len(list) || list[i] == nil && x != nil {
				return fmt.Sprintf("[%d]", i)
			}
			if path := absent(list[i], x); path != "" {
				return fmt.Sprintf("[%d]%s", i, path)
			}
		}
	}
	return ""
}
