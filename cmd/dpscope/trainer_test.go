package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// trainFor answers requests for trainings with a canary's membership and Gaussian noise of
// that standard deviation; with "own" before it the noise is of the process. A file that is
// named counts the trainings; with a number, the program dies after so many, or hangs where
// one more word stands.
func trainFor(args []string, in io.Reader, out io.Writer) {
	text, own := strings.CutPrefix(args[0], "own")
	sigma, _ := strconv.ParseFloat(text, 64)
	rng := stream.New(stream.Key{Seed: uint64(os.Getpid())})
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var q struct {
			Members []float64 `json:"members"`
			Seed    uint64    `json:"seed"`
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			os.Exit(9)
		}
		if len(args) > 2 {
			most, _ := strconv.ParseInt(args[2], 10, 64)
			if info, err := os.Stat(args[1]); err == nil && info.Size() >= most {
				if len(args) > 3 {
					time.Sleep(time.Hour)
				}
				fmt.Fprintln(os.Stderr, "out of memory on the device")
				os.Exit(7)
			}
		}
		if len(args) > 1 {
			f, err := os.OpenFile(args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				os.Exit(8)
			}
			f.WriteString(".")
			f.Close()
		}
		if !own {
			rng = stream.New(stream.Key{Seed: q.Seed})
		}
		scores := make([]float64, len(q.Members))
		rng.Gaussian(scores, sigma)
		for i, m := range q.Members {
			scores[i] += m
		}
		data, _ := json.Marshal(scores)
		fmt.Fprintf(out, "{\"seed\": %d, \"scores\": %s}\n", q.Seed, data)
	}
}

// trainerLine is the command line of such a program.
func trainerLine(t *testing.T, args ...string) string {
	t.Helper()
	exe := must.Get(os.Executable())(t)
	return "'" + exe + "' trains " + strings.Join(args, " ")
}

// audited runs an audit and leaves its report in a file.
func audited(t *testing.T, code int, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	said(t, code, append(args, "-output", file)...)
	return file
}

func read(t *testing.T, file string) string {
	t.Helper()
	data := must.Get(os.ReadFile(file))(t)
	return string(data)
}

// TestTrained audits trainings by a program from end to end: with too little noise and with
// enough, in many trainings and in one; reports hold by their counts without the program,
// and are drawn again only by who names it again.
func TestTrained(t *testing.T) {
	loud, quiet := trainerLine(t, "0.3"), trainerLine(t, "4")
	for name, text := range map[string]string{
		"sequential": "canaries -epsilon 1 -delta 1e-5 -n 60 -k 8",
		"fixed":      "canaries -epsilon 1 -delta 1e-5 -n 60 -k 8 -fixed",
		"replace":    "canaries -epsilon 1 -delta 1e-5 -n 60 -k 8 -relation replace",
		"one run":    "one-run -epsilon 1 -delta 1e-5 -m 300",
	} {
		t.Run(name, func(t *testing.T) {
			args := strings.Fields(text)
			file := audited(t, cli.ExitViolation, append(args, "-exec", loud)...)
			audited(t, cli.ExitOK, append(args, "-exec", quiet)...)
			var r struct {
				Plan struct {
					Source  string
					Trainer struct{ Command, Repeats string }
				}
				Limitations []string
				Reproduce   struct{ CLI, URL string }
			}
			must.Do(t, json.Unmarshal([]byte(read(t, file)), &r))
			if p := r.Plan; p.Source != "trainer" || p.Trainer.Command != loud || p.Trainer.Repeats != "same" || r.Reproduce.URL != "" || !strings.Contains(strings.Join(r.Limitations, " "), "ran outside dpscope") {
				t.Errorf("%+v", r)
			}
			for _, v := range []struct {
				args []string
				code int
				says string
			}{
				{[]string{"-quick", file}, cli.ExitOK, "Recomputed"},
				{[]string{"-exec", loud, file}, cli.ExitOK, "Replayed: same counts"},
				{[]string{"-exec", loud + " ", "-workers", "2", file}, cli.ExitOK, "this replay ran"},
				{[]string{"-exec", quiet, file}, cli.ExitViolation, "DIFFERS"},
			} {
				wants(t, v.code, v.says, append([]string{"verify"}, v.args...)...)
			}
			// The report holds by its counts: another bound does not.
			forged := filepath.Join(t.TempDir(), "forged.json")
			must.Do(t, os.WriteFile(forged, []byte(strings.Replace(read(t, file), `"lowerBound": `, `"lowerBound": 9`, 1)), 0o600))
			wants(t, cli.ExitViolation, "", "verify", "-quick", forged)
			// The command that it names asks for the same audit.
			words := must.Get(shell(r.Reproduce.CLI))(t)
			again := audited(t, cli.ExitViolation, words[1:]...)
			if timing.ReplaceAllString(read(t, again), "") != timing.ReplaceAllString(read(t, file), "") {
				t.Errorf("%s gives another report", r.Reproduce.CLI)
			}
		})
	}
}

// shell takes a command apart.
func shell(line string) ([]string, error) {
	out, err := exec.Command("sh", "-c", `for a in `+line+`; do printf '%s\n' "$a"; done`).Output()
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), err
}

// TestTrainedInShares: shares of several machines, one of them drawn twice, merge to the
// bytes of one machine's report; the merge starts no program, and a share that goes on from
// a search checks none.
func TestTrainedInShares(t *testing.T) {
	for name, mode := range map[string]string{"sequential": "-sequential", "fixed": "-fixed"} {
		t.Run(name, func(t *testing.T) {
			count := filepath.Join(t.TempDir(), "trainings")
			line := trainerLine(t, "0.3", "'"+count+"'")
			args := append(strings.Fields("canaries -epsilon 1 -n 40 -k 4"), mode, "-exec", line)
			one := read(t, audited(t, cli.ExitViolation, args...))
			dir := sharesDrawn(t, 3, args...)
			// A machine was killed and its share drawn again.
			said(t, cli.ExitOK, append(args, "-after", filepath.Join(dir, "search"), "-shards", "1/3", "-partial", filepath.Join(dir, "again"))...)
			before := len(read(t, count))
			// Each run is two trainings; the first of the audit is asked for once more, and once
			// with another seed. Then share 1 of 3, 14 or 13 runs, comes once more.
			runs := map[string]int{"sequential": 40 + 40, "fixed": 80 + 80}[name]
			checks := map[string]int{"sequential": 2 + 3, "fixed": 2 + 2}[name] // a search alone draws nothing of a sequential audit
			if extra := before - 2*runs - checks; extra != 2*13 && extra != 2*14 {
				t.Errorf("%d trainings, %d more than runs and checks need", before, extra)
			}
			merged := read(t, audited(t, cli.ExitViolation, "merge", dir))
			if timing.ReplaceAllString(merged, "") != timing.ReplaceAllString(one, "") {
				t.Error("the merge gives another report than one machine")
			}
			if after := len(read(t, count)); after != before {
				t.Errorf("the merge trained %d times", after-before)
			}
		})
	}
}

// TestTrainedGoesOn: a sequential audit goes on from its report, by the program that is
// named again.
func TestTrainedGoesOn(t *testing.T) {
	line := trainerLine(t, "1")
	first := audited(t, cli.ExitOK, "canaries", "-exec", line, "-epsilon", "4", "-n", "20", "-k", "4")
	wants(t, cli.ExitUsage, "-exec is missing", "canaries", "-continue", first, "-n", "40")
	more := audited(t, cli.ExitOK, "canaries", "-continue", first, "-n", "40", "-exec", line)
	whole := audited(t, cli.ExitOK, "canaries", "-exec", line, "-epsilon", "4", "-n", "40", "-k", "4")
	var r, w struct {
		LowerBound float64
		Evidence   json.RawMessage
	}
	json.Unmarshal([]byte(read(t, more)), &r)
	json.Unmarshal([]byte(read(t, whole)), &w)
	if r.LowerBound != w.LowerBound || string(r.Evidence) != string(w.Evidence) {
		t.Errorf("%v after going on, %v in one run", r.LowerBound, w.LowerBound)
	}
	plain := audited(t, cli.ExitOK, "canaries", "-epsilon", "4", "-n", "50", "-k", "4", "-sequential")
	wants(t, cli.ExitUsage, "the report is of the source gaussian-sum", "canaries", "-continue", plain, "-n", "60", "-exec", line)
}

// TestTrainedFails: a program that dies in the middle of an audit ends it, and says why; the
// trainings before are not lost.
func TestTrainedFails(t *testing.T) {
	count := filepath.Join(t.TempDir(), "trainings")
	args := strings.Fields("canaries -epsilon 4 -n 40 -k 4 -exec")
	dying := filepath.Join(t.TempDir(), "report.json")
	code, text, errs := dpscope(t, append(args, trainerLine(t, "1", "'"+count+"'", "33"), "-output", dying)...)
	if code != cli.ExitUsage || errs != "" || !strings.Contains(text, "it ended with exit code 7 before it answered") || !strings.Contains(text, "out of memory on the device") {
		t.Fatalf("%d: %s%s", code, text, errs)
	}
	if text := read(t, dying); !strings.Contains(text, `"verdict": "invalid"`) || !strings.Contains(text, `"samplesUsed": 15`) { // 33 trainings less 2, two a run
		t.Error("the report does not keep what was trained")
	}
	line := trainerLine(t, "1")
	more, whole := audited(t, cli.ExitOK, "canaries", "-continue", dying, "-exec", line, "-n", "40"), audited(t, cli.ExitOK, append(args, line)...)
	var r, w struct{ Evidence json.RawMessage }
	json.Unmarshal([]byte(read(t, more)), &r)
	json.Unmarshal([]byte(read(t, whole)), &w)
	if len(r.Evidence) == 0 || string(r.Evidence) != string(w.Evidence) {
		t.Error("what goes on after a program died is another audit")
	}
}

// TestTrainedStops: Ctrl-C ends a training that is under way, and keeps the bound so far.
func TestTrainedStops(t *testing.T) {
	count := filepath.Join(t.TempDir(), "trainings")
	self := must.Get(os.FindProcess(os.Getpid()))(t)
	go func() {
		for data := []byte{}; len(data) < 33; data, _ = os.ReadFile(count) {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		self.Signal(os.Interrupt)
	}()
	file := audited(t, cli.ExitInconclusive, "canaries", "-epsilon", "4", "-n", "40", "-k", "4", "-exec", trainerLine(t, "1", "'"+count+"'", "33", "hangs"), "-output", filepath.Join(t.TempDir(), "x.json"))
	must.Say(t, read(t, file), `"samplesUsed": 15`, `"reason": "stopped"`)
	wants(t, cli.ExitOK, "Replayed", "verify", "-exec", trainerLine(t, "1"), file)
}

// TestTrainedPlan: a file of audits names trainers; its report replays by the file, and the
// file is not divided.
func TestTrainedPlan(t *testing.T) {
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	own := map[string]any{"command": trainerLine(t, "0.3")}
	claim := map[string]any{"epsilon": 1, "delta": 1e-5}
	text, _ := json.Marshal(map[string]any{"version": 1, "audits": []any{
		map[string]any{"name": "many", "canaries": map[string]any{"source": "trainer", "trainer": own, "relation": "add-remove", "claim": claim, "runs": 60, "k": 8}},
		map[string]any{"name": "one", "canaries": map[string]any{"mode": "one-run", "source": "trainer", "trainer": own, "relation": "add-remove", "claim": claim, "k": 300}},
	}})
	must.Do(t, os.WriteFile(plan, text, 0o600))
	file := audited(t, cli.ExitViolation, "audit", "-plan", plan)
	if text := read(t, file); strings.Count(text, `"repeats": "same"`) != 2 || strings.Count(text, `"verdict": "violation"`) != 3 {
		t.Errorf("the report is %.300q", text)
	}
	wants(t, cli.ExitOK, "", "verify", "-plan", plan, file)
	wants(t, cli.ExitUsage, "-plan is missing", "verify", file)
	wants(t, cli.ExitUsage, "many", "audit", "-plan", plan, "-shards", "0/2", "-partial", filepath.Join(dir, "part"))
}

// TestTrainedUnseeded: a program whose randomness is its own is audited; the report says so,
// holds by its counts, and is not drawn again.
func TestTrainedUnseeded(t *testing.T) {
	line := trainerLine(t, "own0.3")
	for _, args := range []string{"canaries -epsilon 1 -n 60 -k 8", "canaries -epsilon 1 -n 60 -k 8 -fixed", "one-run -epsilon 1 -m 300"} {
		file := audited(t, cli.ExitViolation, append(strings.Fields(args), "-exec", line)...)
		must.Say(t, read(t, file), `"repeats": "other"`, "cannot be drawn again")
		for _, how := range [][]string{{file}, {"-exec", line, file}, {"-quick", file}} {
			wants(t, cli.ExitOK, "Recomputed", append([]string{"verify"}, how...)...)
		}
	}
	file := audited(t, cli.ExitViolation, "canaries", "-exec", line, "-epsilon", "1", "-n", "60", "-k", "8", "-exec-check=false")
	if text := read(t, file); strings.Contains(text, "repeats") || !strings.Contains(text, `"command"`) {
		t.Error("what was not asked twice is said to repeat")
	}
}

// TestTrainedFlags: flags that do not fit together.
func TestTrainedFlags(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"canaries -source dp-sgd -exec x -epsilon 1", "-source is given with -exec"},
		{"canaries -epsilon 1 -exec-check=false", "-exec-check is given, must be absent without -exec"},
		{"canaries -exec no-such-program-here -epsilon 1", "is not found"},
		{"canaries -exec true -epsilon 1 -n 20", "before its first answer"},
		{"canaries -exec true -epsilon 1 -exec-timeout 0s", "-exec-timeout is 0s"},
		{"canaries -exec true -epsilon 1 -d 10", `"d"`},
		{"canaries -source trainer -epsilon 1", "name it with -exec"},
		{"canaries -exec cat -epsilon 1 -n 20 -k 60000 -m 60000", "at most 65536 together"},
		{"one-run -exec cat -epsilon 1", `must be "seed", "scores" or "diverged"`},
		{"one-run -exec cat -epsilon 1 -relation replace", `relation is "replace"`},
	} {
		if code, out, errs := dpscope(t, strings.Fields(c.args)...); code != cli.ExitUsage || out != "" || !strings.Contains(errs, c.says) {
			t.Errorf("%s ended with %d: %s%s", c.args, code, out, errs)
		}
	}
	wants(t, cli.ExitUsage, "the report is of a source that dpscope has", "verify", "-exec", "true", audited(t, cli.ExitOK, "canaries", "-epsilon", "4", "-n", "50", "-k", "4"))
}

// TestTrainerParent: the program that started dpscope trains; the report replays so.
func TestTrainerParent(t *testing.T) {
	asked := func(args ...string) (int, string) {
		return asParent(func(requests io.Reader, answers io.WriteCloser) { trainFor([]string{"0.3"}, requests, answers) }, args...)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	if code, errs := asked("canaries", "-exec-parent", "-exec", "python3 -m dpscope mine:train", "-epsilon", "1", "-n", "60", "-k", "8", "-output", file); code != cli.ExitViolation || !strings.Contains(errs, "\rbet: run ") {
		t.Fatalf("%d: %s", code, errs)
	}
	if code, errs := asked("verify", "-exec-parent", "-exec", "python3 -m dpscope mine:train", file); code != cli.ExitOK || !strings.Contains(errs, "Replayed") {
		t.Errorf("%d: %s", code, errs)
	}
	if code, errs := asked("one-run", "-exec-parent", "-exec", "python3 -m dpscope mine:train", "-epsilon", "1", "-m", "300", "-output", file); code != cli.ExitViolation {
		t.Errorf("%d: %s", code, errs)
	}
}

// TestTrainerExample: the numpy example keeps its claim, and each of its faults is found,
// in shares too.
func TestTrainerExample(t *testing.T) {
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		t.Skip("NOT RUN: needs numpy at " + python)
	}
	script := must.Get(filepath.Abs("../../docs/examples/trainers/dp_sgd.py"))(t)
	t.Setenv("OPENBLAS_NUM_THREADS", "1") // the matrices are small
	line := python + " '" + script + "'"
	args := func(more ...string) []string {
		return append([]string{"canaries", "-epsilon", "2", "-delta", "1e-5", "-n", "128", "-k", "16", "-exec"}, more...)
	}
	audited(t, cli.ExitOK, args(line)...)
	broken := args(line+" --fault noise-batch", "-workers", "2")
	one := read(t, audited(t, cli.ExitViolation, broken...))
	testsize.Long(t)
	audited(t, cli.ExitViolation, args(line+" --fault no-clipping")...)
	merged := read(t, audited(t, cli.ExitViolation, "merge", sharesDrawn(t, 3, broken...)))
	if timing.ReplaceAllString(merged, "") != timing.ReplaceAllString(one, "") {
		t.Error("the merge gives another report than one machine")
	}
	audited(t, cli.ExitOK, "one-run", "-epsilon", "2", "-delta", "1e-5", "-m", "400", "-exec", line)
}
