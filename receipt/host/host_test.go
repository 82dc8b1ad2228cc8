package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/dpscope/dpscope/receipt"
)

func keys(t *testing.T) (signer, verifier string) {
	t.Helper()
	signer, verifier, err := note.GenerateKey(rand.NewChaCha8([32]byte{1}), "log.example")
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

func clock() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

func commitmentOf(i int) string {
	sum := sha256.Sum256(fmt.Append(nil, i))
	return hex.EncodeToString(sum[:])
}

// TestFile: a record that was cut off is forgotten, all before it stay; two processes do
// not write one log.
func TestFile(t *testing.T) {
	signer, _ := keys(t)
	name := filepath.Join(t.TempDir(), "log")
	f, err := OpenFile(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := receipt.Open(f, signer, clock)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if _, err := l.Add(commitmentOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenFile(name); err == nil {
		t.Error("a log is open twice")
	}
	f.Close()
	all, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, all[:len(all)-7], 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err = OpenFile(name); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if l, err = receipt.Open(f, signer, clock); err != nil {
		t.Fatal(err)
	}
	if p, err := l.Add(commitmentOf(9)); err != nil || p.Index != 4 {
		t.Error(p, err)
	}
}

// TestClient: whoever registers keeps heads; a log that went back, or that was changed, is
// refused, as is one with another key, and one that is none.
func TestClient(t *testing.T) {
	signer, key := keys(t)
	folder := t.TempDir()
	serve := func(name string) *httptest.Server {
		f, err := OpenFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		l, err := receipt.Open(f, signer, clock)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(Handler(l, key))
		t.Cleanup(func() {
			s.Close()
			f.Close()
		})
		return s
	}
	heads := map[string]string{}
	client := Client{Base: serve("log").URL, Seen: func(key string) (string, error) { return heads[key], nil }, Keep: func(key, head string) error {
		heads[key] = head
		return nil
	}}
	for i := range 6 {
		p, k, err := client.Register(context.Background(), commitmentOf(i))
		if err != nil || k != key || p.Index != int64(i) {
			t.Fatal(p, k, err)
		}
		if _, err := p.Check(key); err != nil {
			t.Fatal(err)
		}
	}
	if p, _, err := client.Register(context.Background(), commitmentOf(2)); err != nil || p.Index != 2 {
		t.Error(p, err)
	}
	bad := func(c Client, commitment, says string) {
		t.Helper()
		was := heads[key]
		if _, _, err := c.Register(context.Background(), commitment); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
		if heads[key] != was {
			t.Error("a head that is not to be trusted is kept")
		}
	}
	back := client
	back.Base = serve("other").URL // the same key, and fewer entries
	bad(back, commitmentOf(9), "a log that goes on from the 6 entries")
	for i := 10; i < 17; i++ { // more entries, others
		if _, _, err := (Client{Base: back.Base, Seen: func(string) (string, error) { return "", nil }, Keep: func(string, string) error { return nil }}).Register(context.Background(), commitmentOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	bad(back, commitmentOf(9), "other entries in their place")
	bad(client, "xyz", "64 hexadecimal digits")
	stranger := client
	stranger.Key = "log.example+00000000+AAAA"
	bad(stranger, commitmentOf(1), "key of the log is")
	none := client
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	none.Base = s.URL
	bad(none, commitmentOf(1), "404")
	none.Base = "audits.example"
	bad(none, commitmentOf(1), "the address of a host")
}

// TestHandler: what is not a request is refused in words.
func TestHandler(t *testing.T) {
	signer, key := keys(t)
	f, err := OpenFile(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := receipt.Open(f, signer, clock)
	if err != nil {
		t.Fatal(err)
	}
	h := Handler(l, key)
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "", `{"commitment":"` + strings.Repeat("a", 2000) + `"}`, 400, "too large"},
		{"POST", "", `{"commitment":1}`, 400, "commitment"},
		{"POST", "", `{"else":1}`, 400, "else"},
		{"POST", "", `{`, 400, "request"},
		{"DELETE", "", "", 405, ""},
		{"GET", "/growth?from=x&to=1", "", 400, "from"},
		{"GET", "/growth?from=1&to=", "", 400, "to"},
		{"GET", "/growth?from=2&to=9", "", 400, "[1, 0]"},
		{"GET", "", "", 200, key},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, Path+c.path, strings.NewReader(c.body)))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s: %d %s, want %d and %q", c.method, c.path, w.Code, w.Body, c.status, c.says)
		}
	}
}
