// Command strings lists the sentences that users of dpscope read: texts of four words and
// more in the sources of the command, the core, the page and the Python package, with their
// places. Whoever edits the words of the product reads this list.
//
//	go run ./internal/strings [FOLDER ...]
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// shown are the folders whose texts users read.
var shown = []string{"audit", "bounds", "cmd", "core", "dptest", "estimators", "host", "index.html", "internal/cli", "mechanisms", "python/src", "site", "wasm"}

// quoted are texts of scripts, of Python and of pages.
var quoted = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`[^`]*`|>[^<>{}]+<")

func main() {
	folders := os.Args[1:]
	if len(folders) == 0 {
		folders = shown
	}
	for _, folder := range folders {
		if err := list(folder, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "strings:", err)
			os.Exit(1)
		}
	}
}

// list writes the sentences of the sources in a folder, one a line after its place.
func list(folder string, to io.Writer) error {
	return filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"testdata", "node_modules", "e2e", "types"}, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		switch filepath.Ext(name) {
		case ".go":
			return listGo(name, to)
		case ".js", ".html", ".py":
			data, err := os.ReadFile(name)
			for _, at := range quoted.FindAllIndex(data, -1) {
				line := 1 + strings.Count(string(data[:at[0]]), "\n")
				show(to, name, line, string(data[at[0]+1:at[1]-1]))
			}
			return err
		}
		return nil
	})
}

func listGo(name string, to io.Writer) error {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok && field.Tag != nil {
			field.Tag = nil
		}
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			if s, err := strconv.Unquote(text.Value); err == nil {
				show(to, name, files.Position(text.Pos()).Line, s)
			}
		}
		return true
	})
	return nil
}

var word = regexp.MustCompile(`^\(?[\pL'’-]{2,}[.,:;)]?$`)

// show writes a text if at least four of its words are words.
func show(to io.Writer, name string, line int, text string) {
	fields, words := strings.Fields(text), 0
	for _, f := range fields {
		if word.MatchString(f) {
			words++
		}
	}
	if words >= 4 {
		fmt.Fprintf(to, "%s:%d\t%s\n", name, line, strings.Join(fields, " "))
	}
}
