package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bench/gallery/google"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/try"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without the process, so that tests can call it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	var err error
	defer func() {
		if err != nil {
			code = cli.Fail("gallery", stderr, err)
		}
	}()
	defer try.To(&err)
	s := cli.NewFlags("gallery", stderr)
	only := s.String("only", "", "run only the entries whose `names` contain this")
	dir := s.String("dir", "", "`folder` of the libraries' code; default: dpscope/gallery in the user's cache")
	fetch := s.Bool("fetch", false, "fetch with git what is not in -dir")
	mirror := s.String("mirror", "https://github.com", "where -fetch finds repositories as owner/name; an address or a folder")
	python := s.String("python", "python3", "Python that runs libraries")
	r := s.String("rscript", "Rscript", "R that runs libraries")
	node := s.String("node", "node", "Node that runs libraries; -fetch gets their packages with the npm beside it")
	answer := s.String("answer", "", "answer requests as this `case` of a library that is compiled in, with the epsilon after it")
	workers := s.Workers(0, "entries that run at a time; 0: one a processor")
	output := s.String("output", "", "write the results as JSON to this `file`; those that it holds of entries that do not run are kept")
	if code, ok := s.Parse(args, 0); !ok {
		return code
	}
	if *answer != "" {
		answerAs(*answer, stdin, stdout)
		return cli.ExitOK
	}
	contents := try.Get(Catalogue())
	entries := slices.DeleteFunc(slices.Clone(contents.Entries), func(e Entry) bool { return !strings.Contains(e.Name, *only) })
	if len(entries) == 0 {
		return cli.Fail("gallery", stderr, audit.UnknownName("entry of the gallery", *only, audit.Each(contents.Entries, func(e Entry) string { return e.Name })))
	}
	if *dir == "" {
		cache, err := os.UserCacheDir()
		try.Do(audit.Remedy("Name one with -dir", audit.Require(err == nil, "dir", "no folder for caches", "a folder")))
		*dir = filepath.Join(cache, "dpscope", "gallery")
	}
	try.Do(os.MkdirAll(*dir, 0o755))
	try.Do(os.RemoveAll(filepath.Join(*dir, "adapter"))) // of an older release
	try.Do(os.CopyFS(*dir, Adapter))
	program := filepath.Join(*dir, "dpscope")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/dpscope/dpscope/cmd/dpscope").CombinedOutput(); err != nil {
		try.Do(fmt.Errorf("go build of dpscope: %w: %s", err, out))
	}
	place := &libraryPlace{dpscope: program, dir: *dir, mirror: *mirror, fetch: *fetch, node: *node, commands: map[string][]string{
		"":       {*python, filepath.Join(*dir, "adapter", "main.py")},
		R:        {*r, "--vanilla", filepath.Join(*dir, "adapter", "main.R")},
		Node:     {*node, "--no-deprecation", filepath.Join(*dir, "adapter", "main.js")},
		Compiled: {try.Get(os.Executable()), "-answer"},
	}}
	g := cli.Generator()
	done := Run{Version: g.Version, Machine: fmt.Sprintf("%s/%s, %d processors", g.GoOS, g.GoArch, runtime.GOMAXPROCS(0))}
	start := time.Now()
	var right bool
	done.Results, right = runAll(stdout, entries, contents.Libraries, place, *workers)
	switch {
	case !right:
		code = cli.ExitViolation
	case slices.ContainsFunc(done.Results, func(r Result) bool { return r.Error != "" }):
		code = cli.ExitInconclusive
	}
	done.Seconds = audit.Pick(len(entries) == len(contents.Entries), math.Round(time.Since(start).Seconds()), 0)
	fmt.Fprintf(stdout, "Audits: %d. Together they flag a mechanism that keeps its claim with probability at most %.2g %%.\n", len(entries), 100*Beta*float64(len(entries)))
	if *output != "" {
		var kept Run
		text, err := os.ReadFile(*output)
		if err == nil {
			err = json.Unmarshal(text, &kept)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			try.Do(&audit.InputError{Field: "output", Found: *output + ", which cannot be read: " + err.Error(), Want: "a file of results, or a new one", Remedy: "Name another file"})
		}
		try.Do(os.WriteFile(*output, marshal(Merge(contents, kept, done)), 0o644))
	}
	return code
}

func marshal(run Run) []byte {
	text := func(x any) string { return string(try.Get(json.Marshal(x))) }
	lines := audit.Each(run.Results, func(r Result) string { return "    " + text(r) })
	return fmt.Appendf(nil, "{\n  \"version\": %s,\n  \"machine\": %s,\n  \"seconds\": %g,\n  \"results\": [\n%s\n  ]\n}\n", text(run.Version), text(run.Machine), run.Seconds, strings.Join(lines, ",\n"))
}

type libraryPlace struct {
	dpscope     string     // the program that audits
	mu          sync.Mutex // while a library is laid out
	dir, mirror string
	fetch       bool
	node        string
	commands    map[string][]string // by Library.Runs: what comes before the case
}

// folder lays out a library where it is not, if it may.
func (p *libraryPlace) folder(l Library) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	folder := filepath.Join(p.dir, strings.ReplaceAll(l.Repository, "/", "+")+"@"+l.Commit)
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	switch {
	case !p.fetch:
		try.Do(fmt.Errorf("its code is not in %s; -fetch gets it", folder))
	case len(l.Packages) > 0:
		try.Do(install(l, folder, p.node))
	default:
		try.Do(fetchAt(l, folder, p.mirror))
	}
	return folder
}

func (p *libraryPlace) command(e Entry, libraries map[string]Library) string {
	l := libraries[e.Library]
	words := []string{e.Case, fmt.Sprint(e.Epsilon)}
	if l.Runs == Compiled {
		words = []string{audit.ShellWord(strings.Join(words, " "))}
	} else {
		for _, key := range append([]string{e.Library}, l.With...) {
			words = append(words, audit.ShellWord(p.folder(libraries[key])))
		}
	}
	start := p.commands[l.Runs]
	if _, err := exec.LookPath(start[0]); err != nil {
		try.Do(fmt.Errorf("%s is not found: the library needs %s", start[0], l.Needs))
	}
	return strings.Join(append(audit.Each(start, audit.ShellWord), words...), " ")
}

func answerAs(words string, stdin io.Reader, stdout io.Writer) {
	name, text, _ := strings.Cut(words, " ")
	epsilon, err := strconv.ParseFloat(text, 64)
	err = audit.Require(err == nil, "answer", strconv.Quote(words), "a case and its epsilon")
	try.Do(audit.Remedy("Write -answer 'google-sum-float 1'", err))
	try.Do(google.Serve(name, epsilon, stdin, stdout))
}

// runAll audits so many at a time. right is false where one that ran is not what it should be.
func runAll(w io.Writer, entries []Entry, libraries map[string]Library, p *libraryPlace, workers int) (results []Result, right bool) {
	results, right = make([]Result, len(entries)), true
	var ended sync.Mutex
	var some errgroup.Group
	some.SetLimit(workers)
	for i, e := range entries {
		some.Go(func() error {
			r := runEntry(e, libraries, p)
			ended.Lock()
			defer ended.Unlock()
			fmt.Fprintln(w, Line(e, r))
			results[i], right = r, right && (r.Error != "" || (r.Verdict == "violation") == e.Broken())
			return nil
		})
	}
	some.Wait()
	return results, right
}

// runEntry audits an entry in a process of its own, whose work is counted.
func runEntry(e Entry, libraries map[string]Library, p *libraryPlace) (r Result) {
	r = Result{Name: e.Name, Verdict: "error"}
	var err error
	defer func() {
		if err != nil {
			r.Error = err.Error()
		}
	}()
	defer try.To(&err)
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(p.dpscope, append([]string{"audit", "-workers", "1"}, e.Arguments(p.command(e, libraries))...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	failed := cmd.Run()
	r.Seconds = float64(time.Since(start).Milliseconds()/100) / 10
	if cmd.ProcessState == nil {
		try.Do(failed)
	}
	r.Processor = math.Floor(10*(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds()) / 10
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitOK && code != cli.ExitViolation {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		try.Do(errors.New(lines[len(lines)-1]))
	}
	var report struct {
		Verdict     string
		LowerBound  float64
		Termination struct{ Outputs int }
	}
	try.Do(json.Unmarshal(stdout.Bytes(), &report))
	r.Verdict, r.Bound, r.Outputs = report.Verdict, report.LowerBound, report.Termination.Outputs
	return r
}

// whole makes a folder whole or not at all.
func whole(folder string, make func(part string)) (err error) {
	defer try.To(&err)
	part := folder + ".part"
	defer os.RemoveAll(part)
	try.Do(os.MkdirAll(part, 0o755))
	make(part)
	return os.Rename(part, folder)
}

// install lays out a library's packages with npm. No script of theirs runs.
func install(l Library, folder, node string) error {
	return whole(folder, func(part string) {
		args := append([]string{"install", "--prefix", part, "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"}, l.Packages...)
		if text, err := exec.Command(filepath.Join(filepath.Dir(node), "npm"), args...).CombinedOutput(); err != nil {
			try.Do(fmt.Errorf("npm install: %v: %s", err, strings.TrimSpace(string(text))))
		}
	})
}

// fetchAt lays out a library's paths at its commit. Only that commit is fetched.
func fetchAt(l Library, folder, mirror string) error {
	return whole(folder, func(part string) {
		if info, err := os.Stat(mirror); err == nil && info.IsDir() { // git runs in another folder
			mirror = try.Get(filepath.Abs(mirror))
		}
		for _, args := range [][]string{
			{"init", "-q"},
			{"fetch", "-q", "--depth", "1", strings.TrimSuffix(mirror, "/") + "/" + l.Repository, l.Commit},
			append([]string{"-c", "core.symlinks=false", "checkout", "-q", l.Commit, "--"}, l.Paths...),
		} {
			git := exec.Command("git", args...)
			git.Dir = part
			if out, err := git.CombinedOutput(); err != nil {
				try.Do(fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(out))))
			}
		}
		try.Do(os.RemoveAll(filepath.Join(part, ".git")))
	})
}
