package user

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// laplace is a sound mechanism: a count with noise from the seed.
func laplace(d audit.Dataset, seed uint64, out []float64) error {
	stream.New(stream.Key{Seed: seed}).Laplace(out, 1)
	for i := range out {
		out[i] += float64(d.Len())
	}
	return nil
}

func TestSample(t *testing.T) {
	var seeds []uint64
	m := New([]audit.Column{{Name: "c1", Kind: audit.Real}}, func(d audit.Dataset, seed uint64, out []float64) error {
		seeds = append(seeds, seed)
		return laplace(d, seed, out)
	})
	s := stream.New(stream.Key{Seed: 1})
	for range 1000 {
		must.Do(t, m.Sample(audit.Records(1), s, make([]float64, 1)))
	}
	seeds = seeds[1:] // that of the runs which tell whether runs fail
	most := uint64(0)
	for _, seed := range seeds {
		most = max(most, seed)
	}
	// All of 1000 words lie below 2^52 with probability 2^-1000.
	if most > 1<<53-1 || most < 1<<52 {
		t.Errorf("the largest of 1000 seeds is %d", most)
	}
	again := stream.New(stream.Key{Seed: 1})
	for i, seed := range seeds {
		if want := again.Uint64() >> 11; seed != want {
			t.Fatalf("seed %d is %d, want %d", i, seed, want)
		}
	}
}

// Where runs fail, each output is a run of its own, and the reason that is told does not depend
// on which came first.
func TestFailedRuns(t *testing.T) {
	var reasons []string
	m := New([]audit.Column{{Name: "c1", Kind: audit.Real}}, func(_ audit.Dataset, seed uint64, out []float64) error {
		stream.New(stream.Key{Seed: seed}).Uniform(out, 0, 1)
		for _, v := range out {
			if v < 0.2 {
				reasons = append(reasons, fmt.Sprint(v))
				return &Failed{errors.New(fmt.Sprint(v))}
			}
		}
		return nil
	})
	out := make([]float64, 500)
	must.Do(t, m.Sample(audit.Records(1), stream.New(stream.Key{Seed: 1}), out))
	failed := 0
	for _, v := range out {
		if v == audit.ErrorOutcome.In(audit.Real) {
			failed++
		} else if v < 0.2 || v > 1 {
			t.Fatalf("an output is %v", v)
		}
	}
	// 100 are expected, with a standard deviation of 9.
	if failed < 50 || failed > 150 || failed != len(reasons)-1 || m.Failure() != slices.Min(reasons) {
		t.Errorf("%d of 500 outputs failed, %d requests did: %s", failed, len(reasons), m.Failure())
	}
}

func TestTry(t *testing.T) {
	space := must.Get(audit.ParseSpace("", "", "", false, 0))(t)
	calls := uint64(0)
	for _, c := range []struct {
		name     string
		call     Call
		unseeded bool
		says     string
	}{
		{"sound", laplace, false, ""},
		{"exact", func(d audit.Dataset, _ uint64, out []float64) error {
			for i := range out {
				out[i] = float64(d.Len())
			}
			return nil
		}, false, ""},
		{"rare", func(_ audit.Dataset, seed uint64, out []float64) error {
			clear(out)
			out[7] = 1 // few differences may be an accident
			return nil
		}, false, ""},
		{"of its own", func(d audit.Dataset, seed uint64, out []float64) error {
			calls++
			return laplace(d, seed+calls, out)
		}, true, ""},
		{"of its own at the end", func(d audit.Dataset, seed uint64, out []float64) error {
			calls++
			err := laplace(d, seed, out)
			out[len(out)-1] = float64(calls)
			return err
		}, true, ""},
		{"no seed", func(d audit.Dataset, _ uint64, out []float64) error { return laplace(d, 1, out) }, false, "ignores its seed"},
		{"one draw", func(d audit.Dataset, seed uint64, out []float64) error {
			one := make([]float64, 1)
			laplace(d, seed, one)
			for i := range out {
				out[i] = one[0]
			}
			return nil
		}, false, "one output, repeated"},
		{"fault", func(audit.Dataset, uint64, []float64) error { return &audit.InputError{Field: "here"} }, false, "here"},
	} {
		unseeded, err := Try(c.call, 1, space, nil)
		switch {
		case c.says == "" && (err != nil || (unseeded != "") != c.unseeded):
			t.Errorf("%s: %q %v", c.name, unseeded, err)
		case c.says != "" && (!audit.IsInput(err) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
