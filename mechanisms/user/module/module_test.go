//go:build !js

package module

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	pool "github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// Programs that run modules for the tests.
var (
	self  = []string{os.Args[0], "host"}
	small = []string{os.Args[0], "small-host"} // with little memory
)

func TestMain(m *testing.M) {
	switch {
	case slices.Equal(os.Args[1:], self[1:]):
		os.Exit(Host(os.Stdin, os.Stdout))
	case slices.Equal(os.Args[1:], small[1:]):
		os.Exit(hostWithin(100<<20, os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

const examples = "../../../docs/examples/abi"

func space(t testing.TB) audit.Space {
	return must.Get(audit.ParseSpace("", "", "", false, 0))(t)
}

func open(t testing.TB, name string, data []byte, o Options) *Module {
	t.Helper()
	o.Space = space(t)
	o.Host = self
	if o.Patience == 0 {
		o.Patience = time.Minute // a machine with much to do is not an endless loop
	}
	m := must.Get(Open(t.Context(), name, data, o))(t)
	t.Cleanup(m.Close)
	return m
}

// compiled does in this process what a host does.
func compiled(data []byte) (*engine, error) {
	if err := Check("m.wasm", data); err != nil {
		return nil, err
	}
	return compile("m.wasm", data, time.Second)
}

func example(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join(examples, name)))(t)
}

// slowCount is what the examples compute.
func slowCount(rows int, seed uint64, out []float64) {
	uniform := func() float64 {
		seed += 0x9E3779B97F4A7C15
		z := (seed ^ seed>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		return float64((z^z>>31)>>11) * 0x1p-53
	}
	geometric := func() (k float64) {
		for uniform() < 0.36787944117144233 {
			k++
		}
		return k
	}
	for i := range out {
		more := geometric()
		out[i] = float64(rows) + more - geometric()
	}
}

func requireCount(t *testing.T, m *Module) {
	t.Helper()
	for _, rows := range []int{0, 1, 5, 20_000} { // 20 000 rows make the memory grow
		for _, seed := range []uint64{0, 1, 1<<53 - 1} {
			got, want := make([]float64, pair.BlockRows), make([]float64, pair.BlockRows)
			must.Do(t, m.call(audit.Records(make([]float64, rows)...), seed, got))
			slowCount(rows, seed, want)
			if !slices.Equal(got, want) {
				t.Errorf("%d rows, seed %d: other outputs", rows, seed)
			}
		}
	}
}

// The committed modules give the outputs of their definition.
func TestExamples(t *testing.T) {
	for _, name := range []string{"count.wasm", "count-c.wasm"} {
		requireCount(t, open(t, name, example(t, name), Options{}))
	}
}

// The sources of the examples give them too, where their compilers are.
func TestExamplesCompiled(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		source string
		needs  []string
		args   []string
		same   string // committed module that it is, byte for byte, or ""
	}{
		{"count.wat", []string{"wat2wasm"}, nil, "count.wasm"},
		{"count.c", []string{"clang", "wasm-ld"}, []string{"--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", "-Wl,--strip-all"}, ""},
		{"count.rs", []string{"rustc"}, []string{"--target", "wasm32-unknown-unknown", "--crate-type", "cdylib", "-C", "opt-level=2", "-C", "panic=abort", "-C", "strip=symbols"}, ""},
	} {
		t.Run(c.source, func(t *testing.T) {
			for _, need := range c.needs {
				must.Have(t, need)
			}
			source := must.Get(filepath.Abs(filepath.Join(examples, c.source)))(t)
			out := filepath.Join(dir, c.source+".wasm")
			cmd := exec.Command(c.needs[0], append(c.args, "-o", out, source)...)
			cmd.Dir = dir
			if said, err := cmd.CombinedOutput(); err != nil {
				if strings.Contains(string(said), "target may not be installed") {
					t.Skip("the compiler does not know the target")
				}
				t.Fatalf("%v\n%s", err, said)
			}
			data := must.Get(os.ReadFile(out))(t)
			if c.same != "" && !slices.Equal(data, example(t, c.same)) {
				t.Errorf("%s is not what %s makes of %s", c.same, c.needs[0], c.source)
			}
			requireCount(t, open(t, c.source, data, Options{}))
		})
	}
}

// TestAudit: a count with geometric noise of parameter 1 is not flagged at 1, with
// a bound of at least 0.9, and is at 0.5. The bound's confidence is 1 - 1e-6, so
// a false alarm is as rare; it replays, on another number of workers.
func TestAudit(t *testing.T) {
	m := open(t, "count.wasm", example(t, "count.wasm"), Options{})
	spec := m.UserMechanism().Spec(m)
	if spec.Unseeded != "" || spec.User.SHA256 == "" || spec.User.Kind != audit.UserModule {
		t.Errorf("%+v", spec.User)
	}
	cat := audit.Catalogue{Mechanisms: []audit.MechanismSpec{spec}, Learners: estimators.Registry(), Finders: finders.Registry()}
	for _, c := range []struct {
		epsilon float64
		want    audit.Verdict
	}{{1, audit.NoViolation}, {0.5, audit.Violation}} {
		r := must.Get(pair.Run{Plan: pair.Plan{Version: pair.PlanVersion, Mechanism: "webassembly", Claim: &audit.Claim{Epsilon: c.epsilon}, Samples: 60_000, Explore: 10_000, Trials: 2, Beta: 1e-6, Seed: 5, Mode: pair.Fixed},
			Catalogue: cat, Pool: pool.LocalPool(2), Generator: audit.Generator{Version: audit.Version}}.Do(context.Background()))(t)
		if r.Verdict != c.want || *r.Rows(report.Bounds)[0].LowerBound < 0.9 {
			t.Errorf("claim %v: %s", c.epsilon, r.Summary)
		}
		if want := "-wasm count.wasm -domain 0:1 -rows 0:5"; !strings.Contains(r.Reproduce.CLI, want) {
			t.Errorf("%s does not contain %s", r.Reproduce.CLI, want)
		}
		v, err := pair.Verify(context.Background(), cat, pool.LocalPool(1), r, true)
		if err != nil || !v.OK() || v.Recomputed {
			t.Errorf("%v %+v", err, v)
		}
	}
}

// Whatever an instance keeps from one call is gone at the next.
func TestFreshInstances(t *testing.T) {
	// sample adds 1 to the number at address 8 and gives it back.
	a := plain().with("sample", 0x41, 8, 0x41, 8, 0x2b, 3, 0, 0x44, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0xa0, 0x39, 3, 0,
		0x20, 5, 0x41, 8, 0x2b, 3, 0, 0x39, 3, 0, 0x41, 0)
	m := open(t, "state.wasm", a.bytes(), Options{})
	for range 3 {
		out := []float64{0}
		if err := m.call(audit.Records(), 1, out); err != nil || out[0] != 1 {
			t.Fatalf("%v %v", out, err)
		}
	}
	// The reactor's entry is called, once.
	a.parts[initialize] = part{functype{}, code(0x41, 8, 0x44, 0, 0, 0, 0, 0, 0, 0x14, 0x40, 0x39, 3, 0)}
	out := []float64{0}
	if err := open(t, "reactor.wasm", a.bytes(), Options{}).call(audit.Records(), 1, out); err != nil || out[0] != 6 {
		t.Errorf("after _initialize: %v %v", out, err)
	}
}

func TestBadModules(t *testing.T) {
	loop := code(0x03, 0x40, 0x0c, 0, 0x0b, 0) // loop br 0 end unreachable
	good := plain().bytes()
	for _, c := range []struct {
		name string
		data []byte
		says []string
	}{
		{"plain", good, nil},
		// More than browsers take, and no burden here.
		{"many locals", changed(func(a *assembly) {
			a.locals = map[string][]byte{"sample": slices.Concat(code(2), many(50_000), code(0x7f, 1, 0x7e))}
		}), nil},
		{"many parameters", changed(func(a *assembly) { a.parts["many"] = part{functype{strings.Repeat(i32, 1001), ""}, nil} }), nil},
		{"many tables", changed(func(a *assembly) { a.tables = append(code(9), bytes.Repeat(code(0x70, 0, 1), 9)...) }), nil},
		{"empty", nil, []string{"is empty"}},
		{"text", []byte("(module)"), []string{"wat2wasm"}},
		{"other", []byte("PK\x03\x04"), []string{"\\0asm"}},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), []string{"version 1", "components"}},
		{"too large", append(slices.Clone(good), make([]byte, MostBytes)...), []string{"at most 16777216"}},
		{"truncated", good[:len(good)/2], []string{"not valid", "EOF"}},
		{"invalid code", plain().with("sample").bytes(), []string{"not valid"}},
		{"no sample", changed(func(a *assembly) { a.renamed = map[string]string{"sample": "Sample"} }), []string{"export sample is missing", "it exports Sample, alloc, memory, width"}},
		{"no memory", changed(func(a *assembly) { a.renamed = map[string]string{"memory": "mem"} }), []string{"export memory is missing"}},
		{"other seed", changed(func(a *assembly) {
			a.parts["sample"] = part{functype{i32 + i32 + i32 + i32 + i32 + i32, i32}, code(0x41, 0)}
		}),
			[]string{"(i32, i32, i32, i32, i32, i32) -> (i32)", "must be a function (i64, i32, i32, i32, i32, i32) -> (i32)"}},
		{"WASI", changed(func(a *assembly) { a.imports = imported("wasi_snapshot_preview1", "random_get") }), []string{"imports is wasi_snapshot_preview1.random_get", "must be none", "without WASI"}},
		{"bindgen", changed(func(a *assembly) { a.imports = imported("wbg", "__wbg_log") }), []string{"without wasm-bindgen"}},
		{"Go", changed(func(a *assembly) { a.imports = imported("gojs", "runtime.wasmExit") }), []string{"-exec"}},
		{"memory import", changed(func(a *assembly) {
			a.memory = nil
			a.imports = slices.Concat(code(1), vector([]byte("env")), vector([]byte("memory")), code(kindMemory, 0, 1))
		}), []string{"env.memory", "--import-memory"}},
		{"table import", changed(func(a *assembly) {
			a.imports = slices.Concat(code(1), vector([]byte("env")), vector([]byte("table")), code(1, 0x70, 0, 1))
		}), []string{"its start is not possible: module[env] not instantiated", "link what it needs"}},
		{"global import", changed(func(a *assembly) {
			a.imports = slices.Concat(code(1), vector([]byte("env")), vector([]byte("g")), code(kindGlobal, 0x7f, 0))
		}), []string{"its start is not possible: module[env] not instantiated", "link what it needs"}},
		{"memory of another name", changed(func(a *assembly) { a.renamed = map[string]string{"memory": "alloc2", "width": "memory"} }), []string{"export memory is missing"}},
		{"_initialize of another type", changed(func(a *assembly) { a.parts[initialize] = part{functype{i32, ""}, nil} }), []string{"export _initialize is a function (i32) -> (), must be a function () -> ()"}},
		{"shared memory", changed(func(a *assembly) { a.memory = code(3, 1, 2) }), []string{"shared"}},
		{"much memory", changed(func(a *assembly) { a.memory = code(0, 0x81, 0x20) }), []string{"4097 pages", "at most 4096"}},
		{"trap", plain().with("sample", 0).bytes(), []string{"sample is ended by a trap: unreachable"}},
		{"trap at the start", changed(func(a *assembly) { a.parts["go"] = part{functype{}, code(0)}; a.start = "go" }), []string{"its start is ended by a trap"}},
		{"loop", plain().with("sample", loop...).bytes(), []string{"sample is still running after 200ms", "endless loop"}},
		{"loop at the start", changed(func(a *assembly) { a.parts["go"] = part{functype{}, code(0x03, 0x40, 0x0c, 0, 0x0b)}; a.start = "go" }), []string{"its start is still running"}},
		{"loop in width", plain().with("width", loop...).bytes(), []string{"width is still running"}},
		{"loop in alloc", plain().with("alloc", loop...).bytes(), []string{"alloc is still running"}},
		{"recursion", plain().with("sample", 0x20, 0, 0x20, 1, 0x20, 2, 0x20, 3, 0x20, 4, 0x20, 5, 0x10, 1).bytes(), []string{"sample is ended by a trap: stack overflow"}},
		{"no numbers", plain().with("width", 0x41, 0).bytes(), []string{"numbers of one output is 0"}},
		{"many numbers", plain().with("width", 0x41, 0xe9, 0x07).bytes(), []string{"is 1001, must be in [1, 1000]"}},
		{"negative", plain().with("width", 0x41, 0x7f).bytes(), []string{"is -1"}},
		{"null", plain().with("alloc", 0x41, 0).bytes(), []string{"alloc is the address 0"}},
		{"odd", plain().with("alloc", 0x41, 9).bytes(), []string{"the address 9", "multiple of 8"}},
		{"outside", plain().with("alloc", 0x41, 0x80, 0x80, 0x04).bytes(), []string{"the address 65536 for", "in a memory of 65536"}},
		{"the same twice", plain().with("alloc", 0x41, 8).bytes(), []string{"the address 8 for", "apart from"}},
		{"error code", plain().with("sample", 0x41, 7).bytes(), []string{"sample is the error code 7", "domain"}},
		{"negative error code", plain().with("sample", 0x41, 0x7f).bytes(), []string{"sample is the error code -1", "domain"}},
		// The seed, n times.
		{"repeats one", plain().with("sample", 0x03, 0x40, 0x20, 5, 0x20, 0, 0xb9, 0x39, 3, 0, 0x20, 5, 0x41, 8, 0x6a, 0x21, 5,
			0x20, 4, 0x41, 1, 0x6b, 0x22, 4, 0x0d, 0, 0x0b, 0x41, 0).bytes(), []string{"one output, repeated", "new noise for each"}},
		// The number of the output instead of a random one: 200 different ones, the same for every seed.
		{"ignores its seed", plain().with("sample", 0x03, 0x40, 0x20, 5, 0x20, 4, 0xb7, 0x39, 3, 0, 0x20, 5, 0x41, 8, 0x6a, 0x21, 5,
			0x20, 4, 0x41, 1, 0x6b, 0x22, 4, 0x0d, 0, 0x0b, 0x41, 0).bytes(), []string{"outputs for two seeds is the same", "ignores its seed"}},
	} {
		o := Options{Host: self, Space: space(t)}
		if strings.HasPrefix(c.name, "loop") {
			o.Patience = 200 * time.Millisecond
		}
		m, err := Open(t.Context(), "m.wasm", c.data, o)
		if err == nil {
			m.Close()
		}
		if c.says == nil {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if !audit.IsInput(err) {
			t.Errorf("%s: %v is no fault of the input", c.name, err)
			continue
		}
		for _, want := range c.says {
			must.Refuse(t, err, want, c.name)
		}
	}
}

func TestAnotherModule(t *testing.T) {
	must.Input(t, must.Err(Open(t.Context(), "m.wasm", plain().bytes(), Options{Host: self, Space: space(t), SHA256: strings.Repeat("0", 64)})), "another module")
}

func TestKinds(t *testing.T) {
	m := open(t, "count.wasm", example(t, "count.wasm"), Options{Kinds: map[string]audit.ColumnKind{"c1": audit.Symbol}})
	if m.Columns()[0].Kind != audit.Symbol {
		t.Error(m.Columns())
	}
	for name, kind := range map[string]audit.ColumnKind{"c2": audit.Real, "c1": audit.Mixed} {
		must.Input(t, must.Err(Open(t.Context(), "count.wasm", example(t, "count.wasm"), Options{Host: self, Space: space(t), Kinds: map[string]audit.ColumnKind{name: kind}})), "", name, kind)
	}
}

// What is cut off anywhere is an error, never a panic. In their own processes, so is what is
// changed anywhere.
func TestBroken(t *testing.T) {
	whole := example(t, "count.wasm")
	for n := range whole {
		must.Input(t, must.Err(compiled(whole[:n])), "", n, "bytes of a module")
	}
	for i := 0; i < len(whole); i += testsize.Of(17, 1) {
		changed := slices.Clone(whole)
		changed[i] ^= 0x81
		m, err := Open(t.Context(), "m.wasm", changed, Options{Host: self, Space: space(t), Patience: time.Second})
		if err == nil {
			m.Close()
		} else if !audit.IsInput(err) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
}
