package process

import (
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"strings"
)

// Child is this program itself in a process of its own, which answers questions one after
// the other: what it is asked may take too much memory or time, or bring it down.
type Child struct {
	*Process
	in  *gob.Encoder
	out *gob.Decoder
}

// StartChild starts this program by its path, with arguments by which it does what is asked.
func StartChild(argv []string) (*Child, error) {
	p, err := Start(argv[0], argv, append(os.Environ(), "GOTRACEBACK=none"))
	if err != nil {
		return nil, err
	}
	return &Child{p, gob.NewEncoder(p.In), gob.NewDecoder(p.Out)}, nil
}

// Ask asks a question. When the context ends, the process does, and the error is the
// context's cause; where the process ends by itself, it is [*Lost].
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
	// Go's own runtime falls by a fault of memory where the limit strikes outside of its
	// allocator, and without a thread where there is no room for its stack.
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

// Parent is what a child reads from, and what it answers on. It reads even while the child
// works: the end, which comes when whoever asked is gone, ends this process.
func Parent(in io.Reader, out io.Writer) (questions *gob.Decoder, answers *gob.Encoder) {
	r, w := io.Pipe()
	go func() {
		io.Copy(w, in)
		os.Exit(0)
	}()
	return gob.NewDecoder(r), gob.NewEncoder(out)
}
