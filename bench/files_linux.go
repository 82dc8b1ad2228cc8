package main

import (
	"os"
	"syscall"
)

// peakMemory is how much memory a process held at most, resident, in bytes.
func peakMemory(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss * 1024
	}
	return 0
}
