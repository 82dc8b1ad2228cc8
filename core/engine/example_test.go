package engine_test

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/core/engine"
)

// square is a task: a value that says all that its execution needs.
type square struct {
	Of int `json:"of"`
}

func (square) Kind() string   { return "square" }
func (s square) Name() string { return fmt.Sprint("square of ", s.Of) }

func (s square) Run(engine.Hook, func(any)) (any, error) {
	n := s.Of * s.Of
	return &n, nil
}

// Tasks run on any number of workers; results come in the order of the tasks.
func ExampleDo() {
	results, err := engine.Do(context.Background(), engine.LocalPool(3), []square{{1}, {2}, {3}}, engine.Events[int]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range results {
		fmt.Println(*n)
	}
	// Output:
	// 1
	// 4
	// 9
}
