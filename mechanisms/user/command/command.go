package command

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/mechanisms/user"
	"github.com/dpscope/dpscope/mechanisms/user/process"
)

// Options say how a program is run and how its outputs are read.
type Options struct {
	Command string      // line, see [audit.ShellWords]
	Space   audit.Space // of datasets
	Pair    *audit.Pair // asked about at the start; default: the space's [audit.Space.Trial]
	// Kinds of columns c1, c2, ...; default: as the outputs at the start.
	Kinds map[string]audit.ColumnKind
	// NonFinite: "refuse" refuses NaN and infinities, and "symbol" makes columns of
	// numbers mixed, and them symbols; default: each is an [audit.Outcome] of its column.
	NonFinite string
	Columns   []audit.Column // of a report that is replayed, instead of Kinds
	Timeout   time.Duration  // of one request; where it is not above 0, 60 s
	Parent    *Parent        // answers instead, and Command is only its name in a report; may be nil
}

// Parent is a program that runs already, such as the one that started this one. Its requests
// wait for each other.
type Parent struct {
	Requests io.WriteCloser
	Answers  io.Reader
	Frames   bool // from the start, without a line first
}

// DefaultTimeout is how long one request may take.
const DefaultTimeout = 60 * time.Second

// mostDeaths is how often a process may end because a run failed: a new one is expensive.
const mostDeaths = 400

const mostValues = 1 << 18

// Program is a mechanism that a program runs, in a process for each goroutine that uses it.
type Program struct {
	*runner
	*user.Mechanism // nil at the start
	o               Options
	columns         []audit.Column
	unseeded        string
	slowest         time.Duration // of the requests at the start
	seen            blocks        // outputs
	deaths          atomic.Int64  // of processes, after the start
}

// Open starts the program and asks what its outputs are. With ctx requests under way and their
// processes end; Close ends all.
func Open(ctx context.Context, o Options) (*Program, error) {
	reading := audit.Reading{Kinds: o.Kinds, NonFinite: o.NonFinite}
	if err := audit.First(recorded.CheckReading(reading), checkColumns(o.Columns), o.Space.Validate()); err != nil {
		return nil, err
	}
	o.Timeout = cmp.Or(max(0, o.Timeout), DefaultTimeout)
	if o.Pair == nil {
		o.Pair = new(o.Space.Trial())
	}
	r, err := newRunner(ctx, o.Command, o.Parent, o.Timeout, FramesVariable+"="+strconv.Itoa(framesVersion), ColumnsVariable+"="+strconv.Itoa(o.Space.Columns))
	if err != nil {
		return nil, err
	}
	p := &Program{runner: r, o: o}
	if err := p.probe(); err != nil {
		p.Close() // all processes end
		return nil, err
	}
	return p, nil
}

// UserMechanism is for reports.
func (p *Program) UserMechanism() audit.UserMechanism {
	return audit.UserMechanism{Kind: audit.UserCommand, Name: p.o.Command, Datasets: p.o.Space, Columns: p.columns, NonFinite: p.o.NonFinite, Unseeded: p.unseeded}
}

// call draws outputs from a seed of 53 bits.
func (p *Program) call(d audit.Dataset, seed uint64, out []float64) error {
	x, err := p.take()
	if err != nil {
		return err
	}
	defer p.release(x)
	rows, err := p.ask(x, d, len(out)/audit.Width(p.columns), seed, out)
	if err != nil {
		return err
	}
	if err := p.fill(rows, out); err != nil {
		return p.drop(x, err)
	}
	if err := p.note(seed, out); err != nil {
		return p.fault(nil, err)
	}
	return nil
}

// ask sends a request. An error ends the process, unless it says itself that the run failed. Where
// the outputs went to out as they are, there are no rows.
func (p *Program) ask(x *worker, d audit.Dataset, n int, seed uint64, out []float64) (rows [][]cell, err error) {
	first, start := !x.answered, time.Now()
	if x.frames {
		x.request = requestFrame(x.request, d, p.o.Space.Columns, n, seed)
	} else {
		x.request = request(d, n, seed)
	}
	kind, body, err := x.ask(p.ctx, x.request, p.timeout, nil)
	if err == nil {
		if p.Mechanism == nil {
			p.slowest = max(p.slowest, time.Since(start))
		}
		if p.floats(kind, body, out) {
			return nil, nil
		}
		var offered bool
		rows, offered, err = outputs(kind, body, n)
		x.frames = x.frames || first && offered
		switch {
		case errors.As(err, new(*user.Failed)):
			return nil, p.fault(x, err)
		case err != nil:
			return nil, p.drop(x, err)
		}
		return rows, nil
	}
	if errors.Is(err, errTimeout) {
		remedy := "does it write a whole line, and flush it (flush=True in Python)?"
		if first && p.parent != nil {
			remedy = "-exec-timeout allows more"
		} else if !first {
			remedy = fmt.Sprintf("-exec-timeout allows more; %d outputs at the start took %v", probeRows, p.slowest.Round(time.Millisecond))
		}
		err = audit.Fault(fmt.Sprintf("the answer to a request for %d outputs", n), fmt.Sprintf("not there after %v", p.timeout), "there by then", remedy)
	}
	if errors.As(err, new(*user.Failed)) && p.Mechanism != nil && p.deaths.Add(1) > mostDeaths {
		err = &audit.SpentError{InputError: audit.InputError{Field: "its runs that failed", Found: fmt.Sprintf("more than %d process exits: %v", mostDeaths, err), Want: "fewer, because each needs a new process", Remedy: `catch the error, and print {"error": "..."} instead of ending`}}
	}
	return nil, p.drop(x, err)
}

func request(d audit.Dataset, n int, seed uint64) []byte {
	return line(struct {
		Dataset [][]float64 `json:"dataset"`
		N       int         `json:"n"`
		Seed    uint64      `json:"seed"`
	}{audit.Listed(d.Len(), d.Row), n, seed})
}

// line is a value without NaN or infinities as a line of JSON.
func line(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("command: " + err.Error())
	}
	return append(b, '\n')
}

// note refuses outputs that another seed gave. Independent ones agree with probability below
// 1e-12, see [user.Telling]; any two of 250,000 requests for 4096 outputs, below 1e-14.
func (p *Program) note(seed uint64, out []float64) error {
	width := audit.Width(p.columns)
	if !user.Telling(out, width) {
		return nil
	}
	if other, repeated := p.seen.note(seed, out); repeated {
		return audit.Fault("its answer", fmt.Sprintf("the same %d outputs for the seeds %d and %d", len(out)/width, other, seed), "different outputs for another seed, because outputs must be independent",
			"seed the generator with the whole seed in each request, or once from the system")
	}
	return nil
}

const (
	// maxAnswer is how long an answer may be, in bytes.
	maxAnswer = 64 << 20
	// shownBytes is how much of what a program printed stands in a message.
	shownBytes = 200
)

// Error is what a program did wrong.
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
	parent   bool // it ran already
	answered bool
	dropped  bool
	frames   bool // were agreed upon
	request  []byte
	line     []byte
}

var errTimeout = errors.New("time limit")

const checkEvery = 100 * time.Millisecond

// unwanted is the error of who does not want an answer any more.
type unwanted struct{ error }

func (u unwanted) Unwrap() error { return u.error }

// ask returns the answer to a request, valid until the next one. An error ends the process;
// that of check, which may be nil, comes as [unwanted].
func (w *worker) ask(ctx context.Context, request []byte, limit time.Duration, check func() error) (string, []byte, error) {
	if n := w.Out.Buffered(); n > 0 {
		more, _ := w.Out.Peek(min(n, shownBytes))
		defer w.End(0)
		if w.frames {
			return "", nil, fmt.Errorf("it wrote more than one frame as its answer; after the frame came %q: write one frame a request, and nothing else, to standard output", more)
		}
		return "", nil, fmt.Errorf("it printed more than one line as its answer; after the line came %q: print one line a request, and nothing else, to standard output", more)
	}
	var kind string
	var body []byte
	got := make(chan error, 1)
	go func() {
		_, werr := w.In.Write(request)
		if werr != nil && w.parent {
			got <- fmt.Errorf("requests cannot be written: %w", werr)
			return
		}
		var err error
		if kind, body, err = w.read(); err == nil && werr != nil {
			err = fmt.Errorf("it does not read its standard input (%w), and printed %s", werr, shown(body))
		}
		got <- err
	}()
	late := time.After(limit)
	var checks <-chan time.Time
	if check != nil {
		checks = time.Tick(checkEvery)
	}
	var err error
	for err == nil {
		select {
		case err = <-got:
			if err == nil {
				w.answered = true
				return kind, body, nil
			}
			if errors.Is(err, io.EOF) {
				w.End(5 * process.Grace) // it is about to say how
				err = errors.New(w.death(body))
				if len(body) == 0 && w.Failed() { // as by an exception that nobody catches
					err = &user.Failed{Err: err}
				}
			}
		case <-checks:
			if bad := check(); bad != nil {
				err = unwanted{bad}
			}
		case <-late:
			err = errTimeout
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	w.End(0)
	return "", nil, err
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
