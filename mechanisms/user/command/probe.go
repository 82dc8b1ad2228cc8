package command

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// The requests at the start ask for so many outputs, one more for the second
// seed: a program that keeps half of a pair of random numbers for the next
// request shows it, and an answer to the request before is told by its length.
const probeRows = 200

// Seeds of the requests at the start: large, so that a program whose generator
// takes no such seed says so at once.
const (
	seedOne = 6755399441055744
	seedTwo = 9007199254740881
)

// Reasons why outputs cannot be drawn again.
const (
	againDiffers = "asked again with the same seed, the program gives other outputs"
	otherDiffers = "with the same seed, another process of the program gives other outputs"
)

// probe asks for outputs on both datasets of the pair, with two seeds, with the
// first of them again, and with that in a second process: it learns the columns
// and whether seeds fix the outputs. Two ways of giving outputs that are not
// independent are refused: the same outputs for every seed, and the same output n
// times.
func (p *Program) probe() error {
	datasets := [2]audit.Dataset{p.o.Pair.First, p.o.Pair.Second}
	sizes := [3]int{probeRows, probeRows + 1, probeRows}
	seeds := [3]uint64{seedOne, seedTwo, seedOne}
	var lines [2][4][]byte // by dataset; the last is the second process's
	var all [][]byte
	for round := range 2 {
		x, err := p.pool.Start(p.start)
		if err != nil {
			return err
		}
		for side, d := range datasets {
			for i := range sizes {
				at := i
				if round == 1 {
					if at = 3; i > 0 {
						break
					}
				}
				line, err := p.ask(x, d, sizes[i], seeds[i])
				if err != nil {
					return err
				}
				if err := checkShape(line, sizes[i]); err != nil {
					return p.drop(x, err)
				}
				lines[side][at] = slices.Clone(line)
				all = append(all, lines[side][at])
			}
		}
		p.pool.Release(x)
	}
	if err := p.learnColumns(all); err != nil {
		return p.fault(nil, err)
	}
	width := audit.Width(p.columns)
	var outs [2][4][]float64
	for side := range outs {
		for at, line := range lines[side] {
			n := sizes[at%3]
			outs[side][at] = make([]float64, n*width)
			if err := p.fill(line, n, outs[side][at]); err != nil {
				return p.fault(nil, err)
			}
		}
	}
	for _, o := range outs {
		if err := p.judge(o[0], o[1], o[2], o[3]); err != nil {
			return p.fault(nil, err)
		}
	}
	// A generator that each process starts alike goes on in its own way in each, so
	// that only the first answer of each shows it.
	if first, other := outs[0][0], outs[0][3]; p.unseeded == againDiffers && p.telling(first) && slices.Equal(first, other) {
		return p.fault(nil, &audit.InputError{Field: "its first answer", Found: "the same in two processes, though the seed does not fix the outputs", Want: "other outputs in another process",
			Remedy: "seed the generator in each request with the request's seed; outputs of two processes would not be independent"})
	}
	return nil
}

// judge compares the outputs on one dataset: of the first seed, the second, the
// first again, and the first in another process.
func (p *Program) judge(one, two, again, other []float64) error {
	if p.telling(one) && slices.Equal(one, two[:len(one)]) {
		return errRepeats(probeRows, seedOne, seedTwo)
	}
	// Independent outputs that differ at all are all alike in two answers, and
	// other ones in each, with probability below 2^-400.
	if p.changes(one) == 0 && p.changes(two) == 0 && !slices.Equal(one, two[:len(one)]) {
		return &audit.InputError{Field: "its answer", Found: "one output repeated, another one for another seed", Want: "outputs of independent runs of the mechanism", Remedy: "draw new noise for each output"}
	}
	switch {
	case !slices.Equal(one, again):
		p.unseeded = againDiffers
	case p.unseeded == "" && !slices.Equal(one, other):
		p.unseeded = otherDiffers
	}
	return nil
}
