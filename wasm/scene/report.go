package scene

import (
	"encoding/json"
	"fmt"
)

// Report is what the views need of a report of core, and of the curves that the
// core made of it; what is absent is zero. It is read from their JSON, so that
// the view does not carry the core.
type Report struct {
	Claim    Claim `json:"claim"`
	Settings struct {
		Samples int     `json:"samples"`
		Beta    float64 `json:"beta"`
	} `json:"settings"`
	Evidence *struct {
		Chart Chart `json:"chart"`
	} `json:"evidence"`
	Results []struct {
		Direction  string   `json:"direction"`
		Quantity   string   `json:"quantity"`
		LowerBound *float64 `json:"lowerBound"`
	} `json:"results"`
	Trials      []Trial         `json:"trials"`
	Surrogate   *SurrogateModel `json:"surrogate"`
	Termination struct {
		SamplesUsed int `json:"samplesUsed"`
	} `json:"termination"`
}

// Claim is audit.Claim.
type Claim struct {
	Kind    string  `json:"kind"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Alpha   float64 `json:"alpha"`
	Mu      float64 `json:"mu"`
	Rho     float64 `json:"rho"`
}

// epsilon is that of a claim of (epsilon, delta), and whether it is one.
func (c Claim) epsilon() (float64, bool) {
	return c.Epsilon, c.Kind == "pure" || c.Kind == "approximate"
}

// limit is what is claimed of the quantity that an audit bounds.
func (c Claim) limit() float64 {
	switch c.Kind {
	case "zcdp":
		return c.Rho
	case "gaussian-dp":
		return c.Mu
	}
	return c.Epsilon
}

// Chart is pair.Chart.
type Chart struct {
	Kind     string      `json:"kind"`
	Axis     string      `json:"axis"`
	Edges    []float64   `json:"edges"`
	Outcomes [][]float64 `json:"outcomes"`
	Labels   []string    `json:"labels"`
	First    []int       `json:"first"`
	FirstIn  []int       `json:"firstInEvent"`
	Second   []int       `json:"second"`
	SecondIn []int       `json:"secondInEvent"`
	Plane    *Plane      `json:"plane"`
}

// Input is what the page sends: a report, or how far a run has come.
type Input struct {
	Report *Report `json:"report"`
	Curves Curves  `json:"curves"`
	// Course is that of the run that is on its way, or made the report.
	Course *Course `json:"course"`
	// Canary is a canary audit's report, instead.
	Canary *CanaryReport `json:"canary"`
	// Progress is of a run on its way.
	Progress *Progress `json:"progress"`
}

// Curves are pair.Curves.
type Curves struct {
	Tradeoff *TradeoffCurve `json:"tradeoff"`
	Renyi    *RenyiCurve    `json:"renyi"`
}

// TradeoffCurve is pair.TradeoffCurve.
type TradeoffCurve struct {
	Points     []TradeoffPoint `json:"points"`
	Claimed    [][2]float64    `json:"claimed"`
	ClaimWords string          `json:"claimWords"`
	Confidence string          `json:"confidence"`
	Direction  string          `json:"direction"`
}

// Progress is pair.Progress.
type Progress struct {
	// Live is what certification has counted so far.
	Live *struct {
		Chart     Chart  `json:"chart"`
		Claim     Claim  `json:"claim"`
		Direction string `json:"direction"`
		Rows      int    `json:"rows"`
		Samples   int    `json:"samples"`
	} `json:"live"`
}

// Parse reads what the page sends.
func Parse(text string) (Input, error) {
	var in Input
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return in, fmt.Errorf("view: the page sent what is no report: %w", err)
	}
	return in, nil
}
