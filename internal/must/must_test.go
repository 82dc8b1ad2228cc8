package must_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

// failed is a test that keeps whether it failed.
type failed bool

func (f *failed) Helper()               {}
func (f *failed) Errorf(string, ...any) { *f = true }
func (f *failed) Fatal(...any)          { *f = true }

// TestFails: each ends a test just where it says so.
func TestFails(t *testing.T) {
	in, other := fmt.Errorf("of a file: %w", &audit.InputError{Field: "n", Found: "0"}), errors.New("n is 0")
	for i, c := range []struct {
		call func(must.TB)
		want failed
	}{
		{func(t must.TB) { must.Do(t, nil) }, false},
		{func(t must.TB) { must.Do(t, other) }, true},
		{func(t must.TB) { must.Get2(1, 2, other)(t) }, true},
		{func(t must.TB) { must.Get(1, other)(t) }, true},
		{func(t must.TB) { must.Refuse(t, other, "is 0") }, false},
		{func(t must.TB) { must.Refuse(t, other, "is 1") }, true},
		{func(t must.TB) { must.Refuse(t, nil, "") }, true},
		{func(t must.TB) { must.Input(t, in, "is 0") }, false},
		{func(t must.TB) { must.Input(t, in, "is 1") }, true},
		{func(t must.TB) { must.Input(t, other, "is 0") }, true},
		{func(t must.TB) { must.Input(t, nil, "") }, true},
		{func(t must.TB) { must.Say(t, "abc", "a", "bc") }, false},
		{func(t must.TB) { must.Say(t, "abc", "a", "d") }, true},
		{func(t must.TB) { must.Panic(t, "", func() { panic("why") }) }, false},
		{func(t must.TB) { must.Panic(t, "", func() {}) }, true},
	} {
		var got failed
		if c.call(&got); got != c.want {
			t.Errorf("call %d: failed %v, want %v", i, got, c.want)
		}
	}
}
