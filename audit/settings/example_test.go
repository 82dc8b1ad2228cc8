package settings_test

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
)

// A plan with two settings, a line each.
func Example() {
	type plan struct {
		Runs int
		Beta float64
	}
	keys := []settings.Key[plan]{
		{Name: "n", Field: "runs", At: settings.Whole(func(p *plan) *int { return &p.Runs }), Range: settings.In(1, 1000), Usage: "runs"},
		{Name: "beta", At: settings.Number(func(p *plan) *float64 { return &p.Beta }), Range: settings.In(1e-9, 0.5), Usage: "allowed error"},
	}
	var p plan
	err := settings.Read(keys, settings.Texts{"n": "1e2", "beta": "0.01"}, &p)
	fmt.Println(p, err)
	otherwise := plan{Runs: 100, Beta: 0.05} // what is so need not be said
	fmt.Println(audit.CommandOf("audit", settings.Written(keys, p, otherwise)))
	fmt.Println(settings.Read(keys, settings.Texts{"n": "0"}, &p))
	// Output:
	// {100 0.01} <nil>
	// audit -beta 0.01
	// n is 0, must be a whole number in [1, 1000]
}
