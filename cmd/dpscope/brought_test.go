package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
)

// TestInterruptedCommand: Ctrl-C ends a program that hangs and what it started.
func TestInterruptedCommand(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("NOT RUN: needs sh")
	}
	t.Chdir(t.TempDir())
	read := func() []string {
		data, _ := os.ReadFile("processes")
		return strings.Fields(string(data))
	}
	self := must.Get(os.FindProcess(os.Getpid()))(t)
	go func() {
		for len(read()) < 2 {
			time.Sleep(time.Millisecond)
		}
		self.Signal(os.Interrupt)
	}()
	var out, stderr strings.Builder
	code := run([]string{"audit", "-exec", `sh -c 'sleep 1000 & echo $$ $! > processes; wait'`, "-epsilon", "1"}, nil, &out, &stderr)
	if code != cli.ExitInconclusive || out.Len() > 0 || stderr.String() != "dpscope: stopped before the first pair of datasets\n" {
		t.Errorf("exit code %d: %s%s", code, out.String(), stderr.String())
	}
	for _, word := range read() {
		pid := must.Get(strconv.Atoi(word))(t)
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		for i := 0; p.Signal(syscall.Signal(0)) == nil; i++ {
			if stat, err := os.ReadFile("/proc/" + word + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
				break // it only waits for its parent to hear of its end
			}
			if i == 500 {
				t.Errorf("process %d still runs", pid)
				p.Kill()
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}
