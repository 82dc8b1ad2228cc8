package process

import (
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"strings"
)

// Child is this program in a process of its own, for questions that may take too much memory
// or time, or bring it down.
type Child struct {
	*Process
	in  *gob.Encoder
	out *gob.Decoder
}

// StartChild starts this program by its path and arguments.
func StartChild(argv []string) (*Child, error) {
	p, err := Start(argv[0], argv, append(os.Environ(), "GOTRACEBACK=none"))
	if err != nil {
		return nil, err
	}
	return &Child{p, gob.NewEncoder(p.In), gob.NewDecoder(p.Out)}, nil
}

// Ask asks a question. The process ends with the context, whose cause is then the error; where
// it ends by itself, that is [*Lost].
func (c *Child) Ask(ctx context.Context, question, answer any) error {
	stop := context.AfterFunc(ctx, func() { c.End(0) })
	err := c.in.Encode(question)
	if err == nil {
		err = c.out.Decode(answer)
	}
	if !stop() {
		return context.Cause(ctx)
	}
	if err == nil {
		return nil
	}
	c.End(5 * Grace) // it is about to say how
	said := c.Begin()
	// Where the limit strikes outside of Go's allocator, its runtime falls by a fault of memory,
	// or for want of a thread.
	for _, word := range []string{"out of memory", "cannot allocate", "SIGSEGV", "pthread_create", "OS thread"} {
		if strings.Contains(said, word) {
			return &Lost{Memory: true, How: "it ran out of memory"}
		}
	}
	how := c.Death()
	if said != "" {
		how += fmt.Sprintf(" (%s)", said)
	}
	return &Lost{How: how}
}

// Lost says how a child ended instead of answering.
type Lost struct {
	Memory bool // it had too little
	How    string
}

func (l *Lost) Error() string { return l.How }

// Parent is what a child reads from, and answers on. The end, which comes when whoever asked is
// gone, ends this process even while it works.
func Parent(in io.Reader, out io.Writer) (questions *gob.Decoder, answers *gob.Encoder) {
	r, w := io.Pipe()
	go func() {
		io.Copy(w, in)
		os.Exit(0)
	}()
	return gob.NewDecoder(r), gob.NewEncoder(out)
}
