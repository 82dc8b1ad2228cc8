package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/must"
)

var update = flag.Bool("update", false, "write what commands print into docs")

// TestMuseumCode: the functions that pages of the museum offer for the page's editor have
// their fault, and with the lines that mend them none is found (in the first gear, of
// every eighth page).
func TestMuseumCode(t *testing.T) {
	node := must.Have(t, "node")
	runner := must.Get(filepath.Abs("../../docs/examples/zoo/run.js"))(t)
	pages := must.Get(filepath.Glob("../../docs/museum/*.md"))(t)
	pages = append(pages, "../../docs/tutorial.md")
	block := regexp.MustCompile("(?ms)^```js ([^\n]*)\n(.*?)^```$")
	mark := regexp.MustCompile(`(?m)^.*// mend\n`)
	found := 0
	for _, page := range pages {
		text := must.Get(os.ReadFile(page))(t)
		blocks := block.FindAllStringSubmatch(string(text), -1)
		if len(blocks) == 0 {
			continue // its fault shows in bits, which no setting of the editor looks at
		}
		if len(blocks) != 2 || blocks[1][1] != "mended" {
			t.Fatalf("%s has %d functions, must have one and the lines that mend it", page, len(blocks))
		}
		if found++; !gear.All() && found%8 != 1 {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			broken, lines := blocks[0][2], slices.Collect(strings.Lines(blocks[1][2]))
			if n := len(mark.FindAllString(broken, -1)); n == 0 || n != len(lines) {
				t.Fatalf("%d lines are marked, and %d mend them", n, len(lines))
			}
			mended := mark.ReplaceAllStringFunc(broken, func(string) string {
				line := lines[0]
				lines = lines[1:]
				return line
			})
			for _, c := range []struct {
				code string
				want int
			}{{broken, cli.ExitViolation}, {mended, cli.ExitOK}} {
				file := filepath.Join(t.TempDir(), "mechanism.js")
				must.Do(t, os.WriteFile(file, []byte(c.code), 0o600))
				// Beta is small, so that no sound function is called broken by chance.
				args := []string{"audit", "-exec", "'" + node + "' '" + runner + "' '" + file + "'", "-beta", "1e-4", "-seed", "5", "-workers", "2"}
				samples := "30000"
				for setting := range strings.FieldsSeq(blocks[0][1]) {
					switch key, value, _ := strings.Cut(setting, "="); key {
					case "samples":
						samples = value
					case "integer":
						args = append(args, "-integer")
					case "output":
						args = append(args, "-kind", "c1="+value)
					default:
						args = append(args, "-"+key, value)
					}
				}
				var out, errs bytes.Buffer
				if code := run(append(args, "-samples", samples), nil, &out, &errs); code != c.want {
					t.Errorf("exit code %d, want %d\n%s\n%s%s", code, c.want, c.code, out.String(), errs.String())
				}
				first, _, _ := strings.Cut(out.String(), "\n")
				t.Log(first)
			}
		})
	}
	if found < 20 {
		t.Errorf("%d pages have a function", found)
	}
}

// TestTutorial: the files that the tutorial shows are those of the examples, and its
// commands print what it says.
//
//	go test ./cmd/dpscope -run Tutorial -update
func TestTutorial(t *testing.T) {
	must.Have(t, "python3")
	page := must.Get(filepath.Abs("../../docs/tutorial.md"))(t)
	data := must.Get(os.ReadFile(page))(t)
	dir := t.TempDir()
	for _, f := range []struct{ kind, example, name string }{
		{"python", "tutorial.py", "count.py"}, {"go", "tutorial/count.go", ""}, {"go", "tutorial/count_test.go", ""},
	} {
		source := must.Get(os.ReadFile(filepath.Join("../../docs/examples", f.example)))(t)
		if !bytes.Contains(data, []byte("```"+f.kind+"\n"+string(source)+"```\n")) {
			t.Errorf("the tutorial does not show docs/examples/%s as it is", f.example)
		}
		if f.name == "" {
			continue
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, f.name), source, 0o600))
	}
	root := must.Get(filepath.Abs("../.."))(t)
	t.Chdir(dir)
	console := regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	commands := 0
	changed := console.ReplaceAllStringFunc(string(data), func(block string) string {
		out := "```console\n"
		for line := range strings.Lines(console.FindStringSubmatch(block)[1]) {
			command, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
			if !ok {
				continue
			}
			commands++
			out += line + printed(t, root, command)
		}
		return out + "```"
	})
	if commands != 4 {
		t.Errorf("%d commands", commands)
	}
	if changed == string(data) {
		return
	}
	if !*update {
		t.Fatalf("%s is not what its commands print; go test ./cmd/dpscope -run Tutorial -update writes it\n%s", page, changed)
	}
	must.Do(t, os.WriteFile(page, []byte(changed), 0o644))
}

// printed is what a command of the tutorial prints, without what differs from run to run:
// of an audit the verdict and the facts down to the datasets.
func printed(t *testing.T, root, command string) string {
	t.Helper()
	switch program, _, _ := strings.Cut(command, " "); program {
	case "dpscope":
		words := must.Get(audit.ShellWords("the tutorial", command))(t)
		var out, errs bytes.Buffer
		want := map[string]int{"count.py": cli.ExitOK, "half.py": cli.ExitViolation}[strings.Fields(words[3])[1]]
		if code := run(words[1:], nil, &out, &errs); code != want {
			t.Errorf("%s: exit code %d, want %d\n%s", command, code, want, errs.String())
		}
		facts, _, _ := strings.Cut(out.String(), "  Found by")
		return facts
	case "go":
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		took := regexp.MustCompile(` \(\d+\.\d+s\)|\t(\d+\.\d+s|\(cached\))`)
		return took.ReplaceAllString(string(out), "")
	}
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
	return ""
}
