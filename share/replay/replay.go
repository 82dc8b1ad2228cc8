// Package replay replays what a host of reports keeps, by and by, and publishes what came
// of it: who opens a report reads there whether its outputs came out again.
package replay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/report"
	"github.com/dpscope/dpscope/share"
)

// Store is one that knows what it keeps.
type Store interface {
	share.Store
	// IDs are those of all contents, in some order.
	IDs() ([]string, error)
}

// Job replays a sample of what a store keeps, again and again.
type Job struct {
	Store     Store
	Catalogue audit.Catalogue
	Every     time.Duration // a sample
	Sample    int           // reports a time
	Most      time.Duration // for one report
	Now       func() time.Time
	Random    *rand.Rand // chooses among those that were not replayed for equally long
	// Failed hears what the store answers in place of a value. Nil: nobody.
	Failed func(error)
}

// Run replays until the context ends: one sample at once, and then one each Every.
func (j Job) Run(ctx context.Context) {
	for {
		if err := j.Once(ctx); err != nil && ctx.Err() == nil && j.Failed != nil {
			j.Failed(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(j.Every):
		}
	}
}

// never stands for the day of what was not replayed yet, before all days.
const never = ""

// Once replays one sample: what was not replayed by this version for longest comes first,
// chance decides among equals.
func (j Job) Once(ctx context.Context) error {
	ids, err := j.Store.IDs()
	if err != nil {
		return err
	}
	last := map[string]share.Replayed{}
	for _, id := range ids {
		r, err := share.LastReplay(ctx, j.Store, id)
		if err != nil && !errors.Is(err, share.ErrAbsent) {
			r = share.Replayed{} // half of another program's: it is made anew
		}
		if r.Version != audit.Version {
			r.Day = never
		}
		last[id] = r
	}
	slices.Sort(ids) // then chance is the job's alone
	j.Random.Shuffle(len(ids), func(a, b int) { ids[a], ids[b] = ids[b], ids[a] })
	slices.SortStableFunc(ids, func(a, b string) int { return strings.Compare(last[a].Day, last[b].Day) })
	for _, id := range ids[:min(j.Sample, len(ids))] {
		data, err := share.Stored(ctx, j.Store, id)
		if err != nil {
			if errors.Is(err, share.ErrAbsent) {
				continue // deleted meanwhile
			}
			return err
		}
		r := j.replay(ctx, data)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := share.KeepReplay(ctx, j.Store, id, r); err != nil && !errors.Is(err, share.ErrAbsent) {
			return err
		}
		last[id] = r
	}
	all := share.Replays{Reports: len(ids)}
	for _, r := range last {
		switch r.Outcome {
		case share.Same:
			all.Same++
		case share.Different:
			all.Different++
		case share.Derived:
			all.Derived++
		case share.Cannot:
			all.Cannot++
		}
		all.Day = max(all.Day, r.Day)
	}
	return share.KeepReplays(ctx, j.Store, all)
}

// replay is what comes of one content.
func (j Job) replay(ctx context.Context, data []byte) share.Replayed {
	out := share.Replayed{Day: j.Now().UTC().Format(time.DateOnly), Version: audit.Version}
	limited, end := context.WithTimeout(ctx, j.Most)
	defer end()
	v, err := j.verify(limited, data)
	switch {
	case limited.Err() != nil:
		out.Outcome, out.Says = share.Cannot, fmt.Sprintf("it takes longer than %v", j.Most)
	case err != nil:
		out.Outcome, out.Says = share.Cannot, phrase.Line(phrase.Short(err.Error()))
	case !v.OK():
		out.Outcome, out.Says = share.Different, "nothing of it could be checked"
		if len(v.Differences) > 0 {
			out.Says = phrase.Line(phrase.Short(v.Differences[0]))
		}
	case v.Recomputed:
		out.Outcome = share.Derived
	default:
		out.Outcome = share.Same
	}
	return out
}

// verify replays a report, or each of several.
func (j Job) verify(ctx context.Context, data []byte) (engine.Verification, error) {
	if len(data) > 0 && data[0] != '{' {
		return engine.Verification{}, errors.New("it is code, which this host does not run")
	}
	given := core.Given{Catalogue: j.Catalogue, Whole: true, Pool: core.LocalPool(j.Catalogue, 1)} // visitors have the rest
	if report.KindOf(data) != suite.ReportKind {
		r, err := core.ParseReport(data)
		if err != nil {
			return engine.Verification{}, err
		}
		return j.one(ctx, r, given)
	}
	s, err := suite.ParseReport(data)
	if err != nil {
		return engine.Verification{}, err
	}
	all := s.Verify(nil)
	for _, a := range s.Audits {
		v, err := j.one(ctx, a.Report, given)
		if err != nil {
			return v, fmt.Errorf("audit %s: %w", a.Name, err)
		}
		all.Checked = append(all.Checked, v.Checked...)
		for _, d := range v.Differences {
			all.Differences = append(all.Differences, a.Name+": "+d)
		}
		all.Recomputed = all.Recomputed || v.Recomputed
	}
	return all, nil
}

// one replays an audit. What needs something of whoever made it follows from its own
// counts, or cannot be checked.
func (j Job) one(ctx context.Context, r report.View, given core.Given) (engine.Verification, error) {
	v, err := core.Verify(ctx, r, given)
	if err == nil || ctx.Err() != nil {
		return v, err
	}
	derived, cannot := core.Recompute(j.Catalogue, r)
	if cannot != nil {
		return v, err
	}
	derived.Recomputed = true
	return derived, nil
}
