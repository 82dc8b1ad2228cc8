//go:build !linux

package process

import "syscall"

// diesWithUs does nothing: the process sees the end of its standard input.
func diesWithUs(*syscall.SysProcAttr) {}

// LimitMemory does nothing: the system has no such limit.
func LimitMemory(uint64) {}
