package recorded

import (
	"iter"
	"math/bits"
	"sort"
)

// marks say of each row whether it has a mark, in a bit a row.
type marks struct {
	words  []uint64
	before []uint32 // marks before word i*markStep
	n      int
	ones   int
}

// markStep is how many words one number of marks.before is for.
const markStep = 8

func (m *marks) add(mark bool) {
	if m.n%64 == 0 {
		if m.n%(64*markStep) == 0 {
			m.before = append(m.before, uint32(m.ones))
		}
		m.words = append(m.words, 0)
	}
	if mark {
		m.words[m.n/64] |= 1 << (m.n % 64)
		m.ones++
	}
	m.n++
}

// word is word i with a bit for each row that is asked for.
func (m *marks) word(i int, mark bool) uint64 {
	if mark {
		return m.words[i]
	}
	w := ^m.words[i]
	if over := m.n - 64*i; over < 64 {
		w &= 1<<over - 1
	}
	return w
}

// each are the rows with a mark, or those without, in order.
func (m *marks) each(mark bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range m.words {
			for w := m.word(i, mark); w != 0; w &= w - 1 {
				if !yield(64*i + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// find is row number k, from 0, of those with a mark, or of those without.
func (m *marks) find(mark bool, k int) int {
	before := func(i int) int {
		if mark {
			return int(m.before[i])
		}
		return 64*markStep*i - int(m.before[i])
	}
	i := sort.Search(len(m.before), func(i int) bool { return before(i) > k }) - 1
	k -= before(i)
	for i *= markStep; ; i++ {
		w := m.word(i, mark)
		if n := bits.OnesCount64(w); k >= n {
			k -= n
			continue
		}
		for ; k > 0; k-- {
			w &= w - 1
		}
		return 64*i + bits.TrailingZeros64(w)
	}
}
