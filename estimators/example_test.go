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

// A perceptron of one's own size, trained for the Rényi objective of the claim.
func ExampleMLP() {
	learner, err := estimators.MLP("mine", estimators.MLPOptions{Hidden: [2]int{8, 8}, Loss: estimators.RenyiLoss})
	if err != nil {
		fmt.Println(err)
		return
	}
	draw := func(side int) audit.Samples {
		rows := make([]float64, 2000)
		stream.New(stream.Key{Seed: 1, Purpose: "example", Side: side}).Gaussian(rows, 1)
		for i := range rows {
			rows[i] += float64(side)
		}
		return audit.Samples{Columns: []audit.Column{{Kind: audit.Real}}, Rows: rows}
	}
	model, err := learner.Learn(audit.Exploration{
		First: draw(0), Second: draw(1),
		Claim:  audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 1},
		Stream: stream.New(stream.Key{Seed: 1, Purpose: "learn"}),
		Check:  func() error { return nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	scores := make([]float64, 2)
	model.Score([]float64{-1, 2}, scores)
	fmt.Println(scores[0] > 0, scores[1] < 0)

	_, err = estimators.MLP("mine", estimators.MLPOptions{Hidden: [2]int{8, 1000}})
	fmt.Println(err)
	// Output:
	// true true
	// mine.hidden is 1000, must be in [1, 256]
}
