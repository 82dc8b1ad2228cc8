package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/shares"
)

// TestMain is the worker where a test lets a runner start this program.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "train-for-tests") {
		trainForTests()
		return
	}
	endWithParent()
	flag.Parse()
	beam.Init()
	os.Exit(m.Run())
}

// timing is the one field of a report in which runs differ.
var timing = regexp.MustCompile(`(?s)"timing": \{.*?\}`)

func plain(report []byte) string { return timing.ReplaceAllString(string(report), "") }

// command runs dpscope-beam and returns the exit code, its report and what it said.
func command(t *testing.T, args ...string) (code int, report, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(append(args, "-format", "json"), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// alone is the report of one machine, of the audit whose search is in the folder.
func alone(t testing.TB, work string, trains ...trainer) string {
	t.Helper()
	s := must.Get(shares.ReadSearch(store(work).search(), store(work).open(context.Background())))(t)
	g := must.Get(given(2, append(trains, trainer{})[0]))(t)
	ran := func(plan any) report.View {
		return must.Get(must.Get(core.Resolve(plan, g))(t).Run(context.Background(), g))(t)
	}
	var whole any
	if s.Kind != suite.ReportKind {
		g.File = s.Data
		whole = ran(must.Get(s.Single())(t))
	} else {
		var several shares.Several
		must.Do(t, json.Unmarshal(s.Plan, &several))
		file := must.Get(suite.Parse(several.Text, several.File))(t)
		var audited []suite.Audited
		for i, name := range file.Names() {
			g.File = several.Data[name]
			audited = append(audited, suite.Audited{Name: name, Report: ran(file.Audit(i))})
		}
		whole = suite.NewReport(file, g.Generator, audited)
	}
	return plain(must.Get(audit.Canonical(whole))(t))
}

// same wants a report to be that of one machine, but for how long it took.
func same(t *testing.T, report, work string, trains ...trainer) {
	t.Helper()
	want, got := alone(t, work, trains...), plain([]byte(report))
	if want != got {
		i := 0
		for i < min(len(want), len(got)) && want[i] == got[i] {
			i++
		}
		t.Errorf("other bytes from %d on: one machine %.80q, Beam %.80q", i, want[i:], got[i:])
	}
	if len(want) < 1000 {
		t.Errorf("the report is of %d bytes", len(want))
	}
}

var planted = strings.Fields("canaries -epsilon 1 -delta 1e-5 -n 101 -k 4 -m 4 -seed 5")

// TestSameBytes: Beam comes to the report of one machine.
func TestSameBytes(t *testing.T) {
	for name, c := range map[string]struct {
		code int
		args []string
	}{
		"pair":     {cli.ExitViolation, strings.Fields("audit -mechanism svt4 -epsilon 1 -seed 7 -samples 60000 -trials 2")},
		"canaries": {cli.ExitOK, planted},
		"plan":     {cli.ExitViolation, strings.Fields("audit -plan ../cmd/dpscope/testdata/shards.json")},
	} {
		t.Run(name, func(t *testing.T) {
			work := t.TempDir()
			code, report, errs := command(t, append(c.args, "-work", work, "-shares", "3")...)
			if code != c.code {
				t.Fatalf("ended with %d, must be %d: %s", code, c.code, errs)
			}
			same(t, report, work)
			code, again, errs := command(t, append(c.args, "-work", work)...)
			if code != c.code || plain([]byte(again)) != plain([]byte(report)) || !strings.Contains(errs, "3 of 3 shares were drawn before") {
				t.Errorf("run again, it ended with %d: %s", code, errs)
			}
		})
	}
}

// trainForTests trains as docs/training.md says: scores are noise, more for members.
func trainForTests() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var q struct {
			Members []int
			Seed    uint64
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			panic(err)
		}
		scores := make([]float64, len(q.Members))
		stream.New(stream.Key{Seed: q.Seed}).Gaussian(scores, 1)
		for i, m := range q.Members {
			scores[i] += float64(m)
		}
		line, _ := json.Marshal(map[string]any{"seed": q.Seed, "scores": scores})
		fmt.Printf("%s\n", line)
	}
}

// TestTrainer: a program of the user's trains on Beam, and comes to the report of one
// machine; what repeating it gave is kept.
func TestTrainer(t *testing.T) {
	self := must.Get(os.Executable())(t)
	own := trainer{"'" + self + "' train-for-tests", time.Hour}
	t.Cleanup(closePrograms)
	work := t.TempDir()
	args := append(strings.Fields("canaries -epsilon 1 -delta 1e-5 -n 40 -k 4 -m 4 -seed 5"), "-exec", own.Exec, "-work", work)
	code, report, errs := command(t, args...)
	if code != cli.ExitOK {
		t.Fatalf("ended with %d: %s", code, errs)
	}
	must.Say(t, report, `"repeats": "same"`, "train-for-tests")
	same(t, report, work, own)
	code, again, errs := command(t, args...)
	if code != cli.ExitOK || plain([]byte(again)) != plain([]byte(report)) || !strings.Contains(errs, "64 of 64 shares were drawn before") {
		t.Errorf("run again, it ended with %d: %s", code, errs)
	}
}

// flaky is a disk on which the first write of share 1 of 3 fails.
type flaky struct {
	filesystem.Interface
}

var flakyOnce struct {
	sync.Mutex
	failed bool
}

func init() {
	filesystem.Register("flaky", func(ctx context.Context) filesystem.Interface { return flaky{local.New(ctx)} })
}

func disk(name string) string { return strings.TrimPrefix(name, "flaky://") }

func (f flaky) List(ctx context.Context, glob string) ([]string, error) {
	return f.Interface.List(ctx, disk(glob))
}

func (f flaky) OpenRead(ctx context.Context, name string) (io.ReadCloser, error) {
	return f.Interface.OpenRead(ctx, disk(name))
}

func (f flaky) OpenWrite(ctx context.Context, name string) (io.WriteCloser, error) {
	if strings.HasSuffix(name, "/1-of-3") {
		flakyOnce.Lock()
		defer flakyOnce.Unlock()
		if !flakyOnce.failed {
			flakyOnce.failed = true
			return nil, errors.New("the disk is away")
		}
	}
	return f.Interface.OpenWrite(ctx, disk(name))
}

// TestFailedShare: a share that fails is drawn again, and those that did not are kept.
func TestFailedShare(t *testing.T) {
	dir := t.TempDir()
	code, report, errs := command(t, append(planted, "-work", "flaky://"+dir, "-shares", "3")...)
	if code != cli.ExitOK || !strings.Contains(errs, "the disk is away") {
		t.Fatalf("ended with %d: %s", code, errs)
	}
	same(t, report, dir)
	// A share that was cut short is missing; one that was changed too.
	share := filepath.Join(dir, "partials", "2-of-3")
	data := must.Get(os.ReadFile(share))(t)
	for name, cut := range map[string][]byte{"cut": data[:len(data)/2], "changed": bytes.Replace(data, []byte(`"first":`), []byte(`"first" :`), 1)} {
		must.Do(t, os.WriteFile(share, cut, 0o644))
		code, again, errs := command(t, append(planted, "-work", dir)...)
		if code != cli.ExitOK || plain([]byte(again)) != plain([]byte(report)) || !strings.Contains(errs, "2 of 3 shares were drawn before") {
			t.Errorf("%s: ended with %d: %s", name, code, errs)
		}
	}
}

// child is a process that this one started; 0 for none.
func child() int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		pid, rest, _ := strings.Cut(string(data), " (")
		fields := strings.Fields(rest[strings.LastIndexByte(rest, ')')+1:])
		if len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(os.Getpid()) {
			n, _ := strconv.Atoi(pid)
			return n
		}
	}
	return 0
}

// TestKilledWorker: a worker that is killed in the middle costs the shares that it was at.
func TestKilledWorker(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("finds the worker in /proc")
	}
	t.Cleanup(func() { flag.Set("environment_type", "LOOPBACK") }) // of the tests that come after
	work := t.TempDir()
	killed := make(chan string, 1)
	go func() {
		for {
			there, _ := filepath.Glob(filepath.Join(work, "partials", "*-of-8"))
			if pid := child(); len(there) > 0 && pid != 0 {
				killed <- fmt.Sprintf("%d shares there, killed %d: %v", len(there), pid, syscall.Kill(pid, syscall.SIGKILL))
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	code, report, errs := command(t, append(strings.Fields("canaries -source dp-sgd -epsilon 1 -delta 1e-5 -n 100 -k 2 -m 2 -explore 4 -param steps=20 -seed 5 -process -shares 8"), "-work", work)...)
	select {
	case what := <-killed:
		t.Log(what)
	default:
		t.Error("no worker was killed")
	}
	if code != cli.ExitOK || !strings.Contains(errs, "the job failed with ") {
		t.Fatalf("ended with %d: %s", code, errs)
	}
	same(t, report, work)
}

// TestRefuses holds what is refused, and what the errors name.
func TestRefuses(t *testing.T) {
	work := t.TempDir()
	if code, _, errs := command(t, append(planted, "-work", work, "-shares", "2")...); code != cli.ExitOK {
		t.Fatal(errs)
	}
	cut := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(cut, "partials"), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(cut, "partials", "search"), []byte("{"), 0o644))
	t.Cleanup(func() { flag.Set("runner", "") })
	for name, c := range map[string]struct {
		args string
		says []string
	}{
		"another plan":    {"canaries -epsilon 1 -delta 1e-5 -n 101 -k 4 -m 4 -seed 6 -work " + work, []string{"another audit", work + "/partials/search", "search again"}},
		"another kind":    {"audit -mechanism svt4 -epsilon 1 -work " + work, []string{"another audit"}},
		"another number":  {strings.Join(planted, " ") + " -shares 3 -work " + work, []string{"-shares is 3", "2, as those that are there"}},
		"a cut search":    {strings.Join(planted, " ") + " -work " + cut, []string{"incomplete or damaged"}},
		"a folder":        {strings.Join(planted, " ") + " -work /dev/null/x", []string{"/dev/null/x"}},
		"shares":          {"audit -mechanism svt4 -shares -1", []string{"-shares"}},
		"tries":           {"audit -mechanism svt4 -tries 0", []string{"-tries"}},
		"no mechanism":    {"audit -epsilon 1", []string{"-mechanism"}},
		"no such one":     {"audit -mechanism svt44 -epsilon 1", []string{"svt4"}},
		"no such flag":    {"audit -mechanism svt4 -share 3", []string{"-share"}},
		"no such command": {"audits", []string{"audit"}},
		"beside a plan":   {"audit -plan ../cmd/dpscope/testdata/shards.json -epsilon 1", []string{"-epsilon", "-plan"}},
		"no such trainer": {"canaries -exec no-such-program -epsilon 1 -delta 1e-5", []string{"no-such-program"}},
		"a dead trainer":  {"canaries -exec true -epsilon 1 -delta 1e-5 -n 20", []string{"before its first answer"}},
		"no such file":    {"audit -plan nowhere.json", []string{"nowhere.json"}},
		"its own process": {"audit -mechanism svt4 -epsilon 1 -runner flink -process -work " + work, []string{"-process"}},
		"a remote runner": {"audit -mechanism svt4 -epsilon 1 -runner flink", []string{"-work", "flink"}},
	} {
		t.Run(name, func(t *testing.T) {
			flag.Set("runner", "")
			code, out, errs := command(t, strings.Fields(c.args)...)
			if code != cli.ExitUsage || out != "" {
				t.Errorf("ended with %d and %.200q", code, out)
			}
			must.Say(t, errs, c.says...)
		})
	}
}

// BenchmarkPrism compares the goroutines of one process with Beam's prism, on the same
// audit: x is how many times as long Beam takes.
func BenchmarkPrism(b *testing.B) {
	const trainings = 300
	for b.Loop() {
		work := b.TempDir()
		args := append(strings.Fields("canaries -source dp-sgd -epsilon 1 -delta 1e-5 -explore 4 -n"), strconv.Itoa(trainings), "-work", work)
		var report, errs bytes.Buffer
		began := time.Now()
		if code := run(append(args, "-format", "json"), &report, &errs); code != cli.ExitOK {
			b.Fatal(&errs)
		}
		onBeam := time.Since(began).Seconds()
		began = time.Now()
		one := alone(b, work)
		inPool := time.Since(began).Seconds()
		if plain(report.Bytes()) != one {
			b.Fatal("other bytes")
		}
		b.ReportMetric(onBeam, "s-beam")
		b.ReportMetric(inPool, "s-pool")
		b.ReportMetric(onBeam/inPool, "x")
		b.Log(strings.TrimSpace(errs.String()))
	}
}
