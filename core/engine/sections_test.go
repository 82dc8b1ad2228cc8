package engine

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// TestSections: every section that was added stands in the table of
// docs/compatibility.md, is in a schema where it is not required, and was added in
// a version up to this one.
func TestSections(t *testing.T) {
	page, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([\\w.]+)` \\| (\\d+\\.\\d+\\.\\d+) \\|$").FindAllStringSubmatch(string(page), -1) {
		listed[row[1]] = row[2]
	}
	if !maps.Equal(listed, sections) {
		t.Errorf("docs/compatibility.md lists %v, must be %v", listed, sections)
	}
	data, err := os.ReadFile("../../docs/dpscope-report-v1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for path, since := range sections {
		if (audit.Generator{Version: audit.Version}).Before(since) || !(audit.Generator{Version: "0.0.0"}).Before(since) {
			t.Errorf("%s is since %q, must be a version up to %s", path, since, audit.Version)
		}
		var at struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		if err := json.Unmarshal(data, &at); err != nil {
			t.Fatal(err)
		}
		names := strings.Split(path, ".")
		for i, name := range names {
			schema, ok := at.Properties[name]
			required := slices.Contains(at.Required, name)
			at.Properties, at.Required = nil, nil
			if err := json.Unmarshal(schema, &at); !ok || err != nil {
				t.Fatalf("%s: the schema has no %s: %v", path, name, err)
			}
			if required && i == len(names)-1 {
				t.Errorf("%s is required by the schema, so that no earlier report fits it", path)
			}
		}
	}
}

// TestOlder: a section may be absent only where the report's version wrote none.
func TestOlder(t *testing.T) {
	for version, older := range map[string]bool{"0.1.0": true, "0.1.0+abc": true, "0.2.0": false, audit.Version: false, "": false} {
		var v Verification
		if got := v.Older(audit.Generator{Version: version}, true, "surrogate"); got != older || slices.Contains(v.NotCompared, "surrogate") != older {
			t.Errorf("version %q: %v, not compared %v", version, got, v.NotCompared)
		}
	}
	var v Verification
	if v.Older(audit.Generator{Version: "0.1.0"}, false, "surrogate") || len(v.Notes) > 0 {
		t.Error("a section that is there is noted as absent")
	}
}
