package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// expressions are the regular expressions that scripts may use, by file, each with
// what it is for. None takes out of words what a field could say: of an error its place
// is refusal.path, of a fault of code its line refusal.line.
var expressions = map[string]map[string]string{
	"embed/dp-audit.js": {
		`/^(class|id|style|slot|part|lang|dir|title|hidden|role|tabindex|is|nonce|inert|translate|popover|draggable|exportparts|accesskey|autofocus|contenteditable|spellcheck|item\w+|on\w+)$|^(data|aria)-|[:@_$\[(]/`: "attributes that any element may have",
		`/^#/`:      "the fragment of an address",
		`/\/?$/`:    "the end of an address",
		`/[\d.]+/g`: "numbers of a colour, as styles write it",
		`/-./g`:     "the name of a property, of an attribute's",
	},
	"embed/embed.js":     {`/^#/`: "the fragment of an address", `/^p\./`: "a parameter's name, of its key"},
	"embed/embedcode.js": {`/&/g`: "escapes markup", `/"/g`: "escapes markup", `/</g`: "escapes markup"},
	"page/files.js": {
		`/[",\n\r]/`:   "what CSV puts in quotes",
		`/[^\w.+-]+/g`: "the name of a file to be saved",
	},
	"page/address.js":  {`/^#/`: "the fragment of an address", `/^[1-9]\d*$/`: "a version, in an address", `/#.*$/`: "the fragment of an address"},
	"page/element.js":  {`/^[≥≤<>~+−-]?\s?[\d.]|^[-−–]?$/u`: "cells that are set right: figures"},
	"page/field.js":    {`/\W/g`: "makes an id of a key"},
	"page/number.js":   {`/\B(?=(\d{3})+$)/g`: "thousands apart"},
	"panel/own.js":     {`/\.wasm$/i`: "the name of a user's file"},
	"file/export.js":   {`/.{1,110}/gu`: "lines of a text that is drawn"},
	"worker/python.js": {`RegExp(`: "the user's code, which calls functions of a module that is not here"},
	"worker/sandboxed.js": {
		`/^[^(]*\([^,]*,\s*n\s*\)/`:      "the parameters of the user's function, of its own text",
		`/\.(\w+) is not a function/`:    "the browser's own message, which has the name as text only",
		`RegExp(`:                        "the line in a stack of the user's code, which the browser has as text only",
		`/[\p{Cc}\p{Cf}\u2028\u2029]/gu`: "control characters in the user's words",
	},
}

// expression is a regular expression in a script: after what a value follows, from a
// slash to a slash.
var expression = regexp.MustCompile(`[=(,:!&|?>]\s*(/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/*\s=\\\[])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[])*/[a-z]*)|(RegExp\()`)

// Scripts take nothing out of words by regular expressions: a new one is listed above
// with its reason, or becomes a field of what Go sends.
func TestExpressions(t *testing.T) {
	site := os.DirFS("..")
	used := map[string]map[string]bool{}
	must.Do(t, fs.WalkDir(site, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if path.Ext(name) != ".js" {
			return nil
		}
		script, err := fs.ReadFile(site, name)
		if err != nil {
			return err
		}
		used[name] = map[string]bool{}
		for i, line := range strings.Split(string(script), "\n") {
			if words := strings.TrimSpace(line); strings.HasPrefix(words, "//") || strings.HasPrefix(words, "*") || strings.HasPrefix(words, "/*") {
				continue
			}
			for _, m := range expression.FindAllStringSubmatch(line, -1) {
				found := m[1] + m[2]
				used[name][found] = true
				if expressions[name][found] == "" {
					t.Errorf("site/%s:%d: the regular expression %s is not listed here with a reason; if it takes something out of words, send that as a field", name, i+1, found)
				}
			}
		}
		return nil
	}))
	for name, list := range expressions {
		for e := range list {
			if !used[name][e] {
				t.Errorf("site/%s has no regular expression %s any more; take it out of the list", name, e)
			}
		}
	}
}

// folders are those of scripts, in order: one imports only what stands before it.
var folders = []string{"page", "worker", "code", "file", "view", "panel", "app", "embed"}

// imported is the folder of what a script imports from another one.
var imported = regexp.MustCompile(`(?m)^import (?:[^"]* from )?"\.\./(\w+)/`)

func TestImportOrder(t *testing.T) {
	arrows := 0
	for place, folder := range folders {
		scripts, err := filepath.Glob("../" + folder + "/*.js")
		if err != nil || len(scripts) == 0 {
			t.Fatalf("%s: %d scripts, %v", folder, len(scripts), err)
		}
		for _, script := range scripts {
			text := must.Get(os.ReadFile(script))(t)
			for _, m := range imported.FindAllSubmatch(text, -1) {
				if arrows++; slices.Index(folders, string(m[1])) >= place {
					t.Errorf("%s imports from %s, which does not stand before its folder in %v", script, m[1], folders)
				}
			}
		}
	}
	if arrows < 50 {
		t.Errorf("%d imports were seen", arrows)
	}
}
