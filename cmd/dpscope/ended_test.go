//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
)

// started starts dpscope as a process of its own.
func started(t *testing.T, stderr io.Writer, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("dpscope", args...)
	cmd.Stderr = stderr
	must.Do(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

// alive reports whether a process runs, and waits until it does not.
func alive(pid int) bool {
	for range 500 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") { // it only waits for its parent to hear of its end
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

func onLinux(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("NOT RUN: needs /proc")
	}
}

// TestCommandEndsWithUs: a program and what it starts end with dpscope, however it
// ends; what the program starts outlives it only where dpscope is killed.
func TestCommandEndsWithUs(t *testing.T) {
	onLinux(t)
	must.Have(t, "sh")
	for _, c := range []struct {
		name   string
		does   string // after it has started a process of its own
		signal syscall.Signal
		code   int
		left   int // processes
		says   string
	}{
		{"SIGINT", "wait", syscall.SIGINT, cli.ExitInconclusive, 0, "dpscope: stopped before the end; no result\n"},
		{"SIGTERM", "wait", syscall.SIGTERM, cli.ExitInconclusive, 0, "stopped before the end"},
		{"killed", "wait", syscall.SIGKILL, -1, 1, ""},
		{"an error", "echo nonsense; wait", 0, cli.ExitUsage, 0, "dpscope: "},
		{"its own end", "exit 3", 0, cli.ExitUsage, 0, "exit code 3"},
		{"a normal end", `while read l; do echo "$l" | awk '{ match($0, /"n":[0-9]+/); n = substr($0, RSTART + 4, RLENGTH - 4) + 0; match($0, /"seed":[0-9]+/); srand(substr($0, RSTART + 7, RLENGTH - 7) % 1000000007); printf "["; for (i = 0; i < n; i++) printf "%s%.6f", i ? ", " : "", rand(); print "]" }'; done`, 0, cli.ExitOK, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			notes, script := filepath.Join(dir, "processes"), filepath.Join(dir, "script")
			must.Do(t, os.WriteFile(script, []byte("sleep 1000 & echo $$ $! >> '"+notes+"'\n"+c.does+"\n"), 0o600))
			var stderr bytes.Buffer
			cmd := started(t, &stderr, "audit", "-exec", "sh '"+script+"'", "-epsilon", "1", "-samples", "200", "-trials", "1", "-workers", "1")
			var pids []string
			for len(pids) < 2 {
				data, _ := os.ReadFile(notes)
				pids = strings.Fields(string(data))
				time.Sleep(time.Millisecond)
			}
			if c.signal != 0 {
				cmd.Process.Signal(c.signal)
			}
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.code || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("exit code %d, want %d and %q: %s", got, c.code, c.says, stderr.String())
			}
			data, _ := os.ReadFile(notes)
			pids = strings.Fields(string(data))
			for i, word := range pids {
				pid := must.Get(strconv.Atoi(word))(t)
				if c.left > 0 && i%2 == 1 {
					syscall.Kill(pid, syscall.SIGKILL) // the system does not
				} else if alive(pid) {
					t.Errorf("process %d of %v still runs", i, pids)
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

// TestModuleStops: SIGTERM ends an audit while the module is compiled.
func TestModuleStops(t *testing.T) {
	onLinux(t)
	data := must.Get(os.ReadFile("../../docs/examples/abi/count.wasm"))(t)
	// 100,000 nested blocks in the function width.
	const n, width, section = 100_000, "\x04\x00\x41\x01\x0b", "\x0a\x80\x02" // the code's, of 256 bytes
	sized := func(s string) string { return string(binary.AppendUvarint(nil, uint64(len(s)))) + s }
	before, code, _ := strings.Cut(string(data), section)
	nested := "\x00" + strings.Repeat("\x02\x40", n) + strings.Repeat("\x0b", n) + "\x41\x01\x0b"
	hostile := before + "\x0a" + sized(strings.Replace(code[:256], width, sized(nested), 1))
	path := filepath.Join(t.TempDir(), "nested.wasm")
	must.Do(t, os.WriteFile(path, []byte(hostile), 0o600))
	var stderr bytes.Buffer
	cmd := started(t, &stderr, "audit", "-wasm", path, "-epsilon", "1")
	pid := strconv.Itoa(cmd.Process.Pid)
	host := 0
	for begun := time.Now(); host == 0 && time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) {
		tasks, _ := filepath.Glob("/proc/" + pid + "/task/*/children")
		for _, task := range tasks {
			children, _ := os.ReadFile(task)
			if fields := strings.Fields(string(children)); len(fields) > 0 {
				host, _ = strconv.Atoi(fields[0])
			}
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != cli.ExitInconclusive || !strings.Contains(stderr.String(), "stopped before the end") {
		t.Errorf("exit code %d: %s", got, stderr.String())
	}
	if alive(host) {
		t.Error("the process that compiles it still runs")
	}
}
