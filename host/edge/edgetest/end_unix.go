//go:build unix

package edgetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// alone waits until no other test has a Worker: each bundles in the folder that the others
// watch, and a Worker that is bundled anew refuses what it is just asked.
func alone(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "dpscope-edge.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
}

func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func end(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } //nolint:errcheck // it may have ended
