package recorded

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
	"github.com/dpscope/dpscope/stream/spill"
)

// purposeSplit is that of the streams that order the rows.
const purposeSplit = "split"

// order gives out the outputs on one dataset in the order of a seed. Any goroutine may
// read.
type order interface {
	// read fills out with outputs number at, at+1, ...
	read(at int, out []float64) error
}

// Arrange puts the outputs in the order of a seed, which an audit with that seed would do
// otherwise when it first asks for one. progress is called now and then with the share that
// is done; when it returns an error, that is returned. It may be nil.
func (s *Samples) Arrange(seed uint64, progress func(share float64) error) error {
	for side, n := range s.n {
		before, all := float64(side*s.n[0]), float64(s.n[0]+s.n[1])
		tell := func(share float64) error { return progress((before + float64(share*float64(n))) / all) }
		if progress == nil {
			tell = nil
		}
		if _, err := s.arranged(seed, side, tell); err != nil {
			return err
		}
	}
	return nil
}

// arranged is the order of a seed.
func (s *Samples) arranged(seed uint64, side int, progress func(share float64) error) (order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seed != seed {
		s.seed, s.order = seed, [2]order{}
	}
	if s.order[side] != nil {
		return s.order[side], nil
	}
	var scratch *spill.Scratch
	for _, c := range s.columns[side] {
		if c.spilled() {
			scratch = c.reals.Scratch()
		}
	}
	var err error
	if !spill.Possible || scratch == nil {
		s.order[side] = s.inMemory(seed, side)
	} else {
		s.order[side], err = s.onScratch(seed, side, scratch, progress)
	}
	return s.order[side], err
}

// permute puts rows in the order of a seed. They are as many as the outputs on the dataset,
// in the order of the file.
func permute(rows []uint32, seed uint64, side int) {
	shuffle(len(rows), seed, side, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}

// shuffle swaps i = n-1, n-2, ..., 1 with some j <= i each.
func shuffle(n int, seed uint64, side int, swap func(i, j int)) {
	stream.New(stream.Key{Seed: seed, Purpose: purposeSplit, Side: side}).Shuffle(n, swap)
}

// inMemory is the order where all values are in memory: the rows of the table that it takes
// one after the other.
func (s *Samples) inMemory(seed uint64, side int) order {
	rows := make([]uint32, 0, s.n[side])
	for i := range s.each(side) {
		rows = append(rows, uint32(i))
	}
	permute(rows, seed, side)
	return gathered{s.columns[side], rows}
}

// gathered reads rows of columns.
type gathered struct {
	columns []*Column
	rows    []uint32
}

func (g gathered) read(at int, out []float64) error {
	for _, i := range g.rows[at:] {
		if len(out) == 0 {
			break
		}
		for _, c := range g.columns {
			out = out[c.put(int(i), out):]
		}
	}
	return nil
}

// sorted are outputs on a scratch in the order of a seed, or nearly: those with numbers
// from k<<shift to (k+1)<<shift stand together, each with its number among them, and in the
// order of the file. So they are written from the file's beginning to its end, and read in
// pieces that memory holds.
type sorted struct {
	scratch *spill.Scratch
	base    int64
	n       int // outputs
	width   int
	shift   int

	mu     sync.Mutex
	recent []piece // the one read last comes last
}

// piece holds the outputs number k<<shift and so on.
type piece struct {
	k      int
	values []float64
}

const (
	mostPieces   = 1024
	leastPiece   = 1 << 10 // outputs
	pieceBuffer  = 1 << 14 // bytes of each piece that are written together
	recentPieces = 4
)

// record is how many bytes an output takes.
func (o *sorted) record() int { return 4 + 8*o.width }

// onScratch is the order where values are on a scratch. In memory it takes four bytes an
// output, and no more when it is done.
func (s *Samples) onScratch(seed uint64, side int, scratch *spill.Scratch, progress func(share float64) error) (order, error) {
	o := &sorted{scratch: scratch, n: s.n[side], width: audit.Width(s.Columns)}
	o.shift = bits.Len(uint(max(leastPiece, (o.n+mostPieces-1)/mostPieces) - 1))
	o.base = scratch.Take(int64(o.n) * int64(o.record()))
	places := places(o.n, seed, side)
	pieces := make([]struct {
		buf     []byte
		written int64
	}, (o.n-1)>>o.shift+1)
	flush := func(k int) {
		p := &pieces[k]
		scratch.Write(p.buf, o.base+int64(k)<<o.shift*int64(o.record())+p.written)
		p.written += int64(len(p.buf))
		p.buf = p.buf[:0]
	}
	values, number := make([]float64, o.width), 0
	for i := range s.each(side) {
		place := int(places[number])
		if number++; number%(1<<20) == 0 {
			if err := scratch.Err(); err != nil {
				return nil, err
			}
			if progress != nil {
				if err := progress(float64(number) / float64(o.n)); err != nil {
					return nil, err
				}
			}
		}
		p := &pieces[place>>o.shift]
		if p.buf == nil {
			p.buf = make([]byte, 0, pieceBuffer+o.record())
		}
		rest := values
		for _, c := range s.columns[side] {
			rest = rest[c.put(i, rest):]
		}
		p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(place&(1<<o.shift-1)))
		for _, v := range values {
			p.buf = binary.LittleEndian.AppendUint64(p.buf, math.Float64bits(v))
		}
		if len(p.buf) >= pieceBuffer {
			flush(place >> o.shift)
		}
	}
	for k := range pieces {
		flush(k)
	}
	return o, scratch.Err()
}

// places is the inverse of the order that [permute] makes of rows 0, 1, ..., n-1: the place
// of each. The inverse of some swaps is the same swaps in the opposite order. So the partner
// of each i is noted first, and the swaps are done from i = 1 on: when i is reached, p holds
// its partner still, and the places of those before it.
func places(n int, seed uint64, side int) []uint32 {
	p := make([]uint32, n)
	shuffle(n, seed, side, func(i, j int) { p[i] = uint32(j) })
	for i := range p {
		j := p[i]
		p[i] = p[j]
		p[j] = uint32(i)
	}
	return p
}

func (o *sorted) read(at int, out []float64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(out) > 0 {
		values := o.piece(at >> o.shift)
		if err := o.scratch.Err(); err != nil {
			return err
		}
		n := copy(out, values[at&(1<<o.shift-1)*o.width:])
		out, at = out[n:], at+n/o.width
	}
	return nil
}

// piece is piece k in its order.
func (o *sorted) piece(k int) []float64 {
	if i := slices.IndexFunc(o.recent, func(p piece) bool { return p.k == k }); i >= 0 {
		p := o.recent[i]
		o.recent = append(slices.Delete(o.recent, i, i+1), p)
		return p.values
	}
	rows := min(1<<o.shift, o.n-k<<o.shift)
	buf := make([]byte, rows*o.record())
	o.scratch.Read(buf, o.base+int64(k)<<o.shift*int64(o.record()))
	p := piece{k, make([]float64, rows*o.width)}
	for ; len(buf) > 0; buf = buf[o.record():] {
		to := p.values[int(binary.LittleEndian.Uint32(buf))*o.width:][:o.width]
		for j := range to {
			to[j] = math.Float64frombits(binary.LittleEndian.Uint64(buf[4+8*j:]))
		}
	}
	if len(o.recent) == recentPieces {
		o.recent = slices.Delete(o.recent, 0, 1)
	}
	o.recent = append(o.recent, p)
	return p.values
}
