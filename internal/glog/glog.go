// Package glog stands, by go.work, for the logger of Google's differential privacy
// library in everything that is built from this repository. The original writes files,
// reads flags of its own and brings the profiler: in a browser there is nothing to write
// to, and it would be a thirtieth of what a visitor loads. The library calls these two
// functions only; the compiler says if it ever calls another.
package glog

import "fmt"

// Warningf says nothing: the library warns of noise that it adds as it was told.
func Warningf(format string, args ...any) {}

// Fatalf ends what the library was asked for by a panic, a state that page and program show.
func Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
