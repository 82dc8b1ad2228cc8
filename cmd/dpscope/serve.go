package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dpscope/dpscope/audit"
	sites "github.com/dpscope/dpscope/host/serve"
	"github.com/dpscope/dpscope/internal/cli"
)

const siteZip = "dpscope-site.zip"

// serve serves the built site, which is no part of the program: go install takes its source from git.
func serve(s streams, args []string) error {
	flags := cli.NewFlags("dpscope serve", s.stderr)
	addr := flags.String("addr", "", sites.AddrUsage)
	dir := flags.String("dir", "", "`folder` or zip of the built site; without it, dist here, or "+siteZip+" beside this program")
	store := flags.String("store", "", "`folder` for reports that visitors share: this server is a host then")
	origin := flags.String("origin", "", "public `address` of the host with -store, if it differs, as behind a proxy")
	replays := flags.Duration("replay", time.Minute, "with -store: how often to replay a stored report that this version has not replayed, and publish the outcome; 0: never")
	quota := flags.Int("quota", 4096, "with -store: the most `MiB` that reports may take; further uploads are refused")
	if code, ok := flags.Parse(args, 0); !ok {
		return exit(code)
	}
	ctx, stop := untilSignal()
	defer stop()
	site, err := findSite(*dir)
	switch {
	case *origin != "" && *store == "":
		err = given("-origin", "absent without -store", "give a folder with -store too")
	case *replays < 0:
		err = audit.Fault("-replay", replays.String(), "a duration such as 1h, or 0 for never")
	case *quota < 1:
		err = audit.Fault("-quota", fmt.Sprint(*quota), "at least 1 MiB")
	case err == nil:
		handler, end := sites.Site(site, nil), func() {}
		if *store != "" {
			handler, end, err = withStore(handler, *store, *origin, *replays, int64(*quota)<<20, s.stdout)
		}
		if err == nil {
			err = sites.Run(ctx, handler, *addr, s.stdout, *origin)
			end()
		}
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

func findSite(dir string) (site fs.FS, err error) {
	places := []string{dir}
	if dir == "" {
		program, err := os.Executable()
		if err != nil {
			return nil, err
		}
		places = []string{"dist", filepath.Join(filepath.Dir(program), siteZip)}
	}
	for _, place := range places {
		if site, err = sites.Open(place); err == nil {
			return site, nil
		}
	}
	return nil, fmt.Errorf("%w; run ./build.sh serve or ./build.sh build in a copy of the source, or name the site's folder or zip with -dir", err)
}
