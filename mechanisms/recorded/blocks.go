package recorded

import (
	"encoding/binary"
	"io"
	"math"
	"sync"
)

// Scratch is room outside of the heap, a temporary file in most programs, for values
// that memory should not hold. Several files may be read with one; what a [File] or
// [Samples] has there is read again until nobody needs it.
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

// NewScratch returns room in a file that nobody else writes to. So many bytes of values
// stay in memory before it is used.
func NewScratch(file interface {
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

// take is the place of so many bytes that nothing else has.
func (s *Scratch) take(bytes int64) (at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at = s.end
	s.end += bytes
	return at
}

func (s *Scratch) write(b []byte, at int64) {
	if s.Err() == nil {
		_, err := s.file.WriteAt(b, at)
		s.fail(err)
	}
}

// read fills b, with zeros after a failure.
func (s *Scratch) read(b []byte, at int64) {
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

// blocks is a list of values that grows without being copied. Blocks that are full go to
// the scratch, if there is one and its memory is used up.
type blocks[T float64 | uint32] struct {
	full    [][]T // nil: on the scratch
	n       int
	bits    int // a block holds 1<<bits values; 0 is blockBits
	scratch *Scratch
	away    map[int]place
	cache   []T // of block number cached-1
	cached  int
}

// place is that of a block on the scratch, and how many bytes a value of it takes.
type place struct {
	at    int64
	width int
}

func (b *blocks[T]) shift() int {
	if b.bits == 0 {
		return blockBits
	}
	return b.bits
}

func (b *blocks[T]) add(v T) {
	size := 1 << b.shift()
	if b.n&(size-1) == 0 {
		b.grow(size)
	}
	last := len(b.full) - 1
	b.full[last] = append(b.full[last], v)
	b.n++
}

// grow begins a block.
func (b *blocks[T]) grow(size int) {
	var room []T
	if last := len(b.full) - 1; last >= 0 && !b.scratch.keeps(int64(8*size)) {
		room = b.full[last][:0]
		b.put(last, b.full[last])
	} else {
		room = make([]T, 0, min(size, max(64, b.n)))
	}
	b.full = append(b.full, room)
}

func (b *blocks[T]) at(i int) T {
	shift := b.shift()
	k, i := i>>shift, i&(1<<shift-1)
	if values := b.full[k]; values != nil {
		return values[i]
	}
	if b.cached != k+1 {
		b.cache, b.cached = b.get(k), k+1
	}
	return b.cache[i]
}

// spilled reports whether some of the values are on the scratch. Only one goroutine may
// look at them then.
func (b *blocks[T]) spilled() bool { return len(b.away) > 0 }

// put moves block k to the scratch: in one byte a value if all are whole numbers below
// 256, in four if all are float32, else in eight.
func (b *blocks[T]) put(k int, values []T) {
	width := 1
	for _, x := range values {
		v := float64(x)
		if width == 1 && !(v >= 0 && v < 256 && float64(uint8(v)) == v) {
			width = 4
		}
		if width == 4 && float64(float32(v)) != v {
			width = 8
			break
		}
	}
	buf := make([]byte, width*len(values))
	for i, x := range values {
		switch v := float64(x); width {
		case 1:
			buf[i] = uint8(v)
		case 4:
			binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(float32(v)))
		default:
			binary.LittleEndian.PutUint64(buf[8*i:], math.Float64bits(v))
		}
	}
	if b.away == nil {
		b.away = map[int]place{}
	}
	at := b.scratch.take(int64(len(buf)))
	b.scratch.write(buf, at)
	b.full[k], b.away[k] = nil, place{at, width}
}

// get is block k of the scratch.
func (b *blocks[T]) get(k int) []T {
	p := b.away[k]
	values := make([]T, 1<<b.shift())
	buf := make([]byte, p.width*len(values))
	b.scratch.read(buf, p.at)
	for i := range values {
		switch p.width {
		case 1:
			values[i] = T(buf[i])
		case 4:
			values[i] = T(math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:])))
		default:
			values[i] = T(math.Float64frombits(binary.LittleEndian.Uint64(buf[8*i:])))
		}
	}
	return values
}

// replace puts of(v) in the place of each value v.
func (b *blocks[T]) replace(of func(T) T) {
	for k, values := range b.full {
		away := values == nil
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
