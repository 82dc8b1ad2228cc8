package scene

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// handModel is of three trials with values silent, 1 and 2.
func handModel() (*audit.SurrogateModel, []pair.TrialNote) {
	trials := []pair.TrialNote{{Trial: 0, Value: 1}, {Trial: 1, Value: -99}, {Trial: 2, Value: 2, Chosen: true, Predicted: &audit.Prediction{Low: 0.5, Middle: 1.5, High: 2, Beyond: true}}}
	return &audit.SurrogateModel{Model: "hand", SqrtBeta: 1.8, Trials: []int{0, 1, 2}, Scores: []float64{0, -2, 2}, Through: 2, Slices: []audit.SurrogateSlice{
		{Parameter: "rows", Geometric: true, Positions: []float64{0, 1, 3, 7}, Mean: []float64{-3, -0.5, 1, 1.5}, SD: []float64{0.5, 1, 0.5, 0.25}, At: []float64{0, 1, 7}, Near: []float64{0.5, 0.1, 1}},
		{Parameter: "value", Positions: []float64{-1, 0.5}, Mean: []float64{0, 3}, SD: []float64{1, 0.5}, At: []float64{0, 0, 0.5}, Near: []float64{0.9, 0, 1}},
	}}, trials
}

func TestSurrogateByHand(t *testing.T) {
	m, trials := handModel()
	v := NewSurrogate(m, trials, "epsilon", 1.5)
	for score, want := range map[float64]float64{-5: -99, -2: -99, -1.1: -99, -0.9: 1, 0: 1, 0.5: 1.25, 2: 2, 9: 2} {
		if got := v.value(score); math.Abs(got-want) > 1e-12 {
			t.Errorf("score %v stands for %v, want %v", score, got, want)
		}
	}
	if at, ok := v.score(1.5); !ok || at != 1 {
		t.Errorf("1.5 lies at %v, %v", at, ok)
	}
	if at, ok := v.score(2.5); ok {
		t.Errorf("2.5 lies at %v", at)
	}
	for i, want := range map[int]string{
		0: "rows 0: expected epsilon below nothing; ± 1 standard deviation below nothing to below nothing; ± 2 below nothing to nothing",
		2: "rows 3: expected epsilon 1.5; ± 1 standard deviation 1.25 to 1.75; ± 2 1 to 2",
		3: "rows 7: expected epsilon 1.75; ± 1 standard deviation 1.625 to 1.875; ± 2 1.5 to 2",
		5: "pair 2 at 1: showed nothing, a correlation of 0.1 with the slice there",
		6: "pair 3 at 7: epsilon 2, a correlation of 1 with the slice there; chosen",
	} {
		if got := v.Reading(i); got != want {
			t.Errorf("item %d reads %q, want %q", i, got, want)
		}
	}
	rows := v.Facts(Rounded).Rows
	if want := []string{"expected", "3", "1.5", "1.25", "1.75", "1", "2", "1", "0.5", ""}; !slices.Equal(rows[2], want) {
		t.Errorf("row %q, want %q", rows[2], want)
	}
	if want := []string{"pair 1", "0", "1", "", "", "", "", "0", "", "0.5"}; !slices.Equal(rows[4], want) {
		t.Errorf("row %q, want %q", rows[4], want)
	}
	if said := NewSurrogate(m, trials, "epsilon", 2.5).Words(); strings.Contains(v.Words(), "No trial") || !strings.Contains(said, "No trial came up to what is claimed (2.5)") {
		t.Errorf("%q; %q", v.Words(), said)
	}
	// Along the other parameter one trial does not lie; beyond the loudest nothing is
	// known.
	v.Choose("1")
	if len(v.Facts(Rounded).Rows) != 2+2 || !strings.Contains(v.Words(), "Pairs that lie nowhere along it: 1.") || !strings.Contains(v.Words(), "certifies nothing") {
		t.Errorf("%d rows; %q", len(v.Facts(Rounded).Rows), v.Words())
	}
	if got, want := v.Reading(1), "value 0.5: expected epsilon above 2; ± 1 standard deviation above 2 to above 2; ± 2 2 to above 2"; got != want {
		t.Errorf("it reads %q, want %q", got, want)
	}
	for _, id := range []string{"", "0", "1", "7", "-1", "nonsense"} {
		v.Choose(id)
		for _, width := range []float64{280, 700, 1400} {
			for _, cam := range []Camera{Everything, {Window{0.3, 0.5}, Window{0.4, 0.7}}, {Window{0, narrowest}, Window{1 - narrowest, 1}}} {
				sound(t, "by hand "+id, v, v.Layout(Frame{Width: width, Camera: cam}))
			}
		}
	}
	// The mean's line and the edges of its bands are where the numbers are.
	v.Choose("1")
	s := v.Layout(Frame{Width: 700, Camera: Everything})
	_, y := v.scales()
	y.From, y.To = s.Plot.Bottom(), s.Plot.Y
	for _, want := range []float64{0, 1, -1} { // mean, one standard deviation up and down at the first position
		if !slices.ContainsFunc(s.Shapes, func(sh Shape) bool {
			return sh.Kind == Stroke && (sh.Paint.Role == First || sh.Paint.To == First) && math.Abs(sh.Points[0].Y-y.At(want)) < 1e-9
		}) {
			t.Errorf("no line begins at score %v", want)
		}
	}
}

// What a file may hold instead of a model is not drawn, or is without its faults.
func TestSurrogateMaimed(t *testing.T) {
	for name, maim := range map[string]func(*audit.SurrogateModel){
		"no trials":   func(m *audit.SurrogateModel) { m.Trials, m.Scores = nil, nil },
		"no scores":   func(m *audit.SurrogateModel) { m.Scores = nil },
		"score NaN":   func(m *audit.SurrogateModel) { m.Scores[0] = math.NaN() },
		"huge score":  func(m *audit.SurrogateModel) { m.Scores[0] = 1e300 },
		"other trial": func(m *audit.SurrogateModel) { m.Trials[0] = 3 },
		"no trial":    func(m *audit.SurrogateModel) { m.Trials[0] = -1 },
		"no slices":   func(m *audit.SurrogateModel) { m.Slices = nil },
		"only bad slices": func(m *audit.SurrogateModel) {
			m.Slices[0].Mean = nil
			m.Slices[1].Positions[1] = -1
		},
	} {
		m, trials := handModel()
		if maim(m); NewSurrogate(m, trials, "epsilon", 1) != nil {
			t.Errorf("%s: it is drawn", name)
		}
	}
	for name, maim := range map[string]func(*audit.SurrogateSlice){
		"a mean less":         func(s *audit.SurrogateSlice) { s.Mean = s.Mean[1:] },
		"no places":           func(s *audit.SurrogateSlice) { s.At, s.Near = nil, nil },
		"one position":        func(s *audit.SurrogateSlice) { s.Positions = s.Positions[:1] },
		"infinite deviation":  func(s *audit.SurrogateSlice) { s.SD[1] = math.Inf(1) },
		"negative deviation":  func(s *audit.SurrogateSlice) { s.SD[1] = -1 },
		"positions backwards": func(s *audit.SurrogateSlice) { slices.Reverse(s.Positions) },
	} {
		m, trials := handModel()
		maim(&m.Slices[0])
		if v := NewSurrogate(m, trials, "epsilon", 1); v == nil || len(v.model.Slices) != 1 {
			t.Errorf("%s: it is drawn, or what is sound is not", name)
		}
	}
	// All scores alike, all positions huge, trials far outside the slice, none on it.
	m, trials := handModel()
	m.Scores = []float64{0, 0, 0}
	m.Slices[0].SD, m.Slices[0].Mean = make([]float64, 4), make([]float64, 4)
	m.Slices[0].At = []float64{-1e90, 1e90, 2}
	m.Slices[1].Positions, m.Slices[1].Near = []float64{1e99, 2e99}, []float64{0, 0, 0}
	v := NewSurrogate(m, trials, "epsilon", 1)
	for _, id := range []string{"0", "1"} {
		v.Choose(id)
		sound(t, "absurd "+id, v, v.Layout(Frame{Width: 500, Camera: Everything}))
	}
}

// TestPredictionsByHand: what was expected of a pair is read, tabled and drawn.
func TestPredictionsByHand(t *testing.T) {
	_, trials := handModel()
	v := NewSearch(trials, "epsilon", 1.5)
	if got, want := v.Reading(2), "pair 3: epsilon 2; expected 1.5, one standard deviation either way 0.5 to above 2; chosen"; got != want {
		t.Errorf("it reads %q, want %q", got, want)
	}
	if got, want := v.Reading(0), "pair 1: epsilon 1"; got != want {
		t.Errorf("it reads %q, want %q", got, want)
	}
	f := v.Facts(Rounded)
	if want := []string{"pair", "number", "value", "learner", "chosen", "predicted", "less 1 sd", "plus 1 sd"}; !slices.Equal(f.Head, want) {
		t.Errorf("heads %q", f.Head)
	}
	if want := []string{"", "3", "2", "", "yes", "1.5", "0.5", "above 2"}; !slices.Equal(f.Rows[2], want) {
		t.Errorf("row %q, want %q", f.Rows[2], want)
	}
	if want := []string{"", "1", "1", "", "no", "", "", ""}; !slices.Equal(f.Rows[0], want) {
		t.Errorf("row %q, want %q", f.Rows[0], want)
	}
	if !strings.Contains(v.Words(), "certifies nothing either") {
		t.Errorf("it says %q", v.Words())
	}
	spans := func(s *Scene) (n int) {
		for _, sh := range s.Shapes {
			if sh.Paint.Role == Accent && sh.Kind == Stroke && len(sh.Points) == 2 && sh.Points[0].X == sh.Points[1].X && math.Abs(sh.Points[0].Y-sh.Points[1].Y) > 20 {
				n++
			}
		}
		return n
	}
	if n := spans(v.Layout(Frame{Width: 700, Camera: Everything})); n != 1 {
		t.Errorf("%d bars of what was expected", n)
	}
	trials[2].Predicted = nil
	plain := NewSearch(trials, "epsilon", 1.5)
	if len(plain.Facts(Rounded).Head) != 5 || strings.Contains(plain.Words(), "expected") || spans(plain.Layout(Frame{Width: 700, Camera: Everything})) != 0 {
		t.Error("without a model something is expected")
	}
}
