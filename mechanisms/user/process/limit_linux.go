package process

import "syscall"

// LimitMemory limits what this process may write to, its code and stacks apart.
func LimitMemory(bytes uint64) {
	syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
