//go:build !js

package recorded

import (
	"bytes"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dpscope/dpscope/audit"
)

// Text of plain rows is read in pieces, by several workers. [csv.Reader] and [tabulator]
// define the format: what is here takes the rows of a piece as long as they need nothing of
// what those two notice, and leaves the others to them. So errors and notes are theirs, and
// neither pieces nor workers change what is read. A browser has none of this.

const (
	// pieceBytes is about how long a piece is.
	pieceBytes = 1 << 17
	// piecesEach is how many pieces of each worker are in memory.
	piecesEach  = 4
	mostWorkers = 8
	// plainRow is how long a plain row may be.
	plainRow = 1 << 16
)

func defaultWorkers() int { return min(runtime.GOMAXPROCS(0), mostWorkers) }

// plainRows are the rows that a piece of text begins with.
type plainRows struct {
	rows    int
	bytes   int         // of text
	numbers [][]float64 // by column, of a real or mixed one
	codes   [][]uint32  // of a symbol or mixed one
	done    chan struct{}
}

// lines reads text, of which there is more to come.
func (t *textReader) lines(text []byte) error {
	if len(t.rest) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		if err := t.sequential(text[:n], false); err != nil {
			return err
		}
		text = text[n:]
	}
	for len(text) > 0 {
		batch, n := t.batch(text)
		if n == 0 { // a line without an end
			return t.sequential(text, false)
		}
		if err := t.parallel(batch); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// batch is the next pieces of whole lines, and how many bytes they are.
func (t *textReader) batch(text []byte) (pieces [][]byte, n int) {
	most := 1
	if t.p.workers > 1 && t.settled() {
		most = piecesEach * t.p.workers
	}
	for len(pieces) < most && n < len(text) {
		rest, size := text[n:], 0
		if least := max(1, t.p.piece); least < len(rest) {
			size = least + bytes.IndexByte(rest[least-1:], '\n')
		}
		if size < t.p.piece {
			size = bytes.LastIndexByte(rest, '\n') + 1
		}
		if size == 0 {
			break
		}
		pieces = append(pieces, rest[:size])
		n += size
	}
	return pieces, n
}

// parallel reads pieces of whole lines: the workers find the plain rows that they begin
// with, and the rest is read here, in the order of the text.
func (t *textReader) parallel(pieces [][]byte) error {
	for len(t.plain) < len(pieces) {
		t.plain = append(t.plain, plainRows{done: make(chan struct{}, 1)})
	}
	if len(pieces) == 1 {
		return t.piece(pieces[0])
	}
	var workers sync.WaitGroup
	defer workers.Wait()
	var next atomic.Int32
	for range min(t.p.workers, len(pieces)) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(pieces) {
					return
				}
				t.read(pieces[i], &t.plain[i])
				t.plain[i].done <- struct{}{}
			}
		})
	}
	for i, text := range pieces {
		rows := &t.plain[i]
		<-rows.done
		if text = text[t.add(rows):]; len(text) == 0 {
			continue
		}
		workers.Wait() // they look at what is changed now
		if err := t.piece(text); err != nil {
			return err
		}
	}
	return nil
}

// piece reads a piece of whole lines. Where a row is not plain, the sequential reader takes
// some lines, and more of them the longer there are no plain ones.
func (t *textReader) piece(text []byte) error {
	rows, least := &t.plain[0], 0
	for {
		if t.settled() {
			t.read(text, rows)
			if n := t.add(rows); n > 0 {
				least, text = 0, text[n:]
			}
		}
		if len(text) == 0 {
			return nil
		}
		n := len(text)
		if least < n {
			n = least + bytes.IndexByte(text[least:], '\n') + 1
		}
		if err := t.sequential(text[:n], false); err != nil {
			return err
		}
		text, least = text[n:], 2*least+100
	}
}

// settled reports whether a row may begin here that is read as those before it.
func (t *textReader) settled() bool {
	if t.p.piece == 0 || t.tab == nil || t.tab.table == nil || len(t.rest) > 0 || t.blank > 0 {
		return false
	}
	for _, line := range t.tab.ended {
		if line > 0 {
			return false
		}
	}
	return true
}

// add takes the rows that were read and returns how many bytes they are: 0 where they
// cannot be taken, because of what was found since.
func (t *textReader) add(r *plainRows) int {
	cells := r.rows * len(t.tab.names)
	if r.rows == 0 || cells > *t.tab.left || !t.settled() {
		return 0
	}
	columns := t.tab.table.Columns
	for i, c := range columns {
		if c.Kind != audit.Symbol && len(r.numbers[i]) != r.rows || c.Kind != audit.Real && len(r.codes[i]) != r.rows {
			return 0 // it has become mixed
		}
	}
	for i, c := range columns {
		c.reals.AddAll(r.numbers[i])
		c.codes.AddAll(r.codes[i])
	}
	*t.tab.left -= cells
	t.tab.rows += r.rows
	t.cut.Line += r.rows
	return r.bytes
}

// read finds the plain rows that text begins with, which is of whole lines. Several
// goroutines may do so while nothing is added but values.
func (t *textReader) read(text []byte, r *plainRows) {
	columns, separator := t.tab.table.Columns, t.cut.Separator
	r.rows, r.bytes = 0, 0
	for len(r.numbers) < len(columns) {
		r.numbers, r.codes = append(r.numbers, nil), append(r.codes, nil)
	}
	for i := range columns {
		r.numbers[i], r.codes[i] = r.numbers[i][:0], r.codes[i][:0]
	}
	point := byte('.')
	if t.p.o.Decimal == DecimalComma {
		if point = ','; separator == ',' {
			point = 0 // no number has one
		}
	}
	for at := 0; at < len(text); {
		for k, c := range columns {
			ends := separator
			if k == len(columns)-1 {
				ends = '\n'
			}
			if c.Kind != audit.Symbol {
				from := at
				for text[from] == ' ' {
					from++
				}
				if v, n := number(text[from:], point); n > 0 && math.Abs(v) < 1<<53 {
					n += from
					if text[n] == '\r' && ends == '\n' {
						n++
					}
					if text[n] == ends {
						r.number(c, k, v)
						at = n + 1
						continue
					}
				}
			}
			n := at
			for text[n] != separator && text[n] != '\n' && text[n] != '"' {
				n++
			}
			cell := text[at:n]
			if ends == '\n' && n > at && text[n-1] == '\r' {
				cell = text[at : n-1]
			}
			if text[n] != ends || !t.cell(c, k, cell, r) {
				return
			}
			at = n + 1
		}
		if at-r.bytes > plainRow {
			return
		}
		r.rows, r.bytes = r.rows+1, at
	}
}

// number takes a number of column k.
func (r *plainRows) number(c *Column, k int, v float64) {
	r.numbers[k] = append(r.numbers[k], v+0) // as Column.addNumber
	if c.Kind == audit.Mixed {
		r.codes[k] = append(r.codes[k], 0)
	}
}

// cell takes a cell of column k, if it is a number or a word that came before.
func (t *textReader) cell(c *Column, k int, cell []byte, r *plainRows) bool {
	if len(cell) == 0 && t.p.o.Scores || len(t.tab.names) == 1 && len(bytes.TrimSpace(cell)) == 0 {
		return false // the end of a column, or a blank line
	}
	if c.Kind != audit.Symbol {
		switch v, low, class := t.p.o.parse(cell); {
		case class == numberCell && low == 0:
			r.number(c, k, v)
			return true
		case class != textCell || c.Kind == audit.Real:
			return false
		}
	}
	code, ok := c.index[string(cell)]
	if !ok {
		return false
	}
	r.codes[k] = append(r.codes[k], code)
	if c.Kind == audit.Mixed {
		r.numbers[k] = append(r.numbers[k], 0)
	}
	return true
}
