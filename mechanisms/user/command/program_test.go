package command_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// The test binary is also the programs that the tests run: called with
// "program FORM", it answers requests in that form.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "program" {
		program(os.Args[2], bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout), os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

// line is the command line of a form.
func line(t testing.TB, form string, args ...string) string {
	t.Helper()
	exe := must.Get(os.Executable())(t)
	return strings.Join(append([]string{"'" + exe + "' program " + form}, args...), " ")
}

type question struct {
	Dataset [][]float64
	N       int
	Seed    uint64
}

// array is a list in JSON.
func array(n int, value func(i int) string) string {
	values := make([]string, n)
	for i := range values {
		values[i] = value(i)
	}
	return "[" + strings.Join(values, ", ") + "]"
}

// number is as Python writes it.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strings.Replace(fmt.Sprint(v), "+", "", 1) + "inity"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func program(form string, in *bufio.Reader, out *bufio.Writer, args []string) {
	state := stream.New(stream.Key{Seed: 5}) // as each start has it
	own := stream.New(stream.Key{Seed: uint64(os.Getpid())})
	if form == "child" {
		time.Sleep(time.Hour)
	}
	if form, ok := strings.CutPrefix(form, "frames-"); ok {
		framesProgram(form, in, out)
		return
	}
	if form, ok := strings.CutPrefix(form, "train-"); ok {
		trainProgram(form, in, out)
		return
	}
	for {
		text, err := in.ReadBytes('\n')
		if err != nil {
			if form == "deaf" {
				time.Sleep(time.Hour)
			}
			return
		}
		var q question
		if err := json.Unmarshal(text, &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(9)
		}
		count := float64(len(q.Dataset))
		laplace := func(s *stream.Stream, scale float64) string {
			noise := make([]float64, q.N)
			s.Laplace(noise, scale)
			return array(q.N, func(i int) string { return number(count + noise[i]) })
		}
		seeded := func(seed uint64) *stream.Stream { return stream.New(stream.Key{Seed: seed}) }
		rng := seeded(q.Seed)
		late := q.N > 201 // after the requests at the start
		switch form {
		case "correct", "deaf":
			fmt.Fprintf(out, "{\"outputs\": %s}\n", laplace(rng, 1))
		case "sum":
			for _, r := range q.Dataset {
				count += r[0] - 1
			}
			fmt.Fprintln(out, laplace(rng, 1))
		case "half":
			fmt.Fprintln(out, laplace(rng, 0.5))
		case "own": // unseeded
			fmt.Fprintln(out, laplace(own, 0.5))
		case "pid": // seeded, otherwise in each process
			fmt.Fprintln(out, laplace(seeded(q.Seed^uint64(os.Getpid())), 1))
		case "ignores":
			fmt.Fprintln(out, laplace(seeded(7), 1))
		case "start":
			fmt.Fprintln(out, laplace(state, 1))
		case "short": // takes little of the seed
			fmt.Fprintln(out, laplace(seeded(q.Seed%16), 1))
		case "again": // one output, n times
			v := laplace(rng, 1)
			v = v[1:strings.IndexByte(v, ',')]
			fmt.Fprintln(out, array(q.N, func(int) string { return v }))
		case "constant":
			fmt.Fprintln(out, array(q.N, func(int) string { return number(count) }))
		case "quoted":
			fmt.Fprintln(out, array(q.N, func(int) string { return strconv.Quote(number(rng.Float64())) }))
		case "rare":
			fmt.Fprintln(out, array(q.N, func(int) string {
				if rng.Float64() < 0.005 {
					return "1"
				}
				return "0"
			}))
		case "words":
			fmt.Fprintln(out, array(q.N, func(int) string {
				switch u := rng.Float64(); {
				case u < 0.1:
					return "null"
				case u < 0.2:
					return "true"
				case (u < 0.35) == (count > 0):
					return `"fe\u0077"`
				}
				return `"many"`
			}))
		case "mixed":
			fmt.Fprintln(out, array(q.N, func(int) string {
				if rng.Float64() < 0.1 {
					return fmt.Sprintf(`[1e3, "none", %d]`, int(count))
				}
				return fmt.Sprintf(`[%v, %v, %d]`, rng.Float64(), rng.Float64(), int(count))
			}))
		case "nan":
			fmt.Fprintln(out, array(q.N, func(i int) string {
				return []string{"1.5", "NaN", "Infinity", "-Infinity", "1e999", "-2"}[rng.Intn(6)]
			}))
		case "late-nan", "late-word", "late-long":
			odd := map[string]string{"late-nan": "NaN", "late-word": `"none"`, "late-long": "9007199254740993"}[form]
			fmt.Fprintln(out, array(q.N, func(i int) string {
				if late && i == 36 {
					return odd
				}
				return number(rng.Float64())
			}))
		case "long": // whole numbers beyond 2^53, odd and even
			fmt.Fprintln(out, array(q.N, func(i int) string { return fmt.Sprint(uint64(1<<53) + uint64(rng.Intn(20))) }))
		case "ragged":
			fmt.Fprintln(out, array(q.N, func(i int) string {
				if i == 7 {
					return "[1, 2]"
				}
				return "[1, 2, 3]"
			}))
		case "few":
			fmt.Fprintln(out, array(q.N-1, func(int) string { return "1" }))
		case "many":
			fmt.Fprintln(out, array(q.N+1, func(int) string { return "1" }))
		case "empty":
			fmt.Fprintln(out, array(q.N, func(int) string { return "[]" }))
		case "garbage":
			fmt.Fprintln(out, "Loading the model ...", strings.Repeat("x", 500))
		case "twice":
			fmt.Fprintf(out, "%s\n%[1]s\n", laplace(rng, 1))
		case "refuses":
			fmt.Fprintln(out, `{"error": "no model file"}`)
		case "key":
			fmt.Fprintln(out, `{"output": [1]}`)
		case "half-way":
			v := laplace(rng, 1)
			fmt.Fprint(out, v[:len(v)/2])
			out.Flush()
			fmt.Fprintln(os.Stderr, "Traceback (most recent call last):\n  \x1b[31mOut of luck\x1b[0m")
			os.Exit(3)
		case "dies":
			if late {
				os.Exit(4)
			}
			fmt.Fprintln(out, laplace(rng, 1))
		case "killed":
			p, _ := os.FindProcess(os.Getpid())
			p.Kill()
			time.Sleep(time.Minute)
		case "hangs":
			if late {
				time.Sleep(time.Hour)
			}
			fmt.Fprintln(out, laplace(rng, 1))
		case "family": // starts a process that does not end by itself, and tells its number
			child := exec.Command(os.Args[0], "program", "child")
			if err := child.Start(); err != nil {
				os.Exit(5)
			}
			f, _ := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			fmt.Fprintln(f, child.Process.Pid)
			fmt.Fprintln(f, os.Getpid())
			f.Close()
			if len(args) > 1 {
				time.Sleep(time.Hour)
			}
			fmt.Fprintln(out, laplace(rng, 1))
			form = "deaf"
		default:
			fmt.Fprintln(os.Stderr, "unknown form", form)
			os.Exit(8)
		}
		out.Flush()
	}
}
