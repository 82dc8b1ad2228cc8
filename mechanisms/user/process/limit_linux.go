package process

import "syscall"

// diesWithUs has the process killed when the thread that starts it ends, which is with the
// program: no goroutine here ends locked to its thread.
func diesWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// LimitMemory limits what this process may write to, its code and stacks apart.
func LimitMemory(bytes uint64) {
	syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
