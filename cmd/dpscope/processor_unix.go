//go:build unix

package main

import "syscall"

// processorSeconds is for how long processors have worked on this process and on
// those that it started and that have ended.
func processorSeconds() float64 {
	var sum float64
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) != nil {
			return 0
		}
		sum += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	return sum
}
