package main

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/internal/must"
)

func TestAccount(t *testing.T) {
	p := newPage(t, testCatalogue(), 0)
	q := accounting.Query{Mechanism: accounting.KindGaussian, Sigma: new(2.0), Rate: new(0.05), Steps: new(100), AtEpsilon: new(1.0), Orders: []float64{2, 8.5}}
	want := must.Get(accounting.Answer(q))(t)
	got := answerTo[accountAnswer](p, "account", q)
	if !reflect.DeepEqual(got.Account, want) {
		x, _ := json.Marshal(got.Account)
		y, _ := json.Marshal(want)
		t.Errorf("through messages:\n%s\nwant\n%s", x, y)
	}
	if got.CLI != "dpscope account -mechanism gaussian -sigma 2 -rate 0.05 -steps 100 -at-epsilon 1 -orders 2,8.5" {
		t.Errorf("cli: %s", got.CLI)
	}
}
