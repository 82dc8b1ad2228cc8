//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
)

func init() { commands["waits"] = waits }

// waits is a command for tests: it waits for a signal, says so, and does not end.
func waits() {
	ctx, stop := untilSignal()
	defer stop()
	fmt.Println("waits")
	<-ctx.Done()
	fmt.Println("heard")
	select {}
}

// process is a command under way.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
	ended chan struct{} // closed when it has
}

// start starts a command, with a limit of time that nothing but a failure reaches.
func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	p := &process{Cmd: exec.CommandContext(ctx, name, args...), ended: make(chan struct{})}
	r, w := io.Pipe()
	p.Stdout, p.Stderr, p.lines = w, os.Stderr, bufio.NewScanner(r)
	must.Do(t, p.Start())
	go func() {
		p.Wait()
		w.Close()
		close(p.ended)
	}()
	t.Cleanup(func() { cancel(); go io.Copy(io.Discard, r); <-p.ended })
	return p
}

// send sends a signal, and wants the process ended by it.
func (p *process) send(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(sig); err != nil {
		t.Errorf("%v: %v", p.Args[1:], err)
	}
	p.endedBy(t, sig)
}

func (p *process) endedBy(t *testing.T, sig syscall.Signal) {
	t.Helper()
	<-p.ended
	if s, ok := p.ProcessState.Sys().(syscall.WaitStatus); !ok || !s.Signaled() || s.Signal() != sig {
		t.Errorf("%v: %v, want the end by %v", p.Args[1:], p.ProcessState, sig)
	}
}

// ends are the signals that end a command; some are ignored where tests run in the
// background.
func ends() (out []syscall.Signal) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(s) {
			out = append(out, s)
		}
	}
	return out
}

// TestSignalsWhileWaitingForInput: SIGINT and SIGTERM end a command that waits for a
// file that never comes.
func TestSignalsWhileWaitingForInput(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	recorded := filepath.Join(dir, "plan.json")
	must.Do(t, os.WriteFile(recorded, []byte(`{"version": 1, "audits": [{"name": "a", "recorded": {"files": ["pipe"]}, "claim": {"epsilon": 1}}]}`), 0o600))
	for _, args := range [][]string{
		{"audit", "-samples-file", pipe, "-epsilon", "1"},
		{"audit", "-plan", pipe},
		{"audit", "-plan", recorded},
		{"canaries", "-source", "dp-sgd", "-epsilon", "2", "-data", pipe},
		{"one-run", "-source", "dp-sgd", "-epsilon", "2", "-delta", "1e-5", "-data", pipe},
		{"scores", "-epsilon", "2", "-delta", "1e-5", pipe},
		{"verify", pipe},
		{"verify", "-samples-file", pipe, kept + "/recorded.json"},
		{"verify", "-data", pipe, kept + "/canaries-dp-sgd.json"},
		{"verify", "-data", pipe, kept + "/one-run-dp-sgd.json"},
		{"verify", "-plan", pipe, kept + "/plan.json"},
	} {
		for _, sig := range ends() {
			p := start(t, "dpscope", args...)
			go func() { // the next line waits for a reader
				<-p.ended
				if r, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
					r.Close()
				}
			}()
			in := must.Get(os.OpenFile(pipe, os.O_WRONLY, 0))(t)
			p.send(t, sig)
			in.Close()
		}
	}
}

// TestSignalsWhileVerifying: so they do while a replay computes, that of an audit that
// takes minutes.
func TestSignalsWhileVerifying(t *testing.T) {
	plan := must.Get(suite.Parse([]byte(`{"version": 1, "audits": [{"name": "a", "mechanism": "svt1", "samples": 100, "explore": 100, "trials": 1}]}`), "plan"))(t)
	r := must.Get(pair.Run{Plan: plan.Audit(0).(pair.Plan), Catalogue: catalogue, Pool: engine.LocalPool(1)}.Do(t.Context()))(t)
	r.Plan.Samples, r.Termination.SamplesUsed = pair.MaxSamples, pair.MaxSamples
	more, e := pair.MaxSamples-r.Evidence.Table.Pairs(), r.Evidence
	e.Table.N[0] += more
	e.Chart.First[0] += more
	e.Chart.Second[0] += more
	if !e.Prepared.Event.Above { // the first bin is in the event
		e.Chart.FirstIn[0] += more
		e.Chart.SecondIn[0] += more
	}
	data := must.Get(audit.Canonical(suite.NewReport(plan, audit.Generator{}, []suite.Audited{{Name: "a", Report: r}})))(t)
	path := filepath.Join(t.TempDir(), "report.json")
	must.Do(t, os.WriteFile(path, data, 0o600))
	for _, sig := range ends() {
		p := start(t, "dpscope", "verify", path)
		if !p.lines.Scan() || p.lines.Text() != "== a" {
			t.Fatalf("it began with %q", p.lines.Text())
		}
		p.send(t, sig)
	}
}

// TestSecondSignal: the first signal asks, the second one ends.
func TestSecondSignal(t *testing.T) {
	for _, sig := range ends() {
		p := start(t, "waits")
		for _, want := range []string{"waits", "heard"} {
			if !p.lines.Scan() || p.lines.Text() != want {
				t.Fatalf("said %q, want %q", p.lines.Text(), want)
			}
			if want == "waits" {
				must.Do(t, p.Process.Signal(sig))
			}
		}
		// The second one may come before the first one is let go, so there are more.
		for open := true; open; {
			p.Process.Signal(sig)
			select {
			case <-p.ended:
				open = false
			case <-time.After(20 * time.Millisecond):
			}
		}
		p.endedBy(t, sig)
	}
}

// A reader that closes standard output takes no verdict from the exit code.
func TestClosedPipe(t *testing.T) {
	r, w := must.Get2(os.Pipe())(t)
	r.Close()
	defer w.Close()
	var said strings.Builder
	cmd := exec.Command("dpscope", "audit", "-mechanism", "svt4", "-epsilon", "1", "-samples", "20000", "-trials", "2")
	cmd.Stdout, cmd.Stderr = w, &said
	err := cmd.Run()
	if cmd.ProcessState.ExitCode() != cli.ExitViolation || !strings.HasPrefix(said.String(), "Violation: ") || !strings.Contains(said.String(), "standard output was not written") {
		t.Errorf("%v: %s", err, said.String())
	}
}
