package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

var update = flag.Bool("update", false, "write what commands print into docs")

// TestMuseumCode: the functions that pages of the museum offer for the page's editor have
// their fault, and with the lines that mend them none is found (in the short tests, of
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
		if found++; !testsize.All() && found%8 != 1 {
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
				code, out, errs := dpscope(t, append(args, "-samples", samples)...)
				if code != c.want {
					t.Errorf("exit code %d, want %d\n%s\n%s%s", code, c.want, c.code, out, errs)
				}
				first, _, _ := strings.Cut(out, "\n")
				t.Log(first)
			}
		})
	}
	if found < 20 {
		t.Errorf("%d pages have a function", found)
	}
}

// TestTutorial: the tutorial shows the files of its example, and commands of the README
// and the tutorial print what these pages say.
//
//	go test ./cmd/dpscope -run Tutorial -update
func TestTutorial(t *testing.T) {
	const root = "../../"
	for _, file := range []string{"count.go", "count_test.go"} {
		source, page := read(t, root+"docs/examples/tutorial/"+file), read(t, root+"docs/tutorial.md")
		must.Say(t, page, "```go\n"+source+"```\n")
	}
	console := regexp.MustCompile("(?ms)^```console\n\\$ ([^\n]*)\n(.*?)^```$")
	for _, page := range []string{root + "README.md", root + "docs/tutorial.md"} {
		data := read(t, page)
		blocks := 0
		changed := console.ReplaceAllStringFunc(data, func(block string) string {
			blocks++
			command := console.FindStringSubmatch(block)[1]
			return "```console\n$ " + command + "\n" + printed(t, root, command) + "```"
		})
		if blocks != 1 {
			t.Errorf("%s shows %d commands", page, blocks)
		}
		if changed == data {
			continue
		}
		if !*update {
			t.Errorf("%s is not what its commands print; go test ./cmd/dpscope -run Tutorial -update writes it\n%s", page, changed)
		} else {
			must.Do(t, os.WriteFile(page, []byte(changed), 0o644))
		}
	}
}

// printed is what a command of a page prints, without what differs from run to run.
func printed(t *testing.T, root, command string) string {
	t.Helper()
	words := strings.Fields(command)
	if words[0] == "dpscope" {
		code, out, errs := dpscope(t, words[1:]...)
		if code != cli.ExitViolation {
			t.Errorf("%s: exit code %d\n%s", command, code, errs)
		}
		return out
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
	took := regexp.MustCompile(` \(\d+\.\d+s\)|\t(\d+\.\d+s|\(cached\))`)
	return took.ReplaceAllString(string(out), "")
}
