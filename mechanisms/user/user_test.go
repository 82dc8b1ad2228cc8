package user

import (
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
