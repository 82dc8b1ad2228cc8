package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
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
	// maxAnswer is how long an answer may be, in bytes.
	maxAnswer = 64 << 20
	// shownBytes is how much of what a program printed stands in a message.
	shownBytes = 200
	// tailBytes and tailLines are how much of its standard error does.
	tailBytes, tailLines = 2048, 12
	// grace is how long a program has to end by itself.
	grace = time.Second
)

// Error is what a program did wrong, or what became of it.
type Error struct {
	Command string
	Err     error
	Stderr  string // the end of what it wrote to its standard error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %v", e.Command, e.Err)
	if e.Stderr != "" {
		text += "\n  the end of its standard error:\n    " + strings.ReplaceAll(e.Stderr, "\n", "\n    ")
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
	cut  bool
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - tailBytes; over > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
	return len(b), nil
}

// String is the last lines, without what a terminal would obey.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept
	if t.cut { // from the next whole line on
		kept = kept[bytes.IndexByte(kept, '\n')+1:]
	}
	lines := strings.Split(strings.TrimRightFunc(strings.ToValidUTF8(string(kept), "\uFFFD"), unicode.IsSpace), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) || r == utf8.RuneError {
			return r
		}
		return -1
	}, strings.Join(lines, "\n"))
}

// process is a program that runs. One request at a time.
type process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	stderr   tail
	answered bool
	line     []byte
	once     sync.Once
	killed   bool // it did not end by itself
}

func startProcess(path string, argv []string) (*process, error) {
	p := &process{cmd: &exec.Cmd{Path: path, Args: argv, WaitDelay: grace}}
	p.cmd.Stderr = &p.stderr
	if os.Getenv("PYTHONUNBUFFERED") == "" {
		p.cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1") // an answer that is never flushed is the usual fault
	}
	ownGroup(p.cmd)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(out, 1<<16)
	return p, p.cmd.Start()
}

// end lets the program end by itself for the time given, then kills it with its
// group.
func (p *process) end(wait time.Duration) {
	p.once.Do(func() {
		p.in.Close()
		waited := make(chan struct{})
		go func() { p.cmd.Wait(); close(waited) }()
		if wait > 0 {
			select {
			case <-waited:
			case <-time.After(wait):
				p.killed = true
			}
		}
		killGroup(p.cmd)
		select {
		case <-waited:
		case <-time.After(5 * grace): // it cannot be killed
		}
	})
}

var errTimeout = errors.New("time limit")

// ask sends a request and returns the line that answers it, without its end,
// valid until the next request. An error ends the process.
func (p *process) ask(ctx context.Context, request []byte, limit time.Duration) ([]byte, error) {
	type answer struct {
		line []byte
		err  error
	}
	if n := p.out.Buffered(); n > 0 {
		more, _ := p.out.Peek(min(n, shownBytes))
		defer p.end(0)
		return nil, fmt.Errorf("it printed more than one line as its answer; after the line came %q: print one line a request, and nothing else, to standard output", more)
	}
	got := make(chan answer, 1)
	go func() {
		_, werr := p.in.Write(request)
		line, err := p.readLine()
		if err == nil && werr != nil {
			err = fmt.Errorf("it does not read its standard input (%w), and printed %s", werr, shown(line))
		}
		got <- answer{line, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var err error
	select {
	case a := <-got:
		if a.err == nil {
			p.answered = true
			return a.line, nil
		}
		if err = a.err; errors.Is(err, io.EOF) {
			p.end(5 * grace) // it is about to say how
			return nil, errors.New(p.death(a.line))
		}
	case <-timer.C:
		err = errTimeout
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.end(0)
	return nil, err
}

// readLine reads up to the end of a line. With io.EOF it returns what came.
func (p *process) readLine() ([]byte, error) {
	p.line = p.line[:0]
	for {
		part, err := p.out.ReadSlice('\n')
		p.line = append(p.line, part...)
		switch {
		case err == nil:
			return p.line[:len(p.line)-1], nil
		case len(p.line) > maxAnswer:
			return nil, fmt.Errorf("its answer is longer than %d MiB, and begins with %q", maxAnswer>>20, p.line[:shownBytes])
		case err != bufio.ErrBufferFull:
			return p.line, err
		}
	}
}

// death says how the program ended, after part of an answer.
func (p *process) death(part []byte) string {
	when := "before it answered"
	if len(part) > 0 {
		when = fmt.Sprintf("in the middle of its answer, after %d bytes (%q)", len(part), part[:min(len(part), shownBytes)])
	} else if !p.answered {
		when = "before its first answer"
	}
	how := "it closed its standard output"
	if state := p.cmd.ProcessState; state != nil && !p.killed {
		how = fmt.Sprintf("it ended with exit code %d", state.ExitCode())
		if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			how = fmt.Sprintf("it was ended by a signal (%v)", s.Signal())
			if s.Signal() == syscall.SIGKILL {
				how += ", as the system does when memory runs out,"
			}
		}
	}
	return how + " " + when
}
