package spill

import (
	"encoding/binary"
	"iter"
	"sort"

	"github.com/dpscope/dpscope/stream"
)

// Ranks are lists of numbers by their order: each number is its rank among the distinct
// values of all lists, from 0 on, in four bytes. What asks for no more than order, as
// thresholds and ties do, needs no more, and lists that memory does not hold as numbers it
// may hold as ranks.
type Ranks struct {
	starts []int         // of each list in all, and the end
	all    []uint32      // ranks of all lists; nil: on the scratch
	at     int64         // there
	values List[float64] // distinct, ascending
}

// record is a number of the lists.
type record struct {
	key   uint64 // in the order of the numbers
	place uint32 // among all of them
}

const (
	recordBytes  = 12      // on the scratch
	mostInRun    = 1 << 20 // records that are sorted at a time
	recordBuffer = 1 << 12 // records of a run that are read at a time
	rankBuffer   = 1 << 18 // ranks that are written or read at a time
)

// Rank ranks the numbers of lists, fewer than 2^32 in all. It panics on NaN. Where
// they are too many for the memory of the scratch, they are sorted there, in runs that are
// merged: four bytes a number stay in memory until it returns.
func Rank(s *Scratch, lists ...iter.Seq[float64]) *Ranks { return rank(s, mostInRun, lists) }

func rank(s *Scratch, most int, lists []iter.Seq[float64]) *Ranks {
	r := &Ranks{starts: []int{0}, values: NewList[float64](1, s)}
	var runs []*run
	var open, room []record
	n := 0
	end := func() {
		open, room = sortRecords(open, room)
		x := &run{left: len(open)}
		if !Possible || s.keeps(int64(16*len(open))) {
			x.held, open = open, nil
		} else {
			x.put(s, open)
		}
		runs, open = append(runs, x), open[:0]
	}
	for _, list := range lists {
		for v := range list {
			if len(open) == most {
				end()
			}
			open = append(open, record{keyOf(v), uint32(n)})
			n++
		}
		r.starts = append(r.starts, n)
	}
	if len(open) > 0 {
		end()
	}
	open, room = nil, nil
	r.all = make([]uint32, n)
	r.merge(s, runs)
	if Possible && !s.keeps(int64(4*n)) {
		r.at = s.Take(int64(4 * n))
		buf := make([]byte, 0, 4*rankBuffer)
		for i := 0; i < n; i += rankBuffer {
			buf = buf[:0]
			for _, k := range r.all[i:min(n, i+rankBuffer)] {
				buf = binary.LittleEndian.AppendUint32(buf, k)
			}
			s.Write(buf, r.at+int64(4*i))
		}
		r.all = nil
	}
	return r
}

// merge takes the records of sorted runs in one order, and gives each its rank.
func (r *Ranks) merge(s *Scratch, runs []*run) {
	heap := make([]head, 0, len(runs)) // the least key first
	for _, x := range runs {
		heap = append(heap, head{x.next(s), x})
	}
	down := func(i int) {
		x := heap[i]
		for {
			k := 2*i + 1
			if k >= len(heap) {
				break
			}
			if k+1 < len(heap) && heap[k+1].key < heap[k].key {
				k++
			}
			if x.key <= heap[k].key {
				break
			}
			heap[i] = heap[k]
			i = k
		}
		heap[i] = x
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		down(i)
	}
	last := uint64(0)
	for len(heap) > 0 {
		top := &heap[0]
		if r.values.n == 0 || top.key != last {
			last = top.key
			r.values.Add(stream.AtPlace(last))
		}
		r.all[top.place] = uint32(r.values.n - 1)
		if top.run.left > 0 {
			top.record = top.run.next(s)
		} else {
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
		if len(heap) > 1 {
			down(0)
		}
	}
}

// head is a run and the record that was taken from it last.
type head struct {
	record
	run *run
}

// run are sorted records, in memory or on a scratch.
type run struct {
	held []record // that are read next
	at   int64    // of those behind them on the scratch
	left int      // records in all
	buf  []byte
	room []record
}

// put writes records to the scratch.
func (x *run) put(s *Scratch, records []record) {
	x.at = s.Take(int64(recordBytes * len(records)))
	buf := make([]byte, 0, recordBytes*len(records))
	for _, r := range records {
		buf = binary.LittleEndian.AppendUint64(buf, r.key)
		buf = binary.LittleEndian.AppendUint32(buf, r.place)
	}
	s.Write(buf, x.at)
}

// next takes a record, where some are left.
func (x *run) next(s *Scratch) record {
	if Possible && len(x.held) == 0 {
		n := min(x.left, recordBuffer)
		if x.buf == nil {
			x.buf, x.room = make([]byte, recordBytes*n), make([]record, n)
		}
		buf := x.buf[:recordBytes*n]
		s.Read(buf, x.at)
		x.at += int64(len(buf))
		x.held = x.room[:n]
		for i := range x.held {
			x.held[i] = record{binary.LittleEndian.Uint64(buf[recordBytes*i:]), binary.LittleEndian.Uint32(buf[recordBytes*i+8:])}
		}
	}
	r := x.held[0]
	x.held = x.held[1:]
	x.left--
	return r
}

// keyOf is a number's place; equal ones have one key.
func keyOf(v float64) uint64 {
	if v != v {
		panic("spill: NaN has no rank")
	}
	return stream.Place(v)
}

// sortRecords sorts records by key, by 11 bits at a time from the last ones on, and returns
// them and as much room for the next ones.
func sortRecords(records, room []record) (sorted, free []record) {
	const digit = 11
	if cap(room) < len(records) {
		room = make([]record, len(records))
	}
	room = room[:len(records)]
	for shift := 0; shift < 64; shift += digit {
		var starts [1 << digit]int
		for _, r := range records {
			starts[r.key>>shift&(1<<digit-1)]++
		}
		sum, most := 0, 0
		for i, n := range starts {
			starts[i] = sum
			sum, most = sum+n, max(most, n)
		}
		if most == len(records) {
			continue // all have the same digit
		}
		for _, r := range records {
			k := r.key >> shift & (1<<digit - 1)
			room[starts[k]] = r
			starts[k]++
		}
		records, room = room, records
	}
	return records, room[:0]
}

// Err is the first failure of the scratch: what is read after it is zeros.
func (r *Ranks) Err() error { return r.values.scratch.Err() }

// Len is the number of numbers of a list.
func (r *Ranks) Len(list int) int { return r.starts[list+1] - r.starts[list] }

// Load is a new slice with the ranks of lists, one list after the other, in their order.
func (r *Ranks) Load(lists ...int) []uint32 {
	n := 0
	for _, k := range lists {
		n += r.Len(k)
	}
	out := make([]uint32, 0, n)
	for _, k := range lists {
		for some := range r.pieces(k) {
			out = append(out, some...)
		}
	}
	return out
}

// pieces are the ranks of a list, some at a time.
func (r *Ranks) pieces(list int) iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		from, to := r.starts[list], r.starts[list+1]
		if !Possible || r.all != nil {
			yield(r.all[from:to])
			return
		}
		n := min(rankBuffer, to-from)
		buf, some := make([]byte, 4*n), make([]uint32, n)
		for i := from; i < to; i += n {
			some, buf = some[:min(n, to-i)], buf[:4*min(n, to-i)]
			r.values.scratch.Read(buf, r.at+int64(4*i))
			for k := range some {
				some[k] = binary.LittleEndian.Uint32(buf[4*k:])
			}
			if !yield(some) {
				return
			}
		}
	}
}

// Nth is the rank number i, from 0 on, of those of a list in ascending order.
func (r *Ranks) Nth(list, i int) uint32 {
	const digit = 8
	high := uint32(0) // the first digits of it
	for shift := 32 - digit; shift >= 0; shift -= digit {
		var counts [1 << digit]int
		for some := range r.pieces(list) {
			for _, k := range some {
				if k >>= shift; k>>digit == high {
					counts[k&(1<<digit-1)]++
				}
			}
		}
		k := uint32(0)
		for ; i >= counts[k] && k < 1<<digit-1; k++ { // to the end after a failure only
			i -= counts[k]
		}
		high = high<<digit | k
	}
	return high
}

// Nth is number i, from 0 on, of the values of two sorted lists together.
func Nth(i int, a, b []uint32) uint32 {
	// So many of the i values before it are of a.
	k := sort.Search(min(i, len(a)), func(k int) bool { return i-k <= len(b) && b[i-k-1] <= a[k] })
	if k == len(a) || i-k < len(b) && b[i-k] < a[k] {
		return b[i-k]
	}
	return a[k]
}

// Sort sorts ranks, by 11 bits at a time with as much room again where they are many.
func Sort(ranks []uint32) {
	const digit = 11
	if len(ranks) < 1<<6 {
		for i, k := range ranks {
			for ; i > 0 && ranks[i-1] > k; i-- {
				ranks[i] = ranks[i-1]
			}
			ranks[i] = k
		}
		return
	}
	from, to := ranks, make([]uint32, len(ranks))
	for shift := 0; shift < 32; shift += digit {
		var starts [1 << digit]int
		for _, k := range from {
			starts[k>>shift&(1<<digit-1)]++
		}
		sum, most := 0, 0
		for i, n := range starts {
			starts[i] = sum
			sum, most = sum+n, max(most, n)
		}
		if most == len(from) {
			continue // all have the same digit
		}
		for _, k := range from {
			at := &starts[k>>shift&(1<<digit-1)]
			to[*at] = k
			*at++
		}
		from, to = to, from
	}
	copy(ranks, from)
}

// Distinct is the number of distinct values.
func (r *Ranks) Distinct() int { return r.values.n }

// Value is the number of a rank.
func (r *Ranks) Value(rank uint32) float64 { return r.values.At(int(rank)) }

// Below is how many distinct values are below v: the rank of v, if it is one of them.
func (r *Ranks) Below(v float64) uint32 {
	return uint32(sort.Search(r.values.n, func(i int) bool { return r.values.At(i) >= v }))
}
