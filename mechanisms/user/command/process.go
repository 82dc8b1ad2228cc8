package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dpscope/dpscope/mechanisms/user/process"
)

const (
	// maxAnswer is how long an answer may be, in bytes.
	maxAnswer = 64 << 20
	// shownBytes is how much of what a program printed stands in a message.
	shownBytes = 200
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

// worker is a process of the program. One request at a time.
type worker struct {
	*process.Process
	answered bool
	line     []byte
}

func startWorker(path string, argv []string) (*worker, error) {
	var env []string
	if os.Getenv("PYTHONUNBUFFERED") == "" {
		env = append(os.Environ(), "PYTHONUNBUFFERED=1") // an answer that is never flushed is the usual fault
	}
	p, err := process.Start(path, argv, env)
	return &worker{Process: p}, err
}

var errTimeout = errors.New("time limit")

// ask sends a request and returns the line that answers it, without its end,
// valid until the next request. An error ends the process.
func (w *worker) ask(ctx context.Context, request []byte, limit time.Duration) ([]byte, error) {
	type answer struct {
		line []byte
		err  error
	}
	if n := w.Out.Buffered(); n > 0 {
		more, _ := w.Out.Peek(min(n, shownBytes))
		defer w.End(0)
		return nil, fmt.Errorf("it printed more than one line as its answer; after the line came %q: print one line a request, and nothing else, to standard output", more)
	}
	got := make(chan answer, 1)
	go func() {
		_, werr := w.In.Write(request)
		line, err := w.readLine()
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
			w.answered = true
			return a.line, nil
		}
		if err = a.err; errors.Is(err, io.EOF) {
			w.End(5 * process.Grace) // it is about to say how
			return nil, errors.New(w.death(a.line))
		}
	case <-timer.C:
		err = errTimeout
	case <-ctx.Done():
		err = ctx.Err()
	}
	w.End(0)
	return nil, err
}

// readLine reads up to the end of a line. With io.EOF it returns what came.
func (w *worker) readLine() ([]byte, error) {
	w.line = w.line[:0]
	for {
		part, err := w.Out.ReadSlice('\n')
		w.line = append(w.line, part...)
		switch {
		case err == nil:
			return w.line[:len(w.line)-1], nil
		case len(w.line) > maxAnswer:
			return nil, fmt.Errorf("its answer is longer than %d MiB, and begins with %q", maxAnswer>>20, w.line[:shownBytes])
		case err != bufio.ErrBufferFull:
			return w.line, err
		}
	}
}

// death says how the program ended, after part of an answer.
func (w *worker) death(part []byte) string {
	when := "before it answered"
	if len(part) > 0 {
		when = fmt.Sprintf("in the middle of its answer, after %d bytes (%q)", len(part), part[:min(len(part), shownBytes)])
	} else if !w.answered {
		when = "before its first answer"
	}
	return w.Death() + " " + when
}
