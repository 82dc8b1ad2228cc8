package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// notebookCells are what the notebook runs: a result, the instrument, and the instrument
// as what a slider of ipywidgets redraws.
var notebookCells = []string{
	`import dpscope

def half(dataset, n, rng):
    return len(dataset) + rng.laplace(scale=0.5, size=n)

dpscope.audit(half, epsilon=1, samples=5000, trials=3)`,
	`dpscope.Instrument("svt4", epsilon=1, samples=20000, trials=2, seed=42, autorun=True)`,
	`import ipywidgets
from IPython.display import display

slider = ipywidgets.FloatSlider(value=1, min=1, max=8)
shown = ipywidgets.interactive_output(lambda epsilon: display(dpscope.Instrument("laplace-mean", epsilon=epsilon)), {"epsilon": slider})
ipywidgets.VBox([slider, shown])`,
}

// TestNotebook: in Jupyter Notebook 6 a result shows its verdict, and the instrument runs
// from the files that the wheel brought to the notebook's server: nothing is asked of
// another host. A slider of ipywidgets draws the instrument anew.
func TestNotebook(t *testing.T) {
	testsize.Long(t)
	if runtime.GOOS != "linux" {
		t.Skip("Debian's notebook is on Linux")
	}
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import venv, pip, numpy, notebook, ipykernel, ipywidgets, widgetsnbextension; assert notebook.version_info[0] == 6").Run(); err != nil {
		t.Skipf("%s lacks Jupyter Notebook 6 or ipywidgets: on Debian, apt-get install jupyter-notebook python3-ipywidgets python3-venv python3-pip python3-numpy", python)
	}
	dir := t.TempDir()
	root, binary, plain := filepath.Join(dir, "venv"), filepath.Join(dir, "dpscope"), filepath.Join(dir, "site")
	for _, c := range []*exec.Cmd{
		goCommand("build", "-o", binary, "./cmd/dpscope"),
		goCommand("run", "./site/build", "-plain", "-out", plain),
		goCommand("run", "./python/wheel", "-out", dir, "-only", "linux/"+runtime.GOARCH, "-binary", binary, "-site", plain),
	} {
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, out)
		}
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatal(wheels, err)
	}
	inFolder(t, dir, python, "-m", "venv", "--system-site-packages", "--without-pip", root)
	inside := filepath.Join(root, "bin", "python")
	inFolder(t, dir, inside, "-m", "pip", "install", "-q", "--no-index", "--no-compile", wheels[0])
	inFolder(t, dir, inside, "-m", "ipykernel", "install", "--sys-prefix") // Debian's own kernel is outside

	type cell struct {
		Type     string         `json:"cell_type"`
		Count    *int           `json:"execution_count"`
		Metadata map[string]any `json:"metadata"`
		Outputs  []any          `json:"outputs"`
		Source   string         `json:"source"`
	}
	var cells []cell
	for _, code := range notebookCells {
		cells = append(cells, cell{"code", nil, map[string]any{}, []any{}, code})
	}
	text := must.Get(json.Marshal(map[string]any{"cells": cells, "metadata": map[string]any{"kernelspec": map[string]any{"display_name": "Python 3", "language": "python", "name": "python3"}}, "nbformat": 4, "nbformat_minor": 4}))(t)
	writeText(t, filepath.Join(dir, "work", "audit.ipynb"), string(text))

	free := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := fmt.Sprintf("http://%s/", free.Addr())
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	server := exec.Command(inside, "-m", "notebook", "--no-browser", "--allow-root", "--ip=127.0.0.1", fmt.Sprintf("--port=%d", port), "--NotebookApp.port_retries=0",
		"--NotebookApp.token=", "--NotebookApp.password=", "--notebook-dir="+filepath.Join(dir, "work"))
	home := filepath.Join(dir, "home")
	server.Env = append(os.Environ(), "HOME="+home, "JUPYTER_CONFIG_DIR="+home, "JUPYTER_DATA_DIR="+home, "JUPYTER_RUNTIME_DIR="+home, "IPYTHONDIR="+home, "PYTHONPATH=", "DPSCOPE_BINARY=")
	var log strings.Builder
	server.Stdout, server.Stderr = &log, &log
	must.Do(t, server.Start())
	stop := func() {
		server.Process.Signal(os.Interrupt) // the first one asks, the second ends it with its kernels
		server.Process.Signal(os.Interrupt)
		ended := make(chan error, 1)
		go func() { ended <- server.Wait() }()
		select {
		case <-ended:
		case <-time.After(browser.Patience):
			server.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("the notebook's server said\n%s", log.String())
		}
	}
	defer stop()
	for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		answer, err := http.Get(address + "api")
		if err == nil {
			answer.Body.Close()
			break
		}
		if time.Since(begun) > browser.Patience {
			t.Fatal(err)
		}
	}

	tab := visit(t, address+"notebooks/audit.ipynb")
	wait := func(expression string) {
		t.Helper()
		if err := tab.Until(expression); err != nil {
			said, _ := browser.Eval[string](tab, `[...document.querySelectorAll(".output")].map((o) => o.innerText).join(" | ")`)
			t.Fatalf("%v; cells show %.3000s; the page complains: %q", err, said, tab.Errors())
		}
	}
	wait(`window.Jupyter?.notebook?.kernel?.is_connected()`)
	// The widgets of ipywidgets 6 are told of when a kernel that has imported it connects.
	eval[bool](t, tab, `new Promise((then) => Jupyter.notebook.kernel.execute("import ipywidgets", { shell: { reply: () => then(true) } }))`)
	eval[bool](t, tab, `(Jupyter.notebook.kernel.reconnect(), true)`)
	wait(`Jupyter.notebook.kernel.is_connected() && Jupyter.notebook.kernel.widget_manager`)
	eval[bool](t, tab, `(addEventListener("dpaudit-result", (e) => { window.found = e.detail.report; }), Jupyter.notebook.execute_all_cells(), true)`)
	wait(`[...document.querySelectorAll(".output_html")].some((o) => /Violation: epsilon > 1\.[3-9]/.test(o.innerText) && o.querySelector("img")?.naturalWidth > 0)`)
	wait(`document.querySelector('dp-audit[mechanism="svt4"]')`)
	eval[bool](t, tab, `(document.querySelector('dp-audit[mechanism="svt4"]').scrollIntoView({ block: "center" }), true)`)
	wait(`window.found`)
	sameCounts(t, "the notebook and the command line", embedReport(t, tab, `found`), runAudit(t, embedFlags...))
	const drawn = `document.querySelector('.widget-box dp-audit[mechanism="laplace-mean"]')`
	wait(drawn + `?.epsilon === "1" || ` + drawn + `?.epsilon === "1.0"`)
	eval[bool](t, tab, `(Jupyter.notebook.kernel.execute("slider.value = 4"), true)`)
	wait(drawn + `?.epsilon === "4" || ` + drawn + `?.epsilon === "4.0"`)
	for _, url := range tab.Requests() {
		if !strings.HasPrefix(url, address) && !strings.HasPrefix(url, "blob:") && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, strings.Replace(address, "http", "ws", 1)) {
			t.Errorf("the notebook asks for %s", url)
		}
	}
}

// inFolder runs a command there and returns what it printed.
func inFolder(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = folder
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}
