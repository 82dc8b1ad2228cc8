package train

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/matmul"
	"github.com/dpscope/dpscope/internal/must"
)

func TestReadCSV(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          CSV
		want       Dataset
	}{
		{"no header, label last", "0.5,-1,cat\n1,0,dog\n\n-0.25,1,cat\n", CSV{}, Dataset{
			X: []float64{0.5, -1, 1, 0, -0.25, 1}, Labels: []int32{0, 1, 0}, Features: []string{"column 1", "column 2"}, Classes: []string{"cat", "dog"}, InferredClasses: true}},
		{"header, label by name, bounds, byte order mark, CRLF", "\ufeffage,label,income\r\n0,2,1000\r\n120,10,0\r\n30,10,5000\r\n", CSV{Label: "label", Upper: 120, Bounds: map[string][2]float64{"income": {0, 2000}}}, Dataset{
			X: []float64{-1, 0, 1, -1, -0.5, 1}, Labels: []int32{0, 1, 1}, Features: []string{"age", "income"}, Classes: []string{"2", "10"}, Clamped: 1, InferredClasses: true}},
		{"label by number, classes declared", "no,0.5\nyes,1\n", CSV{Header: "no", Label: "1", Classes: []string{"yes", "no", "perhaps"}}, Dataset{
			X: []float64{0.5, 1}, Labels: []int32{1, 0}, Features: []string{"column 2"}, Classes: []string{"yes", "no", "perhaps"}}},
		{"label by number that the first line has too, no header", "7,1,0\n3,0,1\n", CSV{Header: "no", Label: "1"}, Dataset{
			X: []float64{1, 0, 0, 1}, Labels: []int32{1, 0}, Features: []string{"column 2", "column 3"}, Classes: []string{"3", "7"}, InferredClasses: true}},
		{"unit", "3,4,a\n0,0,b\n", CSV{Lower: -5, Upper: 5, Scaling: "unit"}, Dataset{
			X: []float64{0.6, 0.8, 0, 0}, Labels: []int32{0, 1}, Features: []string{"column 1", "column 2"}, Classes: []string{"a", "b"}, Unit: true, InferredClasses: true}},
	} {
		d, err := ReadCSV([]byte(c.text), c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }
		if !slices.EqualFunc(d.X, c.want.X, near) || !slices.Equal(d.Labels, c.want.Labels) || !slices.Equal(d.Features, c.want.Features) ||
			!slices.Equal(d.Classes, c.want.Classes) || d.Unit != c.want.Unit || d.Clamped != c.want.Clamped || d.InferredClasses != c.want.InferredClasses {
			t.Errorf("%s: %+v, want %+v", c.name, *d, c.want)
		}
	}
}

func TestReadCSVRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          CSV
		want       []string // in the error
	}{
		{"empty", "", CSV{}, []string{"data", "empty"}},
		{"one column", "1\n2\n", CSV{}, []string{"line 1", "one column"}},
		{"word", "a,b,label\n1,2,x\n1,two,y\n", CSV{}, []string{"line 3, column 2 (b)", `"two"`}},
		{"missing", "1,2,x\n1,,y\n", CSV{}, []string{"line 2, column 2", "empty"}},
		{"NaN", "1,2,x\n1,NaN,y\n", CSV{}, []string{"line 2, column 2", `"NaN"`, "finite"}},
		{"infinite", "1,2,x\n1,1e999,y\n", CSV{}, []string{"line 2, column 2"}},
		{"no label", "1,2,x\n1,2,\n", CSV{}, []string{"line 2, column 3", "empty label"}},
		{"short line", "1,2,x\n1,y\n", CSV{}, []string{"line 2", "2 columns", "3"}},
		{"quote", "1,2,x\n1,2\",y\n", CSV{}, []string{"line 2, character 4", "a quote inside"}},
		{"one class", "1,2,x\n1,3,x\n", CSV{}, []string{"one class", `"x"`}},
		{"one example", "a,b\n1,2\n", CSV{}, []string{"1 examples", "at least 2"}},
		{"other class", "1,2,x\n1,3,z\n", CSV{Classes: []string{"x", "y"}}, []string{"line 2, column 3", `"z"`, "x, y"}},
		{"label's name", "a,b,c\n1,2,x\n", CSV{Label: "d"}, []string{"label", `"d"`}},
		{"label's number", "1,2,x\n1,3,y\n", CSV{Label: "4"}, []string{"label", "[1, 3]"}},
		{"bounds", "1,2,x\n1,3,y\n", CSV{Lower: 3, Upper: 3}, []string{"bounds", "3 to 3"}},
		{"bounds NaN", "1,2,x\n1,3,y\n", CSV{Lower: math.NaN(), Upper: 3}, []string{"bounds"}},
		{"bounds of a stranger", "a,b,c\n1,2,x\n1,3,y\n", CSV{Bounds: map[string][2]float64{"z": {0, 1}}}, []string{"bounds", `"z"`}},
		{"scaling", "1,2,x\n", CSV{Scaling: "log"}, []string{"scaling", "log"}},
		{"header", "1,2,x\n", CSV{Header: "maybe"}, []string{"header"}},
		{"classes", "1,2,x\n", CSV{Classes: []string{"x"}}, []string{"classes"}},
		{"classes twice", "1,2,x\n", CSV{Classes: []string{"x", "x"}}, []string{"classes", "twice"}},
	} {
		_, err := ReadCSV([]byte(c.text), c.o)
		if !audit.IsInput(err) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, part := range c.want {
			must.Refuse(t, err, part, c.name)
		}
	}
	var many strings.Builder
	for i := range classesMost + 1 {
		many.WriteString("1," + strings.Repeat("x", i+1) + "\n")
	}
	must.Input(t, must.Err(ReadCSV([]byte(many.String()), CSV{})), "line 101, column 2", "many classes")
}

// A user's data trains as the built-in does, with poisoning canaries in its own
// domain.
func TestOwnData(t *testing.T) {
	var text strings.Builder
	for i := range 120 {
		if i%2 == 0 {
			text.WriteString("8,1,left\n")
		} else {
			text.WriteString("1,9,right\n")
		}
	}
	for _, scaling := range []string{"box", "unit"} {
		d := must.Get(ReadCSV([]byte(text.String()), CSV{Upper: 10, Scaling: scaling}))(t)
		s := must.Get(New(Config{Hidden: 4, Canary: Poison}, d))(t)
		if _, err := s.t.run(stream.New(stream.Key{}), s.t.draw(nil, 0), s.t.noise(), nil, nil); err != nil || s.Accuracy(d) != 1 {
			t.Errorf("%s: accuracy %v, %v", scaling, s.Accuracy(d), err)
		}
		for _, v := range s.t.draw(stream.New(stream.Key{}), 50).(points).X {
			if scaling == "box" && v != 1 && v != -1 {
				t.Errorf("a canary's feature is %v", v)
			}
			if scaling == "unit" && math.Abs(v) > 1 {
				t.Errorf("a canary's feature is %v", v)
			}
		}
	}
}

func TestSynthetic(t *testing.T) {
	d := NewSynthetic(Synthetic{Examples: 1000, Features: 10, Classes: 3, Separation: 2})
	if d.Len() != 1000 || len(d.X) != 10000 || len(d.Classes) != 3 || len(d.Features) != 10 {
		t.Fatal(d.Len(), len(d.X), d.Classes, d.Features)
	}
	// Class means lie at 2/4 from the origin; a mean of 333 examples has a
	// deviation of 1/4/sqrt(333) = 0.014 in each of 10 features, so its norm one
	// of 0.014 and a bias below 0.01. Within 0.08: 5 deviations.
	for k := range 3 {
		sum, n := make([]float64, 10), 0.0
		for i, label := range d.Labels {
			if int(label) == k {
				matmul.AddScaled(sum, d.X[i*10:(i+1)*10], 1)
				n++
			}
		}
		if norm := math.Sqrt(matmul.Dot(sum, sum)) / n; math.Abs(norm-0.5) > 0.08 {
			t.Errorf("class %d has its mean at %v", k, norm)
		}
	}
	if slices.Max(d.X) > 1 || slices.Min(d.X) < -1 {
		t.Error("features outside the box")
	}
	if slices.Equal(d.X, NewSynthetic(Synthetic{Examples: 1000, Features: 10, Classes: 3, Separation: 2, Seed: 1}).X) {
		t.Error("two seeds give the same data")
	}
}
