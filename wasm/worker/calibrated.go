package main

import "github.com/dpscope/dpscope/wasm/scene"

// calibrated is a calibration, under way or at its end.
type calibrated struct {
	Cells    []calibratedCell `json:"cells"`
	All      rate             `json:"all"`
	Total    int              `json:"total"` // audits to be done; All.Of are
	Beta     float64          `json:"beta"`
	BetaText string           `json:"betaText"`
	Sentence string           `json:"sentence"`
	// The rest is of the end only.
	Judgement string `json:"judgement,omitempty"`
	Above     bool   `json:"above,omitempty"` // the judgement accuses
	Stopped   bool   `json:"stopped,omitempty"`
	Error     string `json:"error,omitempty"` // that ended it
	CLI       string `json:"cli,omitempty"`
}

// calibratedCell is one mechanism.
type calibratedCell struct {
	Mechanism string `json:"mechanism"`
	Claim     string `json:"claim"`
	Met       bool   `json:"met"`
	Runs      int    `json:"runs"` // to be done; Of are
	rate
	Inconclusive int    `json:"inconclusive,omitempty"`
	Failed       int    `json:"failed,omitempty"`
	Note         string `json:"note,omitempty"`
}

// rate is false alarms, with the words for their rate and its interval.
type rate struct {
	Alarms       int     `json:"alarms"`
	Of           int     `json:"of"`
	Rate         float64 `json:"rate"`
	Lower        float64 `json:"lower"`
	Upper        float64 `json:"upper"`
	RateText     string  `json:"rateText"`
	IntervalText string  `json:"intervalText"`
	Above        bool    `json:"above,omitempty"` // significantly above beta; at the end only
}

// rates are the rows of its picture: those of all together come last.
func (v calibrated) rates() []scene.Rate {
	row := func(name string, r rate) scene.Rate {
		return scene.Rate{Name: name, Alarms: r.Alarms, Of: r.Of, Rate: r.Rate, Lower: r.Lower, Upper: r.Upper, RateText: r.RateText, IntervalText: r.IntervalText, Above: r.Above}
	}
	var rows []scene.Rate
	for _, c := range v.Cells {
		rows = append(rows, row(c.Mechanism, c.rate))
	}
	if len(rows) > 1 {
		rows = append(rows, row("all together", v.All))
	}
	return rows
}
