package pair

import "github.com/dpscope/dpscope/audit"

// WealthOf are the log wealths that the epochs of a report come to.
func WealthOf(cat audit.Catalogue, r Report) []float64 {
	a, err := r.Plan.Resolve(cat)
	if err != nil {
		panic(err)
	}
	accounts := a.accounts()
	for _, e := range r.Sequential.Epochs {
		if err := a.follow(accounts, r.Sequential.Pairs, e); err != nil {
			panic(err)
		}
	}
	var out []float64
	for _, x := range accounts {
		out = append(out, x.wealth)
	}
	return out
}
