package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/host"
	sites "github.com/dpscope/dpscope/host/serve"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
)

// aStore is a server of a site and of a store in a folder.
func aStore(t *testing.T, dir string) string {
	t.Helper()
	site := t.TempDir()
	for name, text := range map[string]string{"build-info.json": "{}", "index.html": "the page"} {
		must.Do(t, os.WriteFile(filepath.Join(site, name), []byte(text), 0o644))
	}
	files := must.Get(sites.Open(site))(t)
	h, end := must.Get2(withStore(sites.Site(files, nil), dir, "", 0, 1<<30, io.Discard))(t)
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.Close()
		end()
	})
	return server.URL
}

// TestShareAndOpen: a report goes to a host and comes back from its address, is replayed,
// and deleted by its token alone; the page and the log stand beside it.
func TestShareAndOpen(t *testing.T) {
	dir := t.TempDir()
	base := aStore(t, filepath.Join(dir, "store"))
	file := filepath.Join(dir, "report.json")
	said(t, cli.ExitViolation, "audit", "-mechanism", "svt4", "-epsilon", "1", "-seed", "7", "-samples", "20000", "-trials", "2", "-output", file)
	code, out, errs := dpscope(t, "share", "-host", base, file)
	address := strings.TrimSpace(out)
	if code != cli.ExitOK || !strings.HasPrefix(address, base+host.ShownPath) {
		t.Fatalf("%d %q %q", code, out, errs)
	}
	token := regexp.MustCompile(`-delete (\S+)`).FindStringSubmatch(errs)
	if token == nil {
		t.Fatalf("no token: %q", errs)
	}
	if code, again, errs := dpscope(t, "share", "-host", base+"/", file); code != cli.ExitOK || again != out || strings.Contains(errs, "-delete") {
		t.Errorf("the second time: %d %q %q", code, again, errs)
	}
	copied := filepath.Join(dir, "copy.json")
	code, out, errs = dpscope(t, "open", "-output", copied, address)
	if code != cli.ExitOK || !strings.Contains(out, "Violation: ") || !strings.Contains(out, "Replayed: same counts, bound and verdict.") {
		t.Errorf("open: %d %q %q", code, out, errs)
	}
	if a, b := []byte(read(t, file)), []byte(read(t, copied)); !bytes.Equal(a, b) {
		t.Error("another report came back")
	}
	wants(t, cli.ExitOK, "Recomputed", "open", "-quick", address)
	for _, path := range []string{"/", "/build-info.json"} {
		r, err := http.Get(base + path)
		if err != nil || r.StatusCode != 200 || r.Header.Get(storeHeader) != "yes" {
			t.Errorf("%s: %v %v", path, r, err)
		}
	}
	if code, _, errs := dpscope(t, "share", "-host", base, "-delete", "wrong", address); code == cli.ExitOK || !strings.Contains(errs, "token") {
		t.Errorf("deleted by another token: %d %q", code, errs)
	}
	wants(t, cli.ExitOK, "", "share", "-delete", token[1], address)
	wants(t, cli.ExitUsage, "There is no report at this address", "open", address)
}

// TestStoreStays: a host that starts again has its reports.
func TestStoreStays(t *testing.T) {
	dir := t.TempDir()
	var said [2]bytes.Buffer
	for i := range said {
		h, end := must.Get2(withStore(http.NotFoundHandler(), dir, "https://audits.example/", 0, 1<<30, &said[i]))(t)
		data := []byte(read(t, kept+"/scores.json"))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", host.ReportsPath, bytes.NewReader(data)))
		if want := []int{201, 200}[i]; w.Code != want || !strings.Contains(w.Body.String(), `"address":"https://audits.example/r/`) {
			t.Errorf("start %d: %d %s", i, w.Code, w.Body)
		}
		end()
	}
	if said[0].String() != said[1].String() {
		t.Errorf("%q, then %q", &said[0], &said[1])
	}
	if _, _, err := withStore(nil, dir, "audits.example", 0, 1<<30, io.Discard); err == nil {
		t.Error("an origin without a scheme is taken")
	}
}

// TestOpenRefuses: another content than the id says, another host, and no address at all.
func TestOpenRefuses(t *testing.T) {
	data := []byte(read(t, kept+"/scores.json"))
	var answer []byte
	elsewhere := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if elsewhere != "" {
			http.Redirect(w, r, elsewhere, http.StatusFound)
			return
		}
		w.Write(answer)
	}))
	defer server.Close()
	id := idOf(t, data)
	answer = data
	wants(t, cli.ExitOK, "", "open", "-quick", server.URL+host.ShownPath+id)
	answer = append(bytes.Clone(data), ' ')
	wants(t, cli.ExitUsage, "do not trust this host", "open", "-quick", server.URL+host.ShownPath+id)
	elsewhere = "http://example.invalid/"
	for _, address := range []string{server.URL + host.ShownPath + id, server.URL, "report.json", "ftp://h/r/" + id, fmt.Sprintf("http://a@%s/r/%s", server.URL[7:], id), server.URL + host.ShownPath + id[:9]} {
		wants(t, cli.ExitUsage, "", "open", address)
	}
}

// TestWhoAsks: the server before the host is believed, on this machine or in its network,
// and nobody else.
func TestWhoAsks(t *testing.T) {
	for _, c := range []struct {
		behind             bool
		peer, passed, want string
	}{
		{true, "127.0.0.1:1", "203.0.113.9", "203.0.113.9"}, {true, "10.88.0.1:1", "198.51.100.1, 203.0.113.9", "203.0.113.9"},
		{true, "[::1]:1", "2001:db8:1:2:3::4", "2001:db8:1:2::"}, {true, "203.0.113.1:1", "198.51.100.1", "203.0.113.1"},
		{false, "127.0.0.1:1", "203.0.113.9", "127.0.0.1"}, {true, "127.0.0.1:1", "", "127.0.0.1"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		if c.passed != "" {
			r.Header.Set("X-Forwarded-For", c.passed)
		}
		if got := whoAsks(c.behind)(r); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// idOf is the id that a host gives to a content.
func idOf(t *testing.T, content []byte) string {
	t.Helper()
	h, end := must.Get2(withStore(http.NotFoundHandler(), t.TempDir(), "", 0, 1<<30, io.Discard))(t)
	defer end()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", host.ReportsPath, bytes.NewReader(content)))
	var out struct{ ID string }
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || out.ID == "" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return out.ID
}
