package dptest

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms"
)

// The line of Go that a report names asks for the plan that it is of, with the options
// that the table of settings names; where it names none, a setting has no option.
func TestReproduceOptions(t *testing.T) {
	specs := mechanisms.All()
	named, none := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom(specs).Draw(t, "mechanism")
		claim := spec.Claim(defaults(spec))
		opts := Options{Mode: rapid.SampledFrom([]pair.Mode{"", pair.Fixed, pair.VerdictAndBound}).Draw(t, "mode"), Samples: rapid.IntRange(pair.MinSamples, 1_000_000).Draw(t, "samples"), Explore: rapid.SampledFrom([]int{0, 500}).Draw(t, "explore"), Trials: rapid.IntRange(1, 20).Draw(t, "trials"),
			FalseAlarm: rapid.SampledFrom([]float64{0, 1e-6, 0.07}).Draw(t, "false alarm"), Seed: rapid.Uint64Max(audit.MaxSeed).Draw(t, "seed"),
			Relation: rapid.SampledFrom(spec.Relations(defaults(spec))).Draw(t, "relation"), Learner: rapid.SampledFrom([]string{"", "logistic"}).Draw(t, "learner")}
		cat, plan := must.Get2(prepare(From(specs, spec.Name), claim, opts))(t)
		plan.ThroughRenyi = rapid.SampledFrom([]float64{0, 2}).Draw(t, "through-renyi") // which is no option
		a, err := plan.Resolve(cat)
		if err != nil {
			return
		}
		line := a.Reproduce().GoTest
		if line == "" != (plan.ThroughRenyi > 0) {
			t.Fatalf("%q of %+v", line, plan)
		}
		if line == "" {
			none++
			return
		}
		named++
		m, claim, opts := asked(t, specs, line)
		cat, plan, err = prepare(m, claim, opts)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		b, err := plan.Resolve(cat)
		if err != nil || !audit.EqualJSON(a.Plan, b.Plan) {
			t.Fatalf("%s: %v\n%+v\nwant\n%+v", line, err, b.Plan, a.Plan)
		}
	})
	if named < 10 || none < 10 {
		t.Errorf("%d lines, and none %d times", named, none)
	}
	for _, k := range pair.Keys() {
		if _, ok := reflect.TypeFor[Options]().FieldByName(k.Option); k.Option != "" && !ok {
			t.Errorf("%s is no option", k.Option)
		}
	}
}

func defaults(spec audit.MechanismSpec) audit.Params {
	p, err := audit.ResolveParams(spec.Params, nil, audit.Claim{})
	if err != nil {
		panic(err)
	}
	return p
}

// asked are the arguments of a call of RequireNoViolation.
func asked(t *rapid.T, specs []audit.MechanismSpec, line string) (audit.Mechanism, audit.Claim, Options) {
	e, err := parser.ParseExpr(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	args := e.(*ast.CallExpr).Args
	var texts []string // of From
	for _, x := range args[1].(*ast.CallExpr).Args[1:] {
		texts = append(texts, constant.StringVal(valueOf(t, x)))
	}
	var claim audit.Claim
	if call, ok := args[2].(*ast.CallExpr); ok { // audit.DPClaim
		epsilon, _ := constant.Float64Val(valueOf(t, call.Args[0]))
		delta, _ := constant.Float64Val(valueOf(t, call.Args[1]))
		claim = audit.DPClaim(epsilon, delta)
	} else {
		fill(t, reflect.ValueOf(&claim).Elem(), args[2])
	}
	var opts Options
	fill(t, reflect.ValueOf(&opts).Elem(), args[3])
	return From(specs, texts[0], texts[1:]...), claim, opts
}

// fill sets the fields that a literal of a struct has.
func fill(t *rapid.T, s reflect.Value, lit ast.Expr) {
	for _, x := range lit.(*ast.CompositeLit).Elts {
		kv := x.(*ast.KeyValueExpr)
		v := valueOf(t, kv.Value)
		switch f := s.FieldByName(kv.Key.(*ast.Ident).Name); f.Kind() {
		case reflect.String:
			f.SetString(constant.StringVal(v))
		case reflect.Float64:
			x, _ := constant.Float64Val(constant.ToFloat(v))
			f.SetFloat(x)
		case reflect.Uint64:
			n, _ := constant.Uint64Val(v)
			f.SetUint(n)
		default:
			n, _ := constant.Int64Val(v)
			f.SetInt(n)
		}
	}
}

func valueOf(t *rapid.T, e ast.Expr) constant.Value {
	text := types.ExprString(e)
	if kind, ok := map[string]audit.ClaimKind{"audit.Renyi": audit.Renyi, "audit.ZCDP": audit.ZCDP, "audit.GaussianDP": audit.GaussianDP}[text]; ok {
		return constant.MakeString(string(kind))
	}
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.Value
}
