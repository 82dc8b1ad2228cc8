package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// ReportKindOf is the kind that a report says it is of; empty where it says none,
// as reports of other commands do.
func ReportKindOf(data []byte) string {
	var head struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\uFEFF")), &head) != nil {
		return ""
	}
	return head.Kind
}

// ParseReport reads a report of this kind and version into r; unknown fields are
// refused.
func ParseReport(data []byte, kind string, version int, r any) error {
	data = Renamed(bytes.TrimPrefix(data, []byte("\uFEFF")))
	var whole json.RawMessage
	if err := audit.DecodeStrict(data, "report", &whole); err != nil {
		return err
	}
	var head struct {
		Kind          string `json:"kind"`
		SchemaVersion int    `json:"schemaVersion"`
	}
	if json.Unmarshal(data, &head); head.Kind != kind {
		return &audit.InputError{Field: "report: field kind", Found: fmt.Sprintf("%q", head.Kind), Want: fmt.Sprintf("%q", kind), Remedy: "is this a report of another command?"}
	}
	if head.SchemaVersion != version {
		return &audit.InputError{Field: "report: field schemaVersion", Found: fmt.Sprint(head.SchemaVersion), Want: fmt.Sprint(version),
			Remedy: "use the version of dpscope that wrote it"}
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
			return &audit.InputError{Field: "report: field " + strings.TrimPrefix(path, "."), Found: "absent or null", Want: "there, as in every report of this version", Remedy: "run the audit again"}
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
			if !there || y == nil && x != nil {
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
