package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dpscope/dpscope/internal/cli"
)

const (
	defaultAddr = "127.0.0.1:8080"
	// otherPorts is how many ports after the default one are tried when that
	// is taken.
	otherPorts = 20
	// goodbye is how long open requests may take after an interrupt.
	goodbye = 2 * time.Second
	// patience is how long a client may take to read an answer, or to ask again.
	patience = 2 * time.Minute
)

// serve is the command: it serves the built site until it is interrupted.
func serve(args []string, stdout, stderr io.Writer) int {
	flags := cli.NewFlags("dpscope serve", stderr)
	addr := flags.String("addr", defaultAddr, "`address` to listen on; without it, the next free port is taken where this one is not free")
	dir := flags.String("dir", "dist", "`folder` of the built site")
	if code, ok := flags.Parse(args, 0); !ok {
		return code
	}
	if _, err := os.Stat(filepath.Join(*dir, "index.html")); err != nil {
		fmt.Fprintf(stderr, "dpscope: serve: no site in %q: %v; run ./build.sh build, or name its folder with -dir\n", *dir, err)
		return cli.ExitUsage
	}
	listener, err := listen(*addr, !flags.Given("addr"))
	if err != nil {
		fmt.Fprintf(stderr, "dpscope: serve: %v; choose another address with -addr\n", err)
		return cli.ExitUsage
	}
	ctx, stop := untilSignal()
	defer stop()
	fmt.Fprintf(stdout, "dpscope: http://%s/ (Ctrl-C ends it)\n", listener.Addr())
	if err := serveUntil(ctx, listener, onlyHosts(newSite(*dir), *addr)); err != nil {
		fmt.Fprintf(stderr, "dpscope: serve: %v\n", err)
		return cli.ExitUsage
	}
	return cli.ExitOK
}

// listen opens addr, or, with elsewhere, one of the ports that follow.
func listen(addr string, elsewhere bool) (net.Listener, error) {
	first, err := net.Listen("tcp", addr)
	if err == nil || !elsewhere || !errors.Is(err, syscall.EADDRINUSE) {
		return first, err
	}
	host, port, splitErr := net.SplitHostPort(addr)
	base, numErr := strconv.Atoi(port)
	if splitErr != nil || numErr != nil {
		return nil, err
	}
	for p := base + 1; p <= base+otherPorts; p++ {
		if l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(p))); err == nil {
			return l, nil
		}
	}
	return nil, err
}

// onlyHosts lets through requests for this machine under the names that it is served
// by. A page elsewhere whose name was made to point here (DNS rebinding) has another
// one. addr is what -addr said; where that is all addresses, any of them will do, but
// still no name but localhost.
func onlyHosts(site http.Handler, addr string) http.Handler {
	own, _, err := net.SplitHostPort(addr)
	if err != nil {
		own = ""
	}
	all := net.ParseIP(own).IsUnspecified() || own == ""
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
		ip := net.ParseIP(name)
		if !strings.EqualFold(name, "localhost") && !strings.EqualFold(name, own) && !(ip != nil && (all || ip.IsLoopback())) {
			http.Error(w, "dpscope serve answers for localhost and for the host that -addr names, not for this one", http.StatusMisdirectedRequest)
			return
		}
		site.ServeHTTP(w, r)
	})
}

// newServer is a server that waits for no client without end.
func newServer(site http.Handler) *http.Server {
	return &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: patience, IdleTimeout: patience, MaxHeaderBytes: 1 << 16}
}

// serveUntil serves until ctx ends, and then lets open requests finish.
func serveUntil(ctx context.Context, l net.Listener, site http.Handler) error {
	server := newServer(site)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	if err := server.Shutdown(late); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// openPolicy keeps a page from running any script but its own and from sending
// anything anywhere but to this server. WebAssembly needs 'wasm-unsafe-eval'.
// Anybody may frame a page that has it, which is the embed's; policy is that of
// all others.
const openPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; " +
	"style-src 'self'; img-src 'self' blob: data:; frame-src 'self'; base-uri 'none'; form-action 'none'"

const policy = openPolicy + "; frame-ancestors 'self'"

// sandboxPolicy is that of the page that runs the user's own code: in an origin of
// its own, and without any way out.
const sandboxPolicy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; worker-src blob:; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// mimeTypes are those of the site's files, whatever the system's tables say:
// WebAssembly that streams and module scripts need the right ones.
var mimeTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".json": "application/json",
	".wasm": "application/wasm",
	".svg":  "image/svg+xml",
	".png":  "image/png",
}

// codings are what a file may be served in, the best first.
var codings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// newSite serves the built site in dir: files only, no listings, nothing
// outside of it, no name that begins with a dot. Where a file has a compressed
// sibling that the client takes, that is served. A file is held in memory once,
// however many read it, and read again when it has changed.
func newSite(dir string) http.Handler {
	kept := &keep{dir: dir, files: map[string]*keptFile{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		switch path.Base(r.URL.Path) {
		case "sandbox.html":
			h.Set("Content-Security-Policy", sandboxPolicy)
		case "embed.html":
			h.Set("Content-Security-Policy", openPolicy)
		}
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		folder := name != "index.html" && strings.HasSuffix(r.URL.Path, "/")
		if folder || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
			http.NotFound(w, r)
			return
		}
		file, err := kept.file(name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		kind, known := mimeTypes[path.Ext(name)]
		if !known {
			kind = "application/octet-stream"
		}
		h.Set("Content-Type", kind)
		h.Set("Vary", "Accept-Encoding")
		for _, c := range codings {
			if !accepts(r.Header.Values("Accept-Encoding"), c.name) {
				continue
			}
			if packed, err := kept.file(name + c.suffix); err == nil {
				file = packed
				h.Set("Content-Encoding", c.name)
				break
			}
		}
		// The browser asks each time and is told that nothing changed.
		h.Set("ETag", file.tag)
		h.Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.data))
	})
}

// keep holds the files of a folder that were asked for.
type keep struct {
	dir   string
	mu    sync.Mutex
	files map[string]*keptFile
}

type keptFile struct {
	data []byte
	tag  string
	size int64
	time time.Time
}

// file is a file of the folder as it is now; links that lead out of the folder are
// not followed.
func (k *keep) file(name string) (*keptFile, error) {
	f, err := os.OpenInRoot(k.dir, filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if old := k.files[name]; old != nil && old.size == info.Size() && old.time.Equal(info.ModTime()) {
		return old, nil
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := data.ReadFrom(f); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data.Bytes())
	now := &keptFile{data: data.Bytes(), tag: `"` + hex.EncodeToString(sum[:12]) + `"`, size: info.Size(), time: info.ModTime()}
	k.files[name] = now
	return now, nil
}

// accepts reports whether an Accept-Encoding header names the coding, with a
// weight above zero.
func accepts(header []string, coding string) bool {
	for item := range strings.SplitSeq(strings.Join(header, ","), ",") {
		name, weight, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		q, found := strings.CutPrefix(strings.TrimSpace(weight), "q=")
		v, err := strconv.ParseFloat(q, 64)
		return !found || err == nil && v > 0
	}
	return false
}
