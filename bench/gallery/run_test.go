package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/child"
	"github.com/dpscope/dpscope/internal/must"
)

// testRepository is a repository owner/name in a folder, with one commit.
func testRepository(t *testing.T) (mirror, commit string) {
	t.Helper()
	must.Have(t, "git")
	mirror = t.TempDir()
	repository := filepath.Join(mirror, "owner", "name")
	must.Do(t, os.MkdirAll(filepath.Join(repository, "lib"), 0o755))
	for name, text := range map[string]string{"lib/a.py": "a = 1\n", "other.txt": "not wanted\n"} {
		must.Do(t, os.WriteFile(filepath.Join(repository, name), []byte(text), 0o644))
	}
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", repository, "-c", "user.name=n", "-c", "user.email=e"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v: %s", args[0], err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	return mirror, git("rev-parse", "HEAD")
}

func TestGalleryFetch(t *testing.T) {
	mirror, commit := testRepository(t)
	folder := filepath.Join(t.TempDir(), "owner+name@"+commit)
	l := Library{Repository: "owner/name", Commit: commit, Paths: []string{"lib"}}
	t.Chdir(filepath.Dir(mirror))
	must.Do(t, fetchAt(l, folder, filepath.Base(mirror)))
	if text, err := os.ReadFile(filepath.Join(folder, "lib", "a.py")); err != nil || string(text) != "a = 1\n" {
		t.Errorf("lib/a.py is %q, %v", text, err)
	}
	must.Refuse(t, must.Err(os.Stat(filepath.Join(folder, "other.txt"))), "", "a path that was not asked for is laid out")
	left, err := os.ReadDir(filepath.Dir(folder))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	// A commit that is not there is an error, and leaves no folder that looks whole.
	l.Commit = strings.Repeat("0", 40)
	folder += "0"
	must.Refuse(t, fetchAt(l, folder, mirror), "", "a commit that is not there")
	must.Refuse(t, must.Err(os.Stat(folder)), "", "a folder of a commit that is not there")
}

func TestGalleryRefuses(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"-only", "statdp-nothing", "-dir", t.TempDir()}, nil, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), "statdp") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	stdout.Reset()
	if code := run([]string{"-only", "statdp-svt", "-dir", t.TempDir()}, nil, &stdout, &stderr); code != 3 || !strings.Contains(stdout.String(), "not run: its code is not in") || !strings.Contains(stdout.String(), "Audits: 1.") {
		t.Errorf("exit code %d: %s", code, stdout.String())
	}
}

// npm is asked for the pinned packages and for no scripts; what it leaves behind when
// it fails looks like no library.
func TestGalleryInstall(t *testing.T) {
	must.Have(t, "sh")
	bin := t.TempDir()
	npm := func(text string) {
		must.Do(t, os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	l := Library{Runs: Node, Packages: []string{"a@1.2.3", "b@4.5.6"}}
	folder := filepath.Join(t.TempDir(), "owner+name@1")
	npm(`echo "$@" > "$3/asked"`)
	must.Do(t, install(l, folder, filepath.Join(bin, "node")))
	asked, err := os.ReadFile(filepath.Join(folder, "asked"))
	if err != nil || !strings.Contains(string(asked), "--ignore-scripts") || !strings.Contains(string(asked), "a@1.2.3 b@4.5.6") {
		t.Errorf("npm was asked %q, %v", asked, err)
	}
	npm("echo no such package; exit 1")
	folder += "0"
	must.Refuse(t, install(l, folder, filepath.Join(bin, "node")), "no such package", "of an npm that fails")
	if left, err := filepath.Glob(folder + "*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestGalleryAnswer(t *testing.T) {
	var stdout, stderr bytes.Buffer
	request := `{"dataset": [[1]], "n": 2, "seed": 1}`
	if code := run([]string{"-answer", "google-sum-int 1"}, strings.NewReader(request), &stdout, &stderr); code != 0 || !strings.HasPrefix(stdout.String(), `{"outputs":[4`) {
		t.Errorf("exit code %d: %s%s", code, stdout.String(), stderr.String())
	}
	for _, words := range []string{"google-sum-int", "google-nothing 1"} {
		stderr.Reset()
		if code := run([]string{"-answer", words}, strings.NewReader(request), &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), "google-") {
			t.Errorf("%q: exit code %d: %s", words, code, stderr.String())
		}
	}
}

// A library whose language is not installed is said not to run, and why.
func TestGalleryWithoutLanguage(t *testing.T) {
	dir := t.TempDir()
	p := &libraryPlace{dir: dir, commands: map[string][]string{R: {filepath.Join(dir, "no-r"), "main.R"}}}
	l := Library{Repository: "o/n", Commit: "1", Runs: R, Needs: "R with jsonlite"}
	must.Do(t, os.MkdirAll(filepath.Join(dir, "o+n@1"), 0o755))
	r := runEntry(Entry{Name: "x", Library: "l"}, map[string]Library{"l": l}, p)
	must.Say(t, r.Error, "no-r is not found: the library needs R with jsonlite")
}

// Entries that run at a time have each its own verdict and the
// seconds of its own processes; a program that fails is said.
func TestGalleryAtATime(t *testing.T) {
	must.Have(t, "python3")
	dir := t.TempDir()
	program := filepath.Join(dir, "dpscope")
	if out, err := child.Go(t, "build", "-o", program, "./cmd/dpscope").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := &libraryPlace{dpscope: program, dir: dir, commands: map[string][]string{"": {"python3", filepath.Join(dir, "adapter.py")}}}
	for name, text := range map[string]string{
		"lib/x": "",
		"adapter.py": `import json, random, sys
if sys.argv[1] == "fails":
    sys.exit("it cannot")
for line in sys.stdin:
    q = json.loads(line)
    r = random.Random(q["seed"])
    print(json.dumps([len(q["dataset"]) + (r.expovariate(1) - r.expovariate(1)) * (sys.argv[1] == "sound") for _ in range(q["n"])]), flush=True)
`} {
		to := filepath.Join(dir, filepath.FromSlash(strings.Replace(name, "lib", "o+n@1", 1)))
		must.Do(t, os.MkdirAll(filepath.Dir(to), 0o755))
		must.Do(t, os.WriteFile(to, []byte(text), 0o644))
	}
	var out bytes.Buffer
	c := Contents{Libraries: map[string]Library{"l": {Repository: "o/n", Commit: "1"}}}
	for _, name := range []string{"sound", "none", "fails"} {
		c.Entries = append(c.Entries, Entry{Name: name, Case: name, Library: "l", Kind: map[bool]string{true: Sound, false: Fault}[name == "sound"], Relation: "add-remove", Rows: "0:2", Domain: "0:1", Epsilon: 1, Samples: 2000})
	}
	results, right := runAll(&out, c.Entries, c.Libraries, p, 3)
	if lines := strings.Count(out.String(), "\n"); lines != 3 {
		t.Errorf("printed: %s", out.String())
	}
	if results[0].Verdict != "no-violation-found" || results[0].Outputs < 4000 || results[1].Verdict != "violation" || results[1].Bound <= 1 || !strings.Contains(results[2].Error, "it cannot") && !strings.Contains(results[2].Error, "exit code 1") || !right {
		t.Errorf("%+v, right: %v", results, right)
	}
	if results[0].Processor <= 0 || results[0].Seconds <= 0 {
		t.Errorf("%+v", results[0])
	}
}
