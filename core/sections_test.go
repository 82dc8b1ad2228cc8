package core_test

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/scores"
)

// sectionsOf finds the fields of a report's type that were added after version 0.1.0,
// with the version that their tag names.
func sectionsOf(t *testing.T, path string, at reflect.Type, seen []reflect.Type, found map[string]string) {
	for _, above := range seen {
		if above == at {
			return
		}
	}
	switch at.Kind() {
	case reflect.Pointer:
		sectionsOf(t, path, at.Elem(), seen, found)
	case reflect.Slice, reflect.Array:
		sectionsOf(t, path+"[]", at.Elem(), seen, found)
	case reflect.Struct:
		for i := range at.NumField() {
			f := at.Field(i)
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			within := strings.TrimPrefix(path+"."+name, ".")
			if f.Anonymous && name == "" {
				within = path
			}
			if since, added := f.Tag.Lookup("since"); added {
				found[within] = since
				if option != "omitempty" && since < "0.3.0" {
					t.Errorf("%s is required by the schema, so that no earlier report fits it", within)
				}
			}
			sectionsOf(t, within, f.Type, append(seen, at), found)
		}
	}
}

// TestSections: every field that was added stands in the table of docs/compatibility.md,
// and was added in a version up to this one.
func TestSections(t *testing.T) {
	page, err := os.ReadFile("../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\d+\\.\\d+\\.\\d+) \\|$").FindAllStringSubmatch(string(page), -1) {
		listed[row[1]] = row[2]
	}
	found := map[string]string{}
	for _, r := range []any{pair.Report{}, canary.Report{}, onerun.Report{}, scores.Report{}} {
		sectionsOf(t, "", reflect.TypeOf(r), nil, found)
	}
	if !maps.Equal(listed, found) {
		t.Errorf("docs/compatibility.md lists %v, must be %v", listed, found)
	}
	for path, since := range found {
		if (audit.Generator{Version: audit.Version}).Before(since) || !(audit.Generator{Version: "0.0.0"}).Before(since) {
			t.Errorf("%s is since %q, must be a version up to %s", path, since, audit.Version)
		}
	}
}
