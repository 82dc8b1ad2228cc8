package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// The command and the address that a report names ask for the plan that it is of:
// for every kind of audit, whatever its settings.

// commandFlags are the flags of a command, and the settings among them.
type commandFlags[P any] func() (*cli.Flags, cli.Asked[P])

// flagsOfKind are those of a command of a kind of audit.
func flagsOfKind[P any](make func(streams) *kindFlags[P]) commandFlags[P] {
	return func() (*cli.Flags, cli.Asked[P]) {
		f := make(streams{stderr: io.Discard})
		return f.Flags, f.asked
	}
}

// asksAgain wants command and address, where there is one, to ask for a plan that
// resolves to want. blank is a plan without settings.
func asksAgain[P any](t *rapid.T, again audit.Reproduce, blank P, flags commandFlags[P], keys []settings.Key[P], resolve func(must.TB, P) P, want P) {
	asked := map[string]P{}
	words := must.Get(audit.ShellWords("command", again.CLI))(t)
	set, given := flags()
	if _, _, ok := set.ParseNames(words[2:]); !ok {
		t.Fatalf("%s is not understood", again.CLI)
	}
	p := blank
	must.Do(t, given.Read(&p))
	asked[again.CLI] = p
	if again.URL != "" {
		query := must.Get(url.ParseQuery(strings.TrimPrefix(again.URL, "#")))(t)
		texts := settings.Texts{}
		for name := range query {
			if name != "v" && name != "view" {
				texts[name] = query.Get(name)
			}
		}
		p := blank
		must.Do(t, settings.Read(keys, texts, &p))
		asked[again.URL] = p
	}
	for how, p := range asked {
		if got := resolve(t, p); !audit.EqualJSON(got, want) {
			t.Fatalf("%s:\n%+v\nwant\n%+v", how, got, want)
		}
	}
}

// address is what a report names, and the plan that it is of.
type address[P any] struct {
	url  string
	want P
}

// inThePage has the page's scripts read the addresses, and wants the same plans of the
// texts that the core gets.
func inThePage[P any](t *testing.T, all []address[P], blank P, keys []settings.Key[P], resolve func(must.TB, P) P) {
	node := must.Have(t, "node")
	script := api.Build(api.BuildOptions{EntryPoints: []string{"testdata/addresses.mjs"}, Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNode})
	if len(script.Errors) > 0 {
		t.Fatal(script.Errors)
	}
	var accounts []map[string]any
	for _, k := range accounting.Kinds() {
		accounts = append(accounts, map[string]any{"kind": k, "fields": k.Fields()})
	}
	var addresses []string
	for _, a := range all {
		addresses = append(addresses, a.url)
	}
	in := must.Get(json.Marshal(map[string]any{"accounts": accounts, "addresses": addresses}))(t)
	run := exec.Command(node, "--input-type=module", "--eval", string(script.OutputFiles[0].Contents))
	run.Stdin = bytes.NewReader(in)
	var said bytes.Buffer
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	var texts []settings.Texts
	if err := json.Unmarshal(out, &texts); err != nil || len(texts) != len(all) {
		t.Fatalf("%d texts of %d addresses: %v", len(texts), len(all), err)
	}
	for i, a := range all {
		p := blank
		must.Do(t, settings.Read(keys, texts[i].Given(), &p))
		if p = resolve(t, p); !audit.EqualJSON(p, a.want) {
			t.Fatalf("%s:\n%v\n%+v\nwant\n%+v", a.url, texts[i], p, a.want)
		}
	}
}

// enough wants a quarter of the plans that were drawn to be valid.
func enough(t *testing.T, valid, tried int) {
	if valid < tried/4 {
		t.Errorf("%d of %d plans were valid", valid, tried)
	}
}

// sometimes draws a value, or none.
func sometimes[T any](t *rapid.T, name string, g *rapid.Generator[T]) (none T) {
	if rapid.Bool().Draw(t, name+" given") {
		return g.Draw(t, name)
	}
	return none
}

// drawParams draws some parameters within their ranges.
func drawParams(t *rapid.T, specs []audit.ParamSpec) audit.Params {
	out := audit.Params{}
	for _, s := range specs {
		if !rapid.Bool().Draw(t, s.Name+" given") {
			continue
		}
		switch {
		case len(s.Choices) > 0:
			out[s.Name] = audit.ParamValue{Text: rapid.SampledFrom(s.Choices).Draw(t, s.Name)}
		case s.Integer:
			out[s.Name] = audit.ParamValue{Number: float64(rapid.IntRange(int(s.Min), int(min(s.Max, s.Min+20))).Draw(t, s.Name))}
		default:
			out[s.Name] = audit.ParamValue{Number: rapid.Float64Range(s.Min+1e-3, min(s.Max, s.Min+5)).Draw(t, s.Name)}
		}
	}
	return out
}

func drawClaim(t *rapid.T) *audit.Claim {
	value := rapid.Float64Range(1e-3, 20).Draw(t, "claimed")
	switch rapid.IntRange(0, 7).Draw(t, "claim") {
	case 0:
		return nil
	case 1:
		return &audit.Claim{Epsilon: value, Delta: 1e-7}
	case 2:
		return &audit.Claim{Kind: audit.Pure, Epsilon: value}
	case 3:
		return &audit.Claim{Kind: audit.Renyi, Epsilon: value, Alpha: rapid.Float64Range(1.01, 64).Draw(t, "alpha")}
	case 4:
		return &audit.Claim{Kind: audit.ZCDP, Rho: value}
	case 5:
		return &audit.Claim{Kind: audit.GaussianDP, Mu: value}
	case 6:
		return &audit.Claim{Kind: audit.Profile, Profile: &audit.PrivacyProfile{Points: []audit.ProfilePoint{{Epsilon: value, Delta: 0.1}, {Epsilon: value + 1, Delta: 1e-5}}, Source: "a file's \"name\""}}
	}
	return &audit.Claim{Epsilon: value}
}

func TestReproducePair(t *testing.T) {
	tried, valid := 0, 0
	var addresses []address[pair.Plan]
	resolve := func(t must.TB, p pair.Plan) pair.Plan { return must.Get(p.Resolve(catalogue))(t).Plan }
	rapid.Check(t, func(t *rapid.T) {
		tried++
		spec := rapid.SampledFrom(catalogue.Mechanisms).Draw(t, "mechanism")
		p := pair.Plan{Version: pair.PlanVersion, Mechanism: spec.Name, Parameters: drawParams(t, spec.Params), Claim: drawClaim(t),
			Samples: sometimes(t, "samples", rapid.IntRange(pair.MinSamples, pair.MaxSamples)), Explore: sometimes(t, "explore", rapid.IntRange(pair.MinSamples, 1_000_000)),
			Trials: sometimes(t, "trials", rapid.IntRange(1, pair.MaxTrials)), Beta: sometimes(t, "beta", rapid.Float64Range(1e-9, 0.5)), Seed: rapid.Uint64Max(audit.MaxSeed).Draw(t, "seed"),
			Finder:  sometimes(t, "finder", rapid.Map(rapid.SampledFrom(catalogue.Finders), func(f audit.FinderSpec) string { return f.Name })),
			Learner: sometimes(t, "learner", rapid.Map(rapid.SampledFrom(catalogue.Learners), func(l audit.LearnerSpec) string { return l.Name })),
			Mode:    rapid.SampledFrom([]pair.Mode{"", pair.Fixed, pair.UntilRefuted}).Draw(t, "mode"), ThroughRenyi: sometimes(t, "through-renyi", rapid.Float64Range(1.01, 64)),
			Group: sometimes(t, "group", rapid.IntRange(1, 8))}
		if p.Mode == pair.UntilRefuted {
			p.Explore = 0
		}
		if p.Claim != nil && p.Claim.Kind == audit.Profile {
			p.Mode = ""
		}
		a, err := p.Resolve(catalogue)
		// Few learners fit all outputs, few claims and relations know groups.
		for _, without := range []func(){func() { p.Learner = "" }, func() { p.Group = 0 }, func() { p.ThroughRenyi = 0 }} {
			if err != nil {
				without()
				a, err = p.Resolve(catalogue)
			}
		}
		if err != nil {
			return
		}
		if known := spec.Pairs; known != nil && rapid.Bool().Draw(t, "pair given") {
			if all := known(a.Plan.Parameters, a.Plan.Relation); len(all) > 0 {
				p.Pair = &all[0]
				if b, err := p.Resolve(catalogue); err == nil {
					a = b
				}
			}
		}
		valid++
		asksAgain(t, a.Reproduce(), pair.Plan{Version: pair.PlanVersion}, func() (*cli.Flags, cli.Asked[pair.Plan]) {
			f := newAuditFlags(streams{stderr: io.Discard})
			return f.Flags, f.asked
		}, pair.Keys(), resolve, a.Plan)
		addresses = append(addresses, address[pair.Plan]{a.Reproduce().URL, a.Plan})
	})
	enough(t, valid, tried)
	inThePage(t, addresses, pair.Plan{Version: pair.PlanVersion}, pair.Keys(), resolve)
}

const exampleFile = "a,b,kind\n1,200,x\n3,4,y\n5,60,x\n7,8,y\n9,10,x\n11,12,y\n13,14,x\n15,160,y\n"

// drawFile draws a file for a design, and how it is read.
func drawFile(t *rapid.T, s source.Spec, d source.Design) (file []byte, pool *source.Pool, csv *train.CSV) {
	if d == source.TailSingular {
		pool = &source.Pool{Scale: sometimes(t, "scale", rapid.SampledFrom([]source.Scale{source.UnitNorm, source.MedianNorm})), Tail: rapid.IntRange(0, 2).Draw(t, "tail")}
	}
	if s.TakesData && rapid.Bool().Draw(t, "file given") {
		csv = &train.CSV{Label: sometimes(t, "label", rapid.SampledFrom([]string{"kind", "3"})), Scaling: sometimes(t, "scaling", rapid.SampledFrom([]string{"box", "unit"}))}
		if rapid.Bool().Draw(t, "bounds given") {
			csv.Lower, csv.Upper = rapid.Float64Range(-5, 0).Draw(t, "lower"), rapid.Float64Range(1, 300).Draw(t, "upper")
		}
		if reflect.DeepEqual(*csv, train.CSV{}) {
			csv = nil // says nothing
		}
		return []byte(exampleFile), pool, csv
	}
	return nil, pool, nil
}

// drawTrainer draws the program of a trainer, nil for another source.
func drawTrainer(t *rapid.T, s source.Spec) *source.Trainer {
	if s.Name != source.TrainerName {
		return nil
	}
	return &source.Trainer{Command: rapid.SampledFrom([]string{"python3 train.py", "sh -c 'a \"b\"'", "./it's --sigma=2 'a b'"}).Draw(t, "command")}
}

// drawCanaryClaim draws a claim; without a delta it is the default one.
func drawCanaryClaim(t *rapid.T) *audit.Claim {
	claim := audit.DPClaim(rapid.Float64Range(0.1, 8).Draw(t, "epsilon"), rapid.SampledFrom([]float64{report.DefaultDelta, 1e-3, 0}).Draw(t, "delta"))
	return &claim
}

// drawGuesses draws which of m canaries are guessed and how many.
func drawGuesses(t *rapid.T, m int) (membership.Sides, []int, []int) {
	several := func(name string) []int {
		n := sometimes(t, name, rapid.SliceOfNDistinct(rapid.IntRange(1, m/2), 1, 3, rapid.ID[int]))
		slices.Sort(n)
		return n
	}
	return sometimes(t, "sides", rapid.SampledFrom(membership.AllSides())), several("guesses"), several("gdp-guesses")
}

func TestReproduceCanaries(t *testing.T) {
	reproduces(t, "", func(t *rapid.T, s source.Spec, p *canary.Plan) {
		p.Relation, p.Design = sometimes(t, "relation", rapid.SampledFrom(s.Relations)), rapid.SampledFrom(s.Designs).Draw(t, "design")
		p.Runs, p.K, p.M = rapid.IntRange(64, 4096).Draw(t, "n"), sometimes(t, "k", rapid.IntRange(1, 8)), sometimes(t, "m", rapid.IntRange(1, 8))
		p.Explore, p.Interval = sometimes(t, "explore", rapid.IntRange(1, 4096)), sometimes(t, "interval", rapid.SampledFrom(bounds.CanaryIntervals()))
		p.Quantile = sometimes(t, "quantile", rapid.Float64Range(0, 0.49))
	}, flagsOfKind(newCanaryFlags), canary.Keys())
}

func TestReproduceOneRun(t *testing.T) {
	reproduces(t, canary.OneRun, func(t *rapid.T, s source.Spec, p *canary.Plan) {
		p.Design, p.K = rapid.SampledFrom(s.OneRunDesigns).Draw(t, "design"), rapid.IntRange(16, 400).Draw(t, "m")
		p.Sides, p.Guesses, p.GDPGuesses = drawGuesses(t, p.K)
	}, flagsOfKind(newOneRunFlags), canary.OneRunKeys())
}

// reproduces draws plans of canaries of a mode, of which draw says the rest.
func reproduces(t *testing.T, mode canary.Mode, draw func(*rapid.T, source.Spec, *canary.Plan), flags commandFlags[canary.Plan], keys []settings.Key[canary.Plan]) {
	tried, valid := 0, 0
	blank := canary.Plan{Version: canary.PlanVersion, Mode: mode}
	rapid.Check(t, func(t *rapid.T) {
		tried++
		s := rapid.SampledFrom(append(source.Sources(), source.TrainerSpec(nil))).Draw(t, "source")
		p := blank
		p.Source, p.Claim = s.Name, drawCanaryClaim(t)
		p.Beta, p.Seed = sometimes(t, "beta", rapid.Float64Range(1e-6, 0.5)), rapid.Uint64Max(audit.MaxSeed).Draw(t, "seed")
		draw(t, s, &p)
		p.Trainer = drawTrainer(t, s)
		var file []byte
		if file, p.Pool, p.CSV = drawFile(t, s, p.Design); file == nil {
			p.Parameters = drawParams(t, s.Params)
		}
		resolve := func(t must.TB, p canary.Plan) canary.Plan {
			return must.Get(p.Resolve(source.Sources(), file))(t).Plan
		}
		a, err := p.Resolve(source.Sources(), file)
		if err != nil && len(p.Parameters) > 0 { // parameters exclude each other
			p.Parameters = nil
			a, err = p.Resolve(source.Sources(), file)
		}
		if err != nil {
			return
		}
		valid++
		asksAgain(t, a.Reproduce(), blank, flags, keys, resolve, a.Plan)
	})
	enough(t, valid, tried)
}

func TestReproduceScores(t *testing.T) {
	of := func(n int, shift float64) []float64 {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		out := make([]float64, n)
		for i := range out {
			out[i] = r.NormFloat64() + shift
		}
		return out
	}
	flat := scores.Scores{In: of(150, 1), Out: of(140, 0)}
	tried, valid := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		tried++
		p := scores.Plan{Version: scores.PlanVersion, Claim: drawCanaryClaim(t), Relation: rapid.SampledFrom([]audit.Relation{audit.AddRemove, audit.Replace}).Draw(t, "relation"),
			Method: sometimes(t, "method", rapid.SampledFrom(scores.FlatMethods())), Beta: sometimes(t, "beta", rapid.Float64Range(1e-3, 0.5)), Seed: rapid.Uint64Max(audit.MaxSeed).Draw(t, "seed")}
		p.Sides, p.Guesses, p.GDPGuesses = drawGuesses(t, 100)
		r, err := scores.Run(p, flat, audit.Generator{})
		if err != nil {
			return
		}
		valid++
		asksAgain(t, r.Reproduce, scores.Plan{Version: scores.PlanVersion}, flagsOfKind(newScoreFlags), scores.Keys(), func(t must.TB, p scores.Plan) scores.Plan {
			return must.Get(scores.Run(p, flat, audit.Generator{}))(t).Plan
		}, r.Plan)
	})
	enough(t, valid, tried)
}

// Flags that tables in the documents name are there.
func TestDocumentedFlags(t *testing.T) {
	known := map[string]bool{}
	for _, set := range []*cli.Flags{newAuditFlags(streams{stderr: io.Discard}).Flags, newCanaryFlags(streams{stderr: io.Discard}).Flags,
		newOneRunFlags(streams{stderr: io.Discard}).Flags, newScoreFlags(streams{stderr: io.Discard}).Flags} {
		set.VisitAll(func(f *flag.Flag) { known[f.Name] = true })
	}
	named := 0
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			cell, isRow := strings.CutPrefix(line, "| `-")
			if !isRow {
				continue
			}
			named++
			name := cell[:strings.IndexAny(cell, " `")]
			if !known[name] {
				t.Errorf("%s: -%s is no flag", path, name)
			}
		}
		return nil
	})
	if err != nil || named < 5 {
		t.Errorf("%d flags in tables: %v", named, err)
	}
}

func TestReproduceAccount(t *testing.T) {
	keys := accounting.Keys()
	// The page asks with the defaults that it shows, of what the kind takes.
	shown := func(t must.TB, q accounting.Query) accounting.Query {
		fields := q.Mechanism.Fields()
		texts := settings.Texts{}
		for i, k := range settings.Describe(keys) {
			if given := settings.Written(keys[i:i+1], q, accounting.Query{}); len(given) > 0 {
				texts[k.Name] = given[0].Value
			} else if slices.Contains(fields, k.Fields[0][1:]) && k.Form.Empty != "" {
				texts[k.Name] = k.Form.Empty
			}
		}
		must.Do(t, settings.Read(keys, texts, &q))
		return q
	}
	var addresses []address[accounting.Query]
	rapid.Check(t, func(t *rapid.T) {
		q := accounting.Query{Mechanism: rapid.SampledFrom(accounting.Kinds()).Draw(t, "kind")}
		at := map[string]**float64{"sigma": &q.Sigma, "scale": &q.Scale, "p": &q.P, "epsilon": &q.Epsilon,
			"stepDelta": &q.StepDelta, "alpha": &q.Alpha, "rho": &q.Rho, "mu": &q.Mu, "sensitivity": &q.Sensitivity, "rate": &q.Rate, "delta": &q.Delta, "atEpsilon": &q.AtEpsilon, "targetEpsilon": &q.TargetEpsilon}
		for _, name := range slices.Concat(q.Mechanism.Parameters(), q.Mechanism.Options(), []string{"delta", "atEpsilon"}) {
			*at[name] = sometimes(t, name, rapid.Ptr(rapid.Float64Range(1e-40, 1e40), false))
		}
		q.Steps, q.Group = sometimes(t, "steps", rapid.Ptr(rapid.IntRange(1, accounting.MaxSteps), false)), sometimes(t, "group", rapid.Ptr(rapid.IntRange(1, accounting.MaxGroup), false))
		q.With = sometimes(t, "with", rapid.SampledFrom([]string{"laplace scale=2 steps=3", "pure epsilon=0.1; zcdp rho=0.5"}))
		q.Event, q.Odds = sometimes(t, "event", rapid.SliceOfN(rapid.Float64Range(1e-9, 0.9), 1, 3)), sometimes(t, "odds", rapid.SliceOfN(rapid.Float64Range(1.1, 1e6), 1, 3))
		var fragment strings.Builder
		fragment.WriteString("#v=1&account=" + string(q.Mechanism))
		for i, k := range settings.Describe(keys) {
			if given := settings.Written(keys[i:i+1], q, accounting.Query{}); k.Form != nil && len(given) > 0 {
				fragment.WriteString("&a." + k.Fields[0][1:] + "=" + url.QueryEscape(given[0].Value))
			}
		}
		addresses = append(addresses, address[accounting.Query]{fragment.String(), shown(t, q)})
		q.Profile = rapid.Bool().Draw(t, "profile")
		q.Orders = sometimes(t, "orders", rapid.SliceOfN(rapid.Float64Range(1, 1e6), 1, 4))
		asksAgain(t, audit.Reproduce{CLI: q.Command()}, accounting.Query{}, func() (*cli.Flags, cli.Asked[accounting.Query]) {
			f := cli.NewFlags("dpscope account", io.Discard)
			return f, cli.Settings(f, accounting.Keys())
		}, keys, func(_ must.TB, q accounting.Query) accounting.Query { return q }, q)
	})
	inThePage(t, addresses, accounting.Query{}, keys, shown)
}
