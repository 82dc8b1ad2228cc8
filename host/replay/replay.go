// Package replay replays what a host of reports keeps, and publishes what came of it.
package replay

import (
	"context"
	"errors"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/host"
)

// Store is one that knows what it keeps.
type Store interface {
	host.Store
	IDs() ([]string, error)
}

// Job replays each report of a store once.
type Job struct {
	Store  Store
	Child  Child
	Every  time.Duration // between two reports
	Now    func() time.Time
	Failed func(error) // hears errors of the store
}

// Run replays until the context ends.
func (j Job) Run(ctx context.Context) {
	for {
		if err := j.Once(ctx); err != nil && ctx.Err() == nil {
			j.Failed(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(j.Every):
		}
	}
}

// Once replays a report that this version has not replayed. Until that ends the store says that it cannot be: a host
// that ends on it does not begin with it again.
func (j Job) Once(ctx context.Context) error {
	ids, err := j.Store.IDs()
	for _, id := range ids {
		if last, absent := host.LastReplay(ctx, j.Store, id); absent == nil && last.Version == audit.Version {
			continue
		}
		data, lost := host.Stored(ctx, j.Store, id)
		if errors.Is(lost, host.ErrAbsent) {
			continue // deleted meanwhile
		}
		if lost != nil {
			err = errors.Join(err, lost)
			continue
		}
		r := host.Replayed{Outcome: host.Cannot, Says: "the host ended while it was replayed", Day: j.Now().UTC().Format(time.DateOnly), Version: audit.Version}
		if kept := host.KeepReplay(ctx, j.Store, id, r); kept != nil {
			return errors.Join(err, kept)
		}
		a, failed := j.Child.Replay(ctx, data)
		if ctx.Err() != nil { // the host was told to end, and begins with it again
			return errors.Join(err, ctx.Err(), host.DropReplay(context.WithoutCancel(ctx), j.Store, id))
		}
		switch {
		case failed != nil:
			r.Says = phrase.Line(phrase.Short(failed.Error()))
		case !a.OK():
			r.Outcome, r.Says = host.Different, phrase.Line(phrase.Short(append(a.Differences, "nothing of it could be checked")[0]))
		case a.Recomputed:
			r.Outcome, r.Says = host.Derived, ""
		default:
			r.Outcome, r.Says = host.Same, ""
		}
		if kept := host.KeepReplay(ctx, j.Store, id, r); !errors.Is(kept, host.ErrAbsent) {
			err = errors.Join(err, kept)
		}
		return err
	}
	return err
}
