package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/internal/training"
	"github.com/dpscope/dpscope/mechanisms/source"
	brought "github.com/dpscope/dpscope/mechanisms/user/command"
)

// trainer is a user's program that trains; the zero value is none.
type trainer struct {
	Exec    string
	Timeout time.Duration
}

var programs = struct {
	sync.Mutex
	open map[trainer]opened
}{open: map[trainer]opened{}}

type opened struct {
	program *brought.Trainer
	sources []source.Spec
}

// program runs until [closePrograms]. It may train for several shares at once.
func (t trainer) program() (opened, error) {
	programs.Lock()
	defer programs.Unlock()
	if o, ok := programs.open[t]; ok || t.Exec == "" {
		return o, nil
	}
	p, sources, err := training.Open(context.Background(), t.Exec, t.Timeout, nil)
	if err == nil {
		programs.open[t] = opened{p, sources}
	}
	return programs.open[t], err
}

func closePrograms() {
	programs.Lock()
	defer programs.Unlock()
	for _, o := range programs.open {
		o.program.Close()
	}
	clear(programs.open)
}

// repeats puts into the plan what asking the program twice gave, by the search or anew.
func (j *job) repeats(ctx context.Context) error {
	plan, err := j.audit.Single()
	if err != nil {
		return err
	}
	err = training.After(plan, j.store.search(), j.store.open(ctx))
	switch {
	case missing(err) && j.exec.Check:
		var o opened
		if o, err = j.trainer.program(); err != nil {
			return err
		}
		g := core.Env{Sources: o.sources, File: j.audit.Data}
		err = training.Check(o.program, plan, g, func(training, of int) {
			j.show.Sometimes(fmt.Sprintf("check of the program: training %d of %d", training, of))
		}, j.stderr)
	case missing(err):
		err = nil
	}
	if err != nil {
		return err
	}
	j.audit.Plan, err = json.Marshal(plan)
	return err
}
