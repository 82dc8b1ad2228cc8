// Package glog stands, by go.work, for the logger of Google's differential privacy library. The original writes
// files and brings the profiler, a thirtieth of what a visitor would load. These two functions are all it calls.
package glog

import "fmt"

func Warningf(format string, args ...any) {}

func Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
