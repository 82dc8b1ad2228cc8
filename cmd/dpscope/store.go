package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/host"
	"github.com/dpscope/dpscope/host/client"
	"github.com/dpscope/dpscope/host/folder"
	"github.com/dpscope/dpscope/host/replay"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/wasm/stills"
)

// replayHost is the command that replays a stranger's report in a process of its own.
const replayHost = "host-replay"

func replayer(workers int) (replay.Child, error) {
	self, err := os.Executable()
	return replay.Child{Host: []string{self, replayHost}, Workers: workers}, err
}

const storeHeader = "Dpscope-Store"

// withStore is a site with a host of reports in a folder. origin "": the address is that of the request. Every so
// often, 0 for never, it replays a report.
func withStore(site http.Handler, dir, origin string, replays time.Duration, most int64, out io.Writer) (_ http.Handler, end func(), err error) {
	if origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
			return nil, nil, audit.Fault("-origin", fmt.Sprintf("%q", origin), "the public address of this host, such as https://audits.example.org")
		}
		origin = strings.TrimSuffix(u.String(), "/")
	}
	store, err := folder.Open(filepath.Join(dir, "reports"), most)
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	var jobs sync.WaitGroup
	end = func() {
		stop()
		jobs.Wait()
		store.Close()
	}
	fmt.Fprintf(out, "dpscope: reports are kept in %s\n", dir)
	reports := &host.Host{Store: store, Catalogue: catalogue, Uploads: &host.Minute{Most: 30}, Reads: &host.Minute{Most: 600},
		Who: whoAsks(origin != ""), Now: time.Now, Random: rand.Reader, Pictures: stills.Of,
		Origin: func(r *http.Request) string { return cmp.Or(origin, "http://"+r.Host) }}
	if replays > 0 {
		child, err := replayer(1) // visitors have the rest
		if err != nil {
			end()
			return nil, nil, err
		}
		reports.Most = replay.Most
		job := replay.Job{Store: store, Child: child, Every: replays, Now: time.Now,
			Failed: func(err error) { fmt.Fprintf(out, "dpscope: replays: %v\n", err) }}
		jobs.Go(func() { job.Run(ctx) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host.Owns(r.URL.Path) {
			reports.ServeHTTP(w, r)
			return
		}
		w.Header().Set(storeHeader, "yes")
		site.ServeHTTP(w, r)
	}), end, nil
}

// whoAsks is the address of a request: behind a server on this machine, or in its private network, what that says last.
// Nobody else is believed.
func whoAsks(behind bool) func(*http.Request) string {
	return func(r *http.Request) string {
		peer := host.Peer(r)
		ip := net.ParseIP(peer)
		if passed := r.Header.Values("X-Forwarded-For"); behind && len(passed) > 0 && (ip.IsLoopback() || ip.IsPrivate()) {
			all := strings.Split(passed[len(passed)-1], ",")
			return host.Peer(&http.Request{RemoteAddr: net.JoinHostPort(strings.TrimSpace(all[len(all)-1]), "0")})
		}
		return peer
	}
}

func shareCommand(s streams, args []string) error {
	flags := cli.NewFlags("dpscope share", s.stderr)
	base := flags.String("host", "", "`address` of the host that stores it")
	forget := flags.String("delete", "", "`token` that dpscope share printed; with it, the report is deleted from the host")
	if code, ok := flags.Parse(args, 1); !ok {
		return exit(code)
	}
	ctx, stop := untilSignal()
	defer stop()
	ctx, end := context.WithTimeout(ctx, time.Minute)
	defer end()
	c := client.Client{Base: *base}
	if *forget != "" {
		if err := c.Delete(ctx, flags.Arg(0), *forget); err != nil {
			return err
		}
		fmt.Fprintf(s.stdout, "Deleted: %s\n", phrase.Line(flags.Arg(0)))
		return nil
	}
	data, err := s.read(flags.Arg(0))
	if err != nil {
		return err
	}
	out, err := c.Share(ctx, data)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.stdout, phrase.Line(out.Address))
	if out.Token != "" {
		fmt.Fprintf(s.stderr, "To delete it: dpscope share -host %s -delete %s %s\n", phrase.Line(*base), phrase.Line(out.Token), phrase.Line(out.ID))
	} else {
		fmt.Fprintln(s.stderr, "It was already stored; whoever stored it first can delete it.")
	}
	return nil
}

func openCommand(s streams, args []string) error {
	flags := cli.NewFlags("dpscope open", s.stderr)
	quick := flags.Bool("quick", false, "only check that everything in the report follows from its counts; nothing is drawn again")
	workers := flags.Workers(0, "parallel workers; 0: one per processor")
	output := flags.String("output", "", "`file` that gets the report")
	if code, ok := flags.Parse(args, 1); !ok {
		return exit(code)
	}
	ctx, stop := untilSignal()
	defer stop()
	get, end := context.WithTimeout(ctx, time.Minute)
	defer end()
	data, err := client.Open(get, flags.Arg(0))
	if err == nil && *output != "" {
		err = cli.WriteWhole(*output, data)
	}
	if err != nil {
		return err
	}
	if len(data) > 0 && data[0] != '{' {
		return audit.Fault("address", "that of code", "that of a report", "open it in the page, which runs it when you press Run")
	}
	r, err := core.ParseReport(data)
	if err != nil {
		return fmt.Errorf("%w; a report of several audits is checked by dpscope open -output FILE and dpscope verify %s", err, cmp.Or(*output, "FILE"))
	}
	fmt.Fprintln(s.stdout, phrase.Visible(report.Text(core.Plain(r))))
	if !*quick {
		var a replay.Answer
		child, err := replayer(*workers)
		if err == nil {
			err = core.CostOf(r, core.Env{Catalogue: catalogue}).Within(replay.Most)
		}
		if err == nil {
			a, err = child.Replay(ctx, data)
		}
		if ctx.Err() != nil {
			return cli.ErrStopped
		}
		if err == nil && a.Cannot == "" {
			return exit(printVerification(s.stdout, a.Verification, r, false))
		}
		if err == nil { // it needs files or a program of whoever made it
			err = errors.New(a.Cannot)
		}
		fmt.Fprintf(s.stderr, "dpscope: it cannot be replayed here: %s\nReports from a host are replayed within limits on memory and time. To replay it without them: dpscope open -quick -output FILE %s, then dpscope verify FILE.\n", phrase.Block(phrase.Short(err.Error())), phrase.Line(flags.Arg(0)))
	}
	v, err := core.Verify(ctx, r, core.Env{Catalogue: catalogue}, false)
	if err != nil {
		return err
	}
	return exit(printVerification(s.stdout, v, r, false))
}
