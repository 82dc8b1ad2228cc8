package pages

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPaths: what a page calls a file or a folder of the project is one.
func TestPaths(t *testing.T) {
	made := map[string]bool{ // by a command, or of a visitor's project
		"dist/": true, "python/pyodide-lock.json": true, "layouts/shortcodes/dp-audit.html": true,
	}
	fenced, code := regexp.MustCompile("(?s)```.*?```"), regexp.MustCompile("`([^`\n ]+)`")
	path := regexp.MustCompile(`^[a-z][a-z_-]*(/[\w.-]+)*(/|/[\w.-]+\.(go|m?js|css|html|md|json|sh|py|R|ts|txt))$`)
	placeholder := regexp.MustCompile(`[A-Z]{4}`)
	root := filepath.Join("..", "..")
	found := 0
	err := filepath.WalkDir(root, func(page string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := e.Name(); e.IsDir() && page != root && (name[0] == '.' || name == "node_modules" || name == "testdata" || name == "dist") {
			return filepath.SkipDir
		}
		if filepath.Ext(page) != ".md" || e.Name() == "CHANGELOG.md" {
			return nil
		}
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		for _, m := range code.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			if !path.MatchString(m[1]) || placeholder.MatchString(m[1]) || made[m[1]] {
				continue
			}
			found++
			if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(m[1], "/"))); err != nil {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
		return nil
	})
	if err != nil || found < 40 {
		t.Fatal(found, err)
	}
}
