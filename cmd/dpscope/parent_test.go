package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
)

// answering answers requests in frames with Laplace noise of that scale on the number of
// rows, until they end, and returns how many outputs it gave.
func answering(t *testing.T, requests io.Reader, answers io.WriteCloser, scale float64) (outputs int) {
	defer answers.Close()
	for {
		var head [8]byte
		if _, err := io.ReadFull(requests, head[:]); err != nil {
			return outputs
		}
		body := make([]byte, binary.LittleEndian.Uint32(head[4:]))
		if _, err := io.ReadFull(requests, body); err != nil || string(head[:4]) != "RQST" {
			t.Errorf("a request is %q (%v)", head, err)
			return outputs
		}
		n, rows := binary.LittleEndian.Uint32(body[8:]), binary.LittleEndian.Uint32(body[12:])
		noise := make([]float64, n)
		stream.New(stream.Key{Seed: binary.LittleEndian.Uint64(body)}).Laplace(noise, scale)
		b := append([]byte("F64 "), binary.LittleEndian.AppendUint32(nil, 8+8*n)...)
		b = binary.LittleEndian.AppendUint32(b, n)
		b = binary.LittleEndian.AppendUint32(b, 1)
		for _, v := range noise {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(rows)+v))
		}
		if _, err := answers.Write(b); err != nil {
			return outputs
		}
		outputs += int(n)
	}
}

// asParent runs a command whose requests a function here answers.
func asParent(answer func(requests io.Reader, answers io.WriteCloser), args ...string) (code int, stderr string) {
	requests, out := io.Pipe()
	in, answers := io.Pipe()
	var messages bytes.Buffer
	done := make(chan int)
	go func() {
		code := run(args, in, out, &messages)
		out.Close()
		done <- code
	}()
	answer(requests, answers)
	return <-done, messages.String()
}

// The program that starts dpscope answers over its streams; the report is in a file, and
// replays the same way, or from its counts without anything.
func TestExecParent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	outputs := 0
	asked := func(scale float64, args ...string) (int, string) {
		return asParent(func(requests io.Reader, answers io.WriteCloser) { outputs = answering(t, requests, answers, scale) }, args...)
	}
	code, stderr := asked(0.5, "audit", "-exec-parent", "-exec", "python3 -m dpscope mine:half", "-epsilon", "1", "-samples", "5000", "-trials", "3", "-output", file)
	if code != cli.ExitViolation || outputs < 10_000 || !strings.Contains(stderr, "\r") {
		t.Fatalf("exit code %d after %d outputs: %s", code, outputs, stderr)
	}
	data := must.Get(os.ReadFile(file))(t)
	var r map[string]any
	must.Do(t, json.Unmarshal(data, &r))
	if name := r["inputs"].(map[string]any)["brought"].(map[string]any)["name"]; name != "python3 -m dpscope mine:half" {
		t.Error(name)
	}
	if code, stderr := asked(0.5, "verify", "-exec-parent", "-exec", "python3 -m dpscope mine:half", file); code != cli.ExitOK || !strings.Contains(stderr, "Replayed") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, stderr := asked(1, "verify", "-exec-parent", "-exec", "python3 -m dpscope mine:half", file); code != cli.ExitViolation {
		t.Errorf("another mechanism: exit code %d: %s", code, stderr)
	}
	wants(t, cli.ExitOK, "Recomputed", "verify", "-quick", file)
	bound, _ := json.Marshal(r["lowerBound"])
	must.Do(t, os.WriteFile(file, bytes.Replace(data, append([]byte(`"lowerBound": `), bound...), []byte(`"lowerBound": 1.999999`), 1), 0o644))
	wants(t, cli.ExitViolation, "", "verify", "-quick", file)
	for _, args := range [][]string{{"audit", "-exec-parent", "-mechanism", "svt4"}, {"audit", "-exec-parent", "-wasm", "x.wasm", "-epsilon", "1"}} {
		wants(t, cli.ExitUsage, "exec-parent", args...)
	}
}
