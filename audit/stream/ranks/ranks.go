// Package ranks has lists of numbers by their order. What asks for no more than order, as
// thresholds and ties do, needs no more.
package ranks

import (
	"slices"
	"sort"
)

// Ranks are lists of numbers: each number is its rank among the distinct values of all lists,
// from 0 on.
type Ranks struct {
	lists  [][]uint32
	values []float64 // distinct, ascending
}

// Rank ranks the numbers of lists, fewer than 2^32 in all and none of them NaN.
func Rank(lists ...[]float64) *Ranks {
	r := &Ranks{values: slices.Concat(lists...)}
	for i := range r.values {
		r.values[i] += 0 // no negative zero
	}
	slices.Sort(r.values)
	r.values = slices.Compact(r.values)
	for _, list := range lists {
		some := make([]uint32, len(list))
		for i, v := range list {
			some[i] = r.Below(v)
		}
		r.lists = append(r.lists, some)
	}
	return r
}

// Len is the number of numbers of a list.
func (r *Ranks) Len(list int) int { return len(r.lists[list]) }

// Load is a new slice with the ranks of a list, in its order.
func (r *Ranks) Load(list int) []uint32 { return slices.Clone(r.lists[list]) }

// Sorted is a new slice with the ranks of a list, in ascending order.
func (r *Ranks) Sorted(list int) []uint32 {
	counts, sorted := make([]uint32, len(r.values)), make([]uint32, 0, r.Len(list))
	for _, k := range r.lists[list] {
		counts[k]++
	}
	for k, n := range counts {
		for range n {
			sorted = append(sorted, uint32(k))
		}
	}
	return sorted
}

// Distinct is the number of distinct values.
func (r *Ranks) Distinct() int { return len(r.values) }

// Value is the number of a rank.
func (r *Ranks) Value(rank uint32) float64 { return r.values[rank] }

// Below is how many distinct values are below v: the rank of v, if it is one of them.
func (r *Ranks) Below(v float64) uint32 { return uint32(sort.SearchFloat64s(r.values, v)) }

// Nth is number i, from 0 on, of the values of two sorted lists together.
func Nth(i int, a, b []uint32) uint32 {
	// So many of the i values before it are of a.
	k := sort.Search(min(i, len(a)), func(k int) bool { return i-k <= len(b) && b[i-k-1] <= a[k] })
	if k == len(a) || i-k < len(b) && b[i-k] < a[k] {
		return b[i-k]
	}
	return a[k]
}
