package process

import "syscall"

// diesWithUs has the process killed when the thread that starts it ends, which Go
// ends with the program: no goroutine here ends locked to its thread.
func diesWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
