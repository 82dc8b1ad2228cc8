package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

// Pair is the kind of audits of pairs of datasets.
const Pair = "pair"

// head is what tells how a report is read.
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

// readable are the versions of dpscope whose reports this one reads.
var readable = []string{audit.Version}

// CheckVersion refuses a report of any kind by a version of dpscope that this one does
// not know.
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
	if version == known {
		return nil
	}
	return &audit.InputError{Field: plan + " version", Path: "/version", Found: fmt.Sprint(version), Want: fmt.Sprintf("%d, the version of plans of dpscope %s", known, audit.Version),
		Remedy: "write the plan again, or use the version of dpscope that wrote it"}
}

// Read reads a report R of this kind; unknown fields and versions are refused, and what
// check refuses.
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
	if h.SchemaVersion == nil {
		return &audit.InputError{Field: "report: field schemaVersion", Found: audit.Absent, Want: fmt.Sprint(SchemaVersion), Remedy: "is this a report of dpscope?"}
	}
	if *h.SchemaVersion != SchemaVersion {
		return &audit.InputError{Field: "report: field schemaVersion", Found: fmt.Sprint(*h.SchemaVersion), Want: fmt.Sprint(SchemaVersion),
			Remedy: "use the version of dpscope that wrote it"}
	}
	if h.Kind != kind {
		return &audit.InputError{Field: "report: field kind", Found: fmt.Sprintf("%q", h.Kind), Want: fmt.Sprintf("%q", kind), Remedy: "is this a report of another command?"}
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
	verdicts := []string{string(audit.Violation), string(audit.NoViolation), string(audit.Inconclusive), string(audit.Invalid)}
	if !slices.Contains(verdicts, string(r.Verdict)) {
		return audit.UnknownName("report: field verdict", string(r.Verdict), verdicts)
	}
	if reasons := []string{string(audit.Completed), string(audit.Refuted), string(audit.Stopped), string(audit.Failed)}; !slices.Contains(reasons, string(r.Termination.Reason)) {
		return audit.UnknownName("report: termination.reason", string(r.Termination.Reason), reasons)
	}
	if err := r.Claim.Validate(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if r.Verdict == audit.Violation || r.Verdict == audit.NoViolation {
		if r.LowerBound == nil || r.above(r.Deciding(), r.Claim.Limit()) != (r.Verdict == audit.Violation) {
			return &audit.InputError{Field: "report: verdict", Found: fmt.Sprintf("%q, but the report's own bound contradicts it", r.Verdict), Want: "what the bound says about the claim " + r.Claim.String()}
		}
	}
	if r.LowerBound != nil && r.Deciding() == nil {
		return &audit.InputError{Field: "report: tables", Found: "without a row that is chosen", Want: "one, as there is a lower bound"}
	}
	for _, t := range r.Tables {
		for i, x := range t.Rows {
			field := fmt.Sprintf("report: tables: %s[%d]", t.Name, i)
			for _, c := range []*bounds.Counts{x.Counts, x.Explored} {
				if c == nil {
					continue
				}
				if err := c.Validate(); err != nil {
					return fmt.Errorf("%s.counts: %w", field, err)
				}
			}
			if x.Direction != "" && x.Direction != FirstOverSecond && x.Direction != SecondOverFirst {
				return audit.UnknownName(field+".direction", x.Direction, []string{FirstOverSecond, SecondOverFirst})
			}
		}
	}
	return nil
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
			y, there := object[name]
			if !there || y == nil { // what may be absent is left out, not null
				return "." + name
			}
			if path := absent(y, x); path != "" {
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
