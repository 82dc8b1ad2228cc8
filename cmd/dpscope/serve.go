package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/dpscope/dpscope/audit"
	sites "github.com/dpscope/dpscope/host/serve"
	"github.com/dpscope/dpscope/internal/cli"
)

// siteZip is what ./build.sh zip makes.
const siteZip = "dpscope-site.zip"

// serve is the command: it serves the built site until it is interrupted.
//
// The site is no part of the program: it takes two minutes to build and compress, and
// files that a build makes do not belong into git, where go install takes its source
// from. It is found, or built from the source that the program itself was built from.
func serve(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	flags := cli.NewFlags("dpscope serve", stderr)
	addr := flags.String("addr", "", sites.AddrUsage)
	dir := flags.String("dir", "", "`folder` or zip of the built site; without it, dist here, or "+siteZip+" beside this program, or else the site is built from this program's source by the go command")
	store := flags.String("store", "", "`folder` for reports that visitors share: this server is a host then")
	origin := flags.String("origin", "", "public `address` of the host with -store, if it differs, as behind a proxy")
	replays := flags.Duration("replay", time.Minute, "with -store: how often to replay a stored report that this version has not replayed, and publish the outcome; 0: never")
	quota := flags.Int("quota", 4096, "with -store: the most `MiB` that reports may take; further uploads are refused")
	if code, ok := flags.Parse(args, 0); !ok {
		return code
	}
	ctx, stop := untilSignal()
	defer stop()
	site, err := findSite(*dir)
	switch {
	case *origin != "" && *store == "":
		err = &audit.InputError{Field: "-origin", Found: "given", Want: "absent without -store", Remedy: "give a folder with -store too"}
	case *replays < 0:
		err = &audit.InputError{Field: "-replay", Found: replays.String(), Want: "a duration such as 1h, or 0 for never"}
	case *quota < 1:
		err = &audit.InputError{Field: "-quota", Found: fmt.Sprint(*quota), Want: "at least 1 MiB"}
	case err == nil && *store != "":
		var handler http.Handler
		var end func()
		if handler, end, err = withStore(sites.Site(site, nil), *store, *origin, *replays, int64(*quota)<<20, stdout); err == nil {
			err = sites.Run(ctx, handler, *addr, stdout, *origin)
			end()
		}
	case err == nil:
		err = sites.Run(ctx, sites.Site(site, nil), *addr, stdout)
	case *store != "":
		err = fmt.Errorf("%w; a host needs a built site: run ./build.sh build, or name one with -dir", err)
	case *dir == "":
		err = serveSource(ctx, siteSource(), *addr, stdout, stderr)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(stderr, "dpscope: serve: %v\n", err)
		return cli.ExitUsage
	}
	return cli.ExitOK
}

// findSite opens the site that -dir names, or one that is there.
func findSite(dir string) (fs.FS, error) {
	if dir != "" {
		site, err := sites.Open(dir)
		if err != nil {
			return nil, fmt.Errorf("%w; run ./build.sh build in a copy of the source, or name the site's folder or zip with -dir", err)
		}
		return site, nil
	}
	site, err := sites.Open("dist")
	if err == nil {
		return site, nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return sites.Open(filepath.Join(filepath.Dir(program), siteZip))
}

// siteSource is the folder of the module's source that this program was compiled from: a
// copy of the repository, or the go command's own. It is "" where that is not told.
func siteSource() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) { // built with -trimpath
		return ""
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// serveSource builds the site from the source in a folder and serves it meanwhile. What
// it builds is kept in the user's cache.
func serveSource(ctx context.Context, source, addr string, stdout, stderr io.Writer) error {
	if _, err := os.Stat(filepath.Join(source, "site", "build", "main.go")); source == "" || err != nil {
		return errors.New("there is no site in dist, none in " + siteZip + " beside this program, and its source is not here to build one; name the site's folder or zip with -dir, or run ./build.sh serve in a copy of the source")
	}
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("there is no site in dist and none in " + siteZip + " beside this program, and no go command to build one from " + source + "; install Go from https://go.dev/dl/, or name the site's folder or zip with -dir")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("no folder to build the site in: %w", err)
	}
	cache = filepath.Join(cache, "dpscope", fmt.Sprintf("%x", sha256.Sum256([]byte(source)))[:16])
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	builder := filepath.Join(cache, "build.exe") // Windows wants the ending, the others take it
	run := func(name string, args ...string) error {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = source, stdout, stderr
		// The module as the go command keeps it has go.work, but no module within it.
		if _, err := os.Stat(filepath.Join(source, "internal", "glog")); err != nil {
			cmd.Env = append(os.Environ(), "GOWORK=off")
		}
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		return cmd.Run()
	}
	done := sites.Say(stdout, "Compiling the program that builds the site, from "+source)
	err = run("go", "build", "-o", builder, "./site/build")
	done()
	if err != nil {
		return fmt.Errorf("compiling the program that builds the site: %w", err)
	}
	return run(builder, "-serve", "-out", filepath.Join(cache, "site"), "-addr", addr)
}
