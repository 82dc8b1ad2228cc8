package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/bounds/accounting"
)

func TestAccount(t *testing.T) {
	p := newPage(t, testCatalogue(), 0)
	q := accounting.Query{Mechanism: accounting.KindGaussian, Sigma: new(2.0), Rate: new(0.05), Steps: new(100), AtEpsilon: new(1.0), Orders: []float64{2, 8.5}}
	want, err := accounting.Answer(q)
	if err != nil {
		t.Fatal(err)
	}
	got := answerTo[accountAnswer](p, "account", q)
	if !reflect.DeepEqual(got.Account, want) {
		x, _ := json.Marshal(got.Account)
		y, _ := json.Marshal(want)
		t.Errorf("through messages:\n%s\nwant\n%s", x, y)
	}
	if got.CLI != "dpscope account -mechanism gaussian -sigma 2 -rate 0.05 -steps 100 -at-epsilon 1 -orders 2,8.5" {
		t.Errorf("cli: %s", got.CLI)
	}
	for _, bad := range []struct{ query, field, says string }{
		{`{"mechanism":"gaussian","sigma":"0"}`, "sigma", "above 0"},
		{`{"mechanism":"gaussian"}`, "sigma", "missing"},
		{`{"mechanism":"gaussian","sigma":"1","rate":"2"}`, "rate", "at most 1"},
		{`{"mechanism":"gauss","sigma":"1"}`, "mechanism", "gaussian"},
		{`{"mechanism":"zcdp","rho":"1","sigma":"1"}`, "sigma", "absent for zcdp"},
		{`{"mechanism":"zcdp","rho":"1","colour":"1"}`, "setting", "colour"},
		{`{"mechanism":"zcdp","rho":"1","Steps":"1"}`, "setting", "Steps"},
		{`{"mechanism":"zcdp","rho":"1","steps":"1.5"}`, "steps", "a whole number"},
		{`{"mechanism":"zcdp","rho":"1"} {}`, "account", "more text"},
		{``, "account", "empty"},
	} {
		r := answerTo[refusal](p, "account", bad.query)
		if !strings.Contains(r.Field, bad.field) || !strings.Contains(r.Message, bad.says) {
			t.Errorf("%s: %+v, want field %s and %q", bad.query, r, bad.field, bad.says)
		}
	}
}
