package source

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// TrainerName is the source whose trainings a program of the user's does.
const TrainerName = "trainer"

// Own is the design of canaries that the user's program makes.
const Own Design = "own"

// Trainer is a user's program that trains, as plans and reports name it. Nothing that only
// they name is run.
type Trainer struct {
	Command string `json:"command"` // the command line
	// Repeats says what a request gave when it was asked twice; empty where none was.
	Repeats Repeats `json:"repeats,omitempty"`
}

// Repeats says whether the same request gives the same scores.
type Repeats string

const (
	SameScores  Repeats = "same"
	OtherScores Repeats = "other" // so that trainings cannot be drawn again
)

// Words name the trainer in facts.
func (t Trainer) Words() string {
	return t.Command + map[Repeats]string{SameScores: "; one training asked for twice gave the same scores", OtherScores: "; one training asked for twice gave different scores",
		"": "; no training was asked for twice"}[t.Repeats]
}

// Limitations stand in reports of trainings by a program.
func (t Trainer) Limitations() []string {
	l := []string{"The program ran outside dpscope. The bounds assume that it trained on the members and on no other canary, and that canaries and scores depend on the members only through the model; dpscope cannot check either.",
		"The report names the command; the code behind it, its libraries and its settings are not part of the report."}
	if t.Repeats == OtherScores {
		l = append(l, "The counts cannot be drawn again from the seed: the same request gave different scores. A replay checks that everything else follows from them.")
	}
	return l
}

// Check refuses what no program is.
func (t Trainer) Check() error {
	if t.Command == "" {
		return audit.At("/trainer/command", audit.Fault("trainer.command", `""`, "the command line of a program that trains (docs/training.md)"))
	}
	if known := []Repeats{"", SameScores, OtherScores}; !slices.Contains(known, t.Repeats) {
		return audit.At("/trainer/repeats", audit.Fault("trainer.repeats", fmt.Sprintf("%q", t.Repeats), fmt.Sprintf("%q, %q or absent", SameScores, OtherScores)))
	}
	return nil
}

// Training trains on the canaries that are members and fills in the score of every canary,
// the larger the likelier a member; one that is not finite is none. All follows from the
// seed, and the canaries not from members. diverged: the model is no use. check, which may
// be nil, is asked whether to go on.
type Training func(members []bool, seed uint64, scores []float64, check func() error) (diverged bool, err error)

// TrainerSpec is the source of trainings that train does; nil: it is only named, and draws
// nothing. It may be used from several goroutines if train may be.
//
// The auditor says who is a member: a run plants K of K + M canaries, whose places are drawn
// anew, and under add-remove, in a second training, K - 1. So K members, and K - 1 members
// with one more that is none, have the same law of places: what the recipe asks for, where
// canaries and scores know of the members by the output alone.
func TrainerSpec(train Training) Spec {
	s := Spec{
		Name: TrainerName, Title: "trainings by a user's program", Score: "program's own, of a canary and the model",
		Relations: []audit.Relation{audit.AddRemove, audit.Replace}, Designs: []Design{Own},
		ShardRuns: 1, Runs: 128, OneRunDesigns: []Design{Own},
		Check: func(s *Setup) error {
			if s.K+s.M > MaxCanaries {
				return audit.Fault("k", fmt.Sprintf("%d with m = %d", s.K, s.M), fmt.Sprintf("at most %d together, which are scored in each training", MaxCanaries))
			}
			return nil
		},
		Facts: func(s Setup) []audit.FactRow {
			return []audit.FactRow{{Name: "Program", Value: s.Trainer.Words()}}
		},
	}
	if train != nil {
		s.New = func(s Setup) (Source, error) {
			return &trainer{train: train, relation: s.Relation, check: s.Interrupt}, nil
		}
	}
	return s
}

var errAsked = errors.New("this training is only asked for")

// FirstTraining is the first request of a source; draw begins to draw a run of it.
func FirstTraining(draw func(Spec) error) (members []bool, seed uint64, err error) {
	err = draw(TrainerSpec(func(m []bool, s uint64, _ []float64, _ func() error) (bool, error) {
		members, seed = slices.Clone(m), s
		return false, errAsked
	}))
	if errors.Is(err, errAsked) {
		err = nil
	}
	return members, seed, err
}

// Undrawn is the error of an audit whose training program is only named.
func (t *Trainer) Undrawn() error {
	return audit.Fault("-exec", audit.Absent, fmt.Sprintf("the program again, if you trust it: this report or plan names %q", t.Command),
		"nothing runs that only a plan or a report names; dpscope verify -quick checks what follows from the counts without it")
}

// DrawnAgain reports whether trainings of a plan can be drawn again; t may be nil.
func (t *Trainer) DrawnAgain() bool { return t == nil || t.Repeats != OtherScores }

// Taken says why something is not compared with trainings that are drawn again; otherwise
// is why where they could be.
func (t *Trainer) Taken(otherwise string) string {
	if !t.DrawnAgain() {
		otherwise = "trainings cannot be drawn again, because the same request gave different scores"
	}
	return "taken from the report; " + otherwise
}

type trainer struct {
	train    Training
	relation audit.Relation
	check    func() error

	order   []int // places, members first
	members []bool
	scores  []float64
}

func (t *trainer) Run(st *stream.Stream, in, out []float64) (bool, error) {
	k := len(in)
	if t.relation == audit.Replace {
		diverged, err := t.once(st, k, k+len(out))
		t.read(in, 0)
		t.read(out, k)
		return diverged, err
	}
	first, err := t.once(st, k, k+len(out))
	if err != nil {
		return false, err
	}
	t.read(in, 0)
	second, err := t.once(st, k-1, k+len(out))
	t.read(out, k-1) // one more was none
	return first || second, err
}

// once trains on members of n canaries in random places.
func (t *trainer) once(st *stream.Stream, members, n int) (diverged bool, err error) {
	t.order = audit.Listed(n, func(i int) int { return i })
	t.members, t.scores = make([]bool, n), make([]float64, n)
	for i := range t.order {
		at := i + st.Intn(n-i)
		t.order[i], t.order[at] = t.order[at], t.order[i]
		t.members[t.order[i]] = i < members
	}
	return t.ask(st)
}

// ask trains. A model that is no use has the worst scores.
func (t *trainer) ask(st *stream.Stream) (diverged bool, err error) {
	if diverged, err = t.train(t.members, st.Uint64()>>11, t.scores, t.check); diverged {
		for i := range t.scores {
			t.scores[i] = -math.MaxFloat64
		}
	}
	return diverged, err
}

// read reads scores in the order of the draw, from the place first on.
func (t *trainer) read(side []float64, first int) {
	for i := range side {
		side[i] = t.scores[t.order[first+i]]
	}
}

func (t *trainer) OneRun(st *stream.Stream, scores []float64, member []bool) (bool, error) {
	flip(st, member)
	t.members, t.scores = member, scores
	return t.ask(st)
}
