// Package must ends a test where a call fails that has to succeed.
package must

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// TB is a test of package testing, or one of a property.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Do is for calls that return an error alone: must.Do(t, os.Mkdir(name, 0o700)).
func Do(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get is for calls that return a value: data := must.Get(os.ReadFile(name))(t).
func Get[T any](value T, err error) func(TB) T {
	return func(t TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// Get2 is for two values.
func Get2[T, U any](first T, second U, err error) func(TB) (T, U) {
	return func(t TB) (T, U) {
		t.Helper()
		Do(t, err)
		return first, second
	}
}

// Panic is for calls that only a programming error makes: they panic with a text.
func Panic(t TB, what string, call func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if why, ok := recover().(string); !ok || why == "" {
			t.Errorf("%s: no panic with a text", what)
		}
	}()
	call()
}

// Refuse wants an error that says so; of is what it is of.
func Refuse(t TB, err error, says string, of ...any) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v: error %v, want one that says %q", of, err, says)
	}
}

// Input wants an error of the user's input, which has a place in it.
func Input(t TB, err error, says string, of ...any) {
	t.Helper()
	if in := (interface{ Place() string })(nil); err != nil && !errors.As(err, &in) {
		t.Errorf("%v: error %v is none of the input", of, err)
	}
	Refuse(t, err, says, of...)
}

// Say wants a text to say all of that.
func Say(t TB, text string, says ...string) {
	t.Helper()
	for _, part := range says {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// Err is the error of a call that returns a value too.
func Err[T any](_ T, err error) error { return err }

// Have is where a program is; without it the test is skipped.
func Have(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("NOT RUN: needs %s", program)
	}
	return path
}
