//go:build !js

package module

import (
	"encoding/gob"
	"errors"
	"io"
	"os"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/user"
	"github.com/dpscope/dpscope/mechanisms/user/process"
)

// mostMemory is how much memory a process may take: for a module's, which stands there twice
// while it grows, and for its compiler.
const mostMemory = 1 << 30

type job struct {
	Name     string
	Module   []byte
	Patience time.Duration
}

// question asks for N outputs of the width that the answer to the job gave.
type question struct {
	Values  []float64 // of the dataset
	Columns int
	N       int
	Seed    uint64
}

type answer struct {
	Width   int
	Outputs []float64
	Fault   *audit.InputError
	Trapped bool // the fault is of this run, which is an outcome
}

// Host is the program of the processes that run modules. It limits its own memory, compiles
// the module that it reads from in, and answers on out until in ends. It returns an exit code.
func Host(in io.Reader, out io.Writer) int { return hostWithin(mostMemory, in, out) }

func hostWithin(bytes uint64, in io.Reader, out io.Writer) int {
	process.LimitMemory(bytes)
	if err := host(process.Parent(in, out)); err != nil {
		os.Stderr.WriteString("dpscope: this runs a WebAssembly module for dpscope itself: " + err.Error() + "\n")
		return 2
	}
	return 0
}

func host(in *gob.Decoder, out *gob.Encoder) error {
	var j job
	if err := in.Decode(&j); err != nil {
		return err
	}
	m, err := compile(j.Name, j.Module, j.Patience)
	if err != nil {
		return out.Encode(faulty(err))
	}
	if err := out.Encode(answer{Width: m.width}); err != nil {
		return err
	}
	for {
		var q question
		if err := in.Decode(&q); err != nil {
			return err
		}
		rows := make([]float64, q.N*m.width)
		a := answer{}
		if err := m.call(audit.Dataset{Columns: q.Columns, Values: q.Values}, q.Seed, rows); err != nil {
			a = faulty(err)
		} else {
			a.Outputs = rows
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

func faulty(err error) answer {
	var in *audit.InputError
	if !errors.As(err, &in) {
		in = audit.Fault("the module", "at fault: "+err.Error(), "")
	}
	return answer{Fault: in, Trapped: errors.As(err, new(*user.Failed))}
}
