package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/e2e/browser"
	"github.com/dpscope/dpscope/internal/cli"
)

// networkPlan is what the bench network is asked for.
type networkPlan struct {
	Outputs int `json:"outputs"` // both sides together
	Columns int `json:"columns"`
	Units   int `json:"units"` // of each hidden layer
	Epochs  int `json:"epochs"`
	Runs    int `json:"runs"` // on each platform
}

// networkLimit is how many times as long as natively training may take in
// WebAssembly.
const networkLimit = 3

// networkTimes are the runs on one platform.
type networkTimes struct {
	Platform string    `json:"platform"`
	Seconds  []float64 `json:"seconds"`
	Median   float64   `json:"median"`
	Ratio    float64   `json:"ratio"` // of the median to the native one
}

// networkResult is what the bench found.
type networkResult struct {
	Bench     string          `json:"bench"`
	Plan      networkPlan     `json:"plan"`
	Generator audit.Generator `json:"generator"`
	Times     []networkTimes  `json:"times"` // native, Node, Chromium
	Same      bool            `json:"sameNetwork"`
	Limit     float64         `json:"limit"`
}

// trained is what one run of the training program prints.
type trained struct {
	Platform string  `json:"platform"`
	Seconds  float64 `json:"seconds"`
	Network  string  `json:"network"` // SHA-256 of the network
}

// benchNetwork trains the papers' network natively and as js/wasm, in turns on
// the same machine, and prints all times.
func benchNetwork(c *call) (int, error) {
	var plan networkPlan
	c.Count(&plan.Outputs, "outputs", 100_000, "outputs to train on, both sides together; every fifth is held out")
	c.Count(&plan.Columns, "columns", 10, "columns of an output")
	c.Count(&plan.Units, "units", 100, "units of each of the two hidden layers")
	c.Count(&plan.Epochs, "epochs", 5, "passes over the outputs, none of them saved by early stopping")
	c.Count(&plan.Runs, "runs", 3, "runs on each platform")
	chromium := c.Bool("browser", false, "train in a headless Chromium as well")
	c.outputFlags()
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if err := plan.validate(); err != nil {
		return 0, err
	}
	result, err := plan.measure(c.ctx, *chromium, func(t trained) { c.say("%s: %.2f s", t.Platform, t.Seconds) })
	if err != nil {
		return 0, err
	}
	exit := code(result.worst() <= networkLimit)
	if !result.Same {
		exit = cli.ExitInconclusive
	}
	return exit, c.emit(result, result.print)
}

func (p networkPlan) validate() error {
	return cmp.Or(within("-outputs", p.Outputs, 100, 100_000, ""), // of more, the network takes 50,000 a side
		within("-columns", p.Columns, 1, 128, ""), // of more, it reads 128
		within("-units", p.Units, 1, 256, ""), within("-epochs", p.Epochs, 1, 1000, ""), within("-runs", p.Runs, 1, 1000, ""))
}

// flags are those of the training program.
func (p networkPlan) flags() []string {
	return []string{fmt.Sprint("-outputs=", p.Outputs), fmt.Sprint("-columns=", p.Columns), fmt.Sprint("-units=", p.Units), fmt.Sprint("-epochs=", p.Epochs)}
}

// measure builds the training program for both platforms and runs it in turns.
func (p networkPlan) measure(ctx context.Context, chromium bool, say func(trained)) (networkResult, error) {
	r := networkResult{Bench: "network", Plan: p, Generator: cli.Generator(), Same: true, Limit: networkLimit}
	dir, err := os.MkdirTemp("", "dpscope-network-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	build, err := buildTraining(ctx, dir)
	if err != nil {
		return r, err
	}
	type place struct {
		name string
		run  func() (trained, error)
	}
	places := []place{
		{"native", func() (trained, error) { return runTraining(ctx, build.native, p.flags()...) }},
		{"Node", func() (trained, error) {
			return runTraining(ctx, build.node, append([]string{"--stack-size=8192", build.launcher, build.wasm}, p.flags()...)...)
		}},
	}
	if chromium {
		tab, err := openTraining(ctx, dir)
		if err != nil {
			return r, err
		}
		defer tab.close()
		places = append(places, place{"Chromium", func() (trained, error) { return tab.run(p.flags()) }})
	}
	for _, at := range places {
		r.Times = append(r.Times, networkTimes{Platform: at.name})
	}
	network := ""
	for range p.Runs {
		for i, at := range places {
			t, err := at.run()
			if ctx.Err() != nil {
				return r, cli.ErrStopped
			}
			if err != nil {
				return r, fmt.Errorf("training, %s: %w", at.name, err)
			}
			if want := "js/wasm"; i > 0 && t.Platform != want {
				return r, fmt.Errorf("training, %s: ran on %s, want %s", at.name, t.Platform, want)
			}
			network = cmp.Or(network, t.Network)
			r.Same = r.Same && t.Network == network
			r.Times[i].Seconds = append(r.Times[i].Seconds, t.Seconds)
			t.Platform = at.name
			say(t)
		}
	}
	for i := range r.Times {
		t := &r.Times[i]
		t.Median = median(t.Seconds)
		t.Ratio = t.Median / r.Times[0].Median
	}
	return r, nil
}

// worst is the largest ratio to the native time.
func (r networkResult) worst() float64 {
	worst := 0.0
	for _, t := range r.Times {
		worst = max(worst, t.Ratio)
	}
	return worst
}

func (r networkResult) print(w io.Writer) {
	p := r.Plan
	fmt.Fprintf(w, "Training two hidden layers of %d units on %d outputs of %d columns, %d epochs, one thread, %s on %s/%s\n\n",
		p.Units, p.Outputs, p.Columns, p.Epochs, r.Generator.Go, r.Generator.GoOS, r.Generator.GoArch)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "platform\tmedian, seconds\tratio to native\truns, seconds")
	for _, x := range r.Times {
		all := make([]string, len(x.Seconds))
		for i, s := range x.Seconds {
			all[i] = fmt.Sprintf("%.2f", s)
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%s\n", x.Platform, x.Median, x.Ratio, strings.Join(all, " "))
	}
	t.Flush()
	verdict := choose(r.worst() > r.Limit, "above", "within")
	fmt.Fprintf(w, "\nThe same network on all, bit for bit: %v\nLargest ratio %.2f, %s the limit of %g\n", r.Same, r.worst(), verdict, r.Limit)
}

// trainingBuild are the files that a run needs.
type trainingBuild struct{ native, wasm, node, launcher string }

const trainingPackage = "github.com/dpscope/dpscope/bench/internal/training"

// buildTraining builds the training program into dir, for this platform and for
// js/wasm.
func buildTraining(ctx context.Context, dir string) (trainingBuild, error) {
	var b trainingBuild
	goTool, err := exec.LookPath("go")
	if err != nil {
		return b, errors.New("no go command found, which builds the WebAssembly side; install Go 1.26 or later from https://go.dev/dl/")
	}
	if b.node, err = exec.LookPath("node"); err != nil {
		return b, errors.New("no node command found, which runs the WebAssembly side; on Debian: apt-get install nodejs")
	}
	command := func(env []string, args ...string) (string, error) {
		c := exec.CommandContext(ctx, goTool, args...)
		c.Env = append(os.Environ(), env...)
		out, err := c.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("go %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
		}
		return strings.TrimSpace(string(out)), err
	}
	if _, err := command(nil, "list", trainingPackage); err != nil {
		return b, &audit.InputError{Field: "the current folder", Found: "outside of the module github.com/dpscope/dpscope",
			Want: "inside of it, where the training program is built from", Remedy: "change into a checkout; " + err.Error()}
	}
	root, err := command(nil, "env", "GOROOT")
	if err != nil {
		return b, err
	}
	b.launcher = filepath.Join(root, "lib", "wasm", "wasm_exec_node.js")
	for _, name := range []string{b.launcher, filepath.Join(root, "lib", "wasm", "wasm_exec.js")} {
		if _, err := os.Stat(name); err != nil {
			return b, fmt.Errorf("this Go has no WebAssembly support files: %w", err)
		}
	}
	b.native, b.wasm = filepath.Join(dir, "training"), filepath.Join(dir, "training.wasm")
	if runtime.GOOS == "windows" {
		b.native += ".exe"
	}
	if _, err := command([]string{"GOOS=" + runtime.GOOS, "GOARCH=" + runtime.GOARCH}, "build", "-o", b.native, trainingPackage); err != nil {
		return b, err
	}
	if _, err := command([]string{"GOOS=js", "GOARCH=wasm"}, "build", "-o", b.wasm, trainingPackage); err != nil {
		return b, err
	}
	glue, err := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return b, err
	}
	return b, os.WriteFile(filepath.Join(dir, "wasm_exec.js"), glue, 0o600)
}

// runTraining runs a program and reads what it prints. It gets a small
// environment: the runtime of js/wasm has room for 12 KB.
func runTraining(ctx context.Context, program string, args ...string) (trained, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Env = slices.DeleteFunc(os.Environ(), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return !slices.Contains([]string{"PATH", "HOME", "SYSTEMROOT"}, strings.ToUpper(name))
	})
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return trained{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(errs.String()))
	}
	return readTrained(out)
}

func readTrained(line []byte) (trained, error) {
	var t trained
	if err := json.Unmarshal(line, &t); err != nil {
		return t, fmt.Errorf("the training program printed %q: %w", line, err)
	}
	if !(t.Seconds > 0) || t.Network == "" {
		return t, fmt.Errorf("the training program printed %q, without a time or a network", line)
	}
	return t, nil
}

// The page that runs the training program: it prints through console.log.
const (
	trainingPage   = `<!doctype html><meta charset="utf-8"><title>training</title><script src="wasm_exec.js"></script><script type="module" src="run.js"></script>`
	trainingScript = `const lines = [];
console.log = (line) => lines.push(line);
const go = new Go();
go.argv = ["training", ...decodeURIComponent(location.hash.slice(1)).split(" ")];
let code = 0;
go.exit = (c) => { code = c; };
try {
	const { instance } = await WebAssembly.instantiateStreaming(fetch("training.wasm"), go.importObject);
	await go.run(instance);
} catch (error) {
	code = 1;
	lines.push(String(error));
}
window.result = { code, text: lines.join("\n") };
`
)

// trainingTab is a browser in front of a server of the training program.
type trainingTab struct {
	browser context.Context
	address string
	close   func()
}

// openTraining serves dir, where the program was built, and starts a browser.
func openTraining(ctx context.Context, dir string) (*trainingTab, error) {
	for name, text := range map[string]string{"index.html": trainingPage, "run.js": trainingScript} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	b, address, stop, err := served(ctx, dir)
	return &trainingTab{b, address, stop}, err
}

// served serves a folder, and starts a browser in front of it.
func served(ctx context.Context, dir string) (b context.Context, address string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, err
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	b, end, err := browser.Start(ctx)
	if err != nil {
		server.Close()
	}
	return b, "http://" + listener.Addr().String() + "/", func() { end(); server.Close() }, err
}

// run trains in a fresh tab.
func (t *trainingTab) run(flags []string) (trained, error) {
	tab, err := browser.Open(t.browser, t.address+"#"+url.PathEscape(strings.Join(flags, " ")))
	if err != nil {
		return trained{}, err
	}
	defer tab.Close()
	const limit = time.Hour
	if err := tab.Until("window.result", limit); err != nil {
		return trained{}, fmt.Errorf("%w; the page says %v", err, tab.Errors())
	}
	result, err := browser.Eval[struct {
		Code int    `json:"code"`
		Text string `json:"text"`
	}](tab, "window.result")
	if err != nil {
		return trained{}, err
	}
	if result.Code != 0 {
		return trained{}, fmt.Errorf("exit code %d: %s", result.Code, result.Text)
	}
	return readTrained([]byte(result.Text))
}
