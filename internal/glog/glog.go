// Package glog stands, by go.work, for the logger of Google's differential privacy library: the original writes files
// and brings the profiler, a thirtieth of what a visitor would load.
package glog

import "fmt"

func Warningf(format string, args ...any) {}

func Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
