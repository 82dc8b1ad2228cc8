//go:build unix

package edgetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// alone waits until no other test has a Worker: each bundles in the folder that the others watch, and a Worker that is
// bundled anew refuses what it is asked.
func alone(t testing.TB) {
	t.Helper()
	f := must.Get(os.OpenFile(filepath.Join(os.TempDir(), "dpscope-edge.lock"), os.O_CREATE|os.O_RDWR, 0o600))(t)
	must.Do(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	t.Cleanup(func() { f.Close() })
}

func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func end(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } //nolint:errcheck // it may have ended
