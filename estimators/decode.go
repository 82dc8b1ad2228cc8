package estimators

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// decodeModel reads exactly one JSON object into v and refuses fields that v
// does not have.
func decodeModel(data json.RawMessage, v any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return &audit.InputError{Field: "model", Found: "empty", Want: "a JSON object"}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		var typed *json.UnmarshalTypeError
		if errors.As(err, &typed) {
			return &audit.InputError{Field: "model field " + typed.Field, Found: "a " + typed.Value, Want: "a " + typed.Type.String()}
		}
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return &audit.InputError{Field: "model field " + name, Found: "unknown", Want: "a field of this learner's models",
				Remedy: "use the version of dpscope that wrote it"}
		}
		return &audit.InputError{Field: "model", Found: fmt.Sprintf("unreadable (%v)", err), Want: "a JSON object"}
	}
	if _, err := dec.Token(); err != io.EOF {
		return &audit.InputError{Field: "model", Found: "followed by more text", Want: "one JSON object"}
	}
	return nil
}

// wrongCount reports a list of the wrong length.
func wrongCount(field string, found, want int) error {
	return &audit.InputError{Field: field, Found: fmt.Sprintf("a list of %d", found), Want: fmt.Sprintf("a list of %d", want)}
}

// learnable refuses an exploration that has no outputs on one side.
func learnable(ex audit.Exploration) error {
	if ex.First.Len() == 0 || ex.Second.Len() == 0 {
		return fmt.Errorf("nothing to learn from: %d and %d outputs, must be at least 1 on each side", ex.First.Len(), ex.Second.Len())
	}
	return nil
}

// anyColumn is the Applies of a learner that takes all outputs but empty ones,
// oneReal that of one for a single number.
func anyColumn(needs string) func([]audit.Column) error {
	return func(columns []audit.Column) error {
		if len(columns) == 0 {
			return errors.New(needs)
		}
		return nil
	}
}

func oneReal(needs string) func([]audit.Column) error {
	return func(columns []audit.Column) error {
		if len(columns) != 1 || columns[0].Kind != audit.Real {
			return errors.New(needs)
		}
		return nil
	}
}
