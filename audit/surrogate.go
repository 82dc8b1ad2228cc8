package audit

import (
	"fmt"
	"strconv"
)

// Surrogate is a finder that models how loud pairs are.
type Surrogate interface {
	Finder
	// Predicted is what the model said of a pair when it proposed it; nil where
	// the pair was proposed without the model.
	Predicted(Pair) *Prediction
	// Model is the model of the history, which holds at least one trial, with
	// slices through the pair of one of its trials; nil where it can say nothing.
	Model(history []Trial, through int) *SurrogateModel
}

// Silence is the value of a trial below which its witness showed nothing.
const Silence = -90.0

// Prediction is what a model of the trials up to then said of a pair before it was
// explored.
type Prediction struct {
	// Mean and SD are of the pair's score: see [SurrogateModel].
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
	// Low, Middle and High are the values that the scores Mean-SD, Mean and
	// Mean+SD stood for, in the units of the trials' values and between the values
	// of the quietest and the loudest trial. If Mean is the median of the score,
	// Middle is that of the value.
	Low    float64 `json:"low"`
	Middle float64 `json:"middle"`
	High   float64 `json:"high"`
	// Beyond: Mean+SD lies above the loudest trial up to then. How far, in values,
	// the model cannot say.
	Beyond bool `json:"beyond,omitempty"`
}

// SurrogateModel is a finder's model after the search. It steered which pairs were
// tried, and certifies nothing.
//
// It works on scores, log(p/(1-p)) at the share p of trials that were quieter, so
// that one value without bound does not flatten the rest. Numbers have six
// significant digits.
type SurrogateModel struct {
	Model string `json:"model"` // in words
	// SqrtBeta is how many standard deviations were added to the mean when pairs
	// were ranked: the root of the beta of GP-UCB.
	SqrtBeta float64 `json:"sqrtBeta"`
	// Noise is the standard deviation that the model gives the score of one trial
	// about the pair's own.
	Noise   float64          `json:"noise"`
	Trials  []int            `json:"trials"`  // that it was fitted to
	Scores  []float64        `json:"scores"`  // theirs
	Through int              `json:"through"` // trial through whose pair the slices go
	Slices  []SurrogateSlice `json:"slices"`
}

// SurrogateSlice is the model along one parameter of the search space, all others
// as in one pair.
type SurrogateSlice struct {
	Parameter string `json:"parameter"` // in words
	// Geometric: positions are about as far apart as their logarithms.
	Geometric bool      `json:"geometric,omitempty"`
	Positions []float64 `json:"positions"` // ascending, in the parameter's units
	Mean      []float64 `json:"mean"`      // of the score at each position
	SD        []float64 `json:"sd"`
	// At is where each of the model's trials lies, and Near, from 0 to 1, how much
	// its score says of the slice there: their correlation as modelled, 0 where the
	// trial's pair lies nowhere along the slice.
	At   []float64 `json:"at"`
	Near []float64 `json:"near"`
}

// SixDigits rounds to six significant digits.
func SixDigits(x float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		panic("core: a number that does not parse: " + err.Error())
	}
	return v
}

// Check refuses a model whose lists do not fit together.
func (m *SurrogateModel) Check(trials int) error {
	n := len(m.Trials)
	refuse := func(field, found, want string) error {
		return &InputError{Field: "report: surrogate." + field, Found: found, Want: want}
	}
	if len(m.Scores) != n {
		return refuse("scores", fmt.Sprintf("%d scores", len(m.Scores)), fmt.Sprintf("one of each of its %d trials", n))
	}
	for _, t := range append([]int{m.Through}, m.Trials...) {
		if t < 0 || t >= trials {
			return refuse("trials", fmt.Sprint(t), fmt.Sprintf("one of the report's %d trials", trials))
		}
	}
	for i, s := range m.Slices {
		k := len(s.Positions)
		if k < 2 || len(s.Mean) != k || len(s.SD) != k || len(s.At) != n || len(s.Near) != n {
			return refuse(fmt.Sprintf("slices[%d]", i), fmt.Sprintf("%d positions, %d means, %d deviations and %d and %d places of trials", k, len(s.Mean), len(s.SD), len(s.At), len(s.Near)), fmt.Sprintf("at least 2 positions, as many means and deviations, and %d and %d places", n, n))
		}
		for j := 1; j < k; j++ {
			if !(s.Positions[j] > s.Positions[j-1]) {
				return refuse(fmt.Sprintf("slices[%d].positions", i), Number(s.Positions[j-1])+" before "+Number(s.Positions[j]), "ascending")
			}
		}
	}
	return nil
}
