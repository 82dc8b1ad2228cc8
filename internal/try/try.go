// Package try is for programs that build something. A function that defers [To] returns the first error that [Get] or
// [Do] finds.
package try

import "fmt"

type failure struct{ error }

// Get is the value of a call that returns an error too: data := try.Get(os.ReadFile(name)).
func Get[T any](value T, err error) T {
	Do(err)
	return value
}

// Get2 is for two values.
func Get2[T, U any](first T, second U, err error) (T, U) {
	Do(err)
	return first, second
}

// Do is for calls that return an error alone.
func Do(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Of is [Do], and says what the error is of.
func Of(what string, err error) {
	if err != nil {
		panic(failure{fmt.Errorf("%s: %w", what, err)})
	}
}

// To is where the error goes: defer try.To(&err).
func To(err *error) {
	switch why := recover().(type) {
	case nil:
	case failure:
		*err = why.error
	default:
		panic(why)
	}
}
