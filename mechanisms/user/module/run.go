//go:build !js

package module

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/user"
	"github.com/dpscope/dpscope/mechanisms/user/process"
)

// Options are how a module is run.
type Options struct {
	Host     []string                    // path and arguments of a program that does what [Host] does
	Space    audit.Space                 // where its datasets live
	Pair     *audit.Pair                 // that it is tried on; default: the first of the space
	Kinds    map[string]audit.ColumnKind // of columns c1, c2, ...; default real
	SHA256   string                      // of the module that it has to be; default: any
	Patience time.Duration               // of a call; 0: [Patience]
	// CompilePatience is that of a process that starts and compiles; 0: [CompilePatience].
	CompilePatience time.Duration
}

// Module is a module that runs in a process for each goroutine that calls it.
type Module struct {
	*user.Mechanism
	o        Options
	ctx      context.Context
	job      job
	sum      string
	unseeded string
	pool     process.Pool[*hosted]
}

// Open checks, compiles and tries a module. name is the file's, without its folder. What is
// under way ends with ctx; Close ends all processes.
func Open(ctx context.Context, name string, data []byte, o Options) (*Module, error) {
	if err := Check(name, data); err != nil {
		return nil, err
	}
	o.Patience = cmp.Or(max(0, o.Patience), Patience)
	o.CompilePatience = cmp.Or(max(0, o.CompilePatience), CompilePatience)
	m := &Module{o: o, ctx: ctx, job: job{name, data, o.Patience}, sum: fmt.Sprintf("%x", sha256.Sum256(data))}
	if o.SHA256 != "" && o.SHA256 != m.sum {
		return nil, audit.Fault(name, "another module, with SHA-256 "+m.sum, "the one with SHA-256 "+o.SHA256+", as the report says")
	}
	if err := m.prepare(); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *Module) prepare() error {
	h, err := m.pool.Take(m.start)
	if err != nil {
		return err
	}
	m.pool.Release(h)
	columns, err := user.Columns(h.width, audit.Real, m.o.Kinds)
	if err != nil {
		return fmt.Errorf("%s: %w", m.job.Name, err)
	}
	m.Mechanism = user.New(columns, m.call)
	m.unseeded, err = user.Try(m.call, h.width, m.o.Space, m.o.Pair)
	return err
}

// Close ends the module's processes.
func (m *Module) Close() { m.pool.Close(0) }

// UserMechanism is for reports.
func (m *Module) UserMechanism() audit.UserMechanism {
	return audit.UserMechanism{Kind: audit.UserModule, Name: m.job.Name, SHA256: m.sum, Datasets: m.o.Space, Columns: m.Columns(), Unseeded: m.unseeded}
}

func (m *Module) call(d audit.Dataset, seed uint64, out []float64) error {
	h, err := m.pool.Take(m.start)
	if err != nil {
		return err
	}
	// A host ends the call itself where it can, at the next turn of a loop, and says where.
	const more = 3 * time.Second
	a, err := m.ask(h, question{d.Values, d.Columns, len(out) / h.width, seed}, m.o.Patience+more,
		audit.Fault(m.job.Name, fmt.Sprintf("still running after %v", m.o.Patience), fmt.Sprintf("done sooner: a request is for at most %d outputs", audit.BlockRows), "is there endless recursion?"))
	if err != nil && !errors.As(err, new(*user.Failed)) {
		m.pool.Drop(h)
		return err
	}
	m.pool.Release(h) // after a run that failed, too: the next call has a fresh instance
	copy(out, a.Outputs)
	return err
}

type hosted struct {
	*process.Child
	width int
}

func (m *Module) start() (*hosted, error) {
	p, err := process.StartChild(m.o.Host)
	if err != nil {
		return nil, fmt.Errorf("the process that runs the module does not start: %w", err)
	}
	h := &hosted{Child: p}
	a, err := m.ask(h, m.job, m.o.CompilePatience, audit.Fault(m.job.Name, fmt.Sprintf("not compiled and started after %v", m.o.CompilePatience), "a module that is compiled sooner", "are its functions very large, or their blocks nested deeply?"))
	if err != nil {
		p.End(0)
		return nil, err
	}
	h.width = a.Width
	return h, nil
}

// ask asks a host; late is the error where no answer comes in time.
func (m *Module) ask(h *hosted, question any, within time.Duration, late error) (a answer, err error) {
	ctx, end := context.WithTimeoutCause(m.ctx, within, late)
	defer end()
	err = h.Ask(ctx, question, &a)
	var lost *process.Lost
	switch {
	case m.ctx.Err() != nil:
		return a, m.ctx.Err()
	case errors.As(err, &lost) && lost.Memory:
		return a, audit.Fault(m.job.Name, fmt.Sprintf("taking more than %d MiB to be compiled and run", mostMemory>>20), "a module that is compiled and run within its limits", "are its functions or its tables very large?")
	case errors.As(err, &lost):
		return a, audit.Fault(m.job.Name, "too much for the process that runs it: "+lost.How, "a module that is compiled and run within its limits")
	case err != nil:
		return a, err
	case a.Trapped:
		return a, &user.Failed{Err: a.Fault}
	case a.Fault != nil:
		return a, a.Fault
	}
	return a, nil
}
