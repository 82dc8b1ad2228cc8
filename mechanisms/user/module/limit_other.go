//go:build !linux && !js

package module

// limitMemory does nothing: the system has no such limit. What Check allows
// remains.
func limitMemory(uint64) {}
