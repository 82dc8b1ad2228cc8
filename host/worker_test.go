package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/host/edge/edgetest"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// asked is a request to a server and what it answered.
func asked(t *testing.T, method, address string, body []byte, header ...string) (*http.Response, string) {
	t.Helper()
	r := must.Get(http.NewRequest(method, address, bytes.NewReader(body)))(t)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	out := must.Get(http.DefaultClient.Do(r))(t)
	defer out.Body.Close()
	text := must.Get(io.ReadAll(out.Body))(t)
	if !strings.HasPrefix(out.Header.Get("Content-Security-Policy"), "default-src 'none'") || out.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %s: policies %v", method, address, out.Header)
	}
	return out, string(text)
}

// answers wants a status of a server.
func answers(t *testing.T, status int, method, address string, body []byte, header ...string) {
	t.Helper()
	if r, said := asked(t, method, address, body, header...); r.StatusCode != status {
		t.Errorf("%s %s %q: %d, want %d: %s", method, address, header, r.StatusCode, status, said)
	}
}

// TestServed: the host behind a server of this machine, and as a Worker, answer alike.
func TestServed(t *testing.T) {
	t.Run("native", func(t *testing.T) {
		h, _ := aHost()
		server := httptest.NewServer(h)
		defer server.Close()
		h.Origin = func(r *http.Request) string { return "http://" + r.Host }
		served(t, server.URL)
	})
	t.Run("worker", func(t *testing.T) {
		testsize.Long(t)
		served(t, edgetest.Start(t))
	})
}

func served(t *testing.T, base string) {
	for name, data := range map[string][]byte{"pair": must.Get(os.ReadFile("../site/example.json"))(t), "scores": keptReport(t, "scores.json"), "plan": keptReport(t, "plan-only.json"), "code": linked(t, "function mechanism() { return 1 }")} {
		r, said := asked(t, "POST", base+ReportsPath, data)
		var out Receipt
		if err := json.Unmarshal([]byte(said), &out); err != nil || r.StatusCode != 201 || !Is(out.ID, data) || out.Address != base+ShownPath+out.ID || r.Header.Get("RateLimit") == "" && t.Name() == "TestServed/native" {
			t.Fatalf("%s: %d %s %v", name, r.StatusCode, said, r.Header)
		}
		if r, said := asked(t, "POST", base+ReportsPath, data); r.StatusCode != 200 || strings.Contains(said, "token") {
			t.Errorf("%s twice: %d %s", name, r.StatusCode, said)
		}
		if _, said := asked(t, "GET", base+ReportsPath+"/"+out.ID, nil); said != string(data) {
			t.Errorf("%s: another content came back", name)
		}
		for _, again := range []string{"first", "kept"} { // at the edge the second answer is one that was kept
			r, page := asked(t, "GET", out.Address, nil)
			if r.StatusCode != 200 || !strings.Contains(page, `property="og:title"`) || r.Header.Get("Content-Type") != "text/html; charset=utf-8" {
				t.Errorf("%s: %s: %d %.300s", name, again, r.StatusCode, page)
			}
			if r, badge := asked(t, "GET", out.Address+"/badge.svg", nil); r.StatusCode != 200 || r.Header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(badge, "<svg") {
				t.Errorf("%s: %s badge: %d %.300s", name, again, r.StatusCode, badge)
			}
			answers(t, 304, "GET", out.Address, nil, "If-None-Match", r.Header.Get("ETag"))
		}
		answers(t, 401, "DELETE", base+ReportsPath+"/"+out.ID, nil, "Authorization", "Bearer x")
		answers(t, 204, "DELETE", base+ReportsPath+"/"+out.ID, nil, "Authorization", "Bearer "+out.Token)
		for _, path := range []string{ShownPath + out.ID, ShownPath + out.ID + "/badge.svg", ReportsPath + "/" + out.ID} {
			answers(t, 404, "GET", base+path, nil)
		}
	}
	for what, bad := range map[string][]byte{"forged": bytes.Replace(keptReport(t, "scores.json"), []byte(`"lowerBound": 1`), []byte(`"lowerBound": 2`), 1), "no report": []byte("{}")} {
		if r, said := asked(t, "POST", base+ReportsPath, bad); r.StatusCode != 422 || !strings.Contains(said, `"field"`) {
			t.Errorf("%s: %d %s", what, r.StatusCode, said)
		}
	}
	answers(t, 413, "POST", base+ReportsPath, bytes.Repeat([]byte(" "), MostBytes+1))
	seen := map[int]int{}
	if strings.Contains(base, "127.0.0.1") && t.Name() == "TestServed/worker" {
		for range 40 {
			r, _ := asked(t, "POST", base+ReportsPath, []byte("{}"))
			seen[r.StatusCode]++
		}
		if seen[429] == 0 {
			t.Errorf("40 uploads in a minute: %v", fmt.Sprint(seen))
		}
	}
}

// TestFront: the Worker's front counts an address, of IPv6 its network, and refuses a bad
// id, a body without a length and one that is too large before it asks Go or the store.
func TestFront(t *testing.T) {
	node := must.Have(t, "node")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"front.mjs":         string(must.Get(os.ReadFile("edge/front.mjs"))(t)),
		"build/version.mjs": "export default 'x'", "build/worker.mjs": "export default { fetch() { globalThis.woken++; return new Response('{}', { status: 404 }); } }",
		"test.mjs": `import front from "./front.mjs";
globalThis.woken = 0;
const asked = [], env = { READS: { limit: async ({ key }) => { asked.push(key); return { success: key !== "9.9.9.9" }; } }, REPORTS: { getWithMetadata: async () => { woken++; return { value: null, metadata: null }; } } };
env.UPLOADS = env.READS;
const say = async (path, ip, init = {}) => { const before = woken, { status } = await front.fetch(new Request("https://h" + path, { ...init, headers: { "cf-connecting-ip": ip, ...init.headers } }), env, { waitUntil() {} }); console.log(status, woken > before, asked.at(-1)); };
await say("/r/" + "a".repeat(600), "1.2.3.4");
await say("/r/abcdefghij", "9.9.9.9");
await say("/r/abcdefghij", "2001:db8::5:6:7:8");
await say("/r/abcdefghij", "2001:0db8:0:0:9:9:9:9");
await say("/r/abcdefghi0", "1.2.3.4");
await say("/api/reports", "1.2.3.4", { method: "POST", body: "x", headers: { "content-length": "1048577" } });
await say("/api/reports", "1.2.3.4", { method: "POST" });
await say("/api/reports", "1.2.3.4", { method: "POST", body: "{}", headers: { "content-length": "2" } });
await say("/api/reports/abcdefghij/", "::1", { method: "DELETE" });
`} {
		name = filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	}
	out, err := exec.Command(node, filepath.Join(dir, "test.mjs")).CombinedOutput()
	const want = `404 false 1.2.3.4
429 false 9.9.9.9
404 true 2001:db8:0:0
404 true 2001:db8:0:0
404 false 1.2.3.4
413 false 1.2.3.4
411 false 1.2.3.4
404 true 1.2.3.4
404 true 0:0:0:0
`
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}
