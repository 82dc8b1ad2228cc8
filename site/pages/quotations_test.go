package pages

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// quotation is a sentence of somebody else's that a page of docs quotes.
type quotation struct {
	Page  string `json:"page"`
	Quote string `json:"quote"`
	Place string `json:"place"` // in the work
	// Source is the number of the text in the folder of sources, or an address.
	Source string `json:"source"`
	// Text is what to look for there, where the text that was made of the
	// paper has formulas several times over.
	Text string `json:"text,omitempty"`
}

var (
	marks = strings.NewReplacer("ϵ", "epsilon", "ε", "epsilon", `\varepsilon`, "epsilon", "δ", "delta", "β", "beta", "α", "alpha", "η", "eta", "λ", "lambda", "τ", "tau", "σ", "sigma",
		"ñ", "n", `\tilde`, "", `\hat`, "", "≤", "leq", "≥", "geq", "∈", "in", "⊂", "subset", "∼", "sim", "‖", "|", `\parallel`, "|", `\|`, "|", "’", "'",
		`\mathcal`, "", `\mathbb`, "", `\text`, "", `\left`, "", `\right`, "", "~", "", "**", "", "`", "")
	removed = regexp.MustCompile(`[\s\x{a0}\x{2009}\x{200b}\\${}\[\]*“”"]+`)
)

// bare is a text without what its setting adds: spaces, and the marks of formulas.
func bare(s string) string { return removed.ReplaceAllString(marks.Replace(s), "") }

func quotations(t *testing.T) []quotation {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(docsFolder, "findings", "quotations.json")))(t)
	var all []quotation
	must.Do(t, json.Unmarshal(data, &all))
	return all
}

// Every page of findings quotes a sentence that it is about and names its place,
// every quotation on it is in the file of quotations, and every one of the file
// stands on its page.
func TestFindingsQuote(t *testing.T) {
	block := regexp.MustCompile(`(?m)^> "(.*)"\n>\n> — (.*)$`)
	quoted := regexp.MustCompile(`(?m)^> `)
	all := quotations(t)
	known := map[string]quotation{}
	for _, q := range all {
		if q.Place == "" || q.Quote == "" || q.Source == "" {
			t.Errorf("%+v", q)
		}
		known[q.Page+" "+bare(q.Quote)] = q
		if page := open(t, q.Page); !strings.Contains(bare(page.text), bare(q.Quote)) {
			t.Errorf("%s does not quote %q", q.Page, q.Quote)
		}
	}
	pages := must.Get(filepath.Glob(filepath.Join(docsFolder, "findings", "*.md")))(t)
	for _, file := range pages {
		name := "findings/" + filepath.Base(file)
		if name == "findings/index.md" {
			continue
		}
		text := open(t, name).text
		found := block.FindAllStringSubmatch(text, -1)
		if len(found) == 0 || 2*len(found) != len(quoted.FindAllString(text, -1)) {
			t.Errorf("%s: %d quotations with a place, of %d quoted lines", name, len(found), len(quoted.FindAllString(text, -1)))
		}
		for _, m := range found {
			if q, ok := known[name+" "+bare(m[1])]; !ok || !strings.HasPrefix(m[2], q.Place) {
				t.Errorf("%s: %q of %q is not in quotations.json under this place (%q)", name, m[1], m[2], q.Place)
			}
		}
	}
}

// Every quotation stands in the text that it is from. The texts are not part of
// the project: this runs where they lie beside it.
func TestQuotationsStandInTheirSources(t *testing.T) {
	folder := filepath.Join(docsFolder, "../../shared/seeds")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no texts of the papers here")
	}
	texts := map[string]string{}
	for _, q := range quotations(t) {
		if strings.HasPrefix(q.Source, "https://") {
			continue
		}
		if texts[q.Source] == "" {
			files, err := filepath.Glob(filepath.Join(folder, q.Source+"_*"))
			if err != nil || len(files) != 1 {
				t.Fatalf("source %s: %v, %v", q.Source, files, err)
			}
			data := must.Get(os.ReadFile(files[0]))(t)
			texts[q.Source] = bare(string(data))
		}
		look := q.Quote
		if q.Text != "" {
			if look = q.Text; !strings.Contains(bare(q.Quote), bare(look)) {
				t.Errorf("%s: %q is no part of %q", q.Page, q.Text, q.Quote)
			}
		}
		if !strings.Contains(texts[q.Source], bare(look)) {
			t.Errorf("%s: %q does not stand in source %s", q.Page, look, q.Source)
		}
	}
}
