// Package serve serves the built site: a folder, or the zip of one.
package serve

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	defaultAddr = "127.0.0.1:8080"
	otherPorts  = 20              // that are tried after the default one
	goodbye     = 2 * time.Second // for open requests after an interrupt
	patience    = 2 * time.Minute
)

// AddrUsage describes the flag -addr, whose default is "".
const AddrUsage = "`address` to listen on; without it " + defaultAddr + ", or the next free port where that is taken"

// Open opens a folder, or the zip of one, that a build made.
func Open(name string) (fs.FS, error) {
	site, err := open(name)
	if err == nil {
		_, err = fs.Stat(site, "build-info.json")
	}
	if err != nil {
		return nil, fmt.Errorf("no site in %q: %w", name, err)
	}
	return site, nil
}

func open(name string) (fs.FS, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return zip.OpenReader(name) // open as long as the program runs, as a folder is
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return root.FS(), nil
}

// Run serves the site at addr, see [AddrUsage], until ctx ends. origins are addresses by which another server passes
// requests on.
func Run(ctx context.Context, site http.Handler, addr string, stdout io.Writer, origins ...string) error {
	elsewhere := addr == ""
	addr = cmp.Or(addr, defaultAddr)
	listener, err := listen(addr, elsewhere)
	if err != nil {
		return fmt.Errorf("%w; choose another address with -addr", err)
	}
	fmt.Fprintf(stdout, "dpscope: http://%s/ (Ctrl-C ends it)\n", listener.Addr())
	return serveUntil(ctx, listener, onlyHosts(site, addr, origins...))
}

const sayEvery = 8 * time.Second

// Say says what is being done, and for how long already, until done is called.
func Say(w io.Writer, what string) (done func()) {
	begun, ended := time.Now(), make(chan struct{})
	var said sync.WaitGroup
	fmt.Fprintf(w, "%s…\n", what)
	said.Go(func() {
		for {
			select {
			case <-time.After(sayEvery):
				fmt.Fprintf(w, "%s: %.0f s so far\n", what, time.Since(begun).Seconds())
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		said.Wait()
	}
}

func listen(addr string, elsewhere bool) (net.Listener, error) {
	first, err := net.Listen("tcp", addr)
	if !elsewhere || !errors.Is(err, syscall.EADDRINUSE) {
		return first, err
	}
	at := netip.MustParseAddrPort(addr)
	for p := range uint16(otherPorts) {
		if l, err := net.Listen("tcp", netip.AddrPortFrom(at.Addr(), at.Port()+1+p).String()); err == nil {
			return l, nil
		}
	}
	return nil, err
}

// onlyHosts lets through requests for the site's names: a page whose name was made to point here (DNS rebinding) has
// another. Where addr is all addresses, any will do.
func onlyHosts(site http.Handler, addr string, origins ...string) http.Handler {
	own, _, _ := net.SplitHostPort(addr)
	all := net.ParseIP(own).IsUnspecified() || own == ""
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
		ip := net.ParseIP(name)
		public := slices.ContainsFunc(origins, func(o string) bool {
			u, err := url.Parse(o)
			return err == nil && u.Hostname() != "" && strings.EqualFold(u.Hostname(), name)
		})
		if !public && !strings.EqualFold(name, "localhost") && !strings.EqualFold(name, own) && !(ip != nil && (all || ip.IsLoopback())) {
			http.Error(w, "dpscope serve answers for localhost and for the host that -addr names, not for this one", http.StatusMisdirectedRequest)
			return
		}
		site.ServeHTTP(w, r)
	})
}

func serveUntil(ctx context.Context, l net.Listener, site http.Handler) error {
	server := &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: patience, IdleTimeout: patience, MaxHeaderBytes: 1 << 16} // it waits for no client without end
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

// openPolicy, of the embed, lets anybody frame a page. WebAssembly needs 'wasm-unsafe-eval'.
const openPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; " +
	"style-src 'self'; img-src 'self' blob: data:; frame-src 'self'; base-uri 'none'; form-action 'none'"

const policy = openPolicy + "; frame-ancestors 'self'"

// sandboxPolicy is of the page that runs the user's code.
const sandboxPolicy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; worker-src blob:; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

var policies = map[string]string{"sandbox.html": sandboxPolicy, "embed.html": openPolicy}

// mimeTypes are those of the site's files, whatever the system's tables say.
var mimeTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".json": "application/json",
	".wasm": "application/wasm",
	".svg":  "image/svg+xml",
	".png":  "image/png",
}

var codings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// buildingHeader marks an answer for a file that is being built: ask again.
const buildingHeader = "Dpscope-Building"

// Site serves files, none with a dot before its name, compressed where there is a sibling that the client takes. A file
// is held in memory, and read again when it has changed. While building, which may be nil, returns words, they answer
// whoever asks for a program.
func Site(files fs.FS, building func() string) http.Handler {
	kept := &keep{fs: files, files: map[string]*keptFile{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", cmp.Or(policies[path.Base(r.URL.Path)], policy))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		name := cmp.Or(strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/"), "index.html")
		folder := name != "index.html" && strings.HasSuffix(r.URL.Path, "/")
		if folder || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
			http.NotFound(w, r)
			return
		}
		if building != nil && path.Ext(name) == ".wasm" {
			if words := building(); words != "" {
				h.Set(buildingHeader, "yes")
				h.Set("Cache-Control", "no-store")
				http.Error(w, words, http.StatusServiceUnavailable)
				return
			}
		}
		file, err := kept.file(name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		h.Set("Content-Type", cmp.Or(mimeTypes[path.Ext(name)], "application/octet-stream"))
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
		h.Set("ETag", file.tag)
		h.Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.data))
	})
}

type keep struct {
	fs    fs.FS
	mu    sync.Mutex
	files map[string]*keptFile
}

type keptFile struct {
	data []byte
	tag  string
	size int64
	time time.Time
}

func (k *keep) file(name string) (*keptFile, error) {
	f, err := k.fs.Open(name)
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
	now := &keptFile{data: data.Bytes(), tag: fmt.Sprintf(`"%x"`, sum[:12]), size: info.Size(), time: info.ModTime()}
	k.files[name] = now
	return now, nil
}

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
