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
	return audit.Fault(fmt.Sprintf("output %d of its answer", i+1), fmt.Sprintf("of %d values", len(cells)), fmt.Sprintf("of %d, as the first output it ever gave", want))
}

func failedRun(cells []cell) bool { return len(cells) == 1 && cells[0].form == failed }

func (p *Program) put(c int, x cell, out []float64) (int, error) {
	column := p.columns[c]
	if x.form == nonFinite && column.Kind != audit.Symbol && p.o.NonFinite == recorded.Refuse {
		return 0, audit.Fault(column.Name, x.word, "a finite number", "without -nonfinite refuse it is an outcome, which may leak")
	}
	if x.form == long && column.Kind != audit.Symbol {
		return 0, audit.Fault(column.Name, shown(x.word), "a number that float64 does not round: a whole one up to 2^53, or one with an exponent",
			fmt.Sprintf("print it as two columns, its high and its low part; if it is a name, print it in quotes, or -kind %s=symbol", column.Name))
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
		return audit.Exactly(x.value)
	}
	return x.word
}

// learnColumns tells the columns by answers.
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
					return audit.Fault("output 1 of its answer", "an empty array", "at least one value")
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
			return audit.Fault("an output", fmt.Sprintf("of %d values", len(kinds)), fmt.Sprintf("of %d, as the report says", len(p.o.Columns)))
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
			return audit.Fault(c.Name, fmt.Sprintf("numbers in quotes, such as %q", slices.Sorted(maps.Keys(k.quoted))[0]), "numbers, or a few names", fmt.Sprintf("print numbers without quotes; if they are names, -kind %s=symbol", c.Name))
		case !k.numbers:
			c.Kind = audit.Symbol
		case !k.words && p.o.NonFinite != recorded.AsSymbol:
			c.Kind = audit.Real
		}
		p.columns[i] = c
	}
	for name := range unknown {
		return audit.Fault("-kind", fmt.Sprintf("of a column %q", name), fmt.Sprintf("of one of the %d columns of an output: c1, c2, ...", len(kinds)))
	}
	p.learnLabels(all)
	return nil
}

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

// checkColumns refuses a report's columns with other labels than their words have.
func checkColumns(columns []audit.Column) error {
	for i, c := range columns {
		for _, l := range c.Labels {
			if l.Value != audit.SymbolOf(l.Text) && !(c.Kind == audit.Mixed && l == audit.Label{Text: recorded.NumberSymbol}) {
				return audit.Fault(fmt.Sprintf("report: inputs.brought.columns[%d].labels", i), fmt.Sprintf("the word %q for %v", l.Text, l.Value), "the number of the word")
			}
		}
	}
	return nil
}

// probeRows is how many outputs the requests at the start ask for. One more for the second seed
// shows a program that keeps half of a pair of random numbers for the next request, and one
// that answers the request before.
const probeRows = 200

// Seeds of these requests: large, for programs whose generator takes no such seed.
const (
	seedOne = 6755399441055744
	seedTwo = 9007199254740881
)

const (
	againDiffers = "the same request with the same seed gave different outputs"
	otherDiffers = "another process of the program gave different outputs for the same seed"
)

// probe asks for outputs on both datasets of the pair, with two seeds, the first again, and that
// in a second process: it learns the columns and whether seeds fix the outputs, and refuses
// what cannot be independent.
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
				rows, err := p.ask(x, d, sizes[i], seeds[i], nil)
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
	for side, four := range answers {
		if there[side] < len(four) {
			continue // outputs of a dataset on which runs fail are not compared
		}
		var o [4][]float64
		for at, rows := range four {
			o[at] = make([]float64, len(rows)*width)
			if err := p.fill(rows, o[at]); err != nil {
				return p.fault(nil, err)
			}
		}
		if err := user.Judge(o[0], o[1], width); err != nil {
			return p.fault(nil, err)
		}
		again := slices.Equal(o[0], o[2])
		switch {
		case !again && side == 0 && user.Telling(o[0], width) && slices.Equal(o[0], o[3]):
			// Only the first answer of each process shows a generator that each starts alike.
			return p.fault(nil, audit.Fault("its first answer", "the same in two processes, although outputs do not depend on the seed", "different outputs in another process",
				"seed the generator in each request with the request's seed, or outputs of two processes are not independent"))
		case !again:
			p.unseeded = againDiffers
		case p.unseeded == "" && !slices.Equal(o[0], o[3]):
			p.unseeded = otherDiffers
		}
	}
	return nil
}
