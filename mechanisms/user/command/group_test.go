//go:build unix

package command_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

// TestNoOrphans: programs that do not end by themselves, and what they started,
// are gone after Close and after a run that was stopped.
func TestNoOrphans(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		notes := filepath.Join(t.TempDir(), "processes")
		args := []string{"'" + notes + "'"}
		if stopped {
			args = append(args, "hang")
		}
		ctx, cancel := context.WithCancel(t.Context())
		o := command.Options{Command: line(t, "family", args...), Space: space(t)}
		if stopped {
			go func() {
				for lines(notes) < 2 {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
		}
		p, err := command.Open(ctx, o)
		if (err != nil) != stopped {
			t.Fatal(err)
		}
		if !stopped {
			p.Close()
		}
		cancel()
		data := must.Get(os.ReadFile(notes))(t)
		for _, word := range strings.Fields(string(data)) {
			pid := must.Get(strconv.Atoi(word))(t)
			if !gone(pid) {
				t.Errorf("stopped %v: process %d still runs", stopped, pid)
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

func lines(path string) int {
	data, _ := os.ReadFile(path)
	return strings.Count(string(data), "\n")
}

// gone waits until a process is no more, or only waits for its parent to hear of
// its end.
func gone(pid int) bool {
	for range 500 {
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			return true
		}
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}
