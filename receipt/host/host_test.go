package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/dpscope/dpscope/internal/edge"
	"github.com/dpscope/dpscope/internal/gear"
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

// TestServed: the log of this package, and that of the Worker at the edge, which is another
// program, answer alike, and every proof of either holds.
func TestServed(t *testing.T) {
	signer, key := keys(t)
	t.Run("native", func(t *testing.T) {
		f, err := OpenFile(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		l, err := receipt.Open(f, signer, clock)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(Handler(l, key))
		defer s.Close()
		served(t, s.URL, key)
	})
	t.Run("worker", func(t *testing.T) {
		gear.Long(t)
		served(t, edge.Start(t, "LOG_KEY:"+signer).Base, key)
	})
}

func served(t *testing.T, base, key string) {
	const n = 21 // with the clients below within the edge's limit of a minute
	var heads []receipt.Head
	client := Client{Base: base, Key: key, Seen: func(string) (string, error) { return "", nil }, Keep: func(string, string) error { return nil }}
	ctx := context.Background()
	var state State
	if err := client.ask(ctx, "", nil, &state); err != nil || state.Key != key || state.Size != 0 {
		t.Fatalf("an empty log says %+v: %v", state, err)
	}
	if _, err := receipt.OpenHead(state.Head, key); err != nil {
		t.Error(err)
	}
	for i := range n {
		p, _, err := client.Register(ctx, commitmentOf(i))
		if err != nil || p.Index != int64(i) {
			t.Fatal(p, err)
		}
		h, err := p.Check(key)
		if err != nil || h.Size != int64(i)+1 {
			t.Fatal(h, err)
		}
		heads = append(heads, h)
	}
	for i, from := range heads {
		for _, to := range heads[i+1:] {
			var g growth
			if err := client.ask(ctx, fmt.Sprintf("/growth?from=%d&to=%d", from.Size, to.Size), nil, &g); err != nil {
				t.Fatal(err)
			}
			if err := receipt.CheckGrowth(from, to, g.Proof); err != nil {
				t.Errorf("from %d to %d: %v", from.Size, to.Size, err)
			}
		}
	}
	// One that is there keeps its entry, whose proof is of the log of now.
	p, _, err := client.Register(ctx, commitmentOf(4))
	if err != nil || p.Index != 4 {
		t.Fatal(p, err)
	}
	if h, err := p.Check(key); err != nil || h != heads[n-1] {
		t.Error(h, err)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "", `{"commitment":"` + strings.Repeat("a", 2000) + `"}`, 400, "too large"},
		{"POST", "", `{"commitment":1}`, 400, "commitment"},
		{"POST", "", `{"commitment":"` + strings.Repeat("A", 64) + `"}`, 400, "64 hexadecimal digits in lower case"},
		{"POST", "", `{"else":1}`, 400, "else"},
		{"POST", "", `{`, 400, "request"},
		{"DELETE", "", "", 405, ""},
		{"GET", "/growth?from=x&to=1", "", 400, "from"},
		{"GET", "/growth?from=1&to=", "", 400, "to"},
		{"GET", "/growth?from=2&to=99", "", 400, fmt.Sprintf("[1, %d]", n)},
	} {
		r, err := http.NewRequest(c.method, base+Path+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		out, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(out.Body)
		out.Body.Close()
		if err != nil || out.StatusCode != c.status || !strings.Contains(string(text), c.says) {
			t.Errorf("%s %s %.40s: %d %s, want %d and %q", c.method, c.path, c.body, out.StatusCode, text, c.status, c.says)
		}
		if c.status == 400 && (!strings.HasPrefix(out.Header.Get("Content-Security-Policy"), "default-src 'none'") || out.Header.Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("%s %s: policies %v", c.method, c.path, out.Header)
		}
	}
}
