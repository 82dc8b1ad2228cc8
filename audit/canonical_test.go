package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// FuzzCanonical holds the form to the value that it writes, with arrays of numbers on one
// line, and reading it again to the same bytes.
func FuzzCanonical(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, `[[],{}]`, `null`, `-1.5e-7`, `"a<b & \u2028\ud800 \"quoted\\\""`, `{"b":1,"a":[1,2.5,-3e+8],"":{"x":[1,null],"y":true}}`,
		`{"a":1,"a":2}`, `{"\u0062":1,"a":{"<":[["x"],[1],[]]}}`, "\"\xff\"", "{\"\xff\":[{}]}", `[0]`, `[1,"]"]`, `-1e999`, `{`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if json.Unmarshal(data, &v) != nil { // no JSON, or a number beyond all doubles
			return
		}
		same(t, json.RawMessage(data))
	})
}

// TestCanonicalReports: the form of reports.
func TestCanonicalReports(t *testing.T) {
	files, err := filepath.Glob("../core/testdata/reports/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d reports: %v", len(files), err)
	}
	for _, name := range files {
		data := must.Get(os.ReadFile(name))(t)
		same(t, json.RawMessage(data))
		if got, err := Canonical(json.RawMessage(data)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s is not as it is written now: %v", name, err)
		}
	}
}

func same(t *testing.T, v any) {
	t.Helper()
	got := must.Get(Canonical(v))(t)
	var was, is any
	must.Do(t, json.Unmarshal(must.Get(json.Marshal(v))(t), &was))
	must.Do(t, json.Unmarshal(got, &is))
	if !reflect.DeepEqual(was, is) || broken.Match(got) || got[len(got)-1] != '\n' {
		t.Fatalf("%.300q, of %v", got, was)
	}
	again, err := Canonical(json.RawMessage(got))
	if err != nil || !bytes.Equal(again, got) {
		t.Fatalf("read again: %.300q, want %.300q: %v", again, got, err)
	}
}

// broken is an array of numbers over several lines.
var broken = regexp.MustCompile(`\[\n[-+.,\d\seE]*\]`)
