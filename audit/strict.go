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
// the value in errors, which are of type [*InputError].
func DecodeStrict(data []byte, what string, v any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return At("/", Fault(what, "empty", "a JSON object"))
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return JsonError(data, what, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return At("/", Fault(what, "followed by more text at "+position(data, dec.InputOffset()), "one JSON object"))
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
	fault := func(name, found, want string) error {
		return At("/"+name, Fault(fmt.Sprintf("%s: field %q", what, name), found, want))
	}
	if name := repeated(json.NewDecoder(bytes.NewReader(data))); name != "" {
		return fault(name, "given twice in one object", "given once")
	}
	back, err := json.Marshal(v)
	if err != nil {
		return Of(what, err)
	}
	var given, known any
	if json.Unmarshal(data, &given) == nil && json.Unmarshal(back, &known) == nil {
		if name := otherLetters(given, known); name != "" {
			return fault(name, "unknown", "a field of this version, in the same upper and lower case")
		}
	}
	return nil
}

// repeated reads one JSON value and returns a name that an object of it has twice, or "".
func repeated(dec *json.Decoder) string {
	open, err := dec.Token()
	if _, list := open.(json.Delim); err != nil || !list {
		return ""
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == json.Delim('{') {
			token, _ := dec.Token()
			name, _ := token.(string)
			if seen[name] {
				return name
			}
			seen[name] = true
		}
		if inner := repeated(dec); inner != "" {
			return inner
		}
	}
	dec.Token()
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
		return At("/", Fault(what, "cut off at "+position(data, int64(len(data))), "a whole JSON object", "save or copy the file again"))
	case errors.As(err, &syntax):
		return At("/", Fault(what, fmt.Sprintf("not JSON at %s (%v)", position(data, syntax.Offset), err), "a JSON object"))
	case errors.As(err, &typed):
		field := what
		name := jsonPath(typed.Field)
		if name != "" {
			field += ": field " + name
		}
		found := fmt.Sprintf("of type %s at %s", typed.Value, position(data, typed.Offset))
		return At("/"+strings.ReplaceAll(name, ".", "/"), Fault(field, found, jsonType(typed.Type)))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return At("/"+strings.Trim(name, `"`), Fault(what+": field "+name, "unknown", "a field of this version", "remove it, or use the version of dpscope that wrote it"))
	}
	return At("/", Fault(what, err, "as this version writes it", "save or copy the file again"))
}

// jsonPath is a field of encoding/json's errors without the names of embedded Go types, which begin
// with a capital.
func jsonPath(field string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(field, "."), func(s string) bool {
		return s != "" && s[0] >= 'A' && s[0] <= 'Z'
	}), ".")
}

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

func position(data []byte, offset int64) string {
	head := data[:min(max(int(offset), 0), len(data))]
	return fmt.Sprintf("line %d, column %d", bytes.Count(head, []byte{'\n'})+1, len(head)-bytes.LastIndexByte(head, '\n'))
}

// Canonical writes v as canonical JSON: keys sorted, two spaces of indent, a newline at the end,
// arrays of numbers on one line.
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
	err = enc.Encode(tree)
	return numbersInLine(out.Bytes()), err
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
