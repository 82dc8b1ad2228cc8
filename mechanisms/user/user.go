// Package user is what all mechanisms share whose code is not part of this program.
package user

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// MostColumns bounds the columns of one output.
const MostColumns = 1000

// Call fills out with independent outputs on d, drawn from seed alone, one after the other. It
// keeps neither d nor out.
type Call func(d audit.Dataset, seed uint64, out []float64) error

// Columns names the columns of an output c1, c2, ... Their kind is that of kinds, or usual, or real.
func Columns(width int, usual audit.ColumnKind, kinds map[string]audit.ColumnKind) ([]audit.Column, error) {
	if width < 1 || width > MostColumns {
		return nil, audit.Fault("numbers of one output", fmt.Sprint(width), fmt.Sprintf("in [1, %d]", MostColumns))
	}
	columns := make([]audit.Column, width)
	named := 0
	for i := range columns {
		c := audit.Column{Name: fmt.Sprintf("c%d", i+1), Kind: usual}
		if kind, ok := kinds[c.Name]; ok {
			c.Kind = kind
			named++
		}
		c.Kind = cmp.Or(c.Kind, audit.Real)
		if c.Kind != audit.Real && c.Kind != audit.Symbol {
			return nil, audit.Fault("kind of column "+c.Name, string(c.Kind), "real or symbol, as outputs are numbers")
		}
		columns[i] = c
	}
	if named < len(kinds) {
		return nil, audit.Fault("columns whose kinds are given", fmt.Sprintf("%d, of which %d are there", len(kinds), named), fmt.Sprintf("of c1 to c%d", width))
	}
	return columns, nil
}

const (
	tryRows = 200
	trySeed = 20_001
)

// Try draws some outputs on both datasets of a pair, by default the space's [audit.Space.Trial].
// unseeded says why the same seed does not give the same outputs. Errors are the code's, and
// those of [Judge].
func Try(call Call, width int, space audit.Space, pair *audit.Pair) (unseeded string, err error) {
	if pair == nil {
		pair = new(space.Trial())
	}
	failed := 0 // datasets on which it fails at once
	for _, d := range []audit.Dataset{pair.First, pair.Second} {
		var draws [3][]float64
		for i, seed := range []uint64{trySeed, trySeed, trySeed + 1<<40} {
			draws[i] = make([]float64, tryRows*width)
			err = call(d, seed, draws[i])
			if err != nil && !errors.As(err, new(*Failed)) {
				return "", err
			}
			if err != nil && i == 0 {
				break
			}
		}
		if draws[1] == nil {
			if failed++; failed == 2 { // that is a fault of the code, not an output
				return "", fmt.Errorf("on both datasets of the first pair: %w", err)
			}
			continue
		}
		if err := Judge(draws[0], draws[2], width); err != nil {
			return "", err
		}
		if !same(draws[0], draws[1]) {
			unseeded = "the same request with the same seed gave different outputs"
		}
	}
	return unseeded, nil
}

// Telling reports whether independent outputs like these would hardly come twice: of at least
// 100, at least 16 differ from the one before, so that at least eight are not the likeliest.
// Two requests for such outputs agree with probability below 1e-12.
func Telling(rows []float64, width int) bool {
	return len(rows) >= 100*width && Changes(rows, width) >= 16
}

// Judge refuses outputs for two seeds, at least as many for the second, that are not
// independent: the same though [Telling], or one repeated for each, of probability below 2^-390.
func Judge(one, two []float64, width int) error {
	switch alike := same(one, two[:len(one)]); {
	case alike && Telling(one, width):
		return audit.Fault("outputs for two seeds", "the same", "different, because the outputs for one seed differ among themselves",
			"the mechanism ignores its seed and would repeat its outputs: seed the generator with the whole seed of each request, or not at all, as numpy.random.default_rng() does")
	case !alike && Changes(one, width)+Changes(two, width) == 0:
		return audit.Fault("outputs for one seed", "one output, repeated, and another one for another seed", "of independent runs of the mechanism", "draw new noise for each output")
	}
	return nil
}

// Changes counts the rows that differ from the one before.
func Changes(rows []float64, width int) int {
	n := 0
	for at := width; at < len(rows); at += width {
		if !same(rows[at-width:at], rows[at:at+width]) {
			n++
		}
	}
	return n
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || x != x && y != y })
}
