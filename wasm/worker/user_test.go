package main

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
)

// asks makes a sandbox of what answers its questions, in a language with an interpreter
// that is there at once.
func answering(ask func(question, time.Duration) (answered, bool)) sandbox {
	return sandbox{ask, func(time.Duration) (string, bool) { return "Snake 1.2.3", true }}
}

// noisyCount is a sandbox that counts rows, with Laplace noise from the seed.
func noisyCount(q question, _ time.Duration) (answered, bool) {
	rows := make([]float64, q.n)
	stream.New(stream.Key{Seed: q.seed}).Laplace(rows, 1)
	for i := range rows {
		rows[i] += float64(q.dataset.Len())
	}
	return answered{width: 1, rows: rows}, true
}

// A mechanism from the sandbox is one of the catalogue; every worker sees the
// same one, though only the coordinator tries it.
func TestBrought(t *testing.T) {
	request := mustJSON(userRequest{Kind: audit.UserScript, Name: "mechanism.js", Code: "code", Settings: settings.Texts{"domain": "0:1", "rows": "0:3"}})
	for _, tried := range []bool{false, true} {
		cat := addUser(audit.Catalogue{}, request, answering(noisyCount), tried)
		spec := must.Get(cat.Mechanism("javascript"))(t)
		b := spec.User
		if b.Code != "code" || b.SHA256 != "5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b" || len(b.Columns) != 1 || b.Datasets.MaxRows != 3 || b.Unseeded != "" {
			t.Errorf("%+v", b)
		}
		m := must.Get(spec.New(nil))(t)
		got := make([]float64, 100)
		s := stream.New(stream.Key{Seed: 5})
		must.Do(t, m.Sample(audit.Records(1, 1), s, got))
		a, _ := noisyCount(question{dataset: audit.Records(1, 1), n: 100, seed: stream.New(stream.Key{Seed: 5}).Uint64() >> 11}, 0)
		if !slices.Equal(got, a.rows) {
			t.Fatal("other outputs than those for the stream's seed")
		}
	}
}

// The first question brings the module to the sandbox.
func TestBroughtModule(t *testing.T) {
	count, err := os.ReadFile("../../docs/examples/abi/count.wasm")
	if err != nil {
		t.Skip("in Node, away from the files")
	}
	var asked []question
	addUser(audit.Catalogue{}, mustJSON(userRequest{Kind: audit.UserModule, Name: "count.wasm", Module: count}), answering(func(q question, within time.Duration) (answered, bool) {
		asked = append(asked, q)
		return noisyCount(q, within)
	}), false)
	for i, q := range asked {
		if i == 0 && !bytes.Equal(q.module, count) || i > 0 && q.module != nil {
			t.Errorf("question %d brings %x", i, q.module)
		}
	}
	if len(asked) < 2 {
		t.Error("nothing was asked")
	}
}

func TestBroughtRefuses(t *testing.T) {
	fixed := func(a answered, ok bool) func(question, time.Duration) (answered, bool) {
		return func(q question, _ time.Duration) (answered, bool) {
			if a.rows == nil && a.fault == "" {
				a.rows = make([]float64, q.n*a.width)
			}
			return a, ok
		}
	}
	count, err := os.ReadFile("../../docs/examples/abi/count.wasm")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	script := userRequest{Kind: audit.UserScript, Name: "mechanism.js"}
	for name, c := range map[string]struct {
		request userRequest
		ask     func(question, time.Duration) (answered, bool)
		says    string
	}{
		"silence": {script, fixed(answered{}, false), "still running after 2s"},
		"fault":   {script, fixed(answered{fault: "TypeError: x is not a function", line: 3}, true), "mechanism.js is stopped at line 3: TypeError: x is not a function, on the dataset with no rows"},
		"no rows": {script, func(q question, _ time.Duration) (answered, bool) {
			return map[bool]answered{true: {fault: "output 1 is nan"}, false: {width: 1, rows: make([]float64, q.n)}}[q.dataset.Len() == 0], true
		}, `on the dataset with no rows; return a number there too, or let "Rows in a dataset" begin with 1, as 1:5`},
		"too few":       {script, fixed(answered{width: 1, rows: []float64{}}, true), "giving 1 outputs of 1 numbers, 0 in all"},
		"no width":      {script, fixed(answered{rows: []float64{1}}, true), "of 0 numbers"},
		"wide":          {script, fixed(answered{width: 1001}, true), "must be in [1, 1000]"},
		"domain":        {userRequest{Kind: audit.UserScript, Settings: settings.Texts{"domain": "1"}}, noisyCount, "domain is"},
		"imports":       {userRequest{Kind: audit.UserModule, Name: "count.wasm", Module: count}, fixed(answered{imports: []string{"wasi_snapshot_preview1.random_get"}}, true), "count.wasm: imports is wasi_snapshot_preview1.random_get, must be none"},
		"invalid":       {userRequest{Kind: audit.UserModule, Name: "count.wasm", Module: count}, fixed(answered{invalid: "export sample is missing"}, true), "count.wasm is refused: export sample is missing, must be a module as docs/abi.md describes it"},
		"kind":          {userRequest{Kind: audit.UserCommand}, noisyCount, "kind is"},
		"no module":     {userRequest{Kind: audit.UserModule, Name: "m.wasm", Module: []byte("text")}, noisyCount, "m.wasm is of another format"},
		"output":        {userRequest{Kind: audit.UserScript, Name: "mechanism.js", Output: audit.Mixed}, noisyCount, "real or symbol"},
		"other column":  {userRequest{Kind: audit.UserScript, Name: "mechanism.js", Kinds: map[string]audit.ColumnKind{"c2": audit.Real}}, noisyCount, "1, of which 0 are there, must be of c1 to c1"},
		"another":       {userRequest{Kind: audit.UserModule, Name: "count.wasm", Module: count, SHA256: "00"}, noisyCount, "another one, with SHA-256 ec735161"},
		"module faults": {userRequest{Kind: audit.UserModule, Name: "count.wasm", Module: count}, fixed(answered{fault: "sample is ended by a trap"}, true), "count.wasm is stopped: sample is ended by a trap, on the dataset"},
		"another width": {script, func(q question, _ time.Duration) (answered, bool) {
			w := min(q.n, 2)
			return answered{width: w, rows: make([]float64, q.n*w)}, true
		}, "giving 200 outputs of 2 numbers"},
	} {
		if c.request.Kind == audit.UserModule && strings.HasPrefix(c.request.Name, "count") && count == nil {
			continue // in Node, away from the files
		}
		cat := addUser(audit.Catalogue{}, mustJSON(c.request), answering(c.ask), false)
		cat.Listing() // knows how to list it all the same
		_, err := pair.Plan{Version: pair.PlanVersion, Mechanism: string(c.request.Kind), Claim: &audit.Claim{Epsilon: 1}}.Resolve(cat)
		if !audit.IsInput(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v\nwant %q", name, err, c.says)
		}
	}
	spec, err := addUser(audit.Catalogue{}, `{"kind": "javascript", "colour": 1}`, answering(noisyCount), false).Mechanism("javascript")
	if err == nil {
		_, err = spec.New(nil)
	}
	if err == nil || !strings.Contains(err.Error(), "colour") {
		t.Error(err)
	}
}

// A report of Python names the interpreter. One that does not start is told from code
// that does not end.
func TestBroughtPython(t *testing.T) {
	request := mustJSON(userRequest{Kind: audit.UserPython, Name: "mechanism.py", Code: "def mechanism(rows, random): ..."})
	spec := must.Get(addUser(audit.Catalogue{}, request, answering(noisyCount), false).Mechanism("python"))(t)
	if b := spec.User; b.Runtime != "Snake 1.2.3" || b.Kind != "python" || b.Code == "" || !strings.Contains(b.Words(), "mechanism.py, run by Snake 1.2.3") {
		t.Errorf("%+v: %s", b, b.Words())
	}
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: "python", Claim: &audit.Claim{Epsilon: 1}}
	for says, s := range map[string]sandbox{
		"without Python after 1m0s": {noisyCount, func(time.Duration) (string, bool) { return "", false }},
		"still running after 2s":    answering(func(question, time.Duration) (answered, bool) { return answered{}, false }),
	} {
		_, err := plan.Resolve(addUser(audit.Catalogue{}, request, s, false))
		must.Refuse(t, err, says)
		if r := refusalOf(err); r.Late != (says == "still running after 2s") || r.Late && r.Said != "No output after 2 s." {
			t.Errorf("%+v", r)
		}
	}
}
