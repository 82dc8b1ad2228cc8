package chart

import (
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// directed makes training samples, row after row, and chooses a plane. The scores
// are the rows' first numbers.
func directed(columns []audit.Column, n int, row func(noise []float64, out []float64)) (*Plane, [2]audit.Samples, [2][]float64) {
	width := audit.Width(columns)
	var samples [2]audit.Samples
	var scores [2][]float64
	for side := range samples {
		s := stream.New(stream.Key{Seed: 1, Purpose: "test", Side: side})
		samples[side] = audit.Samples{Columns: columns, Rows: make([]float64, n*width)}
		noise := make([]float64, 8)
		for i := range n {
			s.Gaussian(noise, 1)
			row(noise, samples[side].Row(i))
			scores[side] = append(scores[side], samples[side].Row(i)[0])
		}
	}
	return newPlane(samples[0], samples[1], scores), samples, scores
}

func reals(n int) []audit.Column {
	out := make([]audit.Column, n)
	for i := range out {
		out[i] = audit.Column{Name: "x" + string(rune('0'+i%10)), Kind: audit.Real}
	}
	return out
}

// TestPlaneDirection: the direction is the leading principal component that gonum
// finds in what the score leaves, whatever the columns' units; what does not vary,
// or varies with the score, has no weight; along it nothing follows the score.
func TestPlaneDirection(t *testing.T) {
	// The second and third numbers share a part of 2 with opposite signs, and follow
	// the score, the fifth is noise: the component is about (1, -1, 0)/sqrt(2).
	p, samples, scores := directed(reals(6), planeTraining, func(noise, out []float64) {
		out[0] = noise[0]
		out[1] = 1e6 * (2*noise[1] + noise[2] + noise[0])
		out[2] = -1e-6*(2*noise[1]+noise[3]-noise[0]) - 7
		out[3] = 0.1
		out[4] = noise[4]
		out[5] = 3*noise[0] + 1e9
	})
	if len(p.Terms) != 3 || p.Terms[0].At != 1 || p.Terms[1].At != 2 || p.Terms[2].At != 4 {
		t.Fatalf("%+v", p.Terms)
	}
	var left [][]float64
	given := append(append([]float64{}, scores[0]...), scores[1]...)
	for _, term := range p.Terms {
		var x []float64
		for _, s := range samples {
			for i := range s.Len() {
				x = append(x, s.Row(i)[term.At])
			}
		}
		m, sd := stat.PopMeanStdDev(x, nil)
		if math.Abs(term.Deviation/sd-1) > 1e-5 {
			t.Errorf("number %d: deviation %v, want %v", term.At, term.Deviation, sd)
		}
		for i := range x {
			x[i] = (x[i] - m) / sd
		}
		alpha, beta := stat.LinearRegression(given, x, nil, false)
		for i := range x {
			x[i] -= alpha + beta*given[i]
		}
		left = append(left, x)
	}
	data := mat.NewDense(len(given), len(left), nil)
	for j, x := range left {
		data.SetCol(j, x)
	}
	var pc stat.PC
	if !pc.PrincipalComponents(data, nil) {
		t.Fatal("gonum finds no components")
	}
	var vectors mat.Dense
	pc.VectorsTo(&vectors)
	sign := math.Copysign(1, vectors.At(0, 0)) * math.Copysign(1, p.Terms[0].Weight)
	for j, term := range p.Terms {
		if want := sign * vectors.At(j, 0); math.Abs(term.Weight-want) > 1e-3 {
			t.Errorf("number %d weighs %v, gonum says %v", term.At, term.Weight, want)
		}
	}
	if math.Abs(math.Abs(p.Terms[0].Weight)-math.Sqrt(0.5)) > 0.05 || p.Terms[0].Weight*p.Terms[1].Weight > 0 {
		t.Errorf("weights %+v", p.Terms)
	}
	along := append(p.values(samples[0].Rows, scores[0], 6), p.values(samples[1].Rows, scores[1], 6)...)
	if m, sd := stat.PopMeanStdDev(along, nil); math.Abs(m) > 1e-3 || sd < 1 || sd > math.Sqrt2 {
		t.Errorf("along the direction, mean %v and deviation %v", m, sd)
	}
	if c := stat.Correlation(along, given, nil); math.Abs(c) > 1e-3 {
		t.Errorf("the direction follows the score: correlation %v", c)
	}
	if len(p.ScoreEdges) != planeBins+1 || len(p.Edges) != planeBins+1 || p.First != nil {
		t.Errorf("%d and %d edges, counts %v", len(p.ScoreEdges), len(p.Edges), p.First)
	}
}

// TestPlaneSymbols: a symbol counts as its column's commonest, the smallest of
// several, and one that is nearly always or hardly ever there has no weight; -0 is 0.
func TestPlaneSymbols(t *testing.T) {
	columns := []audit.Column{{Name: "s", Kind: audit.Real}, {Name: "a", Kind: audit.Symbol}, {Name: "b", Kind: audit.Symbol}, {Name: "rare", Kind: audit.Symbol}, {Name: "many", Kind: audit.Symbol}, {Name: "m", Kind: audit.Mixed}}
	n := 0
	p, _, _ := directed(columns, 2000, func(noise, out []float64) {
		n++
		out[0] = noise[0]
		out[1] = float64(n%2)*4 - 4 // -4 and 0 alike
		out[2] = []float64{math.Copysign(0, -1), 0, 7}[n%3]
		if n%1000 == 0 {
			out[3] = 1
		}
		out[4] = float64(n)
		if noise[1] > 0 {
			out[5], out[6] = 1, 5+noise[2]
		}
	})
	symbols := map[int]float64{}
	for _, term := range p.Terms {
		if term.Symbol != nil {
			symbols[term.At] = *term.Symbol
			if math.Signbit(*term.Symbol) && *term.Symbol == 0 {
				t.Errorf("number %d: the symbol is -0", term.At)
			}
		}
	}
	// Whether noise weighs is chance; the mixed column's parts go together and lead.
	for at, v := range symbols {
		if want, ok := map[int]float64{1: -4, 2: 0, 5: symbols[5]}[at]; !ok || v != want {
			t.Errorf("number %d counts symbol %v", at, v)
		}
	}
	named := p.named(columns).Words
	last := p.Terms[len(p.Terms)-1]
	if last.At != 6 || math.Abs(last.Weight) < 0.6 || symbols[5] != 0 && symbols[5] != 1 || named == "" {
		t.Errorf("%+v: %s", p.Terms, named)
	}
	if p := (&Plane{Terms: []PlaneTerm{{At: 1, Symbol: new(float64), Weight: -0.3}, {At: 6, Weight: 0.8}, {At: 0, Weight: 0.1}, {At: 2, Weight: 0.05}, {At: 99, Weight: 0.9}}}); p.named(columns).Words != "0.9  + 0.8 number of m - 0.3 [a = 0] + 2 more" {
		t.Errorf("%q", p.named(columns).Words)
	}
}

// TestNoPlane: there is none where the score or all else is constant, where floats
// do not hold the spread, and at most so many numbers weigh.
func TestNoPlane(t *testing.T) {
	for name, row := range map[string]func(noise, out []float64){
		"constant":       func(noise, out []float64) { clear(out) },
		"constant score": func(noise, out []float64) { out[0], out[1] = 3, noise[0] },
		"score alone":    func(noise, out []float64) { out[0], out[1] = noise[0], 2-3*noise[0] },
		"vast score":     func(noise, out []float64) { out[0], out[1] = 1e308*noise[0]/8, noise[1] },
		"vast":           func(noise, out []float64) { out[0], out[1] = noise[0], math.Copysign(1.7e308, noise[1]) },
		"minute":         func(noise, out []float64) { out[0], out[1] = noise[0], 5e-324*math.Round(noise[1]) },
	} {
		if p, _, _ := directed(reals(2), 200, row); p != nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	choose := func() *Plane {
		p, _, _ := directed(reals(100), 300, func(noise, out []float64) {
			for i := range out {
				out[i] = noise[i%8] + 0.01*float64(i)*noise[7-i%8]
			}
		})
		return p
	}
	wide := choose()
	if len(wide.Terms) == 0 || len(wide.Terms) > planeTerms || wide.Terms[len(wide.Terms)-1].At < 90 {
		t.Errorf("of 100 numbers %d weigh: %+v", len(wide.Terms), wide.Terms)
	}
	if !reflect.DeepEqual(wide, choose()) {
		t.Error("another plane of the same samples")
	}
}
