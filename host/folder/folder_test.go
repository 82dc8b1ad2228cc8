package folder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/host"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/packed"
	"github.com/dpscope/dpscope/internal/testsize"
)

// TestStore: what was created is there, is not overwritten, and stays when the folder is
// opened again; what was not written to its end is cleared away.
func TestStore(t *testing.T) {
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "new", "store")
	s := must.Get(Open(dir, 1<<40))(t)
	if _, err := s.Get(ctx, "a"); !errors.Is(err, host.ErrAbsent) {
		t.Error(err)
	}
	for key, value := range map[string]string{"a": "1", "A": "2", "../a": "3", "a.png": "4"} {
		if err := s.Create(ctx, key, []byte(value)); err != nil {
			t.Fatal(key, err)
		}
		if err := s.Create(ctx, key, []byte("other")); !errors.Is(err, host.ErrExists) {
			t.Errorf("%s: created twice: %v", key, err)
		}
	}
	must.Do(t, s.Replace(ctx, "a.png", []byte("5")))
	if err := s.Delete(ctx, "A"); err != nil || s.Delete(ctx, "A") != nil {
		t.Error(err)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "1-1"+ending), []byte("half"), 0o600))
	s.Close()
	s = must.Get(Open(dir, 1<<40))(t)
	defer s.Close()
	for key, want := range map[string]string{"a": "1", "../a": "3", "a.png": "5"} {
		if got, err := s.Get(ctx, key); err != nil || string(got) != want {
			t.Errorf("%s: %q %v, want %q", key, got, err, want)
		}
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 3 {
		t.Errorf("%d files, want 3", len(files))
	}
}

// TestOneProcess: a folder that is open is opened by nobody else, and nothing of it is
// cleared away meanwhile. A full one takes nothing new until something is deleted.
func TestOneProcess(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := must.Get(Open(dir, 2*blockSize))(t)
	defer s.Close()
	part := filepath.Join(dir, "1-1"+ending)
	must.Do(t, os.WriteFile(part, nil, 0o600))
	if _, err := Open(dir, 1<<40); err == nil && runtime.GOOS != "windows" {
		t.Error("it was opened twice")
	}
	must.Get(os.Stat(part))(t)
	for i, want := range []error{nil, nil, host.ErrFull} {
		if err := s.Create(ctx, fmt.Sprint(i), []byte("x")); !errors.Is(err, want) {
			t.Errorf("value %d: %v", i, err)
		}
	}
	must.Do(t, errors.Join(s.Replace(ctx, "1", []byte("y")), s.Delete(ctx, "0"), s.Create(ctx, "2", []byte("x"))))
}

// hostDir names the folder that the test's own program serves instead of testing.
const hostDir = "DPSCOPE_TEST_HOST_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(hostDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := Open(dir, 1<<40)
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	most := &host.Minute{Most: 1 << 30}
	panic(http.Serve(l, &host.Host{Store: s, Catalogue: audit.Catalogue{}, Uploads: most, Reads: most, Who: host.Peer,
		Origin: func(*http.Request) string { return "http://host" }, Now: time.Now, Random: rand.NewChaCha8([32]byte(bytes.Repeat([]byte{1}, 32)))}))
}

// serve starts a host over the folder in a process of its own.
func serve(t *testing.T, dir string) (base string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), hostDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, _ := out.Read(line)
	return "http://" + strings.TrimSpace(string(line[:n])), sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// TestKilled: a host that is killed in the middle of uploads, again and again, has every
// one that it acknowledged, and no half of any.
func TestKilled(t *testing.T) {
	total, kills := testsize.Of(500, 10_000), testsize.Of(4, 40)
	dir := t.TempDir()
	told := map[string]string{} // contents by ids that were acknowledged
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	next, during := 0, 0
	for k := range kills + 1 {
		base, kill := serve(t, dir)
		defer kill()
		upTo := total * (k + 1) / (kills + 1)
		stop := next + (upTo-next)/2 + random.IntN((upTo-next)/4)
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				for {
					mu.Lock()
					i := next
					next++
					mu.Unlock()
					if i >= upTo {
						return
					}
					if i == stop && k < kills {
						kill()
					}
					content, err := packed.Pack(packed.Code{Code: strings.Repeat(fmt.Sprintf("// %d\n", i), 1+i%500), Language: "javascript", Settings: map[string]string{}})
					if err != nil {
						t.Error(err)
						return
					}
					r, err := http.Post(base+host.ReportsPath, "text/plain", strings.NewReader(content))
					if err != nil {
						mu.Lock()
						during++
						mu.Unlock()
						continue // it was never acknowledged
					}
					text, err := io.ReadAll(r.Body)
					r.Body.Close()
					var out struct{ ID string }
					if err == nil && json.Unmarshal(text, &out) == nil && r.StatusCode == http.StatusCreated {
						mu.Lock()
						told[out.ID] = content
						mu.Unlock()
					} else if err == nil {
						t.Errorf("%d %s", r.StatusCode, text)
					}
				}
			})
		}
		wait.Wait()
		kill()
		next = upTo
	}
	s := must.Get(Open(dir, 1<<40))(t)
	defer s.Close()
	for id, content := range told {
		value, err := s.Get(context.Background(), id)
		if err != nil || !bytes.HasSuffix(value, []byte("\n"+content)) {
			t.Errorf("%s was acknowledged and is not there: %v", id, err)
		}
	}
	files := must.Get(os.ReadDir(dir))(t)
	for _, f := range files {
		value, err := os.ReadFile(filepath.Join(dir, f.Name()))
		head, content, ok := bytes.Cut(value, []byte("\n"))
		var code packed.Code
		if err != nil || !ok || !json.Valid(head) || packed.Unpack(string(content), &code) != nil {
			t.Errorf("%s is half: %v", f.Name(), err)
		}
	}
	if len(told) < total/2 || during == 0 {
		t.Errorf("%d of %d were acknowledged, %d broke off", len(told), total, during)
	}
	t.Logf("%d of %d were acknowledged, %d broke off, %d files", len(told), total, during, len(files))
}
