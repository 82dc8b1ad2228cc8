package pages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// The sources that the page on embeds tells readers to write are files that are tried.
func TestEmbedSources(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join(docsFolder, "embed.md")))(t)
	for _, name := range []string{
		"plain.html", "sphinx/conf.py", "sphinx/index.rst", "mkdocs/mkdocs.yml", "mkdocs/docs/index.markdown",
		"hugo/layouts/shortcodes/dp-audit.html", "hugo/hugo.toml", "hugo/content/_index.markdown",
	} {
		source := must.Get(os.ReadFile(filepath.Join(docsFolder, "embed", filepath.FromSlash(name))))(t)
		if !strings.Contains(string(text), "```\n"+string(source)+"```") {
			t.Errorf("docs/embed.md does not show %s as it is", name)
		}
	}
}
