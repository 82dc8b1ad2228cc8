package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/mechanisms/user/process"
)

// Most is what a stranger's report may cost. A replay takes five times those bytes.
var Most = core.Cost{Outputs: 1_000_000_000, Bytes: 256 << 20}

// Child replays a report in a process of its own, which ends where that takes too much.
type Child struct {
	Host    []string // the program, and arguments with which it does what [Serve] does
	Workers int
	Memory  uint64        // 0: 2 GiB
	Time    time.Duration // 0: ten minutes
}

type question struct {
	Report  []byte
	Workers int
	Memory  uint64
}

// Answer is what came of a replay.
type Answer struct {
	engine.Verification
	Cannot string // why no output was drawn again, where the rest follows from the counts
	Fault  string // why nothing could be checked
}

// Replay replays a report. An error says why it came to no end.
func (c Child) Replay(ctx context.Context, data []byte) (a Answer, err error) {
	c.Memory, c.Time = cmp.Or(c.Memory, 2<<30), cmp.Or(c.Time, 10*time.Minute)
	p, err := process.StartChild(c.Host)
	if err != nil {
		return a, err
	}
	defer p.End(0)
	limited, end := context.WithTimeoutCause(ctx, c.Time, fmt.Errorf("it takes longer than %v", c.Time))
	defer end()
	err = p.Ask(limited, question{data, c.Workers, c.Memory}, &a)
	var lost *process.Lost
	switch {
	case ctx.Err() != nil:
		return a, ctx.Err()
	case errors.As(err, &lost) && lost.Memory:
		return a, fmt.Errorf("it takes more memory than %d MiB", c.Memory>>20)
	case errors.As(err, &lost):
		return a, fmt.Errorf("the process that replays it failed: %w", lost)
	case err == nil && a.Fault != "":
		return a, errors.New(a.Fault)
	}
	return a, err
}

// Serve is the program in which [Child] replays, and returns its exit code. It limits its own memory.
func Serve(cat audit.Catalogue, in io.Reader, out io.Writer) int {
	questions, answers := process.Parent(in, out)
	var q question
	if err := questions.Decode(&q); err != nil {
		os.Stderr.WriteString("dpscope: this replays a report for dpscope itself: " + err.Error() + "\n")
		return 2
	}
	process.LimitMemory(q.Memory)
	debug.SetMemoryLimit(int64(q.Memory / 8 * 7))
	var a Answer
	if err := a.verify(cat, q); err != nil {
		a.Fault = err.Error()
	}
	if answers.Encode(a) != nil {
		return 2
	}
	return 0
}

func (a *Answer) verify(cat audit.Catalogue, q question) error {
	if len(q.Report) > 0 && q.Report[0] != '{' {
		return errors.New("it is code, which is not run here")
	}
	given := core.Env{Catalogue: cat, Pool: engine.LocalPool(q.Workers)}
	audits, several, err := suite.AuditsIn(q.Report)
	if err != nil {
		return err
	}
	if several == nil {
		a.Verification, err = a.one(audits[0].Report, given)
		return err
	}
	a.Verification = several.Verify(nil)
	for _, one := range audits {
		v, err := a.one(one.Report, given)
		if err != nil {
			return audit.Of("audit "+one.Name, err)
		}
		a.Checked = append(a.Checked, v.Checked...)
		for _, d := range v.Differences {
			a.Differences = append(a.Differences, one.Name+": "+d)
		}
		a.Recomputed = a.Recomputed || v.Recomputed
	}
	return nil
}

// one replays an audit, or else checks its counts.
func (a *Answer) one(r report.View, given core.Env) (engine.Verification, error) {
	v, err := core.Verify(context.Background(), r, given, true)
	if err == nil {
		return v, nil
	}
	derived, cannot := core.Verify(context.Background(), r, given, false)
	if cannot != nil {
		return v, err
	}
	a.Cannot, derived.Recomputed = err.Error(), true
	return derived, nil
}
