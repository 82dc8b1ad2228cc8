// Package process runs programs that are asked over their standard streams. Each is
// in a process group of its own, and ends with what it started.
package process

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// Grace is how long a program has to end by itself.
	Grace = time.Second
	// tailBytes and tailLines are how much is kept of its standard error.
	tailBytes, tailLines = 2048, 12
	// beginBytes is how much is kept of its beginning.
	beginBytes = 200
)

// Process is a program that runs. When it ends, the rest of its process group is killed.
// When this program is killed, Linux kills it; elsewhere it sees the end of its standard input.
type Process struct {
	In  io.WriteCloser
	Out *bufio.Reader

	cmd    *exec.Cmd // nil: see [Running]
	out    *os.File
	stderr tail
	once   sync.Once
	ended  chan struct{}
	killed bool // it did not end by itself
}

// Start starts a program with arguments, the first of which is its name; env may be nil: ours.
func Start(path string, argv, env []string) (*Process, error) {
	p := &Process{cmd: &exec.Cmd{Path: path, Args: argv, Env: env, WaitDelay: Grace}, ended: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	ownGroup(p.cmd)
	var err error
	if p.In, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// The end is waited for from the start, which a StdoutPipe does not allow.
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	p.out, p.Out, p.cmd.Stdout = out, bufio.NewReaderSize(out, 1<<16), theirs
	if err := p.cmd.Start(); err != nil {
		out.Close()
		return nil, err
	}
	go func() {
		p.cmd.Wait()
		killGroup(p.cmd) // now, as its number may soon be another group's
		close(p.ended)
	}()
	return p, nil
}

// Running is the program that started this one.
func Running(in io.WriteCloser, out io.Reader) *Process {
	return &Process{In: in, Out: bufio.NewReaderSize(out, 1<<16)}
}

// End lets the program end by itself for so long, then kills it with its group.
func (p *Process) End(wait time.Duration) {
	p.once.Do(func() {
		p.In.Close()
		if p.cmd == nil {
			return
		}
		if !p.within(wait) {
			p.killed = wait > 0
			killGroup(p.cmd)
			p.within(5 * Grace) // longer than that: it cannot be killed
		}
		p.out.Close()
	})
}

func (p *Process) within(wait time.Duration) bool {
	select {
	case <-p.ended:
	case <-time.After(wait):
	}
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Begin is the first line of its standard error, or as much as is kept of it.
func (p *Process) Begin() string {
	p.stderr.mu.Lock()
	defer p.stderr.mu.Unlock()
	line, _, _ := strings.Cut(strings.ToValidUTF8(string(p.stderr.begun), "\uFFFD"), "\n")
	return plain(line)
}

// Death says how the program ended, after End.
func (p *Process) Death() string {
	if p.cmd == nil {
		return "the program that started dpscope closed the stream of answers"
	}
	if p.killed || !p.within(0) {
		return "it closed its standard output"
	}
	state := p.cmd.ProcessState
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		how := fmt.Sprintf("it was ended by a signal (%v)", s.Signal())
		if s.Signal() == syscall.SIGKILL {
			how += ", as the system does when memory runs out,"
		}
		return how
	}
	return fmt.Sprintf("it ended with exit code %d", state.ExitCode())
}

// Failed reports whether it ended by itself with an exit code that is not 0, after End.
func (p *Process) Failed() bool { return !p.killed && p.within(0) && p.cmd.ProcessState.ExitCode() > 0 }

// tail keeps the end and the beginning of what is written.
type tail struct {
	mu    sync.Mutex
	begun []byte
	kept  []byte
	cut   bool
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun = append(t.begun, b[:min(len(b), beginBytes-len(t.begun))]...)
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - tailBytes; over > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
	return len(b), nil
}

// Stderr is the end of its standard error: some last lines, without what a terminal would obey.
func (p *Process) Stderr() string {
	t := &p.stderr
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept
	if t.cut { // from the next whole line on
		kept = kept[bytes.IndexByte(kept, '\n')+1:]
	}
	lines := strings.Split(strings.TrimRightFunc(strings.ToValidUTF8(string(kept), "\uFFFD"), unicode.IsSpace), "\n")
	return plain(strings.Join(lines[max(0, len(lines)-tailLines):], "\n"))
}

// plain is text without what a terminal would obey.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) || r == utf8.RuneError {
			return r
		}
		return -1
	}, text)
}
