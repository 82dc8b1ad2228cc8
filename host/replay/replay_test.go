package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/host"
	"github.com/dpscope/dpscope/host/folder"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/packed"
)

const reports = "../../core/testdata/reports/"

// asChild has the test's own program replay instead of testing.
const asChild = "DPSCOPE_TEST_REPLAY"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		os.Exit(Serve(cli.Catalogue(), os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func child(t *testing.T) Child {
	t.Setenv(asChild, "yes")
	return Child{Host: []string{os.Args[0]}, Workers: 1}
}

// stored is a host over a folder, and how to ask it.
func stored(t *testing.T) (*folder.Store, func(method, path string, body []byte) (int, string)) {
	t.Helper()
	store := must.Get(folder.Open(t.TempDir(), 1<<30))(t)
	t.Cleanup(func() { store.Close() })
	most := &host.Minute{Most: 1 << 20}
	h := &host.Host{Store: store, Catalogue: cli.Catalogue(), Uploads: most, Reads: most, Who: host.Peer, Now: clock, Random: rand.NewChaCha8([32]byte{1}),
		Origin: func(*http.Request) string { return "https://audits.example" }}
	return store, func(method, path string, body []byte) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, bytes.NewReader(body)))
		return w.Code, w.Body.String()
	}
}

func clock() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

// TestJob: what a host replays says at its address what came of it, a report whose counts
// nobody drew among them; nothing is left out or replayed twice, and what was deleted stays so.
func TestJob(t *testing.T) {
	store, ask := stored(t)
	file := func(name string) []byte {
		return must.Get(os.ReadFile(reports + name))(t)
	}
	code := must.Get(packed.Pack(packed.Code{Code: "function mechanism() { return 1 }", Language: "javascript", Settings: map[string]string{}}))(t)
	// Its seed is another one, and all that follows from its counts is as it was.
	forged := bytes.ReplaceAll(file("approximate.json"), []byte(`"seed": 42`), []byte(`"seed": 43`))
	forged = bytes.ReplaceAll(forged, []byte("seed 42"), []byte("seed 43"))
	forged = bytes.ReplaceAll(forged, []byte("seed=42"), []byte("seed=43"))
	forged = bytes.ReplaceAll(forged, []byte("Seed: 42"), []byte("Seed: 43"))
	want := map[string]string{}
	for _, c := range []struct {
		name, outcome string
		data          []byte
	}{
		{"pair", host.Same, file("approximate.json")}, {"plan", host.Derived, file("plan-only.json")}, {"plan with recorded outputs", host.Derived, file("plan.json")}, {"forged", host.Different, forged},
		{"recorded", host.Derived, file("recorded.json")}, {"unseeded", host.Derived, file("unseeded-command.json")}, {"code", host.Cannot, []byte(code)},
	} {
		status, said := ask("POST", host.ReportsPath, c.data)
		var out struct{ ID string }
		if json.Unmarshal([]byte(said), &out) != nil || status != http.StatusCreated {
			t.Fatalf("%s: %d %s", c.name, status, said)
		}
		want[out.ID] = c.outcome
		if status, _ := ask("GET", host.ReportsPath+"/"+out.ID+"/replay", nil); status != http.StatusNotFound {
			t.Errorf("%s: before any replay: %d", c.name, status)
		}
	}
	job := Job{Store: store, Child: child(t), Now: clock}
	for range want {
		must.Do(t, job.Once(context.Background()))
	}
	for id, outcome := range want {
		status, said := ask("GET", host.ReportsPath+"/"+id+"/replay", nil)
		var r host.Replayed
		if err := json.Unmarshal([]byte(said), &r); err != nil || status != 200 || r.Outcome != outcome || r.Day != "2026-01-31" || r.Version != audit.Version {
			t.Errorf("%s: %d %s, want %s", id, status, said, outcome)
		}
		_, page := ask("GET", host.ShownPath+id, nil)
		says := map[string]string{host.Same: "drew every output again on this host, with the same counts", host.Different: "the result differs", host.Derived: "Only its author can draw the counts again"}[outcome]
		must.Say(t, page, says)
	}
	job.Child.Host = []string{"/no/program"} // nothing is left to replay
	must.Do(t, job.Once(context.Background()))

	// What another version replayed is replayed again.
	for id := range want {
		must.Do(t, host.KeepReplay(context.Background(), store, id, host.Replayed{Outcome: host.Same, Day: "2026-01-01", Version: "0.1.0"}))
		break
	}
	job.Child = child(t)
	must.Do(t, job.Once(context.Background()))
	for id, outcome := range want {
		if r, err := host.LastReplay(context.Background(), store, id); err != nil || r.Version != audit.Version || r.Outcome != outcome {
			t.Errorf("%s: %+v %v", id, r, err)
		}
	}
	must.Refuse(t, host.KeepReplay(context.Background(), store, "ABCDEFGHJK", host.Replayed{}), "", "a replay of what is not there was kept")
}

// TestTooLong: a report that takes longer than a host has is told as such, and a job whose
// context ended keeps nothing.
func TestTooLong(t *testing.T) {
	store, ask := stored(t)
	data := must.Get(os.ReadFile(reports + "approximate.json"))(t)
	_, said := ask("POST", host.ReportsPath, data)
	var out struct{ ID string }
	must.Do(t, json.Unmarshal([]byte(said), &out))
	job := Job{Store: store, Child: child(t), Now: clock}
	ended, end := context.WithCancel(context.Background())
	end()
	must.Refuse(t, job.Once(ended), "", "a job that was ended says nothing")
	must.Refuse(t, must.Err(host.LastReplay(context.Background(), store, out.ID)), "", "it kept an outcome")
	for _, c := range []struct {
		limit func(*Child)
		says  string
	}{
		{func(c *Child) { c.Time = time.Nanosecond }, "longer than 1ns"},
		{func(c *Child) { c.Memory = 1 << 20 }, "more memory than 1 MiB"}, // less than the program itself has
	} {
		if c.says == "more memory than 1 MiB" && runtime.GOOS != "linux" {
			continue
		}
		job.Child = child(t)
		c.limit(&job.Child)
		must.Do(t, host.DropReplay(context.Background(), store, out.ID))
		must.Do(t, job.Once(context.Background()))
		if r, err := host.LastReplay(context.Background(), store, out.ID); err != nil || r.Outcome != host.Cannot || !strings.Contains(r.Says, c.says) {
			t.Errorf("%s: %+v %v", c.says, r, err)
		}
	}
}

// watched is a store that is looked at when a replay begins.
type watched struct {
	*folder.Store
	kept func(key string, value []byte)
}

func (w watched) Replace(ctx context.Context, key string, value []byte) error {
	w.kept(key, value)
	return w.Store.Replace(ctx, key, value)
}

// TestEndsOnIt: before a replay begins the store says that it cannot be done, so a host that
// ended on it does not begin with it again.
func TestEndsOnIt(t *testing.T) {
	store, ask := stored(t)
	data := must.Get(os.ReadFile(reports + "approximate.json"))(t)
	ask("POST", host.ReportsPath, data)
	var kept []string
	job := Job{Store: watched{store, func(_ string, value []byte) { kept = append(kept, string(value)) }}, Child: child(t), Now: clock}
	if err := job.Once(context.Background()); err != nil || len(kept) != 2 || !strings.Contains(kept[0], `"cannot"`) || !strings.Contains(kept[0], "ended while") || !strings.Contains(kept[1], `"same"`) {
		t.Errorf("%v %q", err, kept)
	}
	var first host.Replayed
	ids, _ := store.IDs()
	if err := json.Unmarshal([]byte(kept[0]), &first); err != nil || host.KeepReplay(context.Background(), store, ids[0], first) != nil {
		t.Fatal(err)
	}
	job.Child.Host = []string{"/no/program"}
	if err := job.Once(context.Background()); err != nil || len(kept) != 2 {
		t.Errorf("it was begun again: %v %q", err, kept)
	}
}
