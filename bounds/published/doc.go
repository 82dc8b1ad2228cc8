// Package published has forms of bounds that others published, and what mends them, to be compared
// with package bounds, never to certify: most are loose, and some do not keep the error that they
// state. What is wrong stands at each; docs/findings has the proofs.
package published

import "fmt"

// refuse panics with the first error: arguments out of range are the programmer's.
func refuse(errs ...error) {
	for _, err := range errs {
		if err != nil {
			panic("published: " + err.Error())
		}
	}
}

// require is nil where a requirement holds, and else this error.
func require(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func notBelow(x, least float64) error { return require(x >= least, "%v must be at least %v", x, least) }
