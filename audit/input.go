package audit

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// InputError is a fault in what a user gave. Commands answer it with exit code 2.
type InputError struct {
	Field  string `json:"field"`          // name of the field or argument, as the user wrote it
	Path   string `json:"path"`           // where it is, if that is not Field: see [InputError.Place]
	Line   int    `json:"line"`           // of code at fault, from 1; 0: not known
	Said   string `json:"said,omitempty"` // what code at fault said itself, without names around it
	Late   bool   `json:"late,omitempty"` // of code that gave no output in time; Said says what that was
	Found  string `json:"found"`
	Want   string `json:"want"`
	Remedy string `json:"remedy"` // how to mend it; may be empty
}

// Absent is what was found where nothing was; what is allowed then says what to give.
const Absent = "absent"

func (e *InputError) Error() string {
	var b strings.Builder
	b.WriteString(e.Field)
	switch {
	case e.Found == Absent:
		b.WriteString(" is missing: give " + e.Want)
	case e.Found != "" && e.Want != "":
		b.WriteString(" is " + e.Found + ", must be " + e.Want)
	case e.Found != "":
		b.WriteString(" is " + e.Found)
	case e.Want != "":
		b.WriteString(" must be " + e.Want)
	}
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// Place is where the fault is: the name of a setting, p.NAME for a parameter, or a JSON pointer
// into what was read.
func (e *InputError) Place() string { return cmp.Or(e.Path, e.Field) }

// First is the first fault of a list of requirements, none of which needs another to hold.
//
//go:noinline
func First(faults ...error) error {
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

// Require is nil where a requirement holds, and else the fault of a field; want is a format.
func Require(holds bool, field string, found any, want string, args ...any) error {
	if holds {
		return nil
	}
	return Fault(field, found, fmt.Sprintf(want, args...))
}

// Fault is the fault of a field; how to mend it may be left out.
func Fault(field string, found any, want string, remedy ...string) *InputError {
	return &InputError{Field: field, Found: fmt.Sprint(found), Want: want, Remedy: strings.Join(remedy, "")}
}

// Within requires a whole number in [low, high].
func Within(field string, v, low, high int) error {
	return Require(v >= low && v <= high, field, v, "in [%d, %d]", low, high)
}

// Amend changes what a fault of the user's input says; other errors stay.
func Amend(err error, change func(in *InputError)) error {
	if in, ok := errors.AsType[*InputError](err); ok {
		change(in)
	}
	return err
}

// At says where an error of the user's input is, unless it says so itself.
func At(path string, err error) error {
	return Amend(err, func(in *InputError) { in.Path = cmp.Or(in.Path, path) })
}

// Of says what an error is of; nil stays nil.
func Of(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Remedy says how to mend a fault of the user's input.
func Remedy(remedy string, err error) error {
	return Amend(err, func(in *InputError) { in.Remedy = remedy })
}

// IsInput reports whether err comes from the user's input.
func IsInput(err error) bool {
	_, ok := errors.AsType[*InputError](err)
	return ok
}

// UnknownName is the error of a name that no registry has, with the nearest that one has.
func UnknownName(field, name string, known []string) error {
	near := Nearest(name, known)
	remedy := "known: " + strings.Join(known, ", ")
	if near != "" {
		remedy = fmt.Sprintf("did you mean %q?", near)
		if len(known) <= 12 {
			remedy += " Known: " + strings.Join(known, ", ")
		} else {
			remedy += " All names: dpscope list"
		}
	}
	return Fault(field, strconv.Quote(name), "a known name", remedy)
}

// Nearest returns the known name of the smallest edit distance to name, "" for none near.
func Nearest(name string, known []string) (near string) {
	least := max(2, len(name)*2/3) + 1
	for _, k := range known {
		d := editDistance(strings.ToLower(name), k)
		if name != "" && (strings.HasPrefix(k, name) || strings.HasPrefix(name, k)) {
			d = min(d, 2)
		}
		if d < least {
			near, least = k, d
		}
	}
	return near
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := Listed(len(b)+1, func(j int) int { return j })
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := Pick(a[i-1] == b[j-1], 0, 1)
			diag, row[j] = row[j], min(row[j]+1, row[j-1]+1, diag+cost)
		}
	}
	return row[len(b)]
}
