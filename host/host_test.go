package host

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/packed"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/wasm/stills"
)

// memory is a store in memory whose answers can be made to fail or to come late.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	unseen map[string]int // how many Gets do not see a key yet
	blind  bool           // Create does not notice that there is a value
	fails  error
}

func (m *memory) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails != nil {
		return nil, m.fails
	}
	if m.unseen[key] > 0 {
		m.unseen[key]--
		return nil, ErrAbsent
	}
	value, ok := m.values[key]
	if !ok {
		return nil, ErrAbsent
	}
	return bytes.Clone(value), nil
}

func (m *memory) Create(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails != nil {
		return m.fails
	}
	if _, ok := m.values[key]; ok && !m.blind {
		return ErrExists
	}
	m.values[key] = bytes.Clone(value)
	return nil
}

func (m *memory) Replace(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key] = bytes.Clone(value)
	return m.fails
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return m.fails
}

const origin = "https://audits.example"

// aHost is a host with a store in memory, whose clock stands.
func aHost() (*Host, *memory) {
	m := &memory{values: map[string][]byte{}, unseen: map[string]int{}}
	return &Host{Store: m, Catalogue: cli.Catalogue(), Uploads: &Minute{Most: 1 << 20}, Reads: &Minute{Most: 1 << 20},
		Origin: func(*http.Request) string { return origin }, Who: Peer,
		Now:    func() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) },
		Random: rand.NewChaCha8([32]byte{1}), Pictures: stills.Of}, m
}

// ask sends a request to a host, and holds the answer's headers to what every answer has.
func ask(t testing.TB, h http.Handler, method, target string, body []byte, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, "/", bytes.NewReader(body))
	path, query, _ := strings.Cut(target, "?")
	r.URL.Path, r.URL.RawQuery = path, query // as they came, not cleaned by the client
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	out := w.Result()
	policy := out.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'") || !strings.Contains(policy, "sandbox") || strings.Contains(policy, "script") || strings.Contains(policy, "same-origin") {
		t.Errorf("%s %s: the policy is %q", method, target, policy)
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin"} {
		if got := out.Header.Get(name); got != want {
			t.Errorf("%s %s: %s is %q", method, target, name, got)
		}
	}
	for _, name := range []string{"Cross-Origin-Resource-Policy", "RateLimit", "RateLimit-Policy", "Cache-Control"} {
		if out.Header.Get(name) == "" && out.StatusCode != 503 {
			t.Errorf("%s %s: no %s", method, target, name)
		}
	}
	return out
}

// gives wants a status of a request.
func gives(t testing.TB, h http.Handler, status int, method, target string, body []byte, header ...string) {
	t.Helper()
	if r := ask(t, h, method, target, body, header...); r.StatusCode != status {
		t.Errorf("%s %q %q: %d, want %d", method, target, header, r.StatusCode, status)
	}
}

func said(t testing.TB, r *http.Response) string {
	t.Helper()
	data := must.Get(io.ReadAll(r.Body))(t)
	return string(data)
}

// upload stores something new.
func upload(t testing.TB, h http.Handler, data []byte) Receipt {
	t.Helper()
	r := ask(t, h, "POST", ReportsPath, data)
	got := said(t, r)
	var out Receipt
	if err := json.Unmarshal([]byte(got), &out); err != nil || r.StatusCode != http.StatusCreated || out.Token == "" {
		t.Fatalf("%d: %s", r.StatusCode, got)
	}
	return out
}

const reports = "../core/testdata/reports/"

func keptReport(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(reports + name))(t)
}

// linked is code as an address holds it.
func linked(t testing.TB, code string) []byte {
	t.Helper()
	out := must.Get(packed.Pack(packed.Code{Code: code, Language: "javascript", Settings: map[string]string{"epsilon": "1", "domain": "0:1"}, Result: json.RawMessage(`{"verdict":"violation","bound":1.25,"confidence":0.95,"outputs":10,"rows":5}`)}))(t)
	return []byte(out)
}

// TestKinds: reports of all kinds, and code, are stored, given back as they were, and shown
// in words and in all formats.
func TestKinds(t *testing.T) {
	h, _ := aHost()
	for name, data := range map[string][]byte{
		"pair": keptReport(t, "approximate.json"), "canaries": keptReport(t, "canaries.json"), "one run": keptReport(t, "one-run-refuted.json"),
		"scores": keptReport(t, "scores.json"), "plan": keptReport(t, "plan.json"), "recorded": keptReport(t, "recorded.json"), "unseeded": keptReport(t, "unseeded-command.json"),
		"code": linked(t, "function mechanism(rows) { return 1 }"),
	} {
		t.Run(name, func(t *testing.T) {
			out := upload(t, h, data)
			if !Is(out.ID, data) || len(out.ID) != shortest || out.Address != origin+ShownPath+out.ID {
				t.Errorf("stored as %+v", out)
			}
			kind := map[bool]string{true: "text/plain; charset=utf-8", false: "application/json"}[name == "code"]
			if r := ask(t, h, "GET", ReportsPath+"/"+out.ID, nil); said(t, r) != string(data) || r.Header.Get("Content-Type") != kind {
				t.Errorf("another content came back, or of the kind %s", r.Header.Get("Content-Type"))
			}
			r := ask(t, h, "GET", ShownPath+out.ID, nil)
			page := said(t, r)
			if r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/html; charset=utf-8" {
				t.Fatalf("%d %s: %s", r.StatusCode, r.Header.Get("Content-Type"), page)
			}
			must.Say(t, page, `<meta property="og:title" content="`, `<meta name="description" content="`, `href="`+out.Address+`"`)
			opened := "/#report=" + out.ID
			if name == "code" {
				opened = "/#door=code&amp;code=" + string(data)
			}
			must.Say(t, page, `href="`+origin+opened+`"`)
			if name == "code" {
				must.Say(t, page, "This host has not checked it.", "function mechanism")
				return
			}
			for form, kind := range forms {
				r := ask(t, h, "GET", ShownPath+out.ID+"?format="+form, nil)
				got := said(t, r)
				if r.StatusCode != 200 || r.Header.Get("Content-Type") != kind || got == "" {
					t.Errorf("%s: %d %s", form, r.StatusCode, r.Header.Get("Content-Type"))
				}
				if form == format.JSON && got != string(data) {
					t.Error("the report is not the one that was stored")
				}
			}
			gives(t, h, 422, "GET", ShownPath+out.ID+"?format=exe", nil)
		})
	}
}

// TestOnce: the same content twice is one, and its token is told once; it goes with its
// token alone, and can be stored again.
func TestOnce(t *testing.T) {
	h, m := aHost()
	data := keptReport(t, "scores.json")
	first := upload(t, h, data)
	var again Receipt
	r := ask(t, h, "POST", ReportsPath, data)
	if err := json.Unmarshal([]byte(said(t, r)), &again); err != nil || r.StatusCode != 200 || again.ID != first.ID || again.Token != "" {
		t.Errorf("the second time: %d %+v", r.StatusCode, again)
	}
	for _, value := range m.values {
		if bytes.Contains(value, []byte(first.Token)) {
			t.Error("the token is kept")
		}
	}
	for _, bad := range []string{"", "Bearer ", "Bearer " + first.Token + "x", first.Token, "Basic " + first.Token} {
		gives(t, h, 401, "DELETE", ReportsPath+"/"+first.ID, nil, "Authorization", bad)
	}
	gives(t, h, 204, "DELETE", ReportsPath+"/"+first.ID, nil, "Authorization", "Bearer "+first.Token)
	if r := ask(t, h, "GET", ShownPath+first.ID, nil); r.StatusCode != 404 || len(m.values) != 0 {
		t.Errorf("after deletion: %d, %d values", r.StatusCode, len(m.values))
	}
	if second := upload(t, h, data); second.Token == first.Token {
		t.Error("a token came twice")
	}
}

// TestCollision: of contents whose sums begin alike, the second gets a longer id.
func TestCollision(t *testing.T) {
	_, m := aHost()
	ctx := context.Background()
	a := []byte("a content")
	sum := sumOf(a)
	// No two contents with 10 characters alike are at hand: a damaged value takes the place
	// of one, as both are something else under this key.
	m.values[sum[:shortest]] = kept{Version: 1}.with([]byte("another"))
	id, isNew, err := keep(ctx, m, a, kept{Version: 1})
	if err != nil || !isNew || id != sum[:shortest+1] {
		t.Errorf("kept under %q: %v", id, err)
	}
	if id2, isNew, err := keep(ctx, m, a, kept{Version: 1}); err != nil || isNew || id2 != id {
		t.Errorf("the second time under %q: %v", id2, err)
	}
	if _, _, err := find(ctx, m, sum[:shortest]); !errors.Is(err, errDamaged) {
		t.Errorf("what is not of its id comes back: %v", err)
	}
	m.values[id] = kept{Version: 2}.with(a)
	if _, _, err := find(ctx, m, id); !errors.Is(err, errDamaged) {
		t.Errorf("what another version kept comes back: %v", err)
	}
}

// TestEventually: what a store does not show yet is stored once all the same, and what it
// gives out is held against its id.
func TestEventually(t *testing.T) {
	h, m := aHost()
	data := keptReport(t, "scores.json")
	first := upload(t, h, data)
	for _, blind := range []bool{false, true} {
		m.blind, m.unseen[first.ID] = blind, 1
		r := ask(t, h, "POST", ReportsPath, data)
		var again Receipt
		if err := json.Unmarshal([]byte(said(t, r)), &again); err != nil || again.ID != first.ID || len(m.values) != 1 {
			t.Errorf("blind %v: %d %+v, %d values", blind, r.StatusCode, again, len(m.values))
		}
	}
	value := m.values[first.ID]
	for _, bad := range [][]byte{value[:len(value)/2], {}, []byte("<null>"), bytes.Replace(value, []byte("0"), []byte("1"), 400)} {
		m.values[first.ID] = bad
		for _, path := range []string{ReportsPath + "/" + first.ID, ShownPath + first.ID, ShownPath + first.ID + "/badge.svg"} {
			gives(t, h, 503, "GET", path, nil)
		}
	}
	m.values[first.ID], m.fails = value, errors.New("secret of the store")
	for _, path := range []string{ReportsPath + "/" + first.ID, ShownPath + first.ID} {
		if r := ask(t, h, "GET", path, nil); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || strings.Contains(said(t, r), "secret") {
			t.Errorf("%s of a store that fails: %d", path, r.StatusCode)
		}
	}
	gives(t, h, 503, "POST", ReportsPath, data)
}

// TestRefused: what is no report, too large, or contradicts its own counts is refused
// with the field named, and nothing is kept.
func TestRefused(t *testing.T) {
	h, m := aHost()
	own := func(change func(*pair.Report)) []byte {
		r := must.Get(pair.ParseReport(keptReport(t, "approximate.json")))(t)
		change(&r)
		return must.Get(json.Marshal(r))(t)
	}
	parts := must.Get(suite.ParseReport(keptReport(t, "plan.json")))(t)
	parts.Summary = "All is private."
	parts.Generator.Version = core.Kinds()[0].Name // no release
	for name, c := range map[string]struct {
		data   []byte
		status int
		field  string
	}{
		"nothing":      {nil, 422, "report"},
		"no JSON":      {[]byte("report"), 422, "report"},
		"bad base64":   {bytes.Replace(keptReport(t, "approximate.json"), []byte(`"kind"`), []byte(`"sequential":{"epochs":[{"counts":["*"]}]},"kind"`), 1), 422, "report"},
		"another kind": {[]byte(`{"kind":"poem","schemaVersion":2}`), 422, "report: field kind"},
		"cut off":      {keptReport(t, "approximate.json")[:3000], 422, "report"},
		"two":          {append(keptReport(t, "scores.json"), keptReport(t, "scores.json")...), 422, "report"},
		"no text":      {[]byte("{\xff}"), 422, "report"},
		"too large":    {append(keptReport(t, "scores.json"), bytes.Repeat([]byte(" "), MostBytes)...), 413, "report"},
		"link cut off": {linked(t, "function mechanism() {}")[:40], 422, "link"},
		"another link": {[]byte(must.Get(packed.Pack([]int{1}))(t)), 422, "link"},
		"bound": {own(func(r *pair.Report) {
			*r.LowerBound += 0.01
			r.Tables[0].Rows[0].LowerBound = r.LowerBound
		}), 422, "lowerBound"},
		"unknown field": {bytes.Replace(keptReport(t, "approximate.json"), []byte(`"kind"`), []byte(`"evil":1,"kind"`), 1), 422, ""},
		"mechanism":     {own(func(r *pair.Report) { r.Plan.Mechanism, r.Subject = "no-such", "no-such" }), 422, ""},
		"claim":         {own(func(r *pair.Report) { r.Claim.Epsilon = 0.5; r.Plan.Claim.Epsilon = 0.5 }), 422, ""},
	} {
		r := ask(t, h, "POST", ReportsPath, c.data)
		var no refusal
		if err := json.Unmarshal([]byte(said(t, r)), &no); err != nil || r.StatusCode != c.status || no.Error == "" || !strings.HasPrefix(no.Field, c.field) {
			t.Errorf("%s: %d %+v", name, r.StatusCode, no)
		}
	}
	if len(m.values) != 0 {
		t.Errorf("%d values are kept", len(m.values))
	}
}

// TestPaths: an id is one, and no path.
func TestPaths(t *testing.T) {
	h, _ := aHost()
	id := upload(t, h, keptReport(t, "scores.json")).ID
	for _, bad := range []string{"", "/", "..", "../" + id, id + "/..", id + "/", id + "/../" + id, id[:9], id + "\x00", id + ".png", id[:9] + "0", id[:9] + "%2f", "O0Il" + id, strings.Repeat("1", 45), id + "/picture.png", id + "/badge.svg/", "é" + id} {
		for _, base := range []string{ReportsPath + "/", ShownPath} {
			if base == ReportsPath+"/" && (bad == "" || strings.Contains(bad, "/")) && strings.HasPrefix(bad, id) {
				continue
			}
			gives(t, h, 404, "GET", base+bad, nil)
		}
		if r := ask(t, h, "DELETE", ReportsPath+"/"+bad, nil, "Authorization", "Bearer x"); r.StatusCode != 404 && r.StatusCode != 405 && r.StatusCode != 401 {
			t.Errorf("DELETE %q: %d", bad, r.StatusCode)
		}
	}
	for _, method := range []string{"PUT", "PATCH", "OPTIONS", "POST", "DELETE"} {
		gives(t, h, 405, method, ShownPath+id, nil)
	}
	gives(t, h, 403, "POST", ReportsPath, keptReport(t, "scores.json"), "Sec-Fetch-Site", "cross-site")
	for from, want := range map[string]int{"https://evil.example": 403, origin: 200} { // of a browser that says no more
		gives(t, h, want, "POST", ReportsPath, keptReport(t, "scores.json"), "Origin", from)
	}
}

// hostile is a text that would be a script, an element or an address in any of the places
// where a report's texts stand.
const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(1)>"' onload='alert(1)' javascript:alert(1) {{.}} ]]> &lt; ` + "\u202e\x00\x1b[31m"

// poison replaces every text of a value that is not a key, one after the other.
func poison(value any, at *int, which int) any {
	switch x := value.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			x[k] = poison(x[k], at, which)
		}
	case []any:
		for i := range x {
			x[i] = poison(x[i], at, which)
		}
	case string:
		*at++
		if *at-1 == which {
			return x + hostile
		}
	}
	return value
}

// TestHostileTexts: a script in any text of a report is refused, or comes out as text.
func TestHostileTexts(t *testing.T) {
	took := 0
	for _, name := range []string{"approximate.json", "command-words.json", "recorded.json", "plan-only.json", "canaries.json", "one-run.json", "scores-two-files.json", "failed-command.json"} {
		data := keptReport(t, name)
		texts := 0
		var value any
		json.Unmarshal(data, &value)
		poison(value, &texts, -1)
		every := testsize.Of(11, 1) // coprime to the fields of a row, so that all kinds of texts come
		for i := (len(name) * 7) % every; i < texts; i += every {
			var value any
			json.Unmarshal(data, &value)
			n := 0
			bad := must.Get(json.Marshal(poison(value, &n, i)))(t)
			// What the host checks is not asked here: a page must hold any report that can be
			// read.
			c, err := read(bad)
			if err != nil {
				continue
			}
			took++
			holdsTexts(t, fmt.Sprintf("%s, text %d", name, i), c)
		}
	}
	c := must.Get(read(linked(t, hostile)))(t)
	holdsTexts(t, "code", c)
	if took < 20 {
		t.Errorf("only %d texts came through", took)
	}
}

// holdsTexts holds all that a host answers of a content to have nothing in it but text.
func holdsTexts(t *testing.T, what string, c *content) {
	t.Helper()
	h, m := aHost()
	id := sumOf(c.data)[:shortest]
	m.values[id] = kept{Version: 1, Day: "2026-01-31"}.with(c.data)
	h.Pictures = func(report.View) ([]format.Picture, error) { return nil, nil } // tested where they are drawn
	page := said(t, ask(t, h, "GET", ShownPath+id, nil))
	z := xml.NewDecoder(strings.NewReader(page))
	z.Strict, z.Entity = false, xml.HTMLEntity
	for {
		token, err := z.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		tag, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch tag.Name.Local {
		case "script", "img", "iframe", "object", "base", "form", "svg":
			t.Fatalf("%s: the page has an element %s", what, tag.Name.Local)
		}
		for _, a := range tag.Attr {
			name := a.Name.Local
			if strings.HasPrefix(name, "on") || (name == "href" || name == "src") && !strings.HasPrefix(a.Value, origin+"/") && !strings.HasPrefix(a.Value, "#") {
				t.Fatalf("%s: %s has %s=%q", what, tag.Name.Local, name, a.Value)
			}
		}
	}
	svg := said(t, ask(t, h, "GET", ShownPath+id+"/badge.svg", nil))
	if strings.Count(svg, "<") != strings.Count(badgeOf(svg), "<") || strings.Contains(svg, "<script") || strings.Contains(svg, "<img") {
		t.Fatalf("%s: the badge is %s", what, svg)
	}
}

// badgeOf are the elements of a badge alone.
func badgeOf(svg string) string {
	return strings.Join(regexp.MustCompile(`</?(svg|title|rect|g|text)[ >/]`).FindAllString(svg, -1), "")
}

// TestBadge: it says what was claimed, the bound, how many outputs and the day, and never
// that anything is private or passed.
func TestBadge(t *testing.T) {
	h, _ := aHost()
	for _, name := range []string{"approximate.json", "gaussian-dp.json", "plan.json", "stopped-exploring.json", "one-run-inconclusive.json"} {
		out := upload(t, h, keptReport(t, name))
		r := ask(t, h, "GET", ShownPath+out.ID+"/badge.svg", nil)
		got := said(t, r)
		if r.Header.Get("Content-Type") != "image/svg+xml" || r.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
			t.Errorf("%s: %v", name, r.Header)
		}
		for _, word := range []string{"private", "passed", "safe", "secure"} {
			if strings.Contains(strings.ToLower(got), word) {
				t.Errorf("%s: the badge says %q: %s", name, word, got)
			}
		}
		if name == "approximate.json" && !(strings.Contains(got, "claimed") && strings.Contains(got, "shown") && strings.Contains(got, "n = ") && strings.Contains(got, "2026-01-31")) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestReportsShown: every report that is kept is taken and shown, or refused with a remedy.
func TestReportsShown(t *testing.T) {
	files := must.Get(filepath.Glob(reports + "*.json"))(t)
	h, _ := aHost()
	took := 0
	every := testsize.Of(4, 1)
	for i, name := range files {
		if i%every != 0 {
			continue
		}
		data := must.Get(os.ReadFile(name))(t)
		r := ask(t, h, "POST", ReportsPath, data)
		got := said(t, r)
		switch r.StatusCode {
		case 201:
			took++
			var out Receipt
			json.Unmarshal([]byte(got), &out)
			gives(t, h, 200, "GET", ShownPath+out.ID, nil)
		case 422:
			t.Logf("%s: %.200s", name, got)
		default:
			t.Errorf("%s: %d %s", name, r.StatusCode, got)
		}
	}
	if took < len(files)/every/2 {
		t.Errorf("only %d of %d are taken", took, len(files)/every)
	}
}
