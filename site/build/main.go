// Command build makes the site: the WebAssembly cores, the list of what
// they know, the page's scripts and styles, the pages of docs, their compressed
// siblings and build-info.json, all in one folder that any static server can
// serve, under any path.
//
//	go run ./site/build [-out dist] [-plain] [-check] [-zip dpscope-site.zip]
//	go run ./site/build -keys
//
// It is run from the root of the module. The same sources and the same Go make
// the same bytes; -check builds twice and compares; -zip packs the site too. It
// fails when a file is over its budget. With -plain nothing is compressed and no
// budget is checked: brotli takes nearly all of the time, and a server on the same
// machine needs none.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/dpscope/dpscope/site/pages"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "dist", "`folder` to build into")
	packed := flags.String("zip", "", "`file` to pack the site into as well")
	plain := flags.Bool("plain", false, "compress nothing and check no budget, for serving on this machine")
	check := flags.Bool("check", false, "build twice into temporary folders, compare, keep nothing")
	keys := flags.Bool("keys", false, "write the settings that Go declares into "+keysFile+" and "+elementTypes+", and build nothing")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "build: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	var err error
	if *keys {
		err = writeKeys()
	} else if *check {
		err = checkReproducible(stdout)
	} else {
		err = build(*out, !*plain, stdout)
		if err == nil && *packed != "" {
			err = pack(*out, *packed, stdout)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "build: %v\n", err)
		return 1
	}
	return 0
}

// build makes the site in the folder out; compressed, it prints and judges sizes.
func build(out string, compress bool, stdout io.Writer) error {
	if _, err := os.Stat("wasm/worker"); err != nil {
		return fmt.Errorf("run it from the root of the module: %w", err)
	}
	goroot, err := goEnv("GOROOT")
	if err != nil {
		return err
	}
	version, err := goEnv("GOVERSION")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	files, err := bundle(goroot)
	if err != nil {
		return err
	}
	docs := os.DirFS("docs")
	written, err := document(docs, files)
	if err != nil {
		return err
	}
	museum, err := pages.Museum(docs)
	if err != nil {
		return err
	}
	known, err := json.Marshal(list(museum))
	if err != nil {
		return err
	}
	terms, err := licences(goroot)
	if err != nil {
		return err
	}
	files = append(append(files, written...), file{"catalogue.json", known}, terms)
	for _, b := range binaries {
		binary, err := compile(b.name, b.tags, b.from)
		if err != nil {
			return err
		}
		files = append(files, binary)
	}
	info, err := write(out, version, files, compress)
	if err != nil || !compress {
		return err
	}
	info.table(stdout)
	return info.overBudget()
}

// goEnv asks the go command that will build the core.
func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return "", fmt.Errorf("go env %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}
