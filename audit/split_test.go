package audit_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

func TestShellWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
		says string
	}{
		{`python3 my_mech.py`, []string{"python3", "my_mech.py"}, ""},
		{"  a\tb  ", []string{"a", "b"}, ""},
		{`'my program' "x y" z\ w`, []string{"my program", "x y", "z w"}, ""},
		{`a 'it'"'"'s' ""`, []string{"a", "it's", ""}, ""},
		{`a "\"\\\$\n" '$x | y'`, []string{"a", `"\$\n`, "$x | y"}, ""},
		{`a *.py ~/b #c x=1`, []string{"a", "*.py", "~/b", "#c", "x=1"}, ""},
		{`sh -c 'a | b'`, []string{"sh", "-c", "a | b"}, ""},
		{``, nil, "must be a program"},
		{`  `, nil, "must be a program"},
		{`a | b`, nil, "'|' outside single quotes"},
		{`a; b`, nil, "';' outside"},
		{`a > b`, nil, "'>' outside"},
		{`a $HOME`, nil, "'$' outside"},
		{`a "$HOME"`, nil, "'$' outside"},
		{"a `b`", nil, "'`' outside"},
		{"a\nb", nil, `'\n' outside`},
		{`a 'b`, nil, "unclosed"},
		{`a "b`, nil, "unclosed"},
		{`a \`, nil, "a backslash at the end"},
		{"a\x00", nil, "NUL"},
	} {
		got, err := audit.ShellWords("-exec", c.line)
		if !slices.Equal(got, c.want) || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %q, %v", c.line, got, err)
		}
	}
}

// TestShellWordsAgreeWithAShell: what is accepted, a POSIX shell reads in the same way.
func TestShellWordsAgreeWithAShell(t *testing.T) {
	sh := must.Have(t, "sh")
	for _, line := range []string{`a b`, `'a b'  c`, `a\ b "c\"d" 'e\f'`, `x"y"'z'\"`, `"a\b" "\\" ''`, `-e 'q="1"' --r=[3]`} {
		words := must.Get(audit.ShellWords("-exec", line))(t)
		out, err := exec.Command(sh, "-c", `for w in `+line+`; do printf '%s\000' "$w"; done`).Output()
		if want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(words, want) {
			t.Errorf("%q: %q, a shell reads %q (%v)", line, words, want, err)
		}
	}
}

func ExampleShellWords() {
	words, err := audit.ShellWords("-exec", `python3 'my mechanism.py' --scale "1.5"`)
	fmt.Printf("%q %v\n", words, err)
	_, err = audit.ShellWords("-exec", "python3 mechanism.py | tee log")
	fmt.Println(err != nil)
	// Output:
	// ["python3" "my mechanism.py" "--scale" "1.5"] <nil>
	// true
}

// FuzzShellWords: whatever the line, no panic, and an error names the field; the words,
// quoted again, give the same words. Any text, quoted, is one word.
func FuzzShellWords(f *testing.F) {
	for _, s := range []string{"", "a b", `'a b'  "c\"d" e\ f`, "it's", "a | b", "a\n", "x=1 é", "a\x00", `"$HOME"`, `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if words, err := audit.ShellWords("-exec", audit.ShellWord(s)); err != nil || !slices.Equal(words, []string{s}) {
			t.Fatalf("%q as a word: %q, %v", s, words, err)
		}
		words, err := audit.ShellWords("-exec", s)
		if err != nil {
			if !audit.IsInput(err) || !strings.HasPrefix(err.Error(), "-exec is") {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = audit.ShellWord(w)
		}
		if again, err := audit.ShellWords("-exec", strings.Join(quoted, " ")); err != nil || !slices.Equal(again, words) {
			t.Fatalf("%q: %q, quoted again %q, %v", s, words, again, err)
		}
	})
}
