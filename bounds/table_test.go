package bounds

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// Every sum of the table against a walk over its pairs.
func TestTableAgainstPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	for range 20 {
		bins := 1 + r.IntN(6)
		table := NewTable(bins)
		first, second := make([]int, bins), make([]int, bins)
		in := make([]bool, bins)
		for i := range in {
			in[i] = r.IntN(2) == 0
		}
		var want Counts
		for range 50 {
			a, b := r.IntN(bins), r.IntN(bins)
			table.N[a*bins+b]++
			first[a]++
			second[b]++
			want.N1++
			want.N0++
			if in[a] {
				want.X++
			}
			if in[b] {
				want.Y++
			}
		}
		if got := table.Event(in); got != want {
			t.Errorf("event %+v, want %+v", got, want)
		}
		if !reflect.DeepEqual(table.First(), first) || !reflect.DeepEqual(table.Second(), second) || table.Pairs() != 50 {
			t.Errorf("marginals %v %v of %d, want %v %v of 50", table.First(), table.Second(), table.Pairs(), first, second)
		}
		if swapped := table.Swap(); swapped.Event(in) != (Counts{want.Y, want.N0, want.X, want.N1}) || !reflect.DeepEqual(swapped.Swap(), table) {
			t.Errorf("swapped %v of %v", swapped, table)
		}
		twice := table.Add(table)
		if twice.Pairs() != 100 || twice.Event(in) != want.Add(want) || table.Pairs() != 50 {
			t.Errorf("twice the table: %+v", twice)
		}
		must.Do(t, table.Validate())
	}
}

func TestTableValidate(t *testing.T) {
	for _, k := range []struct {
		table Table
		want  string
	}{
		{Table{}, "bins is 0"},
		{Table{Bins: 1025}, "bins is 1025"},
		{Table{Bins: 2, N: []int{1, 2}}, "must have bins squared = 4"},
		{Table{Bins: 1, N: []int{-1}}, "n[0] is -1"},
		{Table{Bins: 1, N: []int{maxTrials + 1}}, "at most"},
		{NewTable(3), "no pair"},
	} {
		must.Refuse(t, k.table.Validate(), k.want, k.table)
	}
}
