package train

import (
	"math"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/matmul"
)

// Dataset is labelled examples in a bounded domain.
type Dataset struct {
	X        []float64 // features, an example a row, each in [-1, 1]
	Labels   []int32   // numbers of classes
	Features []string  // names
	Classes  []string  // names

	Unit    bool // the domain is the ball of norm 1 instead of the box
	Clamped int  // values outside the declared bounds, which were moved to the nearest
	// InferredClasses: the classes are those that occur, which no noise covers.
	InferredClasses bool
}

// Len is the number of examples.
func (d *Dataset) Len() int { return len(d.Labels) }

// Synthetic is the built-in data: classes of normal clouds N(mean, I), the means at distance
// Separation from the origin in uniform directions, divided by 4 and clamped to [-1, 1]. All
// of it follows from Seed.
type Synthetic struct {
	Examples   int
	Features   int
	Classes    int
	Separation float64
	Seed       uint64
}

// NewSynthetic draws the built-in data. It panics on what Config.Resolve would refuse.
func NewSynthetic(s Synthetic) *Dataset {
	c, err := Config{Data: s, Sigma: 1}.Resolve(nil)
	if err != nil {
		panic("train: " + err.Error())
	}
	s = c.Data
	st := stream.New(stream.Key{Seed: s.Seed, Purpose: "train/synthetic"})
	means := make([]float64, s.Classes*s.Features)
	for k := range s.Classes {
		direction(st, means[k*s.Features:(k+1)*s.Features], s.Separation)
	}
	d := &Dataset{X: make([]float64, s.Examples*s.Features), Labels: make([]int32, s.Examples)}
	st.Gaussian(d.X, 1)
	for i := range d.Labels {
		k := i % s.Classes
		d.Labels[i] = int32(k)
		row := d.X[i*s.Features : (i+1)*s.Features]
		matmul.AddScaled(row, means[k*s.Features:(k+1)*s.Features], 1)
		for j, v := range row {
			row[j] = max(-1, min(1, float64(v*0.25)))
		}
	}
	d.Features = numbered("x", s.Features)
	d.Classes = numbered("class ", s.Classes)
	return d
}

// direction fills v with a vector of this norm, uniform on the sphere.
func direction(st *stream.Stream, v []float64, norm float64) {
	for {
		st.Gaussian(v, 1)
		if sum := matmul.Dot(v, v); sum > 0 {
			scaleBy(v, norm/math.Sqrt(sum))
			return
		}
	}
}
