//go:build !unix

package process

import "os/exec"

// ownGroup does nothing: there are no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills the process, but not what it started.
func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }
