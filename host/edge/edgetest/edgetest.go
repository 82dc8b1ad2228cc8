// Package edgetest starts the Worker of the folder host/edge/ for tests.
package edgetest

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/internal/must"
)

// Start starts what ./build.sh edge made and returns its address. Without that the test is skipped.
func Start(t testing.TB) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	folder := filepath.Dir(filepath.Dir(here))
	wrangler := filepath.Join(folder, "node_modules", ".bin", "wrangler")
	for _, need := range []string{filepath.Join(folder, "build", "app.wasm"), wrangler} {
		if _, err := os.Stat(need); err != nil {
			t.Skipf("%v: run ./build.sh edge, and npm ci --ignore-scripts in host/edge/", err)
		}
	}
	alone(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	base := "http://127.0.0.1:" + port
	args := []string{"dev", "--ip", "127.0.0.1", "--port", port, "--persist-to", t.TempDir(), "--var", "ORIGIN:" + base}
	cmd := exec.Command(wrangler, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "WRANGLER_SEND_METRICS=false", "CI=1", "HOME="+t.TempDir())
	apart(cmd)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		end(cmd)
		cmd.Wait() //nolint:errcheck // it was killed
	})
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "Ready on") {
				ready <- true
			}
		}
	}()
	select {
	case <-ready:
		return base
	case <-time.After(time.Minute):
		t.Fatal("the Worker does not start")
		return ""
	}
}
