package mechanisms

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

type mechanism struct {
	Name, Title, Source string
	Fault               string // what is wrong with it; empty where it keeps its claim
	Mended              string // the mechanism that is this one without its fault; may be empty

	Epsilon float64                  // default of the parameter epsilon; 0: Params has it, where there is one
	Params  []audit.ParamSpec        // the others
	Check   func(audit.Params) error // refuses those that do not go together; may be nil

	Relations func(audit.Params) []audit.Relation
	Claim     func(audit.Params) audit.Claim  // nil: (epsilon, 0)
	Truth     func(audit.Params) string       // nil: epsilon
	Domain    func(audit.Params) audit.Domain // one row at least where a record is replaced
	Pairs     func(audit.Params, audit.Relation) pairs
	Tight     *audit.Tight // of one that keeps its claim

	Output func(audit.Params) []audit.Column
	// Release prepares the outputs on a dataset: what it returns fills blocks.
	Release func(audit.Params, audit.Dataset) sampler
}

type sampler func(*block)

// blockRows is how many outputs a mechanism makes at a time: part of what a seed means.
const blockRows = 1024

// block is up to blockRows outputs in the making, with the stream to draw from.
type block struct {
	*stream.Stream
	rows int
	out  []float64 // to be filled, row after row

	rooms [][]float64
	used  int // of rooms
}

// complete makes it as a family does.
func (m mechanism) complete() mechanism { return m }

// room is n numbers a row beside the outputs. Every block of a call has the same.
func (b *block) room(n int) []float64 {
	if b.used == len(b.rooms) {
		b.rooms = append(b.rooms, make([]float64, n*b.rows)) // no later block has more rows
	}
	b.used++
	return b.rooms[b.used-1][:n*b.rows]
}

func (b *block) laplace(n int, scale float64) []float64 {
	noise := b.room(n)
	b.Laplace(noise, scale)
	return noise
}

func (m mechanism) spec() audit.MechanismSpec {
	if m.Epsilon != 0 {
		m.Params = append([]audit.ParamSpec{epsilonParam(m.Epsilon)}, m.Params...)
	}
	if m.Check == nil {
		m.Check = func(audit.Params) error { return nil }
	}
	if m.Claim == nil {
		m.Claim = pureClaim
	}
	if m.Truth == nil {
		m.Truth = func(p audit.Params) string { return "epsilon = " + audit.Number(p.Num("epsilon")) }
	}
	return audit.MechanismSpec{
		Name: m.Name, Title: m.Title, Source: m.Source, Fault: m.Fault, Mended: m.Mended, Params: m.Params,
		Relations: m.Relations, Claim: m.Claim, Truth: m.Truth, Tight: m.Tight,
		Domain: func(p audit.Params, r audit.Relation) audit.Domain {
			d := m.Domain(p)
			d.MinRows = max(d.MinRows, audit.Pick(r == audit.Replace, 1, 0))
			return d
		},
		Pairs: func(p audit.Params, r audit.Relation) []audit.Pair {
			return m.Pairs(p, r).of(m.Domain(p).Columns)
		},
		New: func(p audit.Params) (audit.Mechanism, error) {
			return &built{m, maps.Clone(p), m.Domain(p), audit.Width(m.Output(p))}, m.Check(p)
		},
	}
}

type built struct {
	mechanism
	params audit.Params
	domain audit.Domain
	width  int // of an output
}

func (m *built) Columns() []audit.Column { return m.Output(m.params) }

func (m *built) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkData(d, m.domain); err != nil {
		return err
	}
	fill := m.Release(m.params, d)
	b := block{Stream: s}
	for len(out) >= m.width {
		b.rows, b.used = min(len(out)/m.width, blockRows), 0
		b.out, out = out[:b.rows*m.width], out[b.rows*m.width:]
		fill(&b)
	}
	return nil
}

// checkData refuses a dataset that a mechanism cannot release anything of. More records than
// the domain's, and values that are clipped, pass.
func checkData(d audit.Dataset, dom audit.Domain) error {
	n, fixed := d.Len(), dom.MinRows == dom.MaxRows
	err := audit.First(
		audit.Require(d.Columns == dom.Columns, "dataset.columns", d.Columns, "%d", dom.Columns),
		audit.Require(n >= dom.MinRows && !(fixed && n > dom.MaxRows), "dataset", fmt.Sprintf("%d rows", n), "%s%d rows%s",
			audit.Pick(fixed, "", "at least "), dom.MinRows, audit.Pick(dom.Reach > 0, ", the answer of one query each", "")))
	if err != nil {
		return err
	}
	for i, v := range d.Values {
		want := "a finite number"
		if v-v == 0 { // false for NaN and infinities
			lo, hi := dom.Lower[i%d.Columns], dom.Upper[i%d.Columns]
			if !dom.Integer || v == math.Floor(v) && v >= lo && v <= hi {
				continue
			}
			want = fmt.Sprintf("a whole number in [%s, %s]", audit.Number(lo), audit.Number(hi))
		}
		return &audit.InputError{Field: fmt.Sprintf("dataset.values[%d]", i), Found: audit.Number(v), Want: want}
	}
	return nil
}

// demand refuses a parameter unless a requirement holds; want is a format.
func demand(holds bool, p audit.Params, name, remedy, want string, args ...any) error {
	fault := audit.Require(holds, "parameter "+name, audit.Number(p[name].Number), want, args...)
	return audit.At("p."+name, audit.Remedy(remedy, fault))
}

// neighbours are two datasets, row after row, and what they are in words.
type neighbours struct {
	label         string
	first, second []float64
}

type pairs []neighbours

func (list pairs) of(columns int) []audit.Pair {
	table := func(values []float64) audit.Dataset {
		return audit.Dataset{Columns: columns, Values: append([]float64{}, values...)}
	}
	return audit.Each(list, func(n neighbours) audit.Pair {
		return audit.Pair{Label: n.label, First: table(n.first), Second: table(n.second)}
	})
}

func of(values ...float64) []float64 { return values }

// always are pairs whatever the parameters.
func always(list pairs) func(audit.Params, audit.Relation) pairs {
	return func(audit.Params, audit.Relation) pairs { return list }
}

func only(r ...audit.Relation) func(audit.Params) []audit.Relation {
	return func(audit.Params) []audit.Relation { return r }
}

const proposedRows = 20 // most records that a finder proposes

// records is the domain of any number of records in [lo, hi].
func records(lo, hi float64) audit.Domain {
	return audit.Domain{Columns: 1, MaxRows: proposedRows, Lower: []float64{lo}, Upper: []float64{hi}}
}

// whole is the domain of least to most records that are whole numbers from 0 to last.
func whole(least, most int, last float64) audit.Domain {
	return audit.Domain{Columns: 1, MinRows: least, MaxRows: most, Lower: []float64{0}, Upper: []float64{last}, Integer: true}
}

// answers is the domain of m answers in [lo, hi], each of that sensitivity.
func answers(m int, lo, hi, sensitivity float64) audit.Domain {
	return audit.Domain{Columns: 1, MinRows: m, MaxRows: m, Lower: []float64{lo}, Upper: []float64{hi}, Reach: sensitivity}
}

func in(d audit.Domain) func(audit.Params) audit.Domain {
	return func(audit.Params) audit.Domain { return d }
}

func oneColumn(kind audit.ColumnKind, name string, labels ...audit.Label) func(audit.Params) []audit.Column {
	return func(audit.Params) []audit.Column { return []audit.Column{{Name: name, Kind: kind, Labels: labels}} }
}

// columnsOf is n columns of one kind, named by the format of from, from+1, ...
func columnsOf(n int, kind audit.ColumnKind, format string, from int, labels ...audit.Label) []audit.Column {
	return audit.Listed(n, func(i int) audit.Column {
		return audit.Column{Name: fmt.Sprintf(format, i+from), Kind: kind, Labels: labels}
	})
}

// epsilonParam's range keeps the noise finite.
func epsilonParam(byDefault float64) audit.ParamSpec {
	return audit.ParamSpec{Name: "epsilon", Doc: "privacy parameter that sets the noise", Default: byDefault, Min: 1e-6, Max: 100, Noise: true}
}

func pureClaim(p audit.Params) audit.Claim { return audit.DPClaim(p.Num("epsilon"), 0) }

func neverPrivate(more string) func(audit.Params) string {
	return func(audit.Params) string { return "not private for any epsilon" + more }
}

// plusLaplace releases answers with Laplace noise of their own, drawn for a whole block at once.
func plusLaplace(scale float64, answers ...float64) sampler {
	return func(b *block) {
		b.Laplace(b.out, scale)
		for rows := b.out; len(rows) > 0; rows = rows[len(answers):] {
			row := rows[:len(answers)]
			for i, x := range answers {
				row[i] += x
			}
		}
	}
}

// sideBySide puts the outputs of two samplers, of these widths, beside each other. A block
// draws all noise of the first, then that of the second.
func sideBySide(first sampler, width1 int, second sampler, width2 int) sampler {
	return func(b *block) {
		all, left, right := b.out, b.room(width1), b.room(width2)
		b.out = left
		first(b)
		b.out = right
		second(b)
		b.out = all
		for ; len(all) > 0; all, left, right = all[width1+width2:], left[width1:], right[width2:] {
			copy(all, left[:width1])
			copy(all[width1:], right[:width2])
		}
	}
}

func clippedSum(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += min(max(v, 0), 1)
	}
	return sum
}

func vector(n int, value float64) []float64 { return slices.Repeat(of(value), n) }
