// Package edge starts the Worker of the folder edge/ for tests.
package edgetest

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Worker is a Worker that runs on this machine.
type Worker struct {
	Base string // its address
	cmd  *exec.Cmd
}

// CPU is the processor time that the Worker, and the simulation of the edge around it, used
// so far. It reads /proc, and is 0 where there is none.
func (w *Worker) CPU() time.Duration {
	const tick = time.Second / 100 // the kernel's unit for programs, on every Linux
	var sum time.Duration
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(text), ") ")
		f := strings.Fields(after)
		if len(f) < 13 || f[2] != strconv.Itoa(w.cmd.Process.Pid) { // its group
			continue
		}
		for _, n := range f[11:13] { // of the program and of the system for it
			ticks, _ := strconv.ParseInt(n, 10, 64)
			sum += time.Duration(ticks) * tick
		}
	}
	return sum
}

// Start starts the Worker on this machine, with the services that it has at the edge, and
// returns it. What ./build.sh edge made is taken as it is; without that, the test is skipped.
func Start(t testing.TB) *Worker {
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	base := "http://127.0.0.1:" + port
	args := []string{"dev", "--ip", "127.0.0.1", "--port", port, "--persist-to", t.TempDir(), "--var", "ORIGIN:" + base}
	cmd := exec.Command(wrangler, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "WRANGLER_SEND_METRICS=false", "CI=1", "HOME="+t.TempDir())
	apart(cmd)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
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
		return &Worker{Base: base, cmd: cmd}
	case <-time.After(time.Minute):
		t.Fatal("the Worker does not start")
		return nil
	}
}
