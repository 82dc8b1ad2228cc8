package suite_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/mutate"
)

// TestMutatedReports: whatever is deleted, changed or swapped in what a plan's report
// says of all audits, its check notices, or names the field as not compared. The
// audits' own reports are core's to check; here they have to be what they were.
func TestMutatedReports(t *testing.T) {
	f, r := ran(t)
	outer := r
	outer.Audits = nil
	doc := must.Get(audit.Canonical(outer))(t)
	marks, reports := []string{}, []string{} // a report is no part of what is mutated
	for i, a := range r.Audits {
		one := must.Get(audit.Canonical(a.Report))(t)
		mark := fmt.Sprintf(`"report %d"`, i)
		marks, reports = append(marks, fmt.Sprintf(`{"name": %q, "report": %s}`, a.Name, mark)), append(reports, mark, string(one))
	}
	doc = bytes.Replace(doc, []byte(`"audits": null`), []byte(`"audits": [`+strings.Join(marks, ", ")+`]`), 1)
	filled := strings.NewReplacer(reports...)
	for name, file := range map[string]*suite.File{"with the plan": f, "without": nil} {
		var skipped []string
		accepts := func(data []byte) bool {
			again, err := suite.ParseReport([]byte(filled.Replace(string(data))))
			if err != nil {
				return false
			}
			for _, a := range again.Audits { // each is the report of its name
				i := slices.IndexFunc(r.Audits, func(b suite.Audited) bool { return a.Name == b.Name })
				if i < 0 || !audit.EqualJSON(a.Report, r.Audits[i].Report) {
					return false
				}
			}
			v := again.Verify(file)
			skipped = v.NotCompared()
			return v.OK()
		}
		if !accepts(doc) {
			t.Fatalf("%s: the report as it is does not pass", name)
		}
		passed, tried := mutate.Unnoticed(must.Get(mutate.All(doc))(t), nil, accepts)
		if tried < 80 {
			t.Fatal(tried)
		}
		for field, all := range passed {
			if !slices.ContainsFunc(skipped, func(s string) bool {
				return field == s || strings.HasPrefix(field, s+".") || strings.HasPrefix(field, s+"[")
			}) {
				t.Errorf("%s: passes: %v", name, all[0])
			}
		}
		if file != nil && len(skipped) != 1 {
			t.Errorf("not compared: %v", skipped)
		}
	}
}
