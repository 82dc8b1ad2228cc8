package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/user"
)

func TestScan(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`[1, 2.5, -3e2]`, "1 2.5 -300"},
		{`{"outputs": [1]}`, "1"},
		{" {\t\"outputs\" :[ ] }\r", ""},
		{`[[1, "a"], [2, "b"]]`, `1,"a" 2,"b"`},
		{`["a b", "\u00e9\n", true, false, null, -0]`, `"a b" "é\n" true false null 0`},
		{`[NaN, Infinity, -Infinity, 1e999, -1e999]`, "NaN! +Inf! -Inf! +Inf! -Inf!"},
		{`[1.2345678901234567890e29, 9007199254740992, -1152921504606846976.00]`, "1.2345678901234568e+29 9.007199254740992e+15 -1.152921504606847e+18"},
		{`[123456789012345678901234567890, 9007199254740993, -9007199254740993.0]`, "123456789012345678901234567890# 9007199254740993# -9007199254740993#"},
		{`[9007199254740993.5, 1` + strings.Repeat("0", 400) + `]`, "9007199254740993.5# 1" + strings.Repeat("0", 400) + "#"},
		{``, `fault: what it printed is ""`},
		{`12`, `fault: what it printed is "12"`},
		{`[1 2]`, `fault: its answer, character 4 is "2]", must be JSON: invalid character '2' after array element`},
		{`[1,]`, `fault: its answer, character 4 is "]", must be JSON: invalid character ']' looking for beginning of value`},
		{`[1`, `fault: its answer, character 3 is the end, must be a comma or ']'`},
		{`[1]]`, `fault: its answer, character 4 is "]", must be the end of the line`},
		{`{"outputs": [1]`, `fault: its answer, character 16 is the end, must be the end of the object`},
		{`[1, null, -0]`, "1 null 0"},
		{`[[1, 2], [3]]`, "1,2 3"},
		{`[[1, 9007199254740993]]`, "1,9007199254740993#"},
		{`[[[1]]]`, `fault: its answer, character 3 is "[1]]]", must be a number`},
		{`[{"x": 1}]`, `fault: its answer, character 3`},
		{`[--1]`, `fault: its answer, character 2`},
		{`[1e]`, `fault: its answer, character 2`},
		{`[0x10]`, `fault: its answer, character 3`},
		{`[nan]`, `fault: its answer, character 2`},
		{`[NaN5]`, `fault: its answer, character 2 is "NaN5]", must be JSON`},
		{`[1NaN]`, `fault: its answer, character 3 is "NaN]", must be JSON`},
		{`[1.NaN]`, `fault: its answer, character 2`},
		{`[5Infinity]`, `fault: its answer, character 3 is "Infinity]", must be JSON`},
		{`[NaN, "NaN5 Infinity", [-Infinity,NaN]]`, `NaN! "NaN5 Infinity" -Inf!,NaN!`},
		{`["a]`, `fault: its answer, character 2 is "\"a]", must be a number, a string, true, false or null, and the rest of its answer`},
		{`["\x"]`, `fault: its answer, character 2 is "\"\\x\"]", must be JSON: invalid character 'x' in string escape code`},
		{`{"outputs": 3}`, `fault: its answer, character 13 is "3}", must be an array`},
		{`{"outputs": [1], "outputs": [2]}`, `fault: its answer, character 18`},
		{`{"outputs" [1]}`, `fault: its answer, character 12 is "[1]}", must be JSON: invalid character '[' after object key`},
		{`{outputs: [1]}`, `fault: its answer, character 2 is "outputs: [1]}", must be JSON: invalid character 'o'`},
		{`{}`, `fault: its answer, character 2 is "}", must be the key "outputs"`},
		{`{"error": "no \"model\""}`, `fault: it refuses the request: no "model"`},
		{strings.Repeat("1,", 300), `fault: what it printed is "` + strings.Repeat("1,", 100) + `"... (600 bytes)`},
	} {
		rows, _, err := scan([]byte(c.line), outputsOf(math.MaxInt))
		got := strings.Join(audit.Each(rows, dump), " ")
		if err != nil {
			got = "fault: " + err.Error()
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %s\nwant %s", c.line, got, c.want)
		}
	}
}

// dump prints an output.
func dump(cells []cell) string {
	words := make([]string, len(cells))
	for i, x := range cells {
		switch x.form {
		case numeral:
			words[i] = x.text()
		case nonFinite:
			words[i] = x.text() + "!"
		case long:
			words[i] = x.text() + "#"
		case truth:
			words[i] = x.text()
		case text:
			if words[i] = x.text(); words[i] != "null" {
				words[i] = fmt.Sprintf("%q", words[i])
			}
		}
	}
	return strings.Join(words, ",")
}

// FuzzScan: whatever the bytes, no panic, and an error names what is wrong; an
// array that encoding/json reads gives the same values.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`[1, -2.5e-3]`, `{"outputs": [[1, "a"], [true, null]]}`, `[NaN, -Infinity]`, `["\ud83d\ude00", "\u0000", "é"]`, `[[], []]`, `{"error": 1}`, `[1,`, "[\"\xff\"]", `[9007199254740993, 81129638414606681695789005144065.0]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		var rows [][]any
		answer, _, err := scan(line, outputsOf(math.MaxInt))
		for _, cells := range answer {
			row := []any{}
			for _, x := range cells {
				switch {
				case x.form == numeral && (math.IsNaN(x.value) || math.IsInf(x.value, 0)):
					t.Fatalf("the number %v", x.value)
				case x.form == numeral, x.form == long:
					row = append(row, x.value)
				case x.form == truth:
					row = append(row, x.value == 1)
				case x.form == text && string(x.word) == "null":
					row = append(row, nil)
				default:
					row = append(row, string(x.word))
				}
			}
			rows = append(rows, row)
		}
		if err != nil && !audit.IsInput(err) && !strings.HasPrefix(err.Error(), "it refuses") {
			t.Fatalf("%q: %v", line, err)
		}
		want, ok := flat(line)
		if !ok {
			return
		}
		if err != nil || fmt.Sprintf("%q", rows) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q: %q, %v; encoding/json reads %q", line, rows, err, want)
		}
	})
}

// flat reads an array of outputs by encoding/json; false if it is none.
func flat(line []byte) (rows [][]any, ok bool) {
	var all []any
	if json.Unmarshal(line, &all) != nil || all == nil {
		return nil, false
	}
	plain := func(v any) (any, bool) {
		switch v := v.(type) {
		case float64:
			return v + 0, true
		case string:
			return v, v != "null"
		case bool, nil:
			return v, true
		}
		return nil, false
	}
	for _, v := range all {
		values, list := v.([]any)
		if !list {
			values = []any{v}
		}
		if len(values) > user.MostColumns {
			return nil, false
		}
		row := []any{}
		for _, v := range values {
			x, ok := plain(v)
			if !ok {
				return nil, false
			}
			row = append(row, x)
		}
		rows = append(rows, row)
	}
	return rows, true
}
