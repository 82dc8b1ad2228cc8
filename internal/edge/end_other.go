//go:build !unix

package edge

import "os/exec"

func apart(*exec.Cmd) {}

func end(cmd *exec.Cmd) { cmd.Process.Kill() } //nolint:errcheck // it may have ended
