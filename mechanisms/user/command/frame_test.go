package command_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

// framesProgram offers frames in its first answer and goes on in them.
func framesProgram(form string, in *bufio.Reader, out *bufio.Writer) {
	if os.Getenv(command.FramesVariable) != "1" {
		os.Exit(6)
	}
	for round := 0; ; round++ {
		var q question
		if round == 0 {
			text, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			json.Unmarshal(text, &q)
		} else {
			var head [8]byte
			if _, err := io.ReadFull(in, head[:]); err != nil {
				return
			}
			body := make([]byte, binary.LittleEndian.Uint32(head[4:]))
			io.ReadFull(in, body)
			if string(head[:4]) != "RQST" || len(body) < 24 {
				os.Exit(7)
			}
			q.Seed, q.N = binary.LittleEndian.Uint64(body), int(binary.LittleEndian.Uint32(body[8:]))
			rows, columns := int(binary.LittleEndian.Uint32(body[12:])), int(binary.LittleEndian.Uint32(body[16:]))
			if columns != 1 || len(body) != 24+8*rows*columns {
				os.Exit(7)
			}
			for i := range rows {
				q.Dataset = append(q.Dataset, []float64{math.Float64frombits(binary.LittleEndian.Uint64(body[24+8*i:]))})
			}
		}
		sum := 0.0
		for _, r := range q.Dataset {
			sum += r[0]
		}
		values := make([]float64, q.N)
		stream.New(stream.Key{Seed: q.Seed}).Laplace(values, 1)
		for i := range values {
			values[i] += sum
		}
		late := q.N > 201
		kind, columns := "F64 ", 1
		bits := func(v float64) uint64 { return math.Float64bits(v) }
		switch form {
		case "ints":
			kind = "I64 "
			bits = func(v float64) uint64 { return uint64(int64(math.Floor(v))) }
			for i := range values {
				values[i] = math.Floor(values[i])
			}
		case "long":
			kind = "I64 "
			bits = func(float64) uint64 { return 1<<53 + 1 }
		case "least":
			kind = "I64 "
			bits = func(float64) uint64 { return ^uint64(1 << 53) } // -(2^53 + 1)
		case "nan":
			if late {
				values[36] = math.NaN()
			}
		case "few":
			values = values[:len(values)-1]
		}
		if round == 0 {
			fmt.Fprintf(out, "{\"outputs\": %s, \"frames\": %s}\n", array(len(values), func(i int) string { return number(values[i]) }), map[bool]string{true: "2", false: "1"}[form == "version"])
			out.Flush()
			continue
		}
		var body []byte
		switch form {
		case "json":
			kind, body = "JSON", []byte(array(len(values), func(i int) string { return number(values[i]) }))
		case "fail":
			kind, body = "FAIL", []byte("no model file")
		default:
			body = binary.LittleEndian.AppendUint32(body, uint32(len(values)))
			body = binary.LittleEndian.AppendUint32(body, uint32(columns))
			for _, v := range values {
				body = binary.LittleEndian.AppendUint64(body, bits(v))
			}
		}
		size := uint32(len(body))
		switch form {
		case "print":
			fmt.Fprintln(out, "Loading the model")
		case "huge":
			size = 1 << 31
		case "odd":
			body, size = body[:len(body)-3], size-3
		case "none":
			body, size = body[:3], 3
		case "wide":
			binary.LittleEndian.PutUint32(body[4:], 1<<20)
		case "more":
			if late {
				body, size = append(body, make([]byte, 8)...), size+8
			}
		}
		out.WriteString(kind)
		binary.Write(out, binary.LittleEndian, size)
		if form == "cut" {
			out.Write(body[:100])
			out.Flush()
			return
		}
		out.Write(body)
		if form == "twice" {
			out.WriteString("more")
		}
		out.Flush()
	}
}

// The same numbers come as frames, as JSON in frames, and as lines.
func TestFrames(t *testing.T) {
	plain := mustOpen(t, "sum")
	want := must.Get(sample(plain, audit.Records(1, 0, 1), 3, 5000))(t)
	for _, form := range []string{"frames-floats", "frames-json"} {
		p := mustOpen(t, form)
		got, err := sample(p, audit.Records(1, 0, 1), 3, 5000)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: other outputs than lines (%v)", form, err)
		}
		if p.UserMechanism().Unseeded != "" {
			t.Errorf("%s: %s", form, p.UserMechanism().Unseeded)
		}
	}
	ints := must.Get(sample(mustOpen(t, "frames-ints"), audit.Records(1, 0, 1), 3, 5000))(t)
	for i, v := range ints {
		if v != math.Floor(want[i]) {
			t.Fatalf("output %d is %v, of %v", i, v, want[i])
		}
	}
}

func TestFramesRefused(t *testing.T) {
	for form, want := range map[string]string{
		"print":   "what it wrote is",
		"huge":    "at most 64 MiB",
		"odd":     "bytes of numbers for 201 outputs of 1 columns",
		"none":    "at least 8",
		"wide":    "of 1048576 columns",
		"few":     "of 199 outputs",
		"twice":   "more than one frame",
		"cut":     "in the middle of its answer, after 100 bytes",
		"version": "frames of version 1",
		"long":    "9007199254740993",
		"least":   "-9007199254740993",
		"more":    "32776 bytes of numbers for 4096 outputs of 1 columns",
	} {
		p, err := open(t, "frames-"+form)
		if err == nil {
			_, err = sample(p, audit.Records(1, 0), 1, 4096)
		}
		var e *command.Error
		if err == nil || !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, must say %q", form, err, want)
		}
	}
}

// parent is a form that runs already.
func parent(form string) *command.Parent {
	requests, theirs := io.Pipe()
	answers, mine := io.Pipe()
	go func() {
		program(form, bufio.NewReader(requests), bufio.NewWriter(mine), nil)
		mine.Close()
	}()
	return &command.Parent{Requests: theirs, Answers: answers}
}

// After a fault of a parent nobody waits for it any more: all that ask are told the fault.
func TestParentFault(t *testing.T) {
	p := mustOpen(t, "late-long", func(o *command.Options) { o.Parent = parent("late-long") })
	done := make(chan error)
	for range 4 {
		go func() {
			_, err := sample(p, audit.Records(1, 0), 2, 4096)
			done <- err
		}()
	}
	for range 4 {
		must.Refuse(t, <-done, `c1 is "9007199254740993"`)
	}
}

// A program that runs already answers over the streams that it gave, and its requests
// wait for each other.
func TestParent(t *testing.T) {
	p := mustOpen(t, "half", func(o *command.Options) {
		o.Command, o.Parent = "python3 -m dpscope mine:half", parent("half")
	})
	if got := p.UserMechanism().Name; got != "python3 -m dpscope mine:half" {
		t.Error(got)
	}
	want := must.Get(sample(mustOpen(t, "half"), audit.Records(1, 0), 2, 9000))(t)
	done := make(chan bool)
	for range 3 {
		go func() {
			got, err := sample(p, audit.Records(1, 0), 2, 9000)
			done <- err == nil && slices.Equal(got, want)
		}()
	}
	for range 3 {
		if !<-done {
			t.Error("other outputs than those of a program that was started")
		}
	}
	p.Close()
	must.Refuse(t, must.Err(sample(p, audit.Records(1, 0), 2, 10)), "", "a closed parent answers")
}

// What is no number, and a run that failed, are outcomes, in frames and in lines.
func TestOutcomes(t *testing.T) {
	for form, want := range map[string]audit.Outcome{"frames-nan": audit.NaNOutcome, "late-nan": audit.NaNOutcome, "late-word": audit.WordOutcome, "frames-fail": audit.ErrorOutcome} {
		p, err := open(t, form)
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		out, err := sample(p, audit.Records(1, 0), 1, 4096)
		if err != nil || !slices.Contains(out, float64(want)) {
			t.Errorf("%s: no %v among the outputs: %v", form, want, err)
		}
		if (p.Failure() != "") != (want == audit.ErrorOutcome) {
			t.Errorf("%s: failure %q", form, p.Failure())
		}
	}
}
