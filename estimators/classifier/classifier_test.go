package classifier

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// outputs are what a mechanism writes on either dataset.
type outputs struct {
	name  string
	kinds []audit.ColumnKind
	row   func(s *stream.Stream, side int, out []float64)
}

func (o outputs) columns() []audit.Column {
	var list []audit.Column
	for i, k := range o.kinds {
		list = append(list, audit.Column{Name: fmt.Sprint("column ", i+1), Kind: k, Bits: o.name == porous})
	}
	return list
}

// porous are outputs with a claim about doubles.
const porous = "how a number is rounded"

// draw are n outputs of a side.
func (o outputs) draw(seed uint64, purpose string, side, n int) []float64 {
	s := stream.New(stream.Key{Seed: seed, Purpose: purpose + " " + o.name, Side: side})
	width := audit.Width(o.columns())
	rows := make([]float64, n*width)
	for i := range n {
		o.row(s, side, rows[i*width:(i+1)*width])
	}
	return rows
}

// data are n outputs a side.
func (o outputs) data(seed uint64, n int) *Data {
	d := NewData(o.columns())
	for side := range 2 {
		d.Add(side, o.draw(seed, "learn", side, n))
	}
	return d
}

func repeat(kind audit.ColumnKind, n int) []audit.ColumnKind {
	return slices.Repeat([]audit.ColumnKind{kind}, n)
}

// carried writes mixed columns, of which those with symbol 1 carry a number.
func carried(number func(s *stream.Stream) float64) func(s *stream.Stream, side int, out []float64) {
	return func(s *stream.Stream, side int, out []float64) {
		for i := 0; i < len(out); i += 2 {
			if out[i], out[i+1] = float64(s.Intn(3)-1), 0; out[i] == 1 {
				out[i+1] = number(s)
			}
		}
	}
}

func largest(s *stream.Stream) float64 { return math.Copysign(math.MaxFloat64, s.Float64()-0.5) }

// reals fills a row with numbers.
func reals(number func(s *stream.Stream, side int) float64) func(s *stream.Stream, side int, out []float64) {
	return func(s *stream.Stream, side int, out []float64) {
		for i := range out {
			out[i] = number(s, side)
		}
	}
}

// telling are outputs that tell the sides apart; odd ones trip careless learners.
var (
	telling = []outputs{
		{"a number", repeat(audit.Real, 1), func(s *stream.Stream, side int, out []float64) {
			s.Gaussian(out, 1)
			out[0] += 0.8 * float64(side)
		}},
		{"numbers", repeat(audit.Real, 3), func(s *stream.Stream, side int, out []float64) {
			s.Laplace(out, 1)
			out[1] += float64(side)
		}},
		{"a bit", repeat(audit.Symbol, 1), func(s *stream.Stream, side int, out []float64) {
			if out[0] = float64(side); s.Float64() < 0.3 {
				out[0] = 1 - out[0]
			}
		}},
		{"symbols", repeat(audit.Symbol, 4), func(s *stream.Stream, side int, out []float64) {
			for i := range out {
				out[i] = float64(s.Intn(3 + side))
			}
		}},
		{"symbols that carry numbers", repeat(audit.Mixed, 3), func(s *stream.Stream, side int, out []float64) {
			for i := 0; i < len(out); i += 2 {
				if out[i], out[i+1] = float64(s.Intn(2)), 0; out[i] == 1 {
					out[i+1] = s.Float64() + 0.4*float64(side)
				}
			}
		}},
		{"all kinds", []audit.ColumnKind{audit.Real, audit.Symbol, audit.Mixed}, func(s *stream.Stream, side int, out []float64) {
			out[0], out[1], out[2], out[3] = s.Float64(), float64(s.Intn(2+side)), 1, s.Float64()+0.3*float64(side)
		}},
		{porous, repeat(audit.Real, 1), func(s *stream.Stream, side int, out []float64) {
			if s.Laplace(out, 1); side == 1 {
				out[0] = (1 + out[0]) - 1
			}
		}},
	}
	odd = []outputs{
		{"constant", repeat(audit.Real, 1), reals(func(*stream.Stream, int) float64 { return 4 })},
		{"constants", repeat(audit.Real, 2), reals(func(*stream.Stream, int) float64 { return 4 })},
		{"a constant a side", repeat(audit.Real, 1), reals(func(_ *stream.Stream, side int) float64 { return float64(side) })},
		{"constant symbols", repeat(audit.Symbol, 3), reals(func(*stream.Stream, int) float64 { return 0 })},
		{"a symbol a side", repeat(audit.Symbol, 3), reals(func(_ *stream.Stream, side int) float64 { return float64(side) })},
		{"two values", repeat(audit.Real, 1), reals(func(s *stream.Stream, _ int) float64 { return float64(s.Intn(2)) })},
		{"mostly one value", repeat(audit.Real, 1), reals(func(s *stream.Stream, _ int) float64 { return math.Floor(s.Float64() * 1.05) })},
		{"every symbol its own", repeat(audit.Symbol, 1), reals(func(s *stream.Stream, _ int) float64 { return s.Float64() })},
		{"a hundred symbols", repeat(audit.Symbol, 100), reals(func(s *stream.Stream, _ int) float64 { return float64(s.Intn(2)) })},
		{"a hundred numbers", repeat(audit.Real, 100), reals(func(s *stream.Stream, _ int) float64 { return s.Float64() })},
		{"a hundred that carry", repeat(audit.Mixed, 100), carried(func(s *stream.Stream) float64 { return s.Float64() })},
		{"huge", repeat(audit.Real, 1), reals(func(s *stream.Stream, _ int) float64 { return (s.Float64() - 0.5) * 1e308 })},
		{"the largest", repeat(audit.Real, 1), reals(func(s *stream.Stream, _ int) float64 { return largest(s) })},
		{"up to the largest", repeat(audit.Real, 1), reals(func(s *stream.Stream, _ int) float64 { return (2*s.Float64() - 1) * math.MaxFloat64 })},
		{"the largest of two", repeat(audit.Real, 2), reals(func(s *stream.Stream, _ int) float64 { return largest(s) })},
		{"the largest, carried", repeat(audit.Mixed, 2), carried(largest)},
		{"subnormal", repeat(audit.Real, 1), reals(func(s *stream.Stream, _ int) float64 { return float64(s.Intn(9)) * 5e-324 })},
		{"subnormals", repeat(audit.Real, 2), reals(func(s *stream.Stream, _ int) float64 { return float64(s.Intn(9)) * 5e-324 })},
		{"heavy tails", repeat(audit.Real, 1), reals(func(s *stream.Stream, _ int) float64 {
			return (s.Float64() - 0.5) / max(1e-300, math.Pow(s.Float64(), 40))
		})},
		{"close together", repeat(audit.Real, 1), reals(func(s *stream.Stream, _ int) float64 { return 1 + float64(s.Intn(50))*0x1p-52 })},
		{"minus zero", repeat(audit.Symbol, 2), reals(func(s *stream.Stream, _ int) float64 { return math.Copysign(0, s.Float64()-0.5) })},
		{"minus zeros", repeat(audit.Real, 1), reals(func(s *stream.Stream, _ int) float64 { return math.Copysign(0, s.Float64()-0.5) })},
		{"never carried", repeat(audit.Mixed, 2), func(s *stream.Stream, _ int, out []float64) {
			for i := range out {
				out[i] = float64(s.Intn(2) * (1 - i%2))
			}
		}},
	}
)

// score are the cells of candidates on rows.
func score(m *Model, list []Candidate, rows []float64, width int) [][]uint16 {
	cells := make([][]uint16, len(list))
	for k := range cells {
		cells[k] = make([]uint16, len(rows)/width)
	}
	m.Score(list, rows, cells)
	return cells
}

// learnt are the candidates that a table was made of.
func learnt(tables [Candidates]*Table) (list []Candidate) {
	for c, t := range tables {
		if t != nil {
			list = append(list, Candidate(c))
		}
	}
	return list
}

// TestContract: from whatever outputs, from the first few on, each table counts every
// output once, on its side; and what a candidate says is the same by its part of the
// model, and in a second run.
func TestContract(t *testing.T) {
	for _, o := range slices.Concat(telling, odd) {
		t.Run(o.name, func(t *testing.T) {
			columns := o.columns()
			width := audit.Width(columns)
			var learners [2]Learner
			data := [2]*Data{NewData(columns), NewData(columns)}
			total := 0
			for at, n := range []int{1, 4, 48, 50, 300} {
				total += n
				for side := range 2 {
					rows := o.draw(uint64(at), "contract", side, n)
					data[0].Add(side, rows)
					data[1].Add(side, rows)
				}
				m, tables := learners[0].Learn(data[0])
				again, twice := learners[1].Learn(data[1])
				if !audit.EqualJSON(m, again) || !audit.EqualJSON(tables, twice) {
					t.Fatalf("%d outputs: a second run learns something else", total)
				}
				fresh := slices.Concat(o.draw(9, "fresh", 0, 40), o.draw(9, "fresh", 1, 40), data[0].rows[:min(len(data[0].rows), 40*width)])
				list := learnt(tables)
				whole := score(m, list, fresh, width)
				for k, c := range list {
					for side := range 2 {
						if sum := sumOf(tables[c][side][:]); sum != total {
							t.Errorf("%d outputs: the table of %v counts %d on side %d", total, c, sum, side)
						}
					}
					if !slices.Equal(score(m.Only([]Candidate{c}), []Candidate{c}, fresh, width)[0], whole[k]) {
						t.Errorf("%d outputs: %v says something else by its part of the model", total, c)
					}
				}
				if !audit.EqualJSON(score(m.Only(list), list, fresh, width), whole) {
					t.Errorf("%d outputs: all candidates say something else by their part of the model", total)
				}
				if total >= 100 && !slices.ContainsFunc(odd, func(x outputs) bool { return x.name == o.name }) && len(list) == 0 {
					t.Errorf("%d outputs: nothing was learnt", total)
				}
			}
		})
	}
}

func sumOf(list []int) (sum int) {
	for _, n := range list {
		sum += n
	}
	return sum
}
