//go:build !linux

package process

// LimitMemory does nothing: the system has no such limit.
func LimitMemory(uint64) {}
