//go:build !unix

package edgetest

import (
	"os/exec"
	"testing"
)

func alone(testing.TB) {}

func apart(*exec.Cmd) {}

func end(cmd *exec.Cmd) { cmd.Process.Kill() } //nolint:errcheck // it may have ended
