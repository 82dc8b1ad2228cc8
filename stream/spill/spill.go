// Package spill keeps lists of values that memory should not hold in a scratch file, or in
// any other room that is read and written by offset.
package spill

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"
	"runtime"
	"sync"
)

// Scratch is room outside of the heap, a temporary file in most programs. Several lists may
// share one, from several goroutines. A nil Scratch keeps everything in memory.
type Scratch struct {
	mu   sync.Mutex
	file interface {
		io.ReaderAt
		io.WriterAt
	}
	left int64 // bytes of memory that may be taken before
	end  int64 // of what is in the file
	err  error // the first failure
}

// New returns room in a file that nobody else writes to. So many bytes of values
// stay in memory before it is used.
func New(file interface {
	io.ReaderAt
	io.WriterAt
}, memory int64) *Scratch {
	return &Scratch{file: file, left: memory}
}

// Err is the first failure to write or to read, nil for none.
func (s *Scratch) Err() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Possible is false in a browser, which has no file to spill to: there nothing that reads or
// writes one is linked, and a scratch stays empty.
const Possible = runtime.GOOS != "js"

// keeps reports whether so many bytes more stay in memory.
func (s *Scratch) keeps(bytes int64) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left < bytes {
		return false
	}
	s.left -= bytes
	return true
}

// Take is the place of so many bytes that nothing else has.
func (s *Scratch) Take(bytes int64) (at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at = s.end
	s.end += bytes
	return at
}

// Write writes b at a place that was taken. [Scratch.Err] has a failure.
func (s *Scratch) Write(b []byte, at int64) {
	if s.Err() == nil {
		_, err := s.file.WriteAt(b, at)
		s.fail(err)
	}
}

// Read fills b, with zeros after a failure.
func (s *Scratch) Read(b []byte, at int64) {
	if _, err := s.file.ReadAt(b, at); err != nil && s.Err() == nil {
		s.fail(err)
	}
	if s.Err() != nil {
		clear(b)
	}
}

func (s *Scratch) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

const (
	blockBits = 16 // a block of a table of one column holds 1<<blockBits values
	leastBits = 10
)

// List is a list of values that grows without being copied. Blocks that are full go to
// the scratch, if there is one and its memory is used up. One goroutine may use a list of
// which some is there.
type List[T float64 | uint32] struct {
	full    [][]T // nil: on the scratch
	n       int
	bits    int // a block holds 1<<bits values; 0 is blockBits
	scratch *Scratch
	away    map[int]place
	cache   []T // of block number cached-1
	cached  int
}

// NewList is an empty list, one of so many that grow together: the more there are, the
// shorter are the blocks, as one of each is always in memory.
func NewList[T float64 | uint32](of int, s *Scratch) List[T] {
	return List[T]{bits: max(leastBits, blockBits-bits.Len(uint(of-1))), scratch: s}
}

// Len is the number of values.
func (b *List[T]) Len() int { return b.n }

// Scratch is where blocks go, nil for nowhere.
func (b *List[T]) Scratch() *Scratch { return b.scratch }

// place is that of a block on the scratch, and how many bytes a value of it takes.
type place struct {
	at    int64
	width int
}

func (b *List[T]) shift() int {
	if b.bits == 0 {
		return blockBits
	}
	return b.bits
}

// Add adds a value.
func (b *List[T]) Add(v T) {
	size := 1 << b.shift()
	if b.n&(size-1) == 0 {
		b.grow(size)
	}
	last := len(b.full) - 1
	b.full[last] = append(b.full[last], v)
	b.n++
}

// AddAll adds values.
func (b *List[T]) AddAll(values []T) {
	size := 1 << b.shift()
	for len(values) > 0 {
		at := b.n & (size - 1)
		if at == 0 {
			b.grow(size)
		}
		n, last := min(len(values), size-at), len(b.full)-1
		b.full[last] = append(b.full[last], values[:n]...)
		b.n += n
		values = values[n:]
	}
}

// grow begins a block.
func (b *List[T]) grow(size int) {
	var room []T
	if last := len(b.full) - 1; last >= 0 && Possible && !b.scratch.keeps(int64(8*size)) {
		room = b.full[last][:0]
		b.put(last, b.full[last])
	} else {
		room = make([]T, 0, min(size, max(64, b.n)))
	}
	b.full = append(b.full, room)
}

// At is value i.
func (b *List[T]) At(i int) T {
	shift := b.shift()
	k, i := i>>shift, i&(1<<shift-1)
	if values := b.full[k]; values != nil {
		return values[i]
	}
	if Possible && b.cached != k+1 {
		b.cache, b.cached = b.get(k), k+1
	}
	return b.cache[i]
}

// Spilled reports whether some of the values are on the scratch. Only one goroutine may
// look at them then.
func (b *List[T]) Spilled() bool { return len(b.away) > 0 }

// put moves block k to the scratch: in one byte a value if all are whole numbers below
// 256, in four if all are uint32 or float32, else in eight.
func (b *List[T]) put(k int, values []T) {
	width := 1
	for _, x := range values {
		if x < 0 || x >= 256 || T(uint8(x)) != x {
			width = 4
			break
		}
	}
	if width == 4 {
		for _, x := range values {
			if !b.short(x) {
				width = 8
				break
			}
		}
	}
	buf := make([]byte, width*len(values))
	for i, x := range values {
		switch {
		case width == 1:
			buf[i] = uint8(x)
		case width == 8:
			binary.LittleEndian.PutUint64(buf[8*i:], math.Float64bits(float64(x)))
		case b.whole():
			binary.LittleEndian.PutUint32(buf[4*i:], uint32(x))
		default:
			binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(float32(x)))
		}
	}
	if b.away == nil {
		b.away = map[int]place{}
	}
	at := b.scratch.Take(int64(len(buf)))
	b.scratch.Write(buf, at)
	b.full[k], b.away[k] = nil, place{at, width}
}

// whole tells whether T is uint32.
func (b *List[T]) whole() bool {
	half := 0.5
	return T(half) == 0
}

// short tells whether four bytes hold a value.
func (b *List[T]) short(x T) bool { return b.whole() || float64(float32(x)) == float64(x) }

// get is block k of the scratch.
func (b *List[T]) get(k int) []T {
	p := b.away[k]
	values := make([]T, 1<<b.shift())
	buf := make([]byte, p.width*len(values))
	b.scratch.Read(buf, p.at)
	for i := range values {
		switch {
		case p.width == 1:
			values[i] = T(buf[i])
		case p.width == 8:
			values[i] = T(math.Float64frombits(binary.LittleEndian.Uint64(buf[8*i:])))
		case b.whole():
			values[i] = T(binary.LittleEndian.Uint32(buf[4*i:]))
		default:
			values[i] = T(math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:])))
		}
	}
	return values
}

// Replace puts of(v) in the place of each value v.
func (b *List[T]) Replace(of func(T) T) {
	for k, values := range b.full {
		away := Possible && values == nil
		if away {
			values = b.get(k)
		}
		for i, v := range values {
			values[i] = of(v)
		}
		if away {
			b.put(k, values)
		}
	}
	b.cached = 0
}
