package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// DecodeStrict reads exactly one JSON value into v, and refuses a field that v has not. what names
// the value in errors ("plan", "report"), which are of type [*InputError].
func DecodeStrict(data []byte, what string, v any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return &InputError{Field: what, Path: "/", Found: "empty", Want: "a JSON object"}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return JsonError(data, what, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		line, col := position(data, dec.InputOffset())
		return &InputError{Field: what, Path: "/", Found: fmt.Sprintf("followed by more text at line %d, column %d", line, col), Want: "one JSON object"}
	}
	if _, raw := v.(*json.RawMessage); raw {
		return nil
	}
	return checkNames(data, what, v)
}

// FieldNames are the names of the fields of v, a struct, in JSON.
func FieldNames(v any) []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// checkNames refuses what encoding/json lets pass and other readers see otherwise: a name that
// comes twice in one object, and a field's name in other letters than its own.
func checkNames(data []byte, what string, v any) error {
	if name := repeated(json.NewDecoder(bytes.NewReader(data))); name != "" {
		return &InputError{Field: fmt.Sprintf("%s: field %q", what, name), Path: "/" + name, Found: "given twice in one object", Want: "given once"}
	}
	back, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	var given, known any
	if json.Unmarshal(data, &given) == nil && json.Unmarshal(back, &known) == nil {
		if name := otherLetters(given, known); name != "" {
			return &InputError{Field: fmt.Sprintf("%s: field %q", what, name), Path: "/" + name, Found: "unknown", Want: "a field of this version, in the same upper and lower case"}
		}
	}
	return nil
}

// repeated reads one JSON value and returns a name that an object of it has twice, or "".
func repeated(dec *json.Decoder) string {
	tok, err := dec.Token()
	if err != nil {
		return ""
	}
	switch tok {
	case json.Delim('{'):
		seen := map[string]bool{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return ""
			}
			name, _ := key.(string)
			if seen[name] {
				return name
			}
			seen[name] = true
			if inner := repeated(dec); inner != "" {
				return inner
			}
		}
		dec.Token()
	case json.Delim('['):
		for dec.More() {
			if inner := repeated(dec); inner != "" {
				return inner
			}
		}
		dec.Token()
	}
	return ""
}

// otherLetters returns a name of given that known has only in other letters.
func otherLetters(given, known any) string {
	switch g := given.(type) {
	case map[string]any:
		k, _ := known.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(g)) {
			if _, ok := k[name]; !ok {
				for own := range k {
					if strings.EqualFold(own, name) {
						return name
					}
				}
			}
			if inner := otherLetters(g[name], k[name]); inner != "" {
				return inner
			}
		}
	case []any:
		k, _ := known.([]any)
		for i := range min(len(g), len(k)) {
			if inner := otherLetters(g[i], k[i]); inner != "" {
				return inner
			}
		}
	}
	return ""
}

// JsonError turns what encoding/json says into an error with a place in it.
func JsonError(data []byte, what string, err error) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case IsInput(err):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		line, col := position(data, int64(len(data)))
		return &InputError{Field: what, Path: "/", Found: fmt.Sprintf("cut off at line %d, column %d", line, col), Want: "a whole JSON object", Remedy: "save or copy the file again"}
	case errors.As(err, &syntax):
		line, col := position(data, syntax.Offset)
		return &InputError{Field: what, Path: "/", Found: fmt.Sprintf("not JSON at line %d, column %d (%v)", line, col, err), Want: "a JSON object"}
	case errors.As(err, &typed):
		line, col := position(data, typed.Offset)
		field := what
		name := jsonPath(typed.Field)
		if name != "" {
			field += ": field " + name
		}
		return &InputError{Field: field, Path: "/" + strings.ReplaceAll(name, ".", "/"), Found: fmt.Sprintf("of type %s at line %d, column %d", typed.Value, line, col), Want: jsonType(typed.Type)}
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return &InputError{Field: what + ": field " + name, Path: "/" + strings.Trim(name, `"`), Found: "unknown", Want: "a field of this version", Remedy: "remove it, or use the version of dpscope that wrote it"}
	}
	return &InputError{Field: what, Path: "/", Found: err.Error(), Want: "as this version writes it", Remedy: "save or copy the file again"}
}

// jsonPath is a field of encoding/json's errors without the names of embedded Go types,
// which no file has: they begin with a capital letter.
func jsonPath(field string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(field, "."), func(s string) bool {
		return s != "" && s[0] >= 'A' && s[0] <= 'Z'
	}), ".")
}

// jsonType says what JSON a Go type is read from.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number of at least 0"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text in quotes"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Pointer:
		return jsonType(t.Elem())
	}
	return "an object"
}

func position(data []byte, offset int64) (line, col int) {
	head := data[:min(max(int(offset), 0), len(data))]
	return bytes.Count(head, []byte{'\n'}) + 1, len(head) - bytes.LastIndexByte(head, '\n')
}

// Canonical writes v as canonical JSON: keys sorted, two spaces of indent, no NaN or infinity
// (json.Marshal refuses them), a newline at the end, arrays of numbers on one line.
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

// numbersInLine puts the arrays of nothing but numbers on one line. No text in JSON has a line end.
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
