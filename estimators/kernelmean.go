package estimators

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

const (
	landmarksMost  = 1024
	bandwidthMost  = 1e3
	bandwidthLeast = 1e-3
)

// kernelMean scores by the witness of the maximum mean discrepancy, f(z) = mean k(x, z) - mean k(y, z)
// over landmarks x and y, some training outputs of either side, with a Gaussian kernel on standardised
// inputs whose bandwidth is in landmarks' median distances (Gretton et al. 2012, sections 2.3 and 8). The
// score is (1 + f)/2, in [0, 1]: a difference of smoothed densities, not their ratio, and blind in tails.
func kernelMean(landmarks int, bandwidth float64) audit.LearnerSpec {
	return audit.LearnerSpec{
		Applies: needs(anyColumn, "kernel means need at least one output column"),
		Learn:   learner(func(ex audit.Exploration) *kernelMeanModel { return learnKernelMean(ex, landmarks, bandwidth) }),
		Decode:  decoder[kernelMeanModel],
	}
}

type kernelMeanModel struct {
	inputReader
	Bandwidth float64   `json:"bandwidth"` // sigma of exp(-d^2 / (2 sigma^2))
	First     int       `json:"first"`     // landmarks of the first side; they come first
	Landmarks floatList `json:"landmarks"` // their inputs, one landmark after another

	// Of a kernel divergence only: the regularisation, and the estimate on the landmarks.
	Lambda     float64 `json:"lambda,omitempty"`
	Divergence float64 `json:"divergence,omitempty"`

	rate float64
}

func learnKernelMean(ex audit.Exploration, landmarks int, bandwidth float64) *kernelMeanModel {
	r := variedInputs(ex)
	m := &kernelMeanModel{inputReader: r}
	for s, side := range sides(ex) {
		n := min(landmarks, side.Len())
		chosen := audit.Samples{Columns: side.Columns}
		at := audit.Listed(side.Len(), func(i int) int { return i }) // a random choice: the outputs may be in an order
		for i := range n {
			j := i + ex.Stream.Intn(len(at)-i)
			at[i], at[j] = at[j], at[i]
			chosen.Rows = append(chosen.Rows, side.Row(at[i])...)
		}
		in := readInputs(chosen, r, n, ex.Check)
		m.Landmarks = append(m.Landmarks, in...)
		if s == 0 {
			m.First = n
		}
	}
	width := len(r.Inputs)
	m.Bandwidth = within(float64(bandwidth*medianSpread(m.Landmarks, width, len(m.Landmarks)/width)), bandwidthLeast, bandwidthMost)
	m.prepare()
	return m
}

// medianSpread is the median distance between different points, of at most 256; 1 where all are equal.
func medianSpread(points []float32, width, n int) float64 {
	stride := (n + 255) / 256
	var distances []float64
	for i := 0; i < n; i += stride {
		for j := 0; j < i; j += stride {
			largest, sum := 0.0, 0.0
			for k := range width {
				largest = max(largest, math.Abs(float64(points[i*width+k])-float64(points[j*width+k])))
			}
			if largest == 0 {
				continue
			}
			for k := range width { // scaled, as squares may overflow
				d := (float64(points[i*width+k]) - float64(points[j*width+k])) / largest
				sum += float64(d * d)
			}
			distances = append(distances, largest*math.Sqrt(sum))
		}
	}
	if len(distances) == 0 {
		return 1
	}
	slices.Sort(distances)
	return distances[len(distances)/2]
}

func (m *kernelMeanModel) prepare() {
	m.rate = 1 / (2 * float64(m.Bandwidth*m.Bandwidth))
	if m.Lambda > 0 {
		m.rate *= 2 // the kernel's square
	}
}

func (m *kernelMeanModel) Score(rows, out []float64) {
	width := len(m.Inputs)
	in := make([]float32, min(block, len(out))*width)
	cut := m.First * width
	for len(out) > 0 {
		n := min(block, len(out))
		m.read(rows, n, in)
		for i := range n {
			x := in[i*width : (i+1)*width]
			p, q := m.mean(x, m.Landmarks[:cut]), m.mean(x, m.Landmarks[cut:])
			if m.Lambda > 0 {
				out[i] = stream.Log(p+m.Lambda) - stream.Log(q+m.Lambda)
			} else {
				out[i] = 0.5 + float64(0.5*(p-q))
			}
		}
		rows, out = rows[n*m.width:], out[n:]
	}
}

func (m *kernelMeanModel) mean(x, landmarks []float32) float64 {
	sum := 0.0
	for at := 0; at < len(landmarks); at += len(x) {
		square := 0.0
		for k, v := range x {
			d := float64(v) - float64(landmarks[at+k])
			square += float64(d * d)
		}
		sum += stream.Exp(-float64(m.rate * square))
	}
	return sum / float64(len(landmarks)/len(x))
}

func (m *kernelMeanModel) Describe(threshold float64, above bool) string {
	first, second := m.First, len(m.Landmarks)/len(m.Inputs)-m.First
	if m.Lambda > 0 {
		return fmt.Sprintf("log ratio of kernel densities of %d and %d outputs at bandwidth %s, lambda %s (regularised kernel Rényi divergence %s), %s %s",
			first, second, figure(m.Bandwidth), figure(m.Lambda), figure(m.Divergence), side(above), figure(threshold))
	}
	return fmt.Sprintf("difference of kernel means, %d and %d landmarks at bandwidth %s on %d inputs, %s %s",
		first, second, figure(m.Bandwidth), len(m.Inputs), side(above), figure(threshold))
}

func (m *kernelMeanModel) open(columns []audit.Column) {
	m.inputReader.open(columns)
	width := len(m.Inputs)
	n := len(m.Landmarks) / width
	m.prepare()
	require(m.Bandwidth >= bandwidthLeast && m.Bandwidth <= bandwidthMost, "model.bandwidth", m.Bandwidth, "in [%g, %g]", bandwidthLeast, bandwidthMost)
	require((m.Lambda == 0 || m.Lambda >= 1e-9 && m.Lambda <= 1) && m.Divergence-m.Divergence == 0, "model.lambda", m.Lambda, "absent, or in [1e-9, 1]")
	require(m.First >= 1 && m.First < n && n <= 2*landmarksMost, "model.first", fmt.Sprintf("%d of %d landmarks", m.First, n), "at least 1 on each side and at most %d in all", 2*landmarksMost)
	m.Landmarks.validate("model.landmarks", n*width, landmarkMost)
}

// landmarkMost bounds landmarks in a model that is read: squared distances stay finite.
const landmarkMost = 1e5
