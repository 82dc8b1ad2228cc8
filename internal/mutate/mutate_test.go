package mutate

import (
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

func TestAll(t *testing.T) {
	const doc = `{"a":[1,"x"],"b":{"c":true}}`
	all := must.Get(All([]byte(doc)))(t)
	var got []string
	for _, m := range all {
		got = append(got, string(m.JSON))
	}
	for _, want := range []string{
		`{"b":{"c":true}}`, `{"a":["x"],"b":{"c":true}}`, `{"a":[1],"b":{"c":true}}`, `{"a":["x",1],"b":{"c":true}}`,
		`{"a":[2,"x"],"b":{"c":true}}`, `{"a":[1,"xx"],"b":{"c":true}}`, `{"a":[1,"x","x"],"b":{"c":true}}`,
		`{"a":[1,"x"],"b":{"c":false}}`, `{"a":[1,"x"],"b":{}}`, `{"a":[1,"x"],"b":{"c":null}}`, `null`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no mutation %s among\n%s", want, strings.Join(got, "\n"))
		}
	}
	if slices.Contains(got, doc) {
		t.Error("the document itself is called a mutation")
	}
	slices.Sort(got)
	if n := len(slices.Compact(got)); n != len(all) {
		t.Errorf("%d mutations, only %d of them different", len(all), n)
	}
}

func TestFew(t *testing.T) {
	all := must.Get(All([]byte(`{"a":[1,2,3,4,5],"b":7}`)))(t)
	seen := map[string]bool{}
	for _, m := range Few(all) {
		seen[m.Path] = true
	}
	for path, want := range map[string]bool{"a": true, "a[0]": true, "a[1]": false, "a[2]": false, "a[3]": false, "a[4]": true, "b": true} {
		if seen[path] != want {
			t.Errorf("%s is kept: %v", path, seen[path])
		}
	}
}

func TestUnnoticed(t *testing.T) {
	// A verifier that looks at a's first element only.
	passed, tried := Unnoticed(must.Get(All([]byte(`{"a":[{"n":3},{"n":4}],"b":0}`)))(t), nil, func(doc []byte) bool {
		return strings.Contains(string(doc), `"a":[{"n":3}`)
	})
	if tried < 20 {
		t.Fatal(tried)
	}
	for field, want := range map[string]bool{"a[].n": true, "b": true, "a": true, "": false} {
		if (len(passed[field]) > 0) != want {
			t.Errorf("%q: %v passed", field, passed[field])
		}
	}
	for _, m := range passed["a[].n"] {
		if !strings.HasPrefix(m.Path, "a[1]") {
			t.Errorf("%v passed", m)
		}
	}
}
