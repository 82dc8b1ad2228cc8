package main

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/bench/gallery/google"
	"github.com/dpscope/dpscope/internal/must"
)

var update = flag.Bool("update", false, "write the results in docs/gallery.md anew")

func contents(t *testing.T) Contents {
	t.Helper()
	c := must.Get(Catalogue())(t)
	return c
}

func TestCatalogue(t *testing.T) {
	c := contents(t)
	if len(c.Entries) > MaxEntries {
		t.Errorf("%d entries: at an error of %g each they flag a sound mechanism more often than 0.1 %%", len(c.Entries), Beta)
	}
	byName, libraries := map[string]Entry{}, map[string]bool{}
	for _, e := range c.Entries {
		if _, twice := byName[e.Name]; twice {
			t.Errorf("%s is there twice", e.Name)
		}
		byName[e.Name] = e
		l, ok := c.Libraries[e.Library]
		if !ok {
			t.Errorf("%s: no library %q", e.Name, e.Library)
		}
		libraries[l.Repository] = true
		if e.Case == "" {
			t.Errorf("%s has no case", e.Name)
		}
	}
	for name, l := range c.Libraries {
		if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(l.Commit) || len(l.Paths) == 0 {
			t.Errorf("%s is not pinned: commit %q, paths %q", name, l.Commit, l.Paths)
		}
		for _, p := range l.Packages {
			if !regexp.MustCompile(`^[a-z.-]+@[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(p) {
				t.Errorf("%s is not pinned: package %q", name, p)
			}
		}
		for _, key := range l.With {
			if _, ok := c.Libraries[key]; !ok {
				t.Errorf("%s goes with %q, which is no library", name, key)
			}
		}
	}
	for _, e := range c.Entries {
		switch e.Kind {
		case Fault, Planted, Finding:
			if e.Says == "" || e.Place == "" {
				t.Errorf("%s is called broken without a sentence and its place", e.Name)
			}
		case Mended, Control, Sound:
		default:
			t.Errorf("%s is of the unknown kind %q", e.Name, e.Kind)
		}
		if e.Twin != "" {
			if twin, ok := byName[e.Twin]; !ok || twin.Broken() {
				t.Errorf("%s should be as %q, which is broken or absent", e.Name, e.Twin)
			} else if twin.claim() != e.claim() {
				t.Errorf("%s and %s claim different things", e.Name, e.Twin)
			}
		}
	}
}

// The results are of the catalogue as it is, and the page is of the results.
func TestResults(t *testing.T) {
	c := contents(t)
	var run Run
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("results.json"))(t), &run))
	if len(run.Results) != len(c.Entries) {
		t.Fatalf("%d results of %d entries: go run ./bench/gallery -output bench/gallery/results.json", len(run.Results), len(c.Entries))
	}
	var faults int
	for i, e := range c.Entries {
		r := run.Results[i]
		if r.Name != e.Name {
			t.Fatalf("result %d is of %s, the entry is %s", i, r.Name, e.Name)
		}
		if r.Error != "" {
			t.Errorf("%s was not run: %s", e.Name, r.Error)
		}
		hit := r.Verdict == "violation"
		if hit && !e.Broken() {
			t.Errorf("%s keeps its claim as far as anybody said, and is flagged: it is a finding (bench/gallery/findings), or a false alarm", e.Name)
		}
		if hit && r.Bound < e.Epsilon {
			t.Errorf("%s: a violation of %g with a bound of %g", e.Name, e.Epsilon, r.Bound)
		}
		if hit && e.Kind == Fault {
			faults++
		}
	}
	if faults < 12 || run.Seconds == 0 || run.Seconds > 600 {
		t.Errorf("%d reported faults refuted, all entries in %.0f seconds; want at least 12 in at most 600", faults, run.Seconds)
	}
	const page, begin, end = "../../docs/gallery.md", "<!-- results -->\n\n", "\n<!-- end of results -->\n"
	text := string(must.Get(os.ReadFile(page))(t))
	before, rest, _ := strings.Cut(text, begin)
	_, after, _ := strings.Cut(rest, end)
	want := before + begin + markdown(c, run) + end + after
	if *update {
		must.Do(t, os.WriteFile(page, []byte(want), 0o644))
	} else if text != want {
		t.Error("docs/gallery.md is not of bench/gallery/results.json: go test ./bench/gallery -update")
	}
}

// Every case of the catalogue is one of what runs its library.
func TestCases(t *testing.T) {
	adapters := map[string][]string{
		"":   {"/usr/bin/python3", "adapter/main.py"},
		R:    {"Rscript", "--vanilla", "adapter/main.R"},
		Node: {"node", "adapter/main.js"},
	}
	cases := map[string]string{Compiled: " " + strings.Join(slices.Sorted(maps.Keys(google.Cases)), " ") + " "}
	for runs, words := range adapters {
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Logf("no %s", words[0])
			continue
		}
		if runs == "" && exec.Command(words[0], "-c", "import numpy").Run() != nil {
			t.Log("python3 has no numpy")
			continue
		}
		out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		if err == nil {
			t.Fatalf("%s runs without a case", words[1])
		}
		_, list, ok := strings.Cut(string(out), "cases: ")
		if !ok {
			t.Fatalf("%s says %q", words, out)
		}
		cases[runs] = " " + strings.TrimSpace(list) + " "
	}
	c := contents(t)
	for _, e := range c.Entries {
		runs := c.Libraries[e.Library].Runs
		if _, known := adapters[runs]; !known && runs != Compiled {
			t.Errorf("%s: nothing runs %q", e.Library, runs)
		}
		if list, ok := cases[runs]; ok && !strings.Contains(list, " "+e.Case+" ") {
			t.Errorf("%s: no adapter has the case %s", e.Name, e.Case)
		}
	}
}

func TestArguments(t *testing.T) {
	e := Entry{Epsilon: 0.5, Relation: "replace", Rows: "3", Domain: "-1:1", Integer: true, Columns: "c2=mixed", Samples: 7, Delta: 1e-5}
	got := strings.Join(e.Arguments("x y"), " ")
	want := "-exec x y -epsilon 0.5 -relation replace -rows 3 -domain=-1:1 -beta 1e-05 -samples 7 -exec-timeout 10m -format json -seed 8128 -delta 1e-05 -integer -kind c2=mixed"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Results of some entries take the place of theirs, in the order of the catalogue.
func TestMerge(t *testing.T) {
	c := Contents{Entries: []Entry{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	kept := Run{Version: "1", Results: []Result{{Name: "gone"}, {Name: "b", Bound: 1}, {Name: "a", Bound: 2}}}
	got := Merge(c, kept, Run{Version: "2", Machine: "m", Results: []Result{{Name: "c", Bound: 3}, {Name: "b", Bound: 4}}})
	want := Run{Version: "2", Machine: "m", Results: []Result{{Name: "a", Bound: 2}, {Name: "b", Bound: 4}, {Name: "c", Bound: 3}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("merged: %+v, want %+v", got, want)
	}
}
