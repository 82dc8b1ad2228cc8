package dptest

import (
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/pair"
)

// sizes are what Samples may be where the options leave it open, the largest
// first. They are few and fixed: the size that was chosen stands in the log, and
// with the seed it makes the same counts again, however long that takes.
var sizes = []int{defaultSamples, 30_000, 10_000, 3_000}

const (
	defaultSamples = 100_000
	// shortSamples is the largest size with go test -short.
	shortSamples = 10_000
	// learnTime is what learning from one explored output takes at most on a
	// slow machine.
	learnTime = 40 * time.Microsecond
	// deadlineShare is the part of the time to the test's deadline that one
	// audit may be expected to take.
	deadlineShare = 4
)

// samples is the number of certification outputs a side.
func (o Options) samples() int {
	if o.Samples == 0 {
		return defaultSamples
	}
	return o.Samples
}

// sized chooses Samples, where it is open, before anything runs: the largest
// size that -short and the test's deadline leave room for. why says so.
func (o Options) sized(t testing.TB, m audit.Mechanism, claim audit.Claim) (_ Options, why string) {
	if o.Samples != 0 {
		return o, ""
	}
	o.Samples = sizes[0]
	if testing.Testing() && flag.Parsed() && testing.Short() {
		o.Samples, why = shortSamples, " (-short)"
	}
	d, ok := t.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return o, why
	}
	deadline, ok := d.Deadline()
	if !ok {
		return o, why
	}
	left := time.Until(deadline)
	each := o.outputTime(m, claim)
	for _, size := range sizes {
		if size > o.Samples {
			continue
		}
		if size < o.Samples {
			o.Samples, why = size, fmt.Sprintf(" (chosen for the test's deadline in %s, at about %s an output)", left.Round(time.Second), each)
		}
		if o.expected(each) <= left/deadlineShare {
			break
		}
	}
	return o, why
}

// expected is about how long the audit takes.
func (o Options) expected(each time.Duration) time.Duration {
	if o.Explore == 0 && o.Mode == "" || o.Mode == pair.UntilRefuted {
		return time.Duration(2*o.Samples) * (each + learnTime)
	}
	explore := o.Explore
	if explore == 0 {
		explore = o.Samples + o.Samples/2
	}
	explored := time.Duration(2 * explore)
	return explored*learnTime + (explored+time.Duration(2*o.Samples))*each/time.Duration(o.workers())
}

func (o Options) workers() int {
	if o.Workers <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return o.Workers
}

// outputTime is about how long one output takes; 0 where it cannot be drawn,
// which the audit itself says. Its stream is of no other use.
func (o Options) outputTime(m audit.Mechanism, claim audit.Claim) time.Duration {
	pairs, err := pairsOf(m, claim, o)
	if err != nil || m == nil {
		return 0
	}
	var d audit.Dataset
	switch {
	case len(pairs) > 0:
		d = pairs[0].First
		if s, ok := m.(audit.Summariser); ok {
			m = s.For(pairs[0])
		}
	case o.Domain != nil && len(o.Domain.Lower) == o.Domain.Columns:
		d = audit.Dataset{Columns: o.Domain.Columns, Values: []float64{}}
		for range max(o.Domain.MinRows, min(1, o.Domain.MaxRows)) {
			d.Values = append(d.Values, o.Domain.Lower...)
		}
	}
	width := audit.Width(m.Columns())
	s := stream.New(stream.Key{Seed: o.Seed, Purpose: "probe"})
	for rows := 1; ; rows *= 8 {
		start := time.Now()
		if m.Sample(d, s, make([]float64, rows*width)) != nil {
			return 0
		}
		if spent := time.Since(start); spent > 2*time.Millisecond || rows >= 4096 {
			return spent / time.Duration(rows)
		}
	}
}
