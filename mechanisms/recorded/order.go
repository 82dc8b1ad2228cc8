package recorded

import "github.com/dpscope/dpscope/audit/stream"

// purposeSplit is that of the streams that order the rows.
const purposeSplit = "split"

// arranged are the rows of a dataset in the order of a seed. Any goroutine may ask.
func (s *Samples) arranged(seed uint64, side int) []uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seed != seed {
		s.seed, s.order = seed, [2][]uint32{}
	}
	if s.order[side] == nil {
		rows := make([]uint32, 0, s.n[side])
		for i := range s.each(side) {
			rows = append(rows, uint32(i))
		}
		stream.New(stream.Key{Seed: seed, Purpose: purposeSplit, Side: side}).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		s.order[side] = rows
	}
	return s.order[side]
}
