package command_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

type training struct {
	Members []int
	Seed    uint64
}

// trainProgram answers requests for trainings: the score of a canary is its membership
// with noise.
func trainProgram(form string, in *bufio.Reader, out *bufio.Writer) {
	state := stream.New(stream.Key{Seed: 5}) // as each start has it
	own := stream.New(stream.Key{Seed: uint64(os.Getpid())})
	if form == "chatty" {
		fmt.Fprintln(out, "epoch 1, loss 0.3")
	}
	for round := 0; ; round++ {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q training
		if err := json.Unmarshal(text, &q); err != nil {
			os.Exit(9)
		}
		rng, seed, rest, more := stream.New(stream.Key{Seed: q.Seed}), q.Seed, "", ""
		n := len(q.Members)
		switch form {
		case "own":
			rng = own
		case "start":
			rng = state
		case "ignores":
			rng = stream.New(stream.Key{Seed: 7})
		case "other-seed":
			seed++
		case "few":
			n--
		case "many":
			n++
		case "dies":
			if round > 0 {
				fmt.Fprintln(os.Stderr, "out of memory on the device")
				os.Exit(4)
			}
		case "hangs":
			if round > 0 {
				time.Sleep(time.Hour)
			}
		case "key":
			rest = `, "loss": 0.25`
		case "twice":
			more = fmt.Sprintf("{\"seed\": %d, \"scores\": []}\n", seed)
		case "seed-twice":
			rest = fmt.Sprintf(`, "seed": %d`, seed)
		}
		if whole, ok := map[string]string{
			"refuses":  `{"error": "no data"}`,
			"diverges": fmt.Sprintf(`{"diverged": true, "seed": %d}`, seed),
			"no-seed":  `{"scores": [1, 2, 3, 4]}`,
			"array":    `[1, 2, 3, 4]`,
		}[form]; ok {
			fmt.Fprintln(out, whole)
			out.Flush()
			continue
		}
		noise := make([]float64, n)
		rng.Gaussian(noise, 1)
		scores := array(n, func(i int) string {
			switch {
			case form == "coarse":
				return fmt.Sprint(q.Members[i])
			case form == "word" && i == 2:
				return `"high"`
			case form == "truth" && i == 2:
				return "true"
			case form == "odd" && i < 4:
				return []string{"NaN", "-Infinity", "null", "1e999"}[i]
			case i >= len(q.Members):
				return "0"
			}
			return number(float64(q.Members[i]) + noise[i])
		})
		fmt.Fprintf(out, "{\"seed\": %d, \"scores\": %s%s}\n%s", seed, scores, rest, more)
		out.Flush()
	}
}

// openTrainer runs a form of the test's program until the test ends.
func openTrainer(t testing.TB, form string, timeout time.Duration) *command.Trainer {
	t.Helper()
	p := must.Get(command.OpenTrainer(t.Context(), line(t, "train-"+form), timeout, nil))(t)
	t.Cleanup(p.Close)
	return p
}

// some are members of a training.
func some(n int) []bool {
	members := make([]bool, n)
	for i := range members {
		members[i] = i%3 == 0
	}
	return members
}

func TestTrainer(t *testing.T) {
	p := openTrainer(t, "correct", 0)
	members, scores := some(9), make([]float64, 9)
	if diverged, err := p.Train(members, 12, scores, nil); diverged || err != nil {
		t.Fatal(diverged, err)
	}
	want := make([]float64, 9)
	stream.New(stream.Key{Seed: 12}).Gaussian(want, 1)
	for i, m := range members {
		if m {
			want[i]++
		}
	}
	if !slices.Equal(scores, want) {
		t.Errorf("%v, must be %v", scores, want)
	}
	// Several at once, each with a process of its own, answer as one does.
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			got := make([]float64, 9)
			if _, err := p.Train(members, uint64(100+i), got, nil); err != nil {
				t.Error(err)
			}
			own := make([]float64, 9)
			stream.New(stream.Key{Seed: uint64(100 + i)}).Gaussian(own, 1)
			if got[1] != own[1] {
				t.Errorf("seed %d: %v, must be %v", 100+i, got[1], own[1])
			}
		})
	}
	wg.Wait()
	odd := make([]float64, 9)
	if diverged, err := openTrainer(t, "odd", 0).Train(members, 1, odd, nil); diverged || err != nil || !math.IsNaN(odd[0]) || !math.IsNaN(odd[1]) || !math.IsNaN(odd[2]) || !math.IsNaN(odd[3]) || odd[4] != odd[4] {
		t.Errorf("scores that are not finite: %v %v %v", odd, diverged, err)
	}
	if diverged, err := openTrainer(t, "diverges", 0).Train(members, 1, odd, nil); !diverged || err != nil {
		t.Errorf("a training that diverged: %v %v", diverged, err)
	}
}

func TestTrainerFaults(t *testing.T) {
	for _, c := range []struct{ form, says string }{
		{"other-seed", "its answer is for the seed 13, must be for the request's, 12; return the request's seed unchanged"},
		{"few", "its answer is of 3 scores, must be the 4 of the request's canaries, members or not"},
		{"many", "its answer is of more than 4 scores, must be the 4"},
		{"word", `score 3 of 4 in its answer is "high", must be a number`},
		{"truth", `score 3 of 4 in its answer is "true", must be a number`},
		{"chatty", `what it printed is "epoch 1, loss 0.3", must be an answer: {"seed": ..., "scores": [...]}; write everything else to standard error`},
		{"array", `must be an answer: {"seed": ..., "scores": [...]}`},
		{"key", `must be "seed", "scores" or "diverged"`},
		{"seed-twice", "must be each key once"},
		{"no-seed", `must be the key "seed"`},
		{"refuses", "it refuses the request: no data"},
		{"twice", "it printed more than one line as its answer"},
		{"dies", "it ended with exit code 4 before it answered"},
		{"dies", "the end of its standard error:\n    out of memory on the device"},
		{"hangs", "the answer to a training with 4 canaries is not there after 2s, must be there by then; -exec-timeout allows more"},
	} {
		t.Run(c.form, func(t *testing.T) {
			t.Parallel()
			p := openTrainer(t, c.form, 2*time.Second)
			var err error
			for i := 0; i < 2 && err == nil; i++ {
				_, err = p.Train(some(4), 12, make([]float64, 4), nil)
			}
			must.Refuse(t, err, c.says)
		})
	}
	must.Input(t, must.Err(command.OpenTrainer(t.Context(), "no-such-program-here x", 0, nil)), "is not found", "a program that is not there")
}

// TestTrainerCheck: one request asked twice shows whether trainings can be drawn again; the
// same scores for another seed are refused; the first answer is asked for once.
func TestTrainerCheck(t *testing.T) {
	for form, same := range map[string]bool{"correct": true, "own": false, "coarse": true, "diverges": true} {
		p := openTrainer(t, form, 0)
		told := 0
		got, err := p.Check(some(12), 12, func(training, of int) {
			if told++; training != told || of != 3 {
				t.Errorf("%s: training %d of %d is told after %d", form, training, of, told-1)
			}
		})
		if err != nil || got != same || told != 3 {
			t.Errorf("%s: same %v, %d trainings, %v", form, got, told, err)
		}
	}
	for _, form := range []string{"ignores", "start"} {
		for _, n := range []int{2, 12} {
			must.Refuse(t, must.Err(openTrainer(t, form, 0).Check(some(n), 12, nil)), fmt.Sprintf("its answer is the same %d scores for the seeds 12 and ", n), form, n)
		}
	}
	// Seeds that give the same scores later are seen, too.
	p := openTrainer(t, "ignores", 0)
	scores := make([]float64, 12)
	must.Get(p.Train(some(12), 1, scores, nil))(t)
	must.Refuse(t, must.Err(p.Train(some(12), 2, scores, nil)), "the same 12 scores for the seeds 1 and 2")
	// Of other members, or from another seed, the training is another.
	o := openTrainer(t, "correct", 0)
	must.Get(o.Check(some(12), 12, nil))(t)
	for _, seed := range []uint64{12, 13} {
		members, got, want := make([]bool, 12), make([]float64, 12), make([]float64, 12)
		if seed == 13 {
			members = some(12)
		}
		must.Get(o.Train(members, seed, got, nil))(t)
		stream.New(stream.Key{Seed: seed}).Gaussian(want, 1)
		if got[1] != want[1] || (got[0] == want[0]+1) != members[0] {
			t.Errorf("seed %d with the members %v: %v, the noise is %v", seed, members, got, want)
		}
	}
	// What was asked for the check is not asked again: a program that gives another answer
	// each time gives that one.
	q := openTrainer(t, "own", 0)
	must.Get(q.Check(some(12), 12, nil))(t)
	a, b, c := make([]float64, 12), make([]float64, 12), make([]float64, 12)
	for _, s := range [][]float64{a, b, c} {
		must.Get(q.Train(some(12), 12, s, nil))(t)
	}
	if slices.Equal(a, b) || slices.Equal(b, c) {
		t.Error("an answer is given twice")
	}
}

// TestTrainerStops: a caller that wants no answer any more, and a context that ends, end a
// training and its process.
func TestTrainerStops(t *testing.T) {
	enough := errors.New("refuted already")
	p := openTrainer(t, "hangs", 0)
	scores := make([]float64, 4)
	must.Get(p.Train(some(4), 1, scores, nil))(t)
	if _, err := p.Train(some(4), 2, scores, func() error { return enough }); err != enough {
		t.Errorf("%v, must be %v", err, enough)
	}
	// The next one has another process.
	must.Get(p.Train(some(4), 3, scores, nil))(t)
	ctx, cancel := context.WithCancel(t.Context())
	q := must.Get(command.OpenTrainer(ctx, line(t, "train-hangs"), 0, nil))(t)
	defer q.Close()
	must.Get(q.Train(some(4), 1, scores, nil))(t)
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := q.Train(some(4), 2, scores, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that is stopped answers %v", err)
	}
}

// TestTrainerParent: the program that started this one trains, a line a request.
func TestTrainerParent(t *testing.T) {
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	asked := 0
	go func() {
		r := bufio.NewReader(requests)
		for {
			text, err := r.ReadBytes('\n')
			if err != nil {
				answers.Close()
				return
			}
			var q training
			json.Unmarshal(text, &q)
			asked++
			noise := make([]float64, len(q.Members))
			stream.New(stream.Key{Seed: q.Seed}).Gaussian(noise, 1)
			fmt.Fprintf(answers, "{\"seed\": %d, \"scores\": %s}\n", q.Seed, array(len(noise), func(i int) string { return number(noise[i]) }))
		}
	}()
	p := must.Get(command.OpenTrainer(t.Context(), "mine:train", 0, &command.Parent{Requests: in, Answers: out}))(t)
	if same, err := p.Check(some(12), 12, nil); !same || err != nil || asked != 3 {
		t.Errorf("%v %v after %d requests", same, err, asked)
	}
	scores := make([]float64, 12)
	if _, err := p.Train(some(12), 12, scores, nil); err != nil || asked != 3 {
		t.Errorf("%v after %d requests", err, asked)
	}
	p.Close()
	must.Refuse(t, must.Err(p.Train(some(12), 14, scores, nil)), "", "a closed parent answers")
}
