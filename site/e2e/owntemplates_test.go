package e2e

import (
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// templates are those of site/panel/templates.js.
func templates(t *testing.T) []struct {
	Name, Hint, Fault string
	In                map[string][3]string // by language: the code, its bug, the mend
} {
	t.Helper()
	node := must.Have(t, "node")
	read := api.Build(api.BuildOptions{EntryPoints: []string{"../panel/templates.js"}, Bundle: true, Format: api.FormatIIFE, GlobalName: "read", Footer: map[string]string{"js": "console.log(JSON.stringify(read.templates))"}})
	if len(read.Errors) > 0 {
		t.Fatal(read.Errors)
	}
	script := exec.Command(node, "-")
	script.Stdin = strings.NewReader(string(read.OutputFiles[0].Contents))
	out := must.Get(script.Output())(t)
	var all []struct {
		Name, Hint, Fault string
		In                map[string][3]string
	}
	must.Do(t, json.Unmarshal(out, &all))
	return all
}

// TestTemplates: every template's hint tells first where to look and then what is wrong, at
// its line. In the full tests it is refuted by what the page audits unasked, and mended it is
// not.
func TestTemplates(t *testing.T) {
	t.Parallel()
	tab := owning(t)
	const told = `document.querySelector("#own-told").textContent`
	all := templates(t)
	for i, m := range all {
		for _, language := range slices.Sorted(maps.Keys(m.In)) {
			code, bug, mend := m.In[language][0], m.In[language][1], m.In[language][2]
			if strings.Count(code, bug) != 1 || strings.Contains(strings.Replace(code, bug, mend, 1), bug) {
				t.Errorf("%s, %s: %q must be there once, and not in its mend", m.Name, language, bug)
			}
			if language == "python" && eval[bool](t, tab, `document.querySelector("#own-python").hidden`) {
				continue // the site was built without it
			}
			click(t, tab, "#own-language [data-language="+language+"]")
			template(t, tab, m.Name)
			if eval[string](t, tab, written) != code || eval[string](t, tab, told) != "" {
				t.Errorf("%s: the editor holds something else, or tells unasked", m.Name)
			}
			click(t, tab, "#own-hint")
			hint := eval[string](t, tab, told)
			click(t, tab, "#own-hint")
			if fault := eval[string](t, tab, told); hint != m.Hint || fault != m.Fault {
				t.Errorf("%s tells %q, then %q", m.Name, hint, fault)
			}
			if marked := eval[string](t, tab, `document.getSelection().toString()`); !strings.Contains(marked, bug) {
				t.Errorf("%s: the line of the fault is %q", m.Name, marked)
			}
			if !testsize.All() {
				continue
			}
			if eval[string](t, tab, `document.querySelector("#own-samples").value`) == "" { // else the template names how many it takes
				set(t, tab, "own-samples", "5000")
			}
			set(t, tab, "own-seed", "") // what a visitor gets
			if r := runOwn(t, tab); r.Verdict != audit.Violation {
				t.Errorf("%s, %s: %s", m.Name, language, r.Summary)
			}
			if i == 0 { // who raises the claim until the leak passes did not find it
				claim := eval[string](t, tab, `document.querySelector("#own-epsilon").value`)
				set(t, tab, "own-epsilon", "9")
				if r := runOwn(t, tab); r.Verdict == audit.Violation || strings.HasPrefix(eval[string](t, tab, told), "You found it.") {
					t.Errorf("at a claim of 9: %s, and it tells %q", r.Summary, eval[string](t, tab, told))
				}
				set(t, tab, "own-epsilon", claim)
			}
			write(t, tab, strings.Replace(code, bug, mend, 1))
			if r := runOwn(t, tab); r.Verdict == audit.Violation || eval[string](t, tab, told) != "You found it. "+m.Fault {
				t.Errorf("%s, %s, mended: %s; it tells %q", m.Name, language, r.Summary, eval[string](t, tab, told))
			}
		}
	}
}
