package pages

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/catalogue"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/child"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/packed"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms"
	"github.com/dpscope/dpscope/wasm/stills"
)

var update = flag.Bool("update", false, "write what the audits show into docs")

const docsFolder = "../../docs"

// planOf makes the plan that a page's audit asks for, as the page of the site does.
func planOf(a Audit) (pair.Plan, error) {
	p, texts := pair.Plan{Version: pair.PlanVersion}, settings.Texts{}
	for _, s := range a {
		texts[s.Name] = s.Value
	}
	err := settings.Read(pair.Keys(), texts, &p)
	return p, err
}

// shown are the lines below the command.
func shown(r pair.Report) string {
	var b strings.Builder
	fmt.Fprintln(&b, r.Summary)
	f := r.Deciding()
	if f.Event != nil {
		words := []rune(f.Event.Words)
		if len(words) > 160 {
			words = append(words[:150], []rune(" ...")...)
		}
		fmt.Fprintf(&b, "Event: %s\n", string(words))
	}
	if f.Counts != nil {
		likelier, other := "first", "second"
		if f.Direction == report.SecondOverFirst {
			likelier, other = other, likelier
		}
		c := f.Counts
		fmt.Fprintf(&b, "Counts: %s of %s on the %s dataset, %s of %s on the %s\n",
			phrase.Grouped(c.X), phrase.Grouped(c.N1), likelier, phrase.Grouped(c.Y), phrase.Grouped(c.N0), other)
	}
	fmt.Fprintf(&b, "Datasets: %s against %s\n", r.Evidence.Pair.First.Words(), r.Evidence.Pair.Second.Words())
	return b.String()
}

// Every audit on a page of docs (in the short tests, every third), run natively with two
// workers, shows what the page says that it shows, and its command is the one that the
// report gives.
// The times are printed, and not tested.
//
//	go test ./site/pages -run Audits -v
//	go test ./site/pages -run Audits -update
func TestAudits(t *testing.T) {
	cat := catalogue.All()
	sources := must.Get(markdown(os.DirFS(docsFolder)))(t)
	fence := regexp.MustCompile("(?ms)^```audit((?: [\\w:-]+)*)\n(.*?)^```$")
	violations, at := 0, 0
	for _, source := range sources {
		name, file := source.Name, filepath.Join(docsFolder, filepath.FromSlash(source.Name))
		changed := fence.ReplaceAllStringFunc(string(source.Data), func(block string) string {
			info, text := fence.FindStringSubmatch(block)[1], fence.FindStringSubmatch(block)[2]
			command, written, _ := strings.Cut(text, "\n")
			if at++; !testsize.All() && !*update && at%3 != 0 {
				return block
			}
			r := runAudit(t, cat, name, command)
			if r.Verdict == audit.Violation {
				violations++
			} else if strings.HasPrefix(name, "museum/") {
				t.Errorf("%s: %s", name, r.Summary)
			}
			if words := strings.Fields(info); len(words) == 2 {
				keep(t, words[1], r)
			}
			if got := shown(r); got != written && !*update {
				t.Errorf("%s: %s\nshows\n%swhere the page has\n%sgo test ./site/pages -run Audits -update writes it", name, command, got, written)
			}
			return "```audit" + info + "\n" + command + "\n" + shown(r) + "```"
		})
		if *update && changed != string(source.Data) {
			must.Do(t, os.WriteFile(file, []byte(changed), 0o644))
		}
	}
	if least := testsize.Of(7, 20); violations < least {
		t.Errorf("%d violations on the pages, want %d at least", violations, least)
	}
}

// keep compares what a picture is drawn of with what is kept, or keeps it.
func keep(t *testing.T, name string, r report.View) {
	t.Helper()
	file := filepath.Join(docsFolder, kept, name+".json")
	now := stills.Keep(r)
	if *update {
		must.Do(t, os.WriteFile(file, now, 0o644))
	}
	if before, err := os.ReadFile(file); err != nil || !bytes.Equal(before, now) {
		t.Errorf("%s is not of this run (%v); go test ./site/pages -run 'Audits|Pictures' -update keeps it", file, err)
	}
}

// Every report that a picture is drawn of comes from the command beside it (in the short
// tests, some), and none is kept for no picture.
//
//	go test ./site/pages -run Pictures -update
func TestPictures(t *testing.T) {
	sources := must.Get(markdown(os.DirFS(docsFolder)))(t)
	block := regexp.MustCompile("(?m)^```(audit|picture) ([\\w:-]+) ([\\w-]+)\n(.*dpscope .*)$")
	made, cat := map[string]string{}, catalogue.All()
	for _, source := range sources {
		name := source.Name
		for _, m := range block.FindAllStringSubmatch(string(source.Data), -1) {
			of, command := m[3], m[4]
			if made[of] != "" && made[of] != command {
				t.Errorf("%s: the picture %s is of %q, and elsewhere of %q", name, of, command, made[of])
			}
			again := made[of] != ""
			if made[of] = command; again || m[1] == "audit" { // which TestAudits runs
				continue
			}
			switch _, err := ParseCommand(command); {
			case err == nil && !*update && !testsize.All() && len(made)%12 != 0:
			case err == nil:
				keep(t, of, runAudit(t, cat, name, command))
			case *update || testsize.All():
				keep(t, of, runCommand(t, command))
			}
		}
	}
	files := must.Get(os.ReadDir(filepath.Join(docsFolder, kept)))(t)
	for _, f := range files {
		if of := strings.TrimSuffix(f.Name(), ".json"); made[of] == "" {
			t.Errorf("%s is kept, and no page has a picture of it", f.Name())
		}
		delete(made, strings.TrimSuffix(f.Name(), ".json"))
	}
	for of, command := range made {
		t.Errorf("the report of %s (%s) is not kept", of, command)
	}
}

// runCommand runs a command that is no audit of a mechanism of ours, and reads its report.
// It runs in the root of the project.
func runCommand(t *testing.T, command string) report.View {
	t.Helper()
	program := filepath.Join(t.TempDir(), "dpscope")
	if out, err := child.Go(t, "build", "-o", program, "./cmd/dpscope").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command("sh", "-c", strings.Replace(command, "dpscope", program, 1)+" -format json")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 1 { // 1: a violation
		t.Fatalf("%s: %v", command, err)
	}
	for _, k := range core.Kinds() {
		if r, err := k.Parse(out); err == nil {
			return r
		}
	}
	t.Fatalf("%s: no report: %.200s", command, out)
	return nil
}

func runAudit(t *testing.T, cat audit.Catalogue, name, command string) pair.Report {
	t.Helper()
	a, err := ParseCommand(command)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	plan, err := planOf(a)
	if err != nil {
		t.Fatalf("%s: %s: %v", name, command, err)
	}
	start := time.Now()
	r, err := pair.Run{Plan: plan, Catalogue: cat, Pool: engine.LocalPool(2)}.Do(context.Background())
	if err != nil {
		t.Fatalf("%s: %s: %v", name, command, err)
	}
	t.Logf("%-40s %6.2f s  %s", name, time.Since(start).Seconds(), r.Summary)
	// The report's own address asks for the same, defaults left out.
	again := must.Get(planOf(audited(t, r.Reproduce.URL)))(t)
	if one, two := resolved(t, plan, cat), resolved(t, again, cat); one != two {
		t.Errorf("%s: %s is\n%s\nand the report's %s\n%s", name, command, one, r.Reproduce.URL, two)
	}
	return r
}

// resolved is a plan with its defaults filled in.
func resolved(t *testing.T, p pair.Plan, cat audit.Catalogue) string {
	t.Helper()
	a := must.Get(p.Resolve(cat))(t)
	data := must.Get(audit.Canonical(a.Plan))(t)
	return string(data)
}

func audited(t *testing.T, fragment string) Audit {
	t.Helper()
	values := must.Get(url.ParseQuery(strings.TrimPrefix(fragment, "#v=1&")))(t)
	var a Audit
	for _, name := range slices.Sorted(maps.Keys(values)) {
		a = append(a, audit.Argument{Name: name, Value: values.Get(name)})
	}
	return a
}

func build(t *testing.T, withElement bool) []File {
	t.Helper()
	return must.Get(Build(os.DirFS(docsFolder), withElement, stills.Draw))(t)
}

var (
	attribute = regexp.MustCompile(`\s(?:href|src)="([^"]*)"`)
	identity  = regexp.MustCompile(`\sid="([^"]*)"`)
)

// Every link of every page is relative and leads to a file of the site and to a
// place that is there, so that the site works in any folder of any server.
func TestLinks(t *testing.T) {
	files := build(t, true)
	there := map[string]map[string]bool{} // the ids of each file
	for _, f := range files {
		ids := map[string]bool{}
		for _, m := range identity.FindAllStringSubmatch(string(f.Data), -1) {
			if ids[m[1]] {
				t.Errorf("%s: two elements %s", f.Name, m[1])
			}
			ids[m[1]] = true
		}
		there[f.Name] = ids
	}
	// What the rest of the build makes.
	doors := regexp.MustCompile(`^door=[a-z]+$`)
	for _, name := range []string{"index.html", "page.css", "theme.js", "docs/docs.css", "docs/docs.js", "icon.svg", element} {
		there[name] = nil
	}
	links := 0
	for _, f := range files {
		if path.Ext(f.Name) != ".html" {
			continue
		}
		for _, m := range attribute.FindAllStringSubmatch(string(f.Data), -1) {
			to := html.UnescapeString(m[1])
			u := must.Get(url.Parse(to))(t)
			if u.Scheme == "https" {
				continue
			}
			links++
			target := path.Join(path.Dir(f.Name), u.Path)
			if u.Path == "" {
				target = f.Name
			}
			ids, ok := there[target]
			switch {
			case u.IsAbs() || strings.HasPrefix(to, "/") || !ok:
				t.Errorf("%s: link to %s, which is not there", f.Name, to)
			case target == home:
				door, link, linked := strings.Cut(u.Fragment, "&code=")
				if linked {
					var code packed.Code
					if err := packed.Unpack(link, &code); err != nil || !strings.Contains(code.Code, "function mechanism(") || code.Settings["epsilon"] == "" {
						t.Errorf("%s: a link holds %+v, %v", f.Name, code, err)
					}
				}
				if door != "" && !doors.MatchString(door) {
					audited(t, "#"+u.EscapedFragment())
				}
			case u.Fragment != "" && !ids[u.Fragment]:
				t.Errorf("%s: link to %s, a place that is not there", f.Name, to)
			}
		}
	}
	if links < 200 {
		t.Errorf("%d links found", links)
	}
}

// Pages keep the site's content security policy: no script but the theme's, the search
// and the element's, no styles or handlers in attributes; and every page of a section is linked
// from its index.
func TestPages(t *testing.T) {
	forbidden := regexp.MustCompile(`<style|\sstyle=|\son[a-z]+=|="javascript:|<script>|<iframe|raw HTML omitted`)
	script := regexp.MustCompile(`<script type="module" src="[./]*dp-audit\.js"></script>`)
	theme := regexp.MustCompile(`<script src="[./]*theme\.js"></script>|<script type="module" src="[./]*docs/docs\.js"></script>`)
	files := build(t, true)
	for _, f := range files {
		if path.Ext(f.Name) != ".html" {
			continue
		}
		text := string(f.Data)
		if bad := forbidden.FindString(text); bad != "" {
			t.Errorf("%s has %q", f.Name, bad)
		}
		if got, want := len(script.FindAllString(text, -1)), min(1, strings.Count(text, "<dp-audit")); got != want || strings.Count(text, "<script") != want+len(theme.FindAllString(text, -1)) {
			t.Errorf("%s: %d scripts, want %d", f.Name, got, want)
		}
		if n := strings.Count(text, "<h1"); n != 1 {
			t.Errorf("%s: %d titles", f.Name, n)
		}
		if !strings.Contains(text, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; `) {
			t.Errorf("%s lacks the policy", f.Name)
		}
		index := path.Join(path.Dir(f.Name), "index.html")
		i := slices.IndexFunc(files, func(g File) bool { return g.Name == index })
		if i < 0 || index != f.Name && !strings.Contains(string(files[i].Data), `href="`+path.Base(f.Name)) {
			t.Errorf("%s is not linked from %s", f.Name, index)
		}
	}
	for _, f := range build(t, false) {
		if script.Match(f.Data) {
			t.Errorf("%s has the element's script, and the site has none", f.Name)
		}
	}
}

// The element's attributes and the link in it say the same.
func TestElement(t *testing.T) {
	tag := regexp.MustCompile(`(?s)<dp-audit((?: [\w.-]+="[^"]*")+)>(?:<figure class="drawn" slot="still">.{9,}?</figure>\n)?<p class="open-audit"><a href="([^"]*)">`)
	one := regexp.MustCompile(` ([\w.-]+)="([^"]*)"`)
	found := 0
	for _, f := range build(t, true) {
		if path.Ext(f.Name) != ".html" {
			continue
		}
		all := tag.FindAllStringSubmatch(string(f.Data), -1)
		if n := strings.Count(string(f.Data), "<dp-audit"); n != len(all) {
			t.Errorf("%s: %d elements, %d understood", f.Name, n, len(all))
		}
		found += len(all)
		for _, m := range all {
			var a Audit
			runs := ` autorun=""` // once it is seen
			if strings.Contains(m[1], runs) != strings.HasPrefix(f.Name, "docs/museum/") {
				t.Errorf("%s: attributes %s", f.Name, m[1])
			}
			for _, s := range one.FindAllStringSubmatch(strings.ReplaceAll(m[1], runs, ""), -1) {
				a = append(a, audit.Argument{Name: s[1], Value: html.UnescapeString(s[2])})
			}
			_, fragment, _ := strings.Cut(html.UnescapeString(m[2]), "#")
			if got := audited(t, "#"+fragment); len(got) != len(a) || slices.ContainsFunc(a, func(s audit.Argument) bool { return !slices.Contains(got, s) }) {
				t.Errorf("%s: attributes %v, link %v", f.Name, a, got)
			}
		}
	}
	if found < 20 {
		t.Errorf("%d elements", found)
	}
}

// Every known fault has a page, and no page is about a mechanism that there is
// not or that keeps its claim. Misuses of Google's library have docs/google.md.
func TestMuseum(t *testing.T) {
	museum := must.Get(Museum(os.DirFS(docsFolder)))(t)
	for _, m := range mechanisms.All() {
		if link := museum[m.Name].Page; (link != "") != (m.Fault != "") {
			t.Errorf("%s: fault %q, page %q", m.Name, m.Fault, link)
		}
		delete(museum, m.Name)
	}
	if len(museum) > 0 {
		t.Errorf("pages about unknown mechanisms: %v", museum)
	}
}

// Every method that a report can name has a section or a row of a table, and none is
// about one that there is not.
func TestBounds(t *testing.T) {
	constant := regexp.MustCompile(`(?m)(?:Method|CanaryInterval) += "([a-z0-9-]+)"`)
	heading := regexp.MustCompile("(?m)^(?:###? |\\| `)([a-z0-9-]+)(?:$|` \\|)")
	for _, c := range []struct {
		folders []string
		pages   []string
	}{
		{[]string{"bounds/accounting"}, []string{"accounting.md"}},
		{[]string{"bounds", "bounds/published", "core/report", "core/membership", "core/pair"}, []string{"events.md", "divergences.md", "sequential.md", "canaries.md"}},
	} {
		named, told := map[string]bool{}, map[string]bool{}
		collect := func(pattern *regexp.Regexp, file string, into map[string]bool) {
			data := must.Get(os.ReadFile(file))(t)
			for _, m := range pattern.FindAllStringSubmatch(string(data), -1) {
				into[m[1]] = true
			}
		}
		for _, folder := range c.folders {
			sources := must.Get(filepath.Glob(filepath.Join("../..", folder, "*.go")))(t)
			for _, file := range sources {
				if !strings.HasSuffix(file, "_test.go") {
					collect(constant, file, named)
				}
			}
		}
		for _, name := range c.pages {
			collect(heading, filepath.Join(docsFolder, "bounds", name), told)
		}
		if len(named) < 9 {
			t.Errorf("%v: %d methods found", c.folders, len(named))
		}
		for m := range named {
			if !told[m] {
				t.Errorf("%s has no section or row in %v", m, c.pages)
			}
			delete(told, m)
		}
		if len(told) > 0 {
			t.Errorf("sections or rows without a method: %v", told)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"no title", "no title"},
		{"# A\n\n[b](b.md)", "no file b.md"},
		{"# A\n\n[b](../core/run.go)", "docs has no file ../core/run.go"},
		{"# A\n\n[b](/index.html)", "must be relative"},
		{"# A\n\n[b](http://example.org)", "must be relative, or an https address"},
		{"# A\n\n<b>bold</b>", "raw HTML"},
		{"# A\n\n<div>\n</div>", "raw HTML"},
		{"# A\n\n```audit\ngo run\n```", "must begin with dpscope audit"},
		{"# A\n\n```audit\ndpscope audit -epsilon 1\n```", "names no mechanism"},
		{"# A\n\n```audit\ndpscope audit -mechanism\n```", "has no value"},
		{"# A\n\n```audit\ndpscope audit -mechanism svt4 -param c\n```", "name=value"},
		{"# A\n\n```audit\ndpscope audit 'svt4'\n```", "must be a flag"},
		{"# A\n\n```audit\ndpscope audit -mechanism 'svt4\n```", "unclosed single quote"},
		{"# A\n\n```picture outputs\ndpscope audit -mechanism svt4\n```", "must have a view and a name"},
		{"# A\n\n```picture outputs no\ndpscope audit -mechanism svt4\n```", "-run Pictures -update makes it"},
		{"# A\n\n```picture outputs k\ndpscope audit -mechanism svt4\n```", "pictures/k.json: the report has no picture \"outputs\""},
	} {
		_, err := Build(fstest.MapFS{"a.md": {Data: []byte(c.text)}, "pictures/k.json": {Data: []byte(`{"kind": "pair"}`)}}, false, stills.Draw)
		if err == nil || !strings.Contains(err.Error(), "docs/a.md: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := Build(fstest.MapFS{}, false, nil); err != nil {
		t.Errorf("no docs: %v", err)
	}
	docs := fstest.MapFS{"a.md": {Data: []byte("<!-- mechanisms: x y -->\n# A")}, "b/c.md": {Data: []byte("<!-- mechanisms: z -->\n# C\n\n```js epsilon=1\na(); // mend\nb();\n```\n\n```js mended\nc();\n```\n")}}
	museum, err := Museum(docs)
	if err != nil || fmt.Sprint(museum) != "map[x:{docs/a.html  } y:{docs/a.html  } z:{docs/b/c.html a();\n c();\n}]" {
		t.Errorf("%v, %v", museum, err)
	}
	docs["d.md"] = &fstest.MapFile{Data: []byte("<!-- mechanisms: x -->\n")}
	must.Refuse(t, must.Err(Museum(docs)), "x has a page already", "two pages")
}

// What somebody wrote by hand is counted: no code, table, quotation, target or mark.
func TestWords(t *testing.T) {
	docs := fstest.MapFS{
		"a.md":   {Data: []byte("# One two\n\n> quoted\n>\n> - place\n\n    code\n\n|a|b|\n|-|-|\n\n[three](x.md) `f` = 5 - 6.\n")},
		"b/c.md": {Data: []byte("<!-- mechanisms: z -->\n# C\n\n```audit\nx y\n```\n")},
		"b/d.md": {Data: []byte("# D e\n")},
	}
	var out strings.Builder
	must.Do(t, Words(docs, &out))
	if got := strings.Join(strings.Fields(out.String()), " "); got != "6 a.md 1 b/c.md 2 b/d.md 3 b/ 9 in all" {
		t.Error(got)
	}
}

// A page as a whole: links to pages and files, tables, code, an audit.
func TestBuild(t *testing.T) {
	docs := fstest.MapFS{
		"index.md":      {Data: []byte("# Start & more\n\n[in](b/c.md#d) [home](../index.html) [out](https://example.org)\n")},
		"b/c.md":        {Data: []byte("# C\n\n## D\n\n[up](../index.md) [data](../x.json)\n\n|a|b|\n|-|-:|\n|1|<|\n\n    if a < b\n\n```audit\ndpscope audit -mechanism svt4 -param c=2 -until-refuted\nViolation.\n```\n")},
		"x.json":        {Data: []byte("{}")},
		"unlinked.json": {Data: []byte("{}")},
	}
	files := must.Get(Build(docs, true, nil))(t)
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "docs/b/c.html docs/index.html docs/search.json docs/x.json" {
		t.Fatalf("files %s", got)
	}
	for _, want := range []string{
		"<title>C · dpscope</title>", `<link rel="stylesheet" href="../../page.css">`, `<script type="module" src="../../dp-audit.js"></script>`,
		`<a href="../index.html">up</a>`, `<a href="../x.json">data</a>`, `<h2 id="d">`, `<td align="right">&lt;</td>`, `<code>if a &lt; b`,
		`<dp-audit mechanism="svt4" p.c="2" until-refuted="true"><p class="open-audit"><a href="../../index.html#v=1&amp;mechanism=svt4&amp;p.c=2&amp;until-refuted=true">`,
		`<pre class="shown" tabindex="0"><code>dpscope audit <span>-mechanism</span> svt4 <span>-param</span> c=2 <span>-until-refuted</span>`,
	} {
		if !strings.Contains(string(files[0].Data), want) {
			t.Errorf("docs/b/c.html lacks %s", want)
		}
	}
	for _, want := range []string{"<title>Start &amp; more · dpscope</title>", `<a href="b/c.html#d">in</a>`, `<a href="index.html" aria-current="true">Docs</a>`} {
		if !strings.Contains(string(files[1].Data), want) {
			t.Errorf("docs/index.html lacks %s", want)
		}
	}
	if want := `[{"page":"C","heading":"","link":"b/c.html","text":""},{"page":"C","heading":"D","link":"b/c.html#d","text":"up data a b 1 \u003c"},` +
		`{"page":"Start \u0026 more","heading":"","link":"index.html","text":"in home out"}]`; string(files[2].Data) != want {
		t.Errorf("the search reads %s, want %s", files[2].Data, want)
	}
	must.Get(fs.Stat(docs, "unlinked.json"))(t)
}
