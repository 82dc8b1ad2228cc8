package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"cloud.google.com/go/storage"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
)

type job struct {
	*jobFlags
	audit shares.Search // before its search
	store store
	show  cli.Meter
	begun bool // there is something in the store
}

func (j *job) showOnly(ctx context.Context) error {
	all := audit.Listed(cmp.Or(j.shares, usualShares), func(i int) int { return i })
	return beamx.Run(ctx, j.pipeline(all, len(all)))
}

func (j *job) do(ctx context.Context) ([]byte, error) {
	defer closePrograms()
	var err error
	if j.trainer.Exec != "" {
		err = j.repeats(ctx)
	}
	if err == nil {
		err = j.search(ctx)
	}
	of := 0
	if err == nil {
		of, err = j.divide(ctx)
	}
	if err == nil {
		err = j.draw(ctx, of)
	}
	if err != nil {
		return nil, err
	}
	return j.store.open(ctx)(j.store.report())
}

func (j *job) search(ctx context.Context) error {
	_, err := j.audit.After(j.store.search(), j.store.open(ctx))
	if missing(err) {
		var g core.Env
		if g, err = given(j.threads(), j.trainer); err != nil {
			return err
		}
		var data []byte
		if data, _, err = j.audit.Draw(ctx, g, 0, 0, j.watch); err != nil {
			return err
		}
		j.show.Clear()
		if err = j.store.write(ctx, j.store.search(), data); err != nil {
			return err
		}
		_, err = j.audit.After(j.store.search(), j.store.open(ctx))
	}
	j.begun = err == nil
	return err
}

func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, storage.ErrObjectNotExist)
}

const usualShares = 64

// divide is into how many shares the audit is cut: as those that are there say, or the flag.
func (j *job) divide(ctx context.Context) (int, error) {
	_, of, err := j.store.drawn(ctx)
	if asked := j.shares; err == nil && of > 0 && asked > 0 && asked != of {
		return 0, &audit.InputError{Field: "-shares", Found: fmt.Sprint(asked), Want: fmt.Sprintf("%d, as those that are there", of), Remedy: "leave it out, or give another folder with -work"}
	}
	return cmp.Or(of, j.shares, usualShares), err
}

// draw runs jobs until no share is missing, and merges. A failed job leaves its shares.
func (j *job) draw(ctx context.Context, of int) error {
	missing, err := j.store.missing(ctx, of)
	if err != nil {
		return err
	}
	if n := of - len(missing); n > 0 {
		fmt.Fprintf(j.stderr, "dpscope-beam: %d of %d shares were drawn before\n", n, of)
	}
	for tries := j.tries; len(missing) > 0; {
		failed := j.run(ctx, missing, of)
		if ctx.Err() != nil || failed == nil {
			return failed
		}
		left, err := j.store.missing(ctx, of)
		if err != nil {
			return err
		}
		if len(left) == len(missing) {
			tries--
		}
		if missing = left; len(missing) > 0 && tries == 0 {
			return errors.New(cause(failed))
		}
		fmt.Fprintf(j.stderr, "dpscope-beam: the job failed with %d of %d shares missing, which are drawn again: %s\n", len(missing), of, cause(failed))
	}
	return merge(ctx, j.store, of)
}

// cause is the end of an error of Beam's: before it stand the steps that led there.
func cause(err error) string {
	steps := strings.Split(err.Error(), "caused by:")
	return strings.TrimSpace(steps[len(steps)-1])
}

func (j *job) run(parent context.Context, missing []int, of int) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	if j.process {
		address, stop, err := startPool(ctx, cancel)
		if err != nil {
			return err
		}
		defer stop()
		for name, value := range map[string]string{"environment_type": "EXTERNAL", "environment_config": address} {
			if err := flag.Set(name, value); err != nil {
				return err
			}
		}
	}
	done := make(chan error, 1)
	go func() {
		done <- beamx.Run(ctx, j.pipeline(missing, of))
	}()
	began := time.Now()
	for {
		select {
		case err := <-done:
			j.show.Clear()
			return err
		case <-ctx.Done(): // what Beam still does in this process ends with it
			return context.Cause(ctx)
		case <-time.After(time.Second):
			if there, _, err := j.store.drawn(ctx); err == nil {
				j.drawn(len(there)-(of-len(missing)), len(missing), time.Since(began))
			}
		}
	}
}

func (j *job) watch(name string, _ any, g *core.Env) {
	if j.show.W == nil {
		return
	}
	if name != "" {
		name += ": "
	}
	tell := func(phase string, n, of int) {
		j.show.Sometimes(fmt.Sprintf("%s%s %3.0f %%", name, phase, 100*float64(n)/float64(max(1, of))))
	}
	g.Pair = func(p pair.Progress) { tell(string(p.Phase), p.Rows, p.Total) }
	g.Canaries = func(p canary.Progress) { tell(string(p.Phase), p.Runs, p.Total) }
}

func (j *job) drawn(n, of int, since time.Duration) {
	text := fmt.Sprintf("drawing %d of %d shares", n, of)
	if n > 0 {
		text += fmt.Sprintf(", about %s left", (since * time.Duration(of-n) / time.Duration(n)).Round(time.Second))
	}
	j.show.Sometimes(text)
}
