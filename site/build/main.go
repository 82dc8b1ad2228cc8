// Command build makes the site in a folder that any static server can serve, under any path.
//
//	go run ./site/build [-out dist] [-plain] [-check] [-zip dpscope-site.zip]
//	go run ./site/build -keys
//	go run ./site/build -words
//	go run ./site/build -serve [-addr ADDRESS] [-out dist]
//
// It is run from the root of the module. The same sources and the same Go make the same bytes, which -check compares;
// -zip packs the site too. It fails when a file is over its budget. With -plain nothing is compressed and no budget is
// checked. With -serve it serves the page at once, and the core when it is compiled.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/host/serve"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/site/pages"
	"github.com/dpscope/dpscope/wasm/stills"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "dist", "`folder` to build into")
	packed := flags.String("zip", "", "`file` to pack the site into as well")
	plain := flags.Bool("plain", false, "compress nothing and check no budget, for serving on this machine")
	check := flags.Bool("check", false, "build twice into temporary folders, compare, keep nothing")
	keys := flags.Bool("keys", false, "write the settings that Go declares into "+keysFile+", "+elementTypes+" and "+pythonFile+", and types into "+typesFile+", and build nothing")
	words := flags.Bool("words", false, "count the words of docs that are written by hand, page by page, and build nothing")
	serves := flags.Bool("serve", false, "build as with -plain, and serve the site meanwhile and then")
	addr := flags.String("addr", "", serve.AddrUsage)
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "build: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	var err error
	switch {
	case *keys:
		err = writeKeys()
	case *words:
		err = pages.Words(os.DirFS("docs"), stdout)
	case *check:
		err = checkReproducible(stdout)
	case *serves:
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = buildAndServe(ctx, *out, *addr, stdout, compile)
	default:
		_, err = build(*out, !*plain, stdout)
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

func build(out string, compress bool, stdout io.Writer) (info buildInfo, err error) {
	defer try.To(&err)
	done := serve.Say(stdout, "Compiling the core and the picture")
	programs, err := compile()
	done()
	try.Do(err)
	files, version := try.Get2(uncompiled())
	if compress {
		defer serve.Say(stdout, "Compressing")()
	}
	info = try.Get(write(out, version, append(files, programs...), compress))
	if compress {
		info.table(stdout)
		err = info.overBudget()
	}
	return info, err
}

func checkReproducible(stdout io.Writer) (err error) {
	defer try.To(&err)
	var built [2]buildInfo
	for i := range built {
		dir := try.Get(os.MkdirTemp("", "dpscope-build-"))
		defer os.RemoveAll(dir)
		fmt.Fprintf(stdout, "build %d of 2\n", i+1)
		built[i] = try.Get(build(dir, true, stdout))
	}
	try.Do(built[0].sameAs(built[1]))
	fmt.Fprintf(stdout, "%d files, the same bytes in both builds\n", len(built[0].Files))
	return nil
}

func (b buildInfo) sameAs(other buildInfo) error {
	for i, f := range b.Files {
		if len(other.Files) != len(b.Files) || other.Files[i] != f {
			return fmt.Errorf("not reproducible: %s differs between two builds, of %d files and %d", f.Name, len(b.Files), len(other.Files))
		}
	}
	return nil
}

// buildAndServe serves the site, uncompressed: the pages first, without the service worker, which keeps whole builds.
func buildAndServe(ctx context.Context, out, addr string, stdout io.Writer, compile func() ([]pages.File, error)) (err error) {
	defer try.To(&err)
	done := serve.Say(stdout, "Making the page")
	files, version, err := uncompiled()
	if err == nil {
		isWorker := func(f pages.File) bool { return f.Name == serviceWorker }
		_, err = write(out, version, slices.DeleteFunc(slices.Clone(files), isWorker), false)
	}
	done()
	try.Do(err)
	site := try.Get(serve.Open(out))
	begun := time.Now()
	var built atomic.Bool
	building := func() string {
		if built.Load() {
			return ""
		}
		return fmt.Sprintf("The core is being built: %.0f s so far.", time.Since(begun).Seconds())
	}
	ctx, fail := context.WithCancelCause(ctx)
	go func() {
		done := serve.Say(stdout, "Compiling the core and the picture; until then the page says that the core is being built")
		programs, err := compile()
		done()
		if err == nil {
			_, err = write(out, version, append(files, programs...), false)
		}
		if err != nil {
			fail(err)
			return
		}
		built.Store(true)
		fmt.Fprintf(stdout, "The site is built: the page can run audits (%.0f s).\n", time.Since(begun).Seconds())
	}()
	try.Do(serve.Run(ctx, serve.Site(site, building), addr, stdout))
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

func uncompiled() (files []pages.File, version string, err error) {
	defer try.To(&err)
	_, err = os.Stat("wasm/worker")
	try.Of("run it from the root of the module", err)
	goroot := try.Get(goEnv("GOROOT"))
	version = try.Get(goEnv("GOVERSION"))
	files = try.Get(bundle(goroot))
	docs := os.DirFS("docs")
	element := slices.ContainsFunc(files, func(f pages.File) bool { return f.Name == "dp-audit.js" })
	written := try.Get(pages.Build(docs, element, stills.Draw))
	known := try.Get(json.Marshal(list(try.Get(pages.Museum(docs)))))
	terms := try.Get(licences(goroot))
	example := try.Get(examplePicture(files))
	return append(slices.Concat(files, written, example), pages.File{Name: "catalogue.json", Data: known}, terms), version, nil
}

func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	return strings.TrimSpace(string(out)), audit.Of("go env "+name, err)
}
