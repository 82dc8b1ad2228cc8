// Package typescript writes Go types as TypeScript declares their JSON, with their comments and the words of an
// enumeration from the sources.
package typescript

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Module is this module: types of others have no comments.
const Module = "github.com/dpscope/dpscope"

// Writer collects declarations.
type Writer struct {
	Root     string
	Main     string                  // folder of package main, whose types do not tell it
	Names    map[reflect.Type]string // in TypeScript, where they are not those in Go
	Prefixes map[string]string       // of all other types, by the folder of their package
	As       map[reflect.Type]string // in TypeScript what a type is, above all one that writes its own JSON

	declared map[reflect.Type]string // names
	out      map[string]string       // by name
	sources  map[string]source       // by folder
}

// source is what reflection does not know of a package.
type source struct {
	types  map[string]string            // comments
	fields map[string]map[string]string // comments, by type and field
	words  map[string][]string          // constants by type
}

// Type is [Writer.Of] the type of a Go value.
func (w *Writer) Type(v any) string { return w.Of(reflect.TypeOf(v)) }

// Of is a type of Go in TypeScript. What it needs is declared.
func (w *Writer) Of(t reflect.Type) string {
	if w.declared == nil {
		w.declared, w.out, w.sources = map[reflect.Type]string{}, map[string]string{}, map[string]source{}
	}
	if as := cmp.Or(w.As[t], w.declared[t]); as != "" {
		return as
	}
	if t.Kind() == reflect.Pointer {
		return w.Of(t.Elem())
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		panic(fmt.Sprintf("typescript: %v writes its own JSON: say in As what it is", t))
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		words := w.source(t).words[t.Name()]
		if len(words) == 0 {
			return "string"
		}
		return w.declare(t, func(name string) string {
			return fmt.Sprintf("type %s = %s;\n", name, strings.Join(words, " | "))
		})
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "string" // in base64
		}
		of := w.Of(t.Elem())
		if strings.Contains(of, "|") {
			of = "(" + of + ")"
		}
		return of + "[]"
	case reflect.Array:
		return "[" + strings.TrimSuffix(strings.Repeat(w.Of(t.Elem())+", ", t.Len()), ", ") + "]"
	case reflect.Map:
		return "Record<string, " + w.Of(t.Elem()) + ">"
	case reflect.Struct:
		if t.Name() == "" {
			return "{ " + strings.TrimSuffix(strings.Join(w.fieldsOf(t), " "), ";") + " }"
		}
		return w.declare(t, func(name string) string {
			lines := strings.Join(w.fieldsOf(t), "\n")
			return fmt.Sprintf("interface %s {\n  %s\n}\n", name, strings.ReplaceAll(lines, "\n", "\n  "))
		})
	}
	if k := t.Kind(); k >= reflect.Int && k <= reflect.Float64 {
		return "number"
	}
	panic(fmt.Sprintf("typescript: %v has no JSON form", t))
}

// Declarations are all that Type needed, by name.
func (w *Writer) Declarations() string {
	all := slices.Sorted(maps.Keys(w.out))
	for i, name := range all {
		all[i] = w.out[name]
	}
	return strings.Join(all, "\n")
}

// declare gives a type its name, which no other may have, and its declaration.
func (w *Writer) declare(t reflect.Type, of func(name string) string) string {
	name := w.Names[t]
	if name == "" {
		runes := []rune(t.Name())
		name = string(unicode.ToUpper(runes[0])) + string(runes[1:])
		if prefix := w.Prefixes[strings.TrimPrefix(t.PkgPath(), Module+"/")]; !strings.HasPrefix(name, prefix) {
			name = prefix + name
		}
	}
	for other, taken := range w.declared {
		if taken == name {
			panic(fmt.Sprintf("typescript: %v and %v (%s) would both be %s: say in Names what they are called", other, t, t.PkgPath(), name))
		}
	}
	w.declared[t] = name
	w.out[name] = comment(w.source(t).types[t.Name()]) + "export " + of(name)
	return name
}

func (w *Writer) fieldsOf(t reflect.Type) (out []string) {
	comments := w.source(t).fields[t.Name()]
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous && name == "" {
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			out = append(out, w.fieldsOf(of)...)
			continue
		}
		name = cmp.Or(name, f.Name)
		if strings.ContainsAny(name, "$-") {
			name = strconv.Quote(name)
		}
		of := w.Of(f.Type)
		if strings.Contains(options, "omit") {
			name += "?"
		} else if f.Type.Kind() == reflect.Pointer {
			of += " | null"
		}
		out = append(out, comment(comments[f.Name])+name+": "+of+";")
	}
	return out
}

var link = regexp.MustCompile(`\[((?:[a-z]+\.)?[A-Z][A-Za-z.]*)\]`)

func comment(text string) string {
	if text == "" {
		return ""
	}
	text = link.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
	return "/** " + strings.ReplaceAll(text, "*/", "* /") + " */\n"
}

func (w *Writer) source(t reflect.Type) source {
	folder, own := strings.CutPrefix(t.PkgPath(), Module+"/")
	if t.PkgPath() == "main" {
		folder, own = w.Main, true
	}
	if !own {
		return source{}
	}
	if s, ok := w.sources[folder]; ok {
		return s
	}
	s := source{types: map[string]string{}, fields: map[string]map[string]string{}, words: map[string][]string{}}
	paths, _ := filepath.Glob(filepath.Join(w.Root, folder, "*.go"))
	if len(paths) == 0 {
		panic(fmt.Sprintf("typescript: no sources of %s in %s", t.PkgPath(), w.Root))
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			panic("typescript: " + err.Error())
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				s.add(g)
			}
		}
	}
	w.sources[folder] = s
	return s
}

func (s source) add(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.types[spec.Name.Name] = cmp.Or(spec.Doc, g.Doc, spec.Comment).Text()
			if of, ok := spec.Type.(*ast.StructType); ok {
				comments := map[string]string{}
				for _, f := range of.Fields.List {
					for _, name := range f.Names {
						comments[name.Name] = cmp.Or(f.Doc, f.Comment).Text()
					}
				}
				s.fields[spec.Name.Name] = comments
			}
		case *ast.ValueSpec:
			of, ok := spec.Type.(*ast.Ident)
			if g.Tok != token.CONST || !ok {
				continue
			}
			for _, v := range spec.Values {
				if word, ok := v.(*ast.BasicLit); ok && word.Kind == token.STRING && !slices.Contains(s.words[of.Name], word.Value) {
					s.words[of.Name] = append(s.words[of.Name], word.Value)
				}
			}
		}
	}
}

// Message is one message of a channel.
type Message struct {
	Name string
	Type string
	Doc  string
	// Carries are its further fields and their types in TypeScript, with what is in JSON.
	Carries map[string]string
}

// Declaration declares a message.
func (m Message) Declaration() string {
	fields := []string{fmt.Sprintf("type: %q", m.Type)}
	for _, name := range slices.Sorted(maps.Keys(m.Carries)) {
		fields = append(fields, name+": "+m.Carries[name])
	}
	return comment(m.Doc) + fmt.Sprintf("export interface %s { %s }\n", m.Name, strings.Join(fields, "; "))
}
