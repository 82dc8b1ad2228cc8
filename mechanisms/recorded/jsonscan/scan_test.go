package jsonscan

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// value scans any value, and returns it as encoding/json would.
func value(s *Scanner, depth int) (any, error) {
	s.Space()
	from := s.At
	switch c := s.Peek(); {
	case c == '"':
		text, err := s.Text()
		return string(text), err
	case c == '[' || c == '{':
		if depth >= 10_000 { // as in encoding/json
			return nil, s.Fault(from, "less depth")
		}
		list, object := []any{}, map[string]any{}
		s.At++
		for first := true; ; first = false {
			done, err := s.More(c+2, first)
			switch {
			case err != nil:
				return nil, err
			case done && c == '[':
				return list, nil
			case done:
				return object, nil
			}
			var key []byte
			if c == '{' {
				if key, err = s.Key(); err != nil {
					return nil, err
				}
			}
			v, err := value(s, depth+1)
			if err != nil {
				return nil, err
			}
			list, object[string(key)] = append(list, v), v
		}
	}
	if i := s.Word([]string{"true", "false", "null"}); i >= 0 {
		return []any{true, false, nil}[i], nil
	}
	if n := s.Number(); len(n) > 0 && NumberLength(n) == len(n) {
		return json.Number(n), nil
	}
	return nil, s.Fault(from, "a value")
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`[1, 2`, `text, line 7, character 6 is the end, must be a comma or ']'`},
		{"[1,\n 2 3]", `text, line 8, character 4 is "3]", must be a comma or ']'`},
		{`[1,]`, `text, line 7, character 4 is "]", must be another element after the comma`},
		{`{"a" 1}`, `text, line 7, character 6 is "1}", must be a colon`},
		{`{a: 1}`, `text, line 7, character 2 is "a: 1}", must be a key in double quotes`},
		{`["a`, `text, line 7, character 2 is "\"a", must be a string with its closing quote`},
		{"[\"a\nb\"]", `text, line 7, character 2 is "\"a", must be a string that ends on its line`},
		{`["\x"]`, `text, line 7, character 2 is "\"\\x\"]", must be a string of JSON`},
		{`[01]`, `text, line 7, character 2 is "01]", must be a value`},
		{`[] and much more that is not JSON`, `text, line 7, character 4 is "and much more that i"..., must be the end of the line`},
	} {
		s := &Scanner{What: "text", Line: 7, Data: []byte(c.text)}
		_, err := value(s, 0)
		if err == nil {
			err = s.End("line")
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", c.text, err, c.want)
		}
	}
	s := &Scanner{What: "text", Data: []byte("[1")}
	if _, err := value(s, 0); err == nil || err.Error() != `text, character 3 is the end, must be a comma or ']'` || !s.Short {
		t.Errorf("%v, short %v", err, s.Short)
	}
}

// FuzzScanner: whatever the bytes, no panic, and an error is an input error. What is
// taken is what encoding/json takes, and has the same values.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{`[1, -2.5e-3]`, `{"a": [[1, "a"], [true, null]], "a": {}}`, `["\ud83d\ude00", "\u0000", "é"]`, "[\"\xff\"]", ` "x" `, "-", "1.", "[1,", "{\"", "tru", "[[[]]]", "\"\\"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &Scanner{What: "text", Line: 1, Data: data}
		got, err := value(s, 0)
		if err == nil {
			err = s.End("text")
		}
		if err != nil && !audit.IsInput(err) {
			t.Fatalf("error %v is no input error", err)
		}
		if valid := json.Valid(data); valid != (err == nil) {
			t.Fatalf("%q: %v; encoding/json: %v", data, err, valid)
		}
		if err != nil {
			return
		}
		var want any
		if err := json.Unmarshal(data, &want); err != nil {
			return // a number beyond float64
		}
		if a, b := fmt.Sprint(floats(got)), fmt.Sprint(want); a != b {
			t.Fatalf("%q: %s; encoding/json reads %s", data, a, b)
		}
	})
}

// floats makes floats of the numbers.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		x, _ := v.Float64()
		return x
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = floats(v[k])
		}
	}
	return v
}
