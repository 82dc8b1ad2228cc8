package pages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// The sources that pages on embeds tell readers to write are files that are tried.
func TestEmbedSources(t *testing.T) {
	for page, sources := range map[string][]string{
		"html.md":   {"plain.html"},
		"sphinx.md": {"sphinx/conf.py", "sphinx/index.rst"},
		"mkdocs.md": {"mkdocs/mkdocs.yml", "mkdocs/docs/index.markdown"},
		"hugo.md":   {"hugo/layouts/shortcodes/dp-audit.html", "hugo/hugo.toml", "hugo/content/_index.markdown"},
	} {
		text := must.Get(os.ReadFile(filepath.Join(docsFolder, "embed", page)))(t)
		for _, name := range sources {
			source := must.Get(os.ReadFile(filepath.Join(docsFolder, "embed", filepath.FromSlash(name))))(t)
			if !strings.Contains(string(text), "```\n"+string(source)+"```") {
				t.Errorf("docs/embed/%s does not show %s as it is", page, name)
			}
		}
	}
}
