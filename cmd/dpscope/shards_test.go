package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
)

// timing is the one field of a report that a merge does not give as one machine does.
var timing = regexp.MustCompile(`(?s)"timing": \{.*?\}`)

// dpscope runs dpscope and returns the exit code and what it printed.
func dpscope(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// wants wants an exit code of dpscope, and words in what it prints.
func wants(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	if got, out, errs := dpscope(t, args...); got != code || !strings.Contains(out+errs, says) {
		t.Errorf("%q: exit code %d, want %d and %q: %s%s", args, got, code, says, out, errs)
	}
}

// sharesDrawn draws all shares of an audit into a folder, the search first.
func sharesDrawn(t *testing.T, n int, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	search := filepath.Join(dir, "search")
	part := func(args ...string) {
		if code, out, errs := dpscope(t, args...); code != cli.ExitOK || out != "" {
			t.Fatalf("%q ended with %d: %s %s", args, code, out, errs)
		}
	}
	part(append(args, "-search-only", "-partial", search)...)
	for i := range n {
		part(append(args, "-after", search, "-shards", fmt.Sprintf("%d/%d", i, n), "-partial", filepath.Join(dir, fmt.Sprintf("part-%d", i)))...)
	}
	return dir
}

// divided are audits of every kind and mode.
var divided = map[string]struct {
	shares int
	args   string
	exec   string
}{
	"pair":                     {3, "audit -mechanism svt4 -epsilon 1 -seed 7 -samples 100000 -trials 2", ""},
	"pair, few shards":         {5, "audit -mechanism laplace-mean -epsilon 0.5 -seed 3 -samples 20000 -trials 2 -fixed", ""},
	"until refuted":            {2, "audit -mechanism svt5 -epsilon 1 -seed 7 -until-refuted", ""},
	"canaries":                 {3, "canaries -epsilon 1 -delta 1e-5 -n 301 -k 4 -m 4 -seed 5", ""},
	"sequential":               {3, "canaries -epsilon 1 -delta 1e-5 -n 200 -k 4 -m 4 -seed 5 -sequential", ""},
	"a program":                {2, "audit -epsilon 1 -seed 5 -samples 9000 -explore 1000 -trials 1", "python3 ../../docs/examples/count_mechanism.py half"},
	"a program, until refuted": {2, "audit -epsilon 1 -seed 5 -until-refuted -samples 10000", "python3 ../../docs/examples/count_mechanism.py half"},
	"a module":                 {2, "audit -wasm ../../docs/examples/abi/count.wasm -epsilon 1 -seed 5 -samples 20000 -explore 1000 -trials 1", ""},
	"one run":                  {2, "one-run -epsilon 1 -delta 1e-5 -seed 5", ""},
	"plan":                     {2, "audit -plan testdata/shards.json", ""},
}

// TestMerge holds that the shares of several machines give the bytes of one machine's
// report, but for how long it took; and that a share drawn with a search of its own is the
// share that was drawn after the search of another.
func TestMerge(t *testing.T) {
	for name, c := range divided {
		t.Run(name, func(t *testing.T) {
			args := strings.Fields(c.args)
			if c.exec != "" {
				must.Have(t, "python3")
				args = append(args, "-exec", c.exec)
			}
			code, one, errs := dpscope(t, append(args, "-format", "json")...)
			if code > cli.ExitViolation {
				t.Fatalf("one machine ended with %d: %s", code, errs)
			}
			dir := sharesDrawn(t, c.shares, args...)
			again := filepath.Join(dir, "part-0-again")
			said(t, cli.ExitOK, append(args, "-shards", fmt.Sprintf("0/%d", c.shares), "-partial", again)...)
			mergedCode, merged, errs := dpscope(t, "merge", dir, "-format", "json")
			if mergedCode != code {
				t.Fatalf("the merge ended with %d, must be %d: %s", mergedCode, code, errs)
			}
			want, got := timing.ReplaceAllString(one, ""), timing.ReplaceAllString(merged, "")
			if want != got {
				i := 0
				for i < min(len(want), len(got)) && want[i] == got[i] {
					i++
				}
				t.Errorf("other bytes from %d on: one machine %.80q, merged %.80q", i, want[i:], got[i:])
			}
			if n := strings.Count(one, `"timing"`); n == 0 || len(want) < 1000 {
				t.Errorf("the report is of %d bytes and has %d times", len(one), n)
			}
		})
	}
}

// TestMergeRefuses holds what a merge refuses, and what its errors name.
func TestMergeRefuses(t *testing.T) {
	args := strings.Fields("audit -mechanism svt4 -epsilon 1 -seed 7 -samples 110000 -trials 2 -fixed")
	dir := sharesDrawn(t, 6, args...)
	at := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) []byte {
		return must.Get(os.ReadFile(at(name)))(t)
	}
	with := func(t *testing.T, name string, data []byte) string {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, data, 0o644))
		return path
	}
	all := []string{at("search"), at("part-0"), at("part-1"), at("part-2"), at("part-3"), at("part-4"), at("part-5")}
	whole := read("part-1")
	other := sharesDrawn(t, 6, strings.Fields("audit -mechanism svt4 -epsilon 1 -seed 8 -samples 110000 -trials 2 -fixed")...)
	fives := sharesDrawn(t, 5, args...)
	// Another program's counts: as drawn by shares of the wrong index.
	forged := with(t, "forged", resealed(t, read("part-1"), `"rows":16384`, `"rows":16383`))
	aged := with(t, "aged", resealed(t, whole, `"product":"`, `"product":"0.0.`))
	future := with(t, "future", resealed(t, whole, `"version":4,`, `"version":9,`))
	for name, c := range map[string]struct {
		parts []string
		says  []string
	}{
		"gaps":              {[]string{all[0], all[1], all[3], all[6]}, []string{"3 of 6 shares: 1, 3 to 4"}},
		"the last":          {all[:6], []string{"1 of 6 shares: 5"}},
		"the search alone":  {all[:1], []string{"the search alone"}},
		"nothing":           {[]string{t.TempDir()}, []string{"what was given is empty"}},
		"no search":         {all[2:], []string{"1 of 6 shares: 0"}},
		"other counts":      {append([]string{forged}, all...), []string{"other counts", forged, all[2], "share 1"}},
		"fewer counts":      {[]string{all[0], all[1], forged, all[3], all[4], all[5], all[6]}, []string{"rows is 16383, must be 16384"}},
		"another plan":      {append(all[:6:6], filepath.Join(other, "part-5")), []string{"another audit", "part-5"}},
		"another number":    {append(all[:6:6], filepath.Join(fives, "part-4")), []string{"one of 5 shares", "part-4"}},
		"another version":   {append(all[:2:2], aged), []string{"drawn by version", aged}},
		"another form":      {append(all[:2:2], future), []string{"version 9", future}},
		"cut in half":       {append(all[:2:2], with(t, "half", whole[:len(whole)/2])), []string{"half", "incomplete or damaged"}},
		"cut after a line":  {append(all[:2:2], with(t, "line", whole[:bytes.IndexByte(whole, '\n')+1])), []string{"incomplete or damaged"}},
		"a flipped digit":   {append(all[:2:2], with(t, "bad", bytes.Replace(whole, []byte(`"rows":1`), []byte(`"rows":2`), 1))), []string{"incomplete or damaged"}},
		"empty":             {append(all[:2:2], with(t, "none", nil)), []string{"none", "incomplete or damaged"}},
		"a report":          {append(all[:2:2], with(t, "report", []byte("{\"kind\":\"pair\"}\n"))), []string{"another file"}},
		"two in one":        {append(all[:2:2], with(t, "two", append(bytes.Clone(whole), whole...))), []string{"incomplete or damaged"}},
		"a file not there":  {append(all[:2:2], at("nowhere")), []string{"nowhere"}},
		"a line of garbage": {append(all[:2:2], with(t, "garbage", []byte("\x00\xff\n\n"))), []string{"garbage"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := dpscope(t, append([]string{"merge"}, c.parts...)...)
			if code != cli.ExitUsage || out != "" {
				t.Errorf("ended with %d and %.100q", code, out)
			}
			must.Say(t, errs, c.says...)
		})
	}
	t.Run("a list", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		out := filepath.Join(t.TempDir(), "report.json")
		if code := run([]string{"merge", "-", "-o", out}, strings.NewReader(strings.Join(all, "\n")+"\n"+all[3]+"\n"), &stdout, &stderr); code != cli.ExitViolation {
			t.Errorf("ended with %d: %s", code, &stderr)
		}
		if data, err := os.ReadFile(out); err != nil || !bytes.Contains(data, []byte(`"violation"`)) {
			t.Errorf("%v: the report is %.100q", err, data)
		}
	})
	t.Run("a full disk", func(t *testing.T) {
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip("there is no /dev/full here")
		}
		code, _, errs := dpscope(t, append(args, "-after", all[0], "-shards", "1/6", "-partial", "/dev/full")...)
		if code != cli.ExitUsage || !strings.Contains(errs, "no space left") {
			t.Errorf("ended with %d: %s", code, errs)
		}
		code, out, errs := dpscope(t, append([]string{"merge", "-o", "json=/dev/full"}, all...)...)
		// What could not be kept is printed, and is the violation that it is.
		if code != cli.ExitViolation || !strings.Contains(errs, "no space left") || !strings.HasPrefix(out, "Violation") {
			t.Errorf("the merge ended with %d: %.100q, %s", code, out, errs)
		}
	})
	for name, flags := range map[string]string{
		"beyond":       "-shards 6/6 -partial x",
		"not a number": "-shards a/6 -partial x",
		"no file":      "-shards 1/6",
		"both":         "-shards 1/6 -search-only -partial x",
		"neither":      "-partial x",
		"other search": "-shards 1/6 -partial x -after " + filepath.Join(other, "search"),
		"a program":    "-shards 1/6 -partial x -exec true",
	} {
		t.Run(name, func(t *testing.T) {
			own := args
			if name == "a program" {
				own = []string{"audit", "-epsilon", "1"}
			}
			wants(t, cli.ExitUsage, "dpscope: ", append(own, strings.Fields(flags)...)...)
		})
	}
}

// resealed is a partial with a change that its last line knows of, as another program
// would have written it.
func resealed(t *testing.T, data []byte, before, after string) []byte {
	t.Helper()
	body, _, _ := bytes.Cut(data, []byte("\n"))
	changed := bytes.Replace(body, []byte(before), []byte(after), 1)
	if bytes.Equal(changed, body) {
		t.Fatalf("the partial has no %s", before)
	}
	return fmt.Appendf(changed, "\n%x\n", sha256.Sum256(changed))
}

// TestProgramInShares: shares of a program that takes no seed join, by a merge that starts no
// program; a share that is drawn twice is another one, and a search of another program is
// refused.
func TestProgramInShares(t *testing.T) {
	must.Have(t, "python3")
	program := func(form string) []string {
		return append(strings.Fields("audit -epsilon 1 -beta 1e-6 -seed 5 -samples 9000 -trials 1 -fixed -exec"), "python3 ../../docs/examples/count_mechanism.py "+form)
	}
	dir := sharesDrawn(t, 2, program("unseeded")...)
	after := func(form, file string) (code int, errs string) {
		code, _, errs = dpscope(t, append(program(form), "-after", filepath.Join(dir, "search"), "-shards", "1/2", "-partial", filepath.Join(t.TempDir(), file))...)
		return code, errs
	}
	if code, errs := after("correct", "other"); code != cli.ExitUsage || !strings.Contains(errs, "the search of another audit") {
		t.Errorf("a share of another program ended with %d: %s", code, errs)
	}
	again := filepath.Join(t.TempDir(), "again")
	said(t, cli.ExitOK, append(program("unseeded"), "-after", filepath.Join(dir, "search"), "-shards", "1/2", "-partial", again)...)
	t.Setenv("PATH", t.TempDir()) // no python3
	code, out, errs := dpscope(t, "merge", dir, "-format", "json")
	if code != cli.ExitOK || !strings.Contains(out, `"unseeded": "`) || !strings.Contains(out, `"n1": 9000`) {
		t.Errorf("the merge ended with %d: %s %.2000s", code, errs, out)
	}
	if code, _, errs := dpscope(t, "merge", dir, again); code != cli.ExitUsage || !strings.Contains(errs, again) || !strings.Contains(errs, "part-1") {
		t.Errorf("a share that was drawn twice ended with %d: %s", code, errs)
	}
}
