package posterior

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/mutate"
	"github.com/dpscope/dpscope/stream"
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
		list = append(list, audit.Column{Name: fmt.Sprint("column ", i+1), Kind: k})
	}
	return list
}

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
// output once, on its side; and what a candidate says is the same after its part of the
// model was written and read, and in a second run.
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
				if !same(m, again) || !same(tables, twice) {
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
					if !m.Has(c) {
						t.Errorf("%d outputs: the model has no %v, of which there is a table", total, c)
						continue
					}
					text, err := json.Marshal(m.Only([]Candidate{c}))
					if err != nil {
						t.Fatalf("%d outputs: %v cannot be written: %v", total, c, err)
					}
					read, err := Decode(text, columns)
					if err != nil {
						t.Fatalf("%d outputs: %v cannot be read: %v\n%.300s", total, c, err, text)
					}
					if !read.Has(c) {
						t.Fatalf("%d outputs: %v is not there after it was read", total, c)
					}
					if !slices.Equal(score(read, []Candidate{c}, fresh, width)[0], whole[k]) {
						t.Errorf("%d outputs: %v says something else after it was read", total, c)
					}
				}
				if text, err := json.Marshal(m.Only(list)); err != nil {
					t.Fatal(err)
				} else if read, err := Decode(text, columns); err != nil {
					t.Errorf("%d outputs: all candidates: %v", total, err)
				} else if !same(score(read, list, fresh, width), whole) {
					t.Errorf("%d outputs: all candidates say something else after they were read", total)
				}
				if total >= 100 && !slices.ContainsFunc(odd, func(x outputs) bool { return x.name == o.name }) && len(list) == 0 {
					t.Errorf("%d outputs: nothing was learnt", total)
				}
			}
		})
	}
}

func same(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

func sumOf(list []int) (sum int) {
	for _, n := range list {
		sum += n
	}
	return sum
}

// walk lets every candidate that a model says it has score rows: none may panic or
// leave the cells.
func walk(m *Model, rows []float64, width int) error {
	for c := range Candidates {
		if !m.Has(c) {
			continue
		}
		only := m.Only([]Candidate{c})
		for _, m := range []*Model{m, only} {
			for _, cell := range score(m, []Candidate{c}, rows, width)[0] {
				if cell >= Cells {
					return fmt.Errorf("%v says cell %d", c, cell)
				}
			}
		}
	}
	return nil
}

// forged are models as they are written, and changed in every place.
func forged(t testing.TB, o outputs, n int) (list [][]byte) {
	var l Learner
	m, tables := l.Learn(o.data(3, n))
	for _, m := range []*Model{m, m.Only(learnt(tables)), m.Only([]Candidate{Tree4}), m.Only([]Candidate{Spline30}), m.Only([]Candidate{Binned}), m.Only([]Candidate{Stacked})} {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		mutations, err := mutate.All(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
		for _, x := range mutations {
			list = append(list, x.JSON)
		}
	}
	return list
}

// A model that was changed by hand is refused or scores all outputs; it never panics.
func TestForged(t *testing.T) {
	for _, o := range telling {
		width := audit.Width(o.columns())
		rows := slices.Concat(o.draw(4, "forged", 0, 4), o.draw(4, "forged", 1, 4), slices.Repeat([]float64{-1e308}, width), slices.Repeat([]float64{1e308}, width), make([]float64, width))
		refused, list := 0, forged(t, o, 60)
		for i := 0; i < len(list); i += gear.Of(11, 1) {
			text := list[i]
			m, err := Decode(text, o.columns())
			if err != nil {
				refused++
				continue
			}
			if err := walk(m, rows, width); err != nil {
				t.Errorf("%s: %v: %.300s", o.name, err, text)
			}
		}
		if refused == 0 || refused == len(list) {
			t.Errorf("%s: %d of %d are refused", o.name, refused, len(list))
		}
	}
}

// What no learner writes is refused by name.
func TestRefused(t *testing.T) {
	one := []audit.Column{{Name: "x", Kind: audit.Real}}
	two := []audit.Column{{Name: "s", Kind: audit.Symbol}, {Name: "m", Kind: audit.Mixed}}
	for _, c := range []struct {
		text    string
		columns []audit.Column
	}{
		{`{"tree":{"nodes":[]}}`, two},
		{`{"tree":{"nodes":[{"kids":[0,0],"symbols":[1],"n":[1,1]}]}}`, two},
		{`{"tree":{"nodes":[{"kids":[1,2],"symbols":[1],"column":2,"n":[1,1]},{"n":[1,0]},{"n":[0,1]}]}}`, two},
		{`{"tree":{"nodes":[{"kids":[1,2],"symbols":[1],"column":-1,"n":[1,1]},{"n":[1,0]},{"n":[0,1]}]}}`, two},
		{`{"tree":{"nodes":[{"kids":[1,3],"symbols":[1],"n":[1,1]},{"n":[1,0]},{"n":[0,1]}]}}`, two},
		{`{"tree":{"nodes":[{"kids":[1,1],"symbols":[1],"n":[1,1]},{"n":[1,0]}]}}`, two},
		{`{"tree":{"nodes":[{"kids":[1,2],"cut":1,"n":[1,1]},{"n":[1,0]},{"n":[0,1]}]}}`, two},
		{`{"tree":{"nodes":[{"n":[-1,1]}]}}`, one},
		{`{"tree":{"nodes":[{"n":[9223372036854775807,9223372036854775807]}]}}`, one},
		{`{"features":["value 1 0 0 1 0 1"],"ridge":[[1,1],[1,1]]}`, one},
		{`{"features":["value -1 0 0 1 0 1"],"ridge":[[1,1],[1,1]]}`, one},
		{`{"features":["value 0 0 0 0 0 1"],"ridge":[[1,1],[1,1]]}`, one},
		{`{"features":["value 0 0 NaN 1 0 1"],"ridge":[[1,1],[1,1]]}`, one},
		{`{"features":["value 0 0 0 1 0 Inf"],"ridge":[[1,1],[1,1]]}`, one},
		{`{"features":["value 0 0 0 1 0"],"ridge":[[1,1],[1,1]]}`, one},
		{`{"features":["none 0 0 0 1 0 1"],"ridge":[[1,1],[1,1]]}`, one},
		{`{"features":["is 0 1 0 0 0 1"],"ridge":[[1,1],[1,1]]}`, one},
		{`{"features":["share 0 1 0 0 0 1"],"ridge":[[1,1],[1,1]]}`, one},
		{`{"features":["value 0 0 0 1 0 1"],"ridge":[[1],[1,1]]}`, one},
		{`{"knots":[1],"spline":[[1],null,null]}`, one},
		{`{"knots":[2,1],"spline":[[1,1],null,null]}`, one},
		{`{"knots":[1,2],"spline":[[1,1],[1],null]}`, one},
		{`{"knots":[1,2],"spline":[[1,1],null,null]}`, two},
		{`{"features":["value 0 0 0 1 0 1"],"ridge":[[1,1],[1,1]],"cuts":[1],"bins":[1]}`, one},
		{`{"features":["value 0 0 0 1 0 1"],"ridge":[[1,1],[1,1]],"cuts":[2,1],"bins":[1,1,1]}`, one},
		{`{"cuts":[1],"bins":[1,1]}`, one},
		{`{"stack":[1,1,0],"best":[0,4]}`, one},
		{`{"stack":[1,1,0],"best":[9,4]}`, one},
		{`{"stack":[1,1,0],"best":[-1,4]}`, one},
		{`{"stack":[1,1,0],"best":[8,8]}`, one},
		{`{"unknown":1}`, one},
		{`[]`, one},
		{``, one},
	} {
		if _, err := Decode([]byte(c.text), c.columns); err == nil {
			t.Errorf("read: %s", c.text)
		}
	}
}

// A model that is not whole has only the candidates that it can score by.
func TestHas(t *testing.T) {
	one := []audit.Column{{Name: "x", Kind: audit.Real}}
	for text, want := range map[string][]Candidate{
		`{}`: nil,
		`{"knots":[1,2],"spline":[[1,1],null,null]}`: {Spline3},
		`{"knots":[1,2]}`: nil,
		`{"features":["value 0 0 0 1 0 1"],"ridge":[[1,1],[1,1]]}`:      {Ridge1, Ridge16},
		`{"tree":{"nodes":[{"n":[1,2]}]}}`:                              {Tree4, Tree16, Tree64},
		`{"tree":{"nodes":[{"n":[1,2]}]},"stack":[1,1,1],"best":[0,1]}`: {Tree4, Tree16, Tree64},
		`{"cuts":[1]}`: nil,
	} {
		m, err := Decode([]byte(text), one)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var has []Candidate
		for c := range Candidates {
			if m.Has(c) {
				has = append(has, c)
			}
		}
		if !slices.Equal(has, want) {
			t.Errorf("%s has %v, want %v", text, has, want)
		}
		if err := walk(m, []float64{0, 1.5, 3}, 1); err != nil {
			t.Error(err)
		}
	}
}

// FuzzDecode: whatever is read scores.
func FuzzDecode(f *testing.F) {
	for at, o := range telling {
		for i, text := range forged(f, o, 30) {
			if i%40 == 0 {
				f.Add(text, at)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		if at < 0 {
			at = -(at + 1)
		}
		o := telling[at%len(telling)]
		m, err := Decode(text, o.columns())
		if err != nil {
			return
		}
		if err := walk(m, slices.Concat(o.draw(4, "fuzz", 0, 3), o.draw(4, "fuzz", 1, 3)), audit.Width(o.columns())); err != nil {
			t.Error(err)
		}
	})
}
