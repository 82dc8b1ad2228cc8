//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the process a group: Ctrl-C in a terminal does not reach it, and it can be
// killed with all that it starts.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	diesWithUs(cmd.SysProcAttr)
}

func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
