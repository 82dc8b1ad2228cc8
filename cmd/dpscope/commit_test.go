package main

import (
	"bytes"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/dpscope/dpscope/receipt"
	"github.com/dpscope/dpscope/receipt/host"
)

// logAt serves a fresh log until the test ends; heads are kept in a folder of the test.
func logAt(t *testing.T) (base, key string) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	signer, key, err := note.GenerateKey(rand.NewChaCha8([32]byte{3}), "log.example")
	if err != nil {
		t.Fatal(err)
	}
	f, err := host.OpenFile(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := receipt.Open(f, signer, func() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) })
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(host.Handler(l, key))
	t.Cleanup(func() {
		s.Close()
		f.Close()
	})
	return s.URL, key
}

// said runs a command, wants its exit code and returns what it printed.
func said(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(args, strings.NewReader(""), &out, &errs); got != code {
		t.Fatalf("%s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), errs.String())
	}
	return out.String() + errs.String()
}

// TestCommit: what was registered before a run holds for its report, and for no other;
// a receipt is not written over, and a log that begins anew is refused.
func TestCommit(t *testing.T) {
	base, key := logAt(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	settings := []string{"-mechanism", "svt5", "-epsilon", "1", "-samples", "500", "-trials", "1", "-seed", "7"}
	commit := func(name string, more ...string) []string {
		return append([]string{"commit", "-host", base, "-receipt", at(name)}, more...)
	}
	if out := said(t, 0, commit("one", settings...)...); !strings.Contains(out, "entry 0 of log.example at 2026-01-31T12:00:00Z") || !strings.Contains(out, receipt.Limits) {
		t.Error(out)
	}
	if out := said(t, 2, commit("one", settings...)...); !strings.Contains(out, "which is there") {
		t.Error(out)
	}
	said(t, 1, append([]string{"audit", "-output", "json=" + at("report")}, settings...)...)
	if out := said(t, 0, "verify", "-receipt", at("one"), "-log-key", key, at("report")); !strings.Contains(out, "The receipt holds: log.example has the report’s plan as entry 0 of 1") {
		t.Error(out)
	}
	settings[len(settings)-1] = "8"
	said(t, 1, append([]string{"audit", "-output", "json=" + at("other")}, settings...)...)
	if out := said(t, 1, "verify", "-receipt", at("one"), at("other")); !strings.Contains(out, "does not hold: plan’s seed is 8, must be 7") {
		t.Error(out)
	}
	if out := said(t, 1, "verify", "-receipt", at("one"), "-log-key", "log.example+00000000+AAAA", at("report")); !strings.Contains(out, "the log’s key") {
		t.Error(out)
	}
	if out := said(t, 2, "verify", "-receipt", at("report"), at("report")); !strings.Contains(out, "receipt") {
		t.Error(out)
	}

	plan := `{"version": 1, "beta": 0.05, "audits": [
		{"name": "first", "mechanism": "svt5", "claim": {"epsilon": 1}, "samples": 500, "trials": 1},
		{"name": "second", "mechanism": "laplace-count", "claim": {"epsilon": 1}, "samples": 500, "trials": 1},
		{"name": "third", "canaries": {"source": "gaussian-sum", "claim": {"epsilon": 2}, "runs": 64, "k": 5}},
		{"name": "fourth", "oneRun": {"source": "gaussian-sum", "claim": {"epsilon": 2}, "canaries": 64}}]}`
	if err := os.WriteFile(at("plan.json"), []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	said(t, 0, commit("two", at("plan.json"))...)
	said(t, 1, "audit", "-plan", at("plan.json"), "-output", "json="+at("whole"))
	if out := said(t, 0, "verify", "-receipt", at("two"), "-log-key", key, at("whole")); !strings.Contains(out, "entry 1 of 2") {
		t.Error(out)
	}
	if out := said(t, 1, "verify", "-receipt", at("two"), at("report")); !strings.Contains(out, "of the 4 that were registered") {
		t.Error(out)
	}

	again, _ := logAtKept(t)
	if out := said(t, 2, "commit", "-host", again, "-receipt", at("three"), "-mechanism", "svt5"); !strings.Contains(out, "must be a log that goes on from the 2 entries") {
		t.Error(out)
	}
	if _, err := os.Stat(at("three")); err == nil {
		t.Error("a receipt of a log that went back was written")
	}
}

// logAtKept is another log with the same key; what was seen of that one stays known.
func logAtKept(t *testing.T) (base, key string) {
	t.Helper()
	seen := os.Getenv("XDG_CONFIG_HOME")
	base, key = logAt(t)
	t.Setenv("XDG_CONFIG_HOME", seen)
	return base, key
}
