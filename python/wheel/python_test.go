package main

import (
	"bytes"
	"cmp"
	"compress/flate"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/child"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

// python is a Python 3 with these modules; without one the test is skipped, and says what
// is missing.
func python(t testing.TB, modules ...string) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil && exec.Command(path, "-c", "import "+strings.Join(modules, ", ")).Run() == nil {
			return path
		}
	}
	t.Skipf("there is no python3 with the modules %s: on Debian, apt-get install python3-venv python3-pip python3-numpy python3-pytest python3-hypothesis mypy", strings.Join(modules, ", "))
	return ""
}

// binary builds dpscope for this machine.
func binary(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "dpscope"+map[bool]string{true: ".exe"}[runtime.GOOS == "windows"])
	if out, err := child.Go(t, "build", "-o", file, "./cmd/dpscope").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// environment installs the wheel into a fresh virtual environment, without a network, and
// returns its Python.
func environment(t *testing.T, python string) string {
	t.Helper()
	data := must.Get(os.ReadFile(binary(t)))(t)
	chosen, err := choose(runtime.GOOS + "/" + runtime.GOARCH)
	if err != nil {
		t.Skip(err)
	}
	child.Reads(t, "../src", "../tests")
	w := must.Get(wheel(os.DirFS("../src"), nil, chosen[0], data, flate.NoCompression))(t)
	dir := t.TempDir()
	file, venv := filepath.Join(dir, chosen[0].name()), filepath.Join(dir, "venv")
	must.Do(t, os.WriteFile(file, w, 0o644))
	inside := filepath.Join(venv, "bin", "python")
	if runtime.GOOS == "windows" {
		inside = filepath.Join(venv, "Scripts", "python.exe")
	}
	for _, args := range [][]string{
		{python, "-m", "venv", "--system-site-packages", "--without-pip", venv},
		{inside, "-m", "pip", "install", "-q", "--no-index", "--no-compile", file},
	} {
		c := exec.Command(args[0], args[1:]...)
		c.Env = clean()
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return inside
}

// clean is the environment without what points to another package or binary.
func clean() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PYTHONPATH=") && !strings.HasPrefix(v, "DPSCOPE_BINARY=") {
			env = append(env, v)
		}
	}
	return env
}

// From a fresh environment, the examples of the README and the tutorial print what these
// pages say. What they took is logged: the README's is to be less than two seconds by the
// clock of a quiet machine of two cores.
func TestReadmePython(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary")
	}
	inside := environment(t, python(t, "numpy", "venv", "pip"))
	for _, page := range []string{"../../README.md", "../../docs/tutorial.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		block := regexp.MustCompile("(?s)```python\n(import dpscope.*?)```\n\n```text\n(.*?)```").FindSubmatch(text)
		if block == nil {
			t.Fatalf("%s has no example that begins with import dpscope, and what it prints", page)
		}
		file := filepath.Join(t.TempDir(), "example.py")
		if err := os.WriteFile(file, block[1], 0o644); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(inside, file)
		c.Env = clean()
		var stderr bytes.Buffer
		c.Stderr = &stderr
		begun := time.Now()
		out, err := c.Output()
		if err != nil || !bytes.Equal(out, block[2]) {
			t.Fatalf("the example of %s printed %q (%v)\n%s", page, out, err, stderr.String())
		}
		used := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		t.Logf("%s: %v of processor time, %v by the clock", page, used.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond))
	}
}

// every is a program for every minor version of Python from 3.9 on that is on the path or
// among those of pyenv, by version.
func every() map[string]string {
	found := map[string]string{}
	for minor := 9; minor < 20; minor++ {
		version := fmt.Sprintf("3.%d", minor)
		if path, err := exec.LookPath("python" + version); err == nil {
			found[version] = path
		}
		root := cmp.Or(os.Getenv("PYENV_ROOT"), filepath.Join(os.Getenv("HOME"), ".pyenv"))
		if own, _ := filepath.Glob(filepath.Join(root, "versions", version+".*", "bin", "python3")); len(own) > 0 {
			found[version] = own[len(own)-1]
		}
	}
	for version, path := range found { // a shim of pyenv need not lead anywhere
		if exec.Command(path, "-c", "import venv, pip").Run() != nil {
			delete(found, version)
		}
	}
	return found
}

// The wheel is installed into every Python that is there, and finds a violation without
// numpy; a wheel of another platform is refused by pip.
func TestPythonVersions(t *testing.T) {
	testsize.Long(t)
	code := `
import sys

sys.modules["numpy"] = None  # where it is there, it is not to be found
import dpscope
import dpscope.exporters.dp_accounting, dpscope.exporters.jax_privacy, dpscope.exporters.opacus

def count(dataset, n, rng):
    return [len(dataset) + rng.expovariate(2) - rng.expovariate(2) for _ in range(n)]

result = dpscope.audit(count, epsilon=1, samples=5000, trials=3, progress=False)
print(result.violation, f"{result.bound:.2f}", bool(result.verify()))
`
	versions := every()
	if len(versions) == 0 {
		t.Skip("there is no Python from 3.9 on with venv and pip")
	}
	t.Logf("Python %v", slices.Sorted(maps.Keys(versions)))
	for version, path := range versions {
		t.Run(version, func(t *testing.T) {
			inside := environment(t, path)
			c := exec.Command(inside, "-W", "error", "-c", code)
			c.Env = clean()
			if out, err := c.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "True 1.9") || !strings.HasSuffix(string(out), " True\n") {
				t.Errorf("%v: %s", err, out)
			}
			other := platforms[slices.IndexFunc(platforms, func(p platform) bool { return p.goos != runtime.GOOS })]
			child.Reads(t, "../src", "../tests")
			w := must.Get(wheel(os.DirFS("../src"), nil, other, nil, flate.NoCompression))(t)
			file := filepath.Join(t.TempDir(), other.name())
			must.Do(t, os.WriteFile(file, w, 0o644))
			c = exec.Command(inside, "-m", "pip", "install", "-q", "--no-index", "--force-reinstall", file)
			c.Env = clean()
			if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "is not a supported wheel on this platform") {
				t.Errorf("a wheel for %s: %v: %s", other.goos, err, out)
			}
		})
	}
}

// The sources keep to the syntax of Python 3.9.
func TestSyntax(t *testing.T) {
	code := `
import ast, pathlib
files = sorted(pathlib.Path("../src").rglob("*.py"))
for f in files:
    ast.parse(f.read_text(), str(f), feature_version=(3, 9))
print(len(files))
try:
    ast.parse("match 1:\n case 1: pass", feature_version=(3, 9))
except SyntaxError:
    print("refused")
`
	out, err := exec.Command(python(t, "ast"), "-c", code).CombinedOutput()
	if err != nil || !regexp.MustCompile(`^\d\d\nrefused\n$`).Match(out) {
		t.Errorf("%v: %s", err, out)
	}
}

// The package's own tests, a sample project of pytest among them, on the installed wheel;
// and its types.
func TestPython(t *testing.T) {
	testsize.Long(t)
	inside := environment(t, python(t, "numpy", "venv", "pip", "pytest", "hypothesis"))
	tests := must.Get(filepath.Abs("../tests"))(t)
	c := exec.Command(inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests)
	c.Env, c.Dir = append(clean(), "PYTHONPATH="+tests, "PYTHONDONTWRITEBYTECODE=1"), t.TempDir()
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	mypy := must.Have(t, "mypy")
	c = exec.Command(mypy, "--cache-dir="+t.TempDir())
	c.Dir = ".."
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// BenchmarkOutputs measures a numpy mechanism of one column, in frames and in lines of
// JSON as a program prints them by json.dumps.
func BenchmarkOutputs(b *testing.B) {
	py := python(b, "numpy")
	src := must.Get(filepath.Abs("../src"))(b)
	b.Setenv("PYTHONPATH", src)
	file := filepath.Join(b.TempDir(), "mechanism.py")
	code := `
import json, sys
import numpy as np

def count(dataset, n, rng):
    return len(dataset) + rng.laplace(size=n)

if __name__ == "__main__":
    for line in sys.stdin:
        q = json.loads(line)
        rng = np.random.default_rng(q["seed"])
        print(json.dumps({"outputs": count(q["dataset"], q["n"], rng).tolist()}), flush=True)
`
	must.Do(b, os.WriteFile(file, []byte(code), 0o644))
	space := must.Get(audit.ParseSpace("", "", "", false, 0))(b)
	for _, way := range []struct{ name, command string }{
		{"frames", py + " -m dpscope '" + file + ":count'"},
		{"lines", py + " '" + file + "'"},
	} {
		b.Run(way.name, func(b *testing.B) {
			p := must.Get(command.Open(b.Context(), command.Options{Command: way.command, Space: space}))(b)
			defer p.Close()
			out, s := make([]float64, 4096), stream.New(stream.Key{Seed: 1})
			b.ResetTimer()
			for range b.N {
				must.Do(b, p.Sample(audit.Records(1, 0), s, out))
			}
			b.ReportMetric(float64(b.N)*float64(len(out))/b.Elapsed().Seconds(), "outputs/s")
		})
	}
}
