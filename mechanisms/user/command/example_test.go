package command_test

import (
	"context"
	"log"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

func ExampleOpen() {
	space, err := audit.ParseSpace("0:1", "0:5", audit.AddRemove, false, 0)
	if err != nil {
		log.Fatal(err)
	}
	p, err := command.Open(context.Background(), command.Options{Command: "python3 mechanism.py", Space: space})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	outputs := make([]float64, 1000*audit.Width(p.Columns()))
	if err := p.Sample(audit.Records(1, 0), stream.New(stream.Key{Seed: 1}), outputs); err != nil {
		log.Fatal(err)
	}
}
