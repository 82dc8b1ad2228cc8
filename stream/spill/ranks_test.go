package spill

import (
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/internal/memdisk"
)

// Ranks are those that a search among all distinct values finds, whatever memory there is
// and however many are sorted at a time.
func TestRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	laws := map[string]func() float64{
		"few values": func() float64 { return float64(rng.IntN(5)) - 2 },
		"normal":     rng.NormFloat64,
		"all sizes":  func() float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(1800)-900) },
		"one":        func() float64 { return 7 },
		"extremes": func() float64 {
			return []float64{math.MaxFloat64, -math.MaxFloat64, 0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, -1, 1}[rng.IntN(7)]
		},
	}
	for name, law := range laws {
		for _, size := range []int{1, 2, 100, 3000} {
			lists := make([][]float64, 1+rng.IntN(3))
			for i := range lists {
				for range rng.IntN(size + 1) {
					lists[i] = append(lists[i], law())
				}
			}
			all := slices.Concat(lists...)
			for i := range all {
				all[i] += 0
			}
			slices.Sort(all)
			distinct := slices.Compact(slices.Clone(all))
			for _, most := range []int{1 << 20, 1000, 7, 1} {
				for _, memory := range []int64{-1, 0, 4000, 100_000} {
					if memory >= 0 && !Possible {
						continue
					}
					if size > 100*most {
						continue // so many runs take long
					}
					var s *Scratch
					if memory >= 0 {
						s = New(&memdisk.Disk{}, memory)
					}
					var seqs []iter.Seq[float64]
					for _, list := range lists {
						seqs = append(seqs, slices.Values(list))
					}
					r := rank(s, most, seqs)
					if r.Distinct() != len(distinct) {
						t.Fatalf("%s, %d, %d: %d distinct values, want %d", name, size, most, r.Distinct(), len(distinct))
					}
					var sorted [][]uint32
					for k, list := range lists {
						got := r.Load(k)
						if len(got) != len(list) || r.Len(k) != len(list) {
							t.Fatalf("%s: %d ranks of %d", name, len(got), len(list))
						}
						for i, v := range list {
							want, _ := slices.BinarySearch(distinct, v)
							if int(got[i]) != want || r.Value(got[i]) != v || r.Below(v) != got[i] || r.Below(math.Nextafter(v, math.Inf(1))) != got[i]+1 {
								t.Fatalf("%s, %d at a time, memory of %d: rank %d of %v, want %d", name, most, memory, got[i], v, want)
							}
						}
						if len(got) > 0 {
							slices.Sort(got)
							for _, i := range []int{0, len(got) / 3, len(got) - 1} {
								if r.Nth(k, i) != got[i] {
									t.Fatalf("%s: number %d of list %d is %d, want %d", name, i, k, r.Nth(k, i), got[i])
								}
							}
						}
						sorted = append(sorted, got)
					}
					if len(sorted) == 2 {
						for i, want := range all {
							if got := r.Value(Nth(i, sorted[0], sorted[1])); got != want {
								t.Fatalf("%s: number %d of both is %v, want %v", name, i, got, want)
							}
						}
					}
					if got := r.Load(len(lists)-1, 0); len(got) != len(lists[len(lists)-1])+len(lists[0]) {
						t.Fatalf("%s: %d ranks of two lists", name, len(got))
					}
					if s.Err() != nil {
						t.Fatal(s.Err())
					}
				}
			}
		}
	}
}

// A disk that is full is told, and ends in no panic.
func TestRankOnFullDisk(t *testing.T) {
	if !Possible {
		t.Skip("no file to spill to")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, 3000)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	for most := 1; most < 60_000; most += 997 {
		s := New(&memdisk.Disk{Most: most}, 0)
		r := rank(s, 100, []iter.Seq[float64]{slices.Values(values)})
		r.Load(0)
		if !errors.Is(s.Err(), memdisk.ErrFull) && most < 12*len(values) {
			t.Errorf("%d bytes: %v", most, s.Err())
		}
	}
}

// Lists hold what was added, in memory and on a scratch.
func TestList(t *testing.T) {
	if !Possible {
		t.Skip("no file to spill to")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, memory := range []int64{-1, 0, 1 << 20} {
		var s *Scratch
		if memory >= 0 {
			s = New(&memdisk.Disk{}, memory)
		}
		numbers, wholes := NewList[float64](3, s), NewList[uint32](1, s)
		var wantNumbers []float64
		var wantWholes []uint32
		for i := range 200_000 {
			x, k := rng.NormFloat64(), rng.Uint32()
			if i < 100_000 {
				x, k = float64(float32(x)), k%256
			}
			numbers.Add(x)
			wholes.Add(k)
			wantNumbers, wantWholes = append(wantNumbers, x), append(wantWholes, k)
		}
		wholes.Replace(func(k uint32) uint32 { return k / 2 })
		for i := range wantNumbers {
			if numbers.At(i) != wantNumbers[i] || wholes.At(i) != wantWholes[i]/2 {
				t.Fatalf("memory of %d: value %d is %v and %d, want %v and %d", memory, i, numbers.At(i), wholes.At(i), wantNumbers[i], wantWholes[i]/2)
			}
		}
		if numbers.Len() != len(wantNumbers) || numbers.Spilled() != (memory >= 0) || s.Err() != nil {
			t.Error(numbers.Len(), numbers.Spilled(), s.Err())
		}
	}
}

func TestSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, most := range []uint32{1, 2, 300, 1 << 16, math.MaxUint32} {
		for _, n := range []int{0, 1, 5, 2047, 2048, 50_000} {
			ranks := make([]uint32, n)
			for i := range ranks {
				ranks[i] = math.MaxUint32 - rng.Uint32N(most)
			}
			want := slices.Sorted(slices.Values(ranks))
			if Sort(ranks); !slices.Equal(ranks, want) {
				t.Fatalf("%d below %d are not sorted", n, most)
			}
		}
	}
}

func BenchmarkRank(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 1<<22)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	b.SetBytes(8 * int64(len(values)))
	for b.Loop() {
		Rank(New(&memdisk.Disk{}, 0), slices.Values(values))
	}
}

func BenchmarkSort(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	ranks := make([]uint32, 1<<23)
	some := make([]uint32, len(ranks))
	for i := range ranks {
		ranks[i] = rng.Uint32N(1 << 26)
	}
	b.SetBytes(4 * int64(len(ranks)))
	for _, by := range []struct {
		name string
		sort func([]uint32)
	}{{"digits", Sort}, {"comparisons", slices.Sort[[]uint32]}} {
		b.Run(by.name, func(b *testing.B) {
			for b.Loop() {
				copy(some, ranks)
				by.sort(some)
			}
		})
	}
}
