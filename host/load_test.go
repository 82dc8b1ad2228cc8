package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/must"
)

// TestCost: what costs more than the host has is refused with what it costs, and kept where
// the host replays nothing.
func TestCost(t *testing.T) {
	h, _ := aHost()
	data := must.Get(os.ReadFile("../site/example.json"))(t)
	r := must.Get(core.ParseReport(data))(t)
	cost := core.CostOf(r, core.Env{Catalogue: h.Catalogue})
	p := core.PlanOf(r).(pair.Plan)
	if cost.Outputs < 2*(p.Samples+p.Explore) || cost.Bytes < 16*p.Explore {
		t.Fatalf("%+v of %+v", cost, p)
	}
	for _, most := range []core.Cost{{Outputs: cost.Outputs - 1, Bytes: cost.Bytes}, {Outputs: cost.Outputs, Bytes: cost.Bytes - 1}} {
		h.Most = most
		r := ask(t, h, "POST", ReportsPath, data)
		if got := said(t, r); r.StatusCode != 422 || !strings.Contains(got, fmt.Sprintf("an audit of %d outputs", cost.Outputs)) {
			t.Errorf("%d %s", r.StatusCode, got)
		}
	}
	h.Most = cost
	upload(t, h, data)
	upload(t, h, keptReport(t, "scores.json")) // recorded, so nothing of it is drawn again
	// Of several audits all outputs are drawn.
	h.Most = core.Cost{Bytes: 1 << 40}
	for _, a := range must.Get(suite.ParseReport(keptReport(t, "plan-built-in.json")))(t).Audits {
		h.Most.Outputs += core.CostOf(a.Report, core.Env{Catalogue: h.Catalogue}).Outputs
	}
	h.Most.Outputs--
	if r := ask(t, h, "POST", ReportsPath, keptReport(t, "plan-built-in.json")); r.StatusCode != 422 {
		t.Errorf("several audits that cost one output too many: %d %s", r.StatusCode, said(t, r))
	}
	h.Most.Outputs++
	upload(t, h, keptReport(t, "plan-built-in.json"))
}

// crowded is a store of which each answer waits until so many ask.
type crowded struct {
	Store
	inside, most atomic.Int32
	go_          chan struct{}
}

func (c *crowded) Get(ctx context.Context, key string) ([]byte, error) {
	n := c.inside.Add(1)
	defer c.inside.Add(-1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	<-c.go_
	return c.Store.Get(ctx, key)
}

// TestCrowd: however many upload at once, few are worked on, and those that are too many are
// told to come again.
func TestCrowd(t *testing.T) {
	h, m := aHost()
	c := &crowded{Store: m, go_: make(chan struct{})}
	h.Store, h.Random = c, repeated{}
	var wait sync.WaitGroup
	codes := make(chan int, 2*mostOpen)
	data := linked(t, "x")
	for range cap(codes) {
		wait.Go(func() { codes <- ask(t, h, "POST", ReportsPath, data).StatusCode })
	}
	for range mostOpen { // all that are too many are answered while the others wait
		if code := <-codes; code != 503 {
			t.Errorf("%d", code)
		}
	}
	close(c.go_)
	wait.Wait()
	if c.most.Load() > mostWorking {
		t.Errorf("%d were worked on at once", c.most.Load())
	}
	gives(t, h, 200, "POST", ReportsPath, data)
}

type repeated struct{}

func (repeated) Read(b []byte) (int, error) { return len(b), nil }

// TestStorm: who asks too often is told for how long to wait, and nobody else.
func TestStorm(t *testing.T) {
	h, _ := aHost()
	now := h.Now()
	h.Now = func() time.Time { return now }
	h.Uploads, h.Reads = &Minute{Most: 5}, &Minute{Most: 3}
	data := keptReport(t, "scores.json")
	count := func(method, path string, n int) (codes map[int]int) {
		codes = map[int]int{}
		for range n {
			r := ask(t, h, method, path, data)
			if codes[r.StatusCode]++; r.StatusCode == 429 && r.Header.Get("Retry-After") != "60" {
				t.Errorf("Retry-After is %q", r.Header.Get("Retry-After"))
			}
		}
		return codes
	}
	if c := count("POST", ReportsPath, 50); c[201] != 1 || c[200] != 4 || c[429] != 45 {
		t.Errorf("uploads: %v", c)
	}
	if c := count("GET", ReportsPath, 10); c[200] != 3 || c[429] != 7 {
		t.Errorf("reads: %v", c)
	}
	who := h.Who
	h.Who = func(*http.Request) string { return "another" }
	if c := count("GET", ReportsPath, 1); c[200] != 1 {
		t.Errorf("another address: %v", c)
	}
	h.Who = who
	now = now.Add(time.Minute)
	if c := count("GET", ReportsPath, 1); c[200] != 1 {
		t.Errorf("a minute later: %v", c)
	}
	now = now.Add(-time.Hour)
	if c := count("GET", ReportsPath, 1); c[200] != 1 {
		t.Errorf("a clock that went back: %v", c)
	}
	m := Minute{Most: 1}
	for i := range mostAddresses + 10 {
		m.Take(fmt.Sprint(i), now)
	}
	if len(m.asked) > mostAddresses+1 {
		t.Errorf("%d addresses are held", len(m.asked))
	}
	for in, want := range map[string]string{"192.0.2.1:9": "192.0.2.1", "[2001:db8:0:1:2:3:4:5]:9": "2001:db8:0:1::", "?": "?"} {
		if got := Peer(&http.Request{RemoteAddr: in}); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// TestSums: base58 of SHA-256, of one length, as an independent reading has it.
func TestSums(t *testing.T) {
	for i := range 200 {
		sum := sumOf([]byte(fmt.Sprint(i)))
		if len(sum) != longest || !IsID(sum) || !Is(sum[:shortest], []byte(fmt.Sprint(i))) {
			t.Fatal(sum)
		}
	}
	// SHA-256 of nothing is e3b0c442...; its base58 is known.
	if got := sumOf(nil); got != "GKot5hBsd81kMupNCXHaqbhv3huEbxAFMLnpcX2hniwn" {
		t.Error(got)
	}
}

func FuzzHost(f *testing.F) {
	for _, name := range []string{"scores.json", "plan-only.json"} {
		f.Add("POST", ReportsPath, keptReport(f, name), "")
	}
	f.Add("POST", ReportsPath, linked(f, "x"), "")
	f.Add("GET", ShownPath+"1111111111", []byte{}, "Bearer x")
	h, m := aHost()
	f.Fuzz(func(t *testing.T, method, path string, body []byte, token string) {
		clear(m.values)
		r := &http.Request{Method: method, Header: http.Header{"Authorization": {token}}, Body: io.NopCloser(bytes.NewReader(body)), RemoteAddr: "192.0.2.1:1"}
		r.URL = httptest.NewRequest("GET", "/", nil).URL
		r.URL.Path, r.URL.RawQuery = path, string(body[:min(len(body), 200)])
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != 501 || !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Fatalf("%s %q: %d %s", method, path, w.Code, w.Body)
		}
		for key, value := range m.values {
			var k kept
			head, data, _ := bytes.Cut(value, []byte("\n"))
			if json.Unmarshal(head, &k) != nil || !Is(key, data) {
				t.Fatalf("%q is kept under %q", value, key)
			}
		}
	})
}
