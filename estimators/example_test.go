package estimators_test

import (
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/estimators"
)

// Two mechanisms that answer ⊤ with probability 3/4 and 1/4: every learner
// finds that ⊤ points to the first.
func Example() {
	columns := []audit.Column{{Kind: audit.Symbol, Labels: []audit.Label{{Value: 1, Text: "⊤"}, {Value: 0, Text: "⊥"}}}}
	draw := func(side int, p float64) audit.Samples {
		rows := make([]float64, 1000)
		stream.New(stream.Key{Seed: 1, Purpose: "example", Side: side}).Bernoulli(rows, p)
		return audit.Samples{Columns: columns, Rows: rows}
	}
	exploration := audit.Exploration{
		First: draw(0, 0.75), Second: draw(1, 0.25),
		Claim: audit.DPClaim(1, 0),
		Check: func() error { return nil },
	}
	for _, learner := range estimators.All {
		model, err := learner.Learn(exploration)
		if err != nil {
			fmt.Println(err)
			continue
		}
		data, _ := json.Marshal(model) // what a report holds
		again, err := learner.Decode(data, columns)
		if err != nil {
			fmt.Println(err)
			continue
		}
		scores := make([]float64, 2)
		again.Score([]float64{1, 0}, scores)
		fmt.Println(learner.Name, scores[0] > scores[1])
	}
	// Output:
	// histogram true
	// outcome-table true
	// logistic true
	// logistic-vector true
	// logistic-sums true
}
