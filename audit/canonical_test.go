package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// slowCanonical is [Canonical] by a tree of the value.
func slowCanonical(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tree); err != nil { // maps are written with sorted keys
		return nil, err
	}
	return numbersInLine(out.Bytes()), nil
}

// numbersInLine puts the arrays that hold nothing but numbers on one line.
func numbersInLine(text []byte) []byte {
	out := make([]byte, 0, len(text))
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\':
			out = append(out, c)
			i++
			c = text[i]
		case c == '"':
			quoted = !quoted
		case c == '[' && !quoted:
			end := i + 1
			for end < len(text) && bytes.IndexByte([]byte("0123456789+-.eE, \n"), text[end]) >= 0 {
				end++
			}
			if end < len(text) && text[end] == ']' {
				fields := bytes.Fields(text[i+1 : end])
				out = append(append(append(out, '['), bytes.Join(fields, []byte{' '})...), ']')
				i = end
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// FuzzCanonical holds the form to its slow twin, and reading it again to the same bytes.
func FuzzCanonical(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, `[[],{}]`, `null`, `-1.5e-7`, `"a<b & \u2028\ud800 \"quoted\\\""`, `{"b":1,"a":[1,2.5,-3e+8],"":{"x":[1,null],"y":true}}`,
		`{"a":1,"a":2}`, `{"\u0062":1,"a":{"<":[["x"],[1],[]]}}`, "\"\xff\"", "{\"\xff\":[{}]}", `[0]`, `[1,"]"]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
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
	}
}

func same(t *testing.T, v any) {
	t.Helper()
	got := must.Get(Canonical(v))(t)
	want := must.Get(slowCanonical(v))(t)
	if !bytes.Equal(got, want) {
		t.Fatalf("%.300q, want %.300q", got, want)
	}
	again, err := Canonical(json.RawMessage(got))
	if err != nil || !bytes.Equal(again, got) {
		t.Fatalf("read again: %.300q, want %.300q: %v", again, got, err)
	}
}
