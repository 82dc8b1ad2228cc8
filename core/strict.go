package core

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// decodeStrict reads exactly one JSON value into v. what names the value in
// errors ("plan", "report"). A field that v does not have is refused by name.
func decodeStrict(data []byte, what string, v any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return &InputError{Field: what, Found: "empty", Want: "a JSON object"}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return jsonError(data, what, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		line, col := position(data, dec.InputOffset())
		return &InputError{Field: what, Found: fmt.Sprintf("followed by more text at line %d, column %d", line, col), Want: "one JSON object"}
	}
	return nil
}

// jsonError turns what encoding/json says into an error with a place in it.
func jsonError(data []byte, what string, err error) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	var input *InputError
	switch {
	case errors.As(err, &input):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		line, col := position(data, int64(len(data)))
		return &InputError{Field: what, Found: fmt.Sprintf("cut off at line %d, column %d", line, col), Want: "a whole JSON object", Remedy: "save or copy the file again"}
	case errors.As(err, &syntax):
		line, col := position(data, syntax.Offset)
		return &InputError{Field: what, Found: fmt.Sprintf("not JSON at line %d, column %d (%v)", line, col, err), Want: "a JSON object"}
	case errors.As(err, &typed):
		line, col := position(data, typed.Offset)
		return &InputError{Field: fmt.Sprintf("%s: field %s", what, typed.Field), Found: fmt.Sprintf("a %s at line %d, column %d", typed.Value, line, col), Want: "a " + typed.Type.String()}
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return &InputError{Field: what + ": field " + name, Found: "unknown", Want: "a field of this version", Remedy: "remove it, or use the version of dpscope that wrote it"}
	}
	return fmt.Errorf("%s: %w", what, err)
}

func position(data []byte, offset int64) (line, col int) {
	head := data[:min(max(int(offset), 0), len(data))]
	return bytes.Count(head, []byte{'\n'}) + 1, len(head) - bytes.LastIndexByte(head, '\n')
}

// Canonical writes v as canonical JSON: keys sorted, two spaces of indent, no
// NaN or infinity (json.Marshal refuses them), a newline at the end.
func Canonical(v any) ([]byte, error) {
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
	err = enc.Encode(tree) // maps are written with sorted keys
	return out.Bytes(), err
}
