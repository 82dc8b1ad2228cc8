package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/mechanisms/user"
)

// mostQuoted is how many numbers may stand in quotes in a column: more are no names.
const mostQuoted = 64

// Words that become labels: so many a column, each of so many bytes.
const (
	mostLabels  = 256
	mostLetters = 80
)

// fill writes outputs as the engine sees them.
func (p *Program) fill(rows [][]cell, out []float64) error {
	width := audit.Width(p.columns)
	for i, cells := range rows {
		to := out[i*width : (i+1)*width]
		if failedRun(cells) {
			p.Note(cells[0].word)
			user.Fail(p.columns, to)
			continue
		}
		if err := checkWidth(i, cells, len(p.columns)); err != nil {
			return err
		}
		for c, x := range cells {
			w, err := p.put(c, x, to)
			if err != nil {
				return fmt.Errorf("output %d of %d: %w", i+1, len(rows), err)
			}
			to = to[w:]
		}
	}
	return nil
}

func checkWidth(i int, cells []cell, want int) error {
	if len(cells) == want {
		return nil
	}
	return &audit.InputError{Field: fmt.Sprintf("output %d of its answer", i+1), Found: fmt.Sprintf("of %d values", len(cells)), Want: fmt.Sprintf("of %d, as the first output it ever gave", want)}
}

func failedRun(cells []cell) bool { return len(cells) == 1 && cells[0].form == failed }

// put writes a value of column c as the engine sees it, and returns how many numbers that took.
func (p *Program) put(c int, x cell, out []float64) (int, error) {
	column := p.columns[c]
	if x.form == nonFinite && column.Kind != audit.Symbol && p.o.NonFinite == recorded.Refuse {
		return 0, &audit.InputError{Field: column.Name, Found: x.word, Want: "a finite number", Remedy: "without -nonfinite refuse it is an outcome, which may leak"}
	}
	if x.form == long && column.Kind != audit.Symbol {
		return 0, &audit.InputError{Field: column.Name, Found: shown(x.word), Want: "a number that float64 does not round: a whole one up to 2^53, or one with an exponent",
			Remedy: fmt.Sprintf("print it as two columns, its high and its low part; if it is a name, print it in quotes, or -kind %s=symbol", column.Name)}
	}
	switch column.Kind {
	case audit.Symbol:
		out[0] = audit.SymbolOf(x.text())
		return 1, nil
	case audit.Mixed:
		if out[0], out[1] = 0, x.value; x.form != numeral {
			out[0], out[1] = audit.SymbolOf(x.text()), 0
		}
		return 2, nil
	}
	switch x.form {
	case text:
		x.value = float64(audit.WordOutcome)
	case nonFinite:
		x.value = float64(audit.OutcomeOf(x.value))
	}
	out[0] = x.value
	return 1, nil
}

func (x cell) text() string {
	if x.form == numeral {
		return strconv.FormatFloat(x.value, 'g', -1, 64)
	}
	return x.word
}

// learnColumns tells the columns by outputs of runs that did not fail, those of one answer after the other's.
func (p *Program) learnColumns(answers [][][]cell) error {
	type seen struct {
		numbers, words bool
		names          bool            // words that are no numbers
		quoted         map[string]bool // numbers as words
	}
	var kinds []seen
	var all [][]cell
	for _, rows := range answers {
		for i, cells := range rows {
			if failedRun(cells) {
				continue
			}
			if kinds == nil {
				if len(cells) == 0 {
					return &audit.InputError{Field: "output 1 of its answer", Found: "an empty array", Want: "at least one value"}
				}
				kinds = make([]seen, len(cells))
			}
			if err := checkWidth(i, cells, len(kinds)); err != nil {
				return err
			}
			all = append(all, cells)
			for c, x := range cells {
				k := &kinds[c]
				_, err := strconv.ParseFloat(x.word, 64)
				switch {
				case x.form == truth:
					k.words = true
				case x.form != text:
					k.numbers = true
				case err != nil:
					k.words, k.names = true, true
				case len(k.quoted) <= mostQuoted:
					if k.words = true; k.quoted == nil {
						k.quoted = map[string]bool{}
					}
					k.quoted[x.word] = true
				}
			}
		}
	}
	if p.o.Columns != nil {
		if len(p.o.Columns) != len(kinds) {
			return &audit.InputError{Field: "an output", Found: fmt.Sprintf("of %d values", len(kinds)), Want: fmt.Sprintf("of %d, as the report says", len(p.o.Columns))}
		}
		p.columns = slices.Clone(p.o.Columns)
		return nil
	}
	if kinds == nil {
		return errors.New("every run of it failed")
	}
	p.columns = make([]audit.Column, len(kinds))
	unknown := maps.Clone(p.o.Kinds)
	for i, k := range kinds {
		c := audit.Column{Name: fmt.Sprintf("c%d", i+1), Kind: audit.Mixed}
		delete(unknown, c.Name)
		switch given, ok := p.o.Kinds[c.Name]; {
		case ok:
			c.Kind = given
		case !k.names && len(k.quoted) > mostQuoted:
			return &audit.InputError{Field: c.Name, Found: fmt.Sprintf("numbers in quotes, such as %q", slices.Sorted(maps.Keys(k.quoted))[0]), Want: "numbers, or a few names", Remedy: fmt.Sprintf("print numbers without quotes; if they are names, -kind %s=symbol", c.Name)}
		case !k.numbers:
			c.Kind = audit.Symbol
		case !k.words && p.o.NonFinite != recorded.AsSymbol:
			c.Kind = audit.Real
		}
		p.columns[i] = c
	}
	for name := range unknown {
		return &audit.InputError{Field: "-kind", Found: fmt.Sprintf("of a column %q", name), Want: fmt.Sprintf("of one of the %d columns of an output: c1, c2, ...", len(kinds))}
	}
	p.learnLabels(all)
	return nil
}

// learnLabels notes the words for symbols, in the order in which they came.
func (p *Program) learnLabels(outputs [][]cell) {
	add := func(c int, symbol float64, word string) {
		l := p.columns[c].Labels
		if len(l) < mostLabels && len(word) <= mostLetters && !slices.ContainsFunc(l, func(k audit.Label) bool { return k.Value == symbol }) {
			p.columns[c].Labels = append(l, audit.Label{Value: symbol, Text: word})
		}
	}
	for c, column := range p.columns {
		if column.Kind == audit.Mixed {
			add(c, 0, recorded.NumberSymbol)
		}
	}
	for _, cells := range outputs {
		for c, x := range cells {
			if k := p.columns[c].Kind; k == audit.Symbol || k == audit.Mixed && x.form != numeral {
				add(c, audit.SymbolOf(x.text()), x.text())
			}
		}
	}
}

// checkColumns refuses columns of a report whose labels are not those of their words.
func checkColumns(columns []audit.Column) error {
	for i, c := range columns {
		for _, l := range c.Labels {
			if l.Value != audit.SymbolOf(l.Text) && !(c.Kind == audit.Mixed && l == audit.Label{Text: recorded.NumberSymbol}) {
				return &audit.InputError{Field: fmt.Sprintf("report: inputs.brought.columns[%d].labels", i), Found: fmt.Sprintf("the word %q for %v", l.Text, l.Value), Want: "the number of the word"}
			}
		}
	}
	return nil
}

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
	againDiffers = "the same request with the same seed gave different outputs"
	otherDiffers = "another process of the program gave different outputs for the same seed"
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
	var answers [2][4][][]cell // by dataset; the last is the second process's
	var there [2]int           // answers that are no failure
	var all [][][]cell
	var failure error
	for round := range 2 {
		x, err := p.another()
		if err != nil {
			return err
		}
		for side, d := range datasets {
			for i := range len(sizes) - 2*round { // of the second process, the first alone
				rows, err := p.ask(x, d, sizes[i], seeds[i])
				switch {
				case err == nil:
					answers[side][3*round+i] = rows
					all = append(all, rows)
					there[side]++
				case !errors.As(err, new(*user.Failed)):
					return err
				case failure == nil:
					failure = err
				}
				if there[0]+there[1] == 0 && side == 1 { // before a second process would say the same
					p.release(x)
					return failure
				}
				if x.dropped {
					if x, err = p.another(); err != nil {
						return err
					}
				}
			}
		}
		p.release(x)
	}
	if err := p.learnColumns(all); err != nil {
		return p.fault(nil, err)
	}
	p.Mechanism = user.New(p.columns, p.call)
	width := audit.Width(p.columns)
	p.Most = mostValues / width
	var outs [2][4][]float64
	for side := range outs {
		if there[side] < len(answers[side]) {
			continue // the outputs of one whose runs fail are not compared
		}
		for at, rows := range answers[side] {
			outs[side][at] = make([]float64, len(rows)*width)
			if err := p.fill(rows, outs[side][at]); err != nil {
				return p.fault(nil, err)
			}
		}
	}
	for _, o := range outs {
		if o[0] == nil {
			continue
		}
		if err := user.Judge(o[0], o[1], width); err != nil {
			return p.fault(nil, err)
		}
		switch {
		case !slices.Equal(o[0], o[2]):
			p.unseeded = againDiffers
		case p.unseeded == "" && !slices.Equal(o[0], o[3]):
			p.unseeded = otherDiffers
		}
	}
	// A generator that each process starts alike goes on in its own way in each, so
	// that only the first answer of each shows it.
	if first, other := outs[0][0], outs[0][3]; first != nil && p.unseeded == againDiffers && user.Telling(first, width) && slices.Equal(first, other) {
		return p.fault(nil, &audit.InputError{Field: "its first answer", Found: "the same in two processes, although outputs do not depend on the seed", Want: "different outputs in another process",
			Remedy: "seed the generator in each request with the request's seed, or outputs of two processes are not independent"})
	}
	return nil
}
