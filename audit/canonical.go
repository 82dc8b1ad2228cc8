package audit

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Canonical writes v as canonical JSON: keys sorted, two spaces of indent, no
// NaN or infinity (json.Marshal refuses them), a newline at the end. Arrays
// of numbers are on one line.
func Canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree any // whose maps are written with sorted keys
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tree); err != nil {
		return nil, err
	}
	return numbersInLine(out.Bytes()), nil
}

// numbersInLine puts the arrays that hold nothing but numbers on one line. A text in
// JSON has no line end, so that none looks like the beginning of an array.
func numbersInLine(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for {
		before, rest, found := bytes.Cut(text, []byte("[\n"))
		if out = append(out, before...); !found {
			return out
		}
		end := bytes.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("0123456789+-.eE, \n", r) })
		if rest[end] == ']' {
			out, text = append(append(out, '['), bytes.Join(bytes.Fields(rest[:end]), []byte{' '})...), rest[end:]
		} else {
			out, text = append(out, "[\n"...), rest
		}
	}
}
