//go:build unix

package edge

import (
	"os/exec"
	"syscall"
)

// apart puts a command into a group of its own, so that [end] ends what it started too.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func end(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } //nolint:errcheck // it may have ended
