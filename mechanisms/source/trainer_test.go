package source

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// asked is one training that a source asked for.
type asked struct {
	members []bool
	seed    uint64
}

// recording answers with the place of a canary as its score, and keeps what was asked.
func recording(all *[]asked, diverges func(i int) bool) Training {
	return func(members []bool, seed uint64, scores []float64, _ func() error) (bool, error) {
		*all = append(*all, asked{slices.Clone(members), seed})
		for i := range scores {
			scores[i] = float64(i)
		}
		return diverges != nil && diverges(len(*all)-1), nil
	}
}

func count(members []bool) (n int) {
	for _, m := range members {
		if m {
			n++
		}
	}
	return n
}

// TestTrainerRuns: a run asks for the trainings of its relation, all with K + M canaries,
// and reads scores of members as inside and of others as fresh.
func TestTrainerRuns(t *testing.T) {
	const k, m = 5, 3
	for relation, want := range map[audit.Relation][]int{audit.AddRemove: {k, k - 1}, audit.Replace: {k}} {
		var all []asked
		src := must.Get(TrainerSpec(recording(&all, nil)).New(Setup{Relation: relation, K: k, M: m}))(t)
		in, out := make([]float64, k), make([]float64, m)
		for run := range 200 {
			all = nil
			if diverged, err := src.Run(stream.New(stream.Key{Seed: 1, Shard: run}), in, out); diverged || err != nil {
				t.Fatal(diverged, err)
			}
			if len(all) != len(want) {
				t.Fatalf("%s: %d trainings", relation, len(all))
			}
			for i, a := range all {
				if len(a.members) != k+m || count(a.members) != want[i] || a.seed >= 1<<53 {
					t.Fatalf("%s: training %d has %d of %d members, seed %d", relation, i, count(a.members), len(a.members), a.seed)
				}
			}
			seen := map[float64]bool{}
			for _, at := range in {
				if seen[at] || !all[0].members[int(at)] {
					t.Fatalf("%s: %v is read as inside of %v", relation, in, all[0].members)
				}
				seen[at] = true
			}
			seen = map[float64]bool{}
			for _, at := range out {
				if seen[at] || all[len(all)-1].members[int(at)] {
					t.Fatalf("%s: %v is read as fresh of %v", relation, out, all[len(all)-1].members)
				}
				seen[at] = true
			}
			if len(all) == 2 && all[0].seed == all[1].seed {
				t.Fatal("two trainings have one seed")
			}
		}
	}
}

// TestTrainerLaw: K - 1 members with a fresh canary have the law of K members, as ordered
// places: every ordered pair of places is as likely on both sides.
func TestTrainerLaw(t *testing.T) {
	const k, m, runs = 2, 2, 60_000
	var all []asked
	src, _ := TrainerSpec(recording(&all, nil)).New(Setup{Relation: audit.AddRemove, K: k, M: m})
	var inside, fresh [k + m][k + m]float64
	in, out := make([]float64, k), make([]float64, m)
	for run := range runs {
		all = all[:0]
		must.Get(src.Run(stream.New(stream.Key{Seed: 3, Shard: run}), in, out))(t)
		inside[int(in[0])][int(in[1])]++
		fresh[slices.Index(all[1].members, true)][int(out[1])]++
	}
	want := float64(runs) / ((k + m) * (k + m - 1))
	for _, side := range [][k + m][k + m]float64{inside, fresh} {
		chi := 0.0
		for i := range side {
			for j, n := range side[i] {
				if i == j {
					if n != 0 {
						t.Fatal("a place came twice")
					}
					continue
				}
				chi += (n - want) * (n - want) / want
			}
		}
		if chi > 31.3 { // 11 degrees of freedom: exceeded with probability 1e-3; the seed is fixed
			t.Errorf("places are not drawn evenly: chi-square %v of %v", chi, side)
		}
	}
}

// TestTrainerDiverges: a side whose model is no use has the worst scores, and the other
// side keeps its own.
func TestTrainerDiverges(t *testing.T) {
	worst := func(side []float64) bool {
		return !slices.ContainsFunc(side, func(v float64) bool { return v != -math.MaxFloat64 })
	}
	for bad := range 2 {
		var all []asked
		src, _ := TrainerSpec(recording(&all, func(i int) bool { return i == bad })).New(Setup{Relation: audit.AddRemove, K: 3, M: 2})
		in, out := make([]float64, 3), make([]float64, 2)
		diverged, err := src.Run(stream.New(stream.Key{Seed: 1}), in, out)
		if err != nil || !diverged || worst(in) != (bad == 0) || worst(out) != (bad == 1) {
			t.Errorf("training %d diverged: %v %v %v %v", bad, diverged, err, in, out)
		}
	}
	var all []asked
	src, _ := TrainerSpec(recording(&all, func(int) bool { return true })).New(Setup{})
	scores, member := make([]float64, 40), make([]bool, 40)
	if diverged, err := src.(OneRunSource).OneRun(stream.New(stream.Key{Seed: 1}), scores, member); err != nil || !diverged || !worst(scores) {
		t.Errorf("one run: %v %v %v", diverged, err, scores)
	}
	if n := count(member); n < 8 || n > 32 || !slices.Equal(member, all[0].members) {
		t.Errorf("%d of 40 coins show heads, the program was told %v", n, all[0].members)
	}
}

// TestFirstTraining: what is asked first is what a run asks first.
func TestFirstTraining(t *testing.T) {
	var all []asked
	draw := func(s Spec) error {
		src, err := s.New(Setup{Relation: audit.AddRemove, K: 4, M: 4})
		if err == nil {
			_, err = src.Run(stream.New(stream.Key{Seed: 9}), make([]float64, 4), make([]float64, 4))
		}
		return err
	}
	must.Do(t, draw(TrainerSpec(recording(&all, nil))))
	members, seed, err := FirstTraining(draw)
	if err != nil || !slices.Equal(members, all[0].members) || seed != all[0].seed {
		t.Errorf("%v %d %v, a run asks %v", members, seed, err, all[0])
	}
	bad := errors.New("no memory")
	if _, _, err := FirstTraining(func(Spec) error { return bad }); err != bad {
		t.Errorf("%v, must be %v", err, bad)
	}
}
