package mechanisms

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// Symbols of an SVT's answers.
const (
	above   = 1  // ⊤
	below   = 0  // ⊥
	aborted = -1 // it had stopped before
)

// svtRun is what the three ways of answering share. Each block draws ρ for all
// its rows, then ν for all queries of all its rows (none where its scale is
// zero), whether or not a row stops early.
type svtRun struct {
	queries   int // m
	answers   func(values []float64, m int) ([]float64, error)
	threshold float64 // T
	cutoff    int     // positive answers before it stops
	rho, nu   float64 // scales of the Laplace noise
}

func (r *svtRun) columns(kind audit.ColumnKind) []audit.Column {
	labels := []audit.Label{{Value: above, Text: "⊤"}, {Value: below, Text: "⊥"}}
	if r.cutoff < r.queries {
		labels = append(labels, audit.Label{Value: aborted, Text: "–"})
	}
	columns := columnsOf(r.queries, kind, "query %d")
	for i := range columns {
		columns[i].Labels = labels
	}
	return columns
}

func (r *svtRun) answer(d audit.Dataset) ([]float64, error) {
	if err := checkShape(d, 0, anyRows); err != nil {
		return nil, err
	}
	return r.answers(d.Values, r.queries)
}

// drawQueries fills nu with the noise of the queries.
func (r *svtRun) drawQueries(s *stream.Stream, nu []float64) {
	if r.nu == 0 {
		clear(nu)
		return
	}
	s.Laplace(nu, r.nu)
}

// svtSymbols answers ⊤ or ⊥ (svt1, svt4, svt5, svt6).
type svtSymbols struct{ svtRun }

func (m *svtSymbols) Columns() []audit.Column { return m.columns(audit.Symbol) }

func (m *svtSymbols) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	q, err := m.answer(d)
	if err != nil {
		return err
	}
	rho := make([]float64, min(len(out)/m.queries, blockRows))
	eachBlock(out, m.queries, func(block []float64, rows int) {
		s.Laplace(rho[:rows], m.rho)
		m.drawQueries(s, block)
		compare(block, rho[:rows], q, m.threshold, m.cutoff)
	})
	return nil
}

// compare turns the noise of the queries, a row of len(q) for each ρ, into
// symbols. The answers are as good as coin flips, so there is no branch on them.
func compare(rows, rho, q []float64, threshold float64, cutoff int) {
	for _, z := range rho {
		row := rows[:len(q)]
		rows = rows[len(q):]
		z += threshold
		left := int32(cutoff)
		for i, nu := range row {
			var hit, live int32
			if q[i]+nu >= z {
				hit = above
			}
			if left != 0 {
				live = 1
			}
			hit &= live
			left -= hit
			row[i] = float64(hit + live - 1) // aborted = -1 once live is 0
		}
	}
}

// svtRedrawing draws the threshold again after each ⊤ (svt2). A block draws,
// after ρ and ν, as many further ρ for each row as it can use: one less than
// the positive answers that it can give.
type svtRedrawing struct {
	svtRun
	again float64 // scale of the further ρ
}

func (m *svtRedrawing) Columns() []audit.Column { return m.columns(audit.Symbol) }

func (m *svtRedrawing) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	q, err := m.answer(d)
	if err != nil {
		return err
	}
	most := min(len(out)/m.queries, blockRows)
	further := min(m.cutoff, m.queries) - 1
	rho, next := make([]float64, most), make([]float64, most*further)
	eachBlock(out, m.queries, func(block []float64, rows int) {
		s.Laplace(rho[:rows], m.rho)
		m.drawQueries(s, block)
		if further == 0 {
			compare(block, rho[:rows], q, m.threshold, m.cutoff)
			return
		}
		s.Laplace(next[:rows*further], m.again)
		compareRedrawing(block, rho[:rows], next[:rows*further], q, m.threshold, m.cutoff)
	})
	return nil
}

// compareRedrawing is compare with a threshold that the k-th ⊤ of a row
// replaces by T plus the row's k-th number of next.
func compareRedrawing(rows, rho, next, q []float64, threshold float64, cutoff int) {
	further := len(next) / len(rho)
	for r, z := range rho {
		row := rows[r*len(q) : (r+1)*len(q)]
		fresh := next[r*further : (r+1)*further]
		z += threshold
		left := cutoff
		for i, nu := range row {
			switch {
			case left == 0:
				row[i] = aborted
			case q[i]+nu >= z:
				row[i] = above
				left--
				if len(fresh) > 0 {
					z = threshold + fresh[0]
					fresh = fresh[1:]
				}
			default:
				row[i] = below
			}
		}
	}
}

// svtValues answers ⊤ with query + ν beside it (svt3), or, where fresh is not 0,
// with query + noise of that scale, which a block draws for all queries after
// ν (numeric-svt).
type svtValues struct {
	svtRun
	fresh float64
}

func (m *svtValues) Columns() []audit.Column { return m.columns(audit.Mixed) }

func (m *svtValues) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	q, err := m.answer(d)
	if err != nil {
		return err
	}
	most := min(len(out)/(2*m.queries), blockRows)
	rho, nu := make([]float64, most), make([]float64, most*m.queries)
	fresh := nu
	if m.fresh != 0 {
		fresh = make([]float64, len(nu))
	}
	eachBlock(out, 2*m.queries, func(block []float64, rows int) {
		s.Laplace(rho[:rows], m.rho)
		m.drawQueries(s, nu[:rows*m.queries])
		if m.fresh != 0 {
			s.Laplace(fresh[:rows*m.queries], m.fresh)
		}
		compareValues(block, rho[:rows], nu[:rows*m.queries], fresh, q, m.threshold, m.cutoff)
	})
	return nil
}

// compareValues is compare into pairs of a symbol and a value: query + fresh
// beside ⊤, else 0.
func compareValues(out, rho, noise, fresh, q []float64, threshold float64, cutoff int) {
	for _, z := range rho {
		row, nus, news := out[:2*len(q)], noise[:len(q)], fresh[:len(q)]
		out, noise, fresh = out[2*len(q):], noise[len(q):], fresh[len(q):]
		z += threshold
		left := cutoff
		for i, nu := range nus {
			symbol, value := row[2*i:2*i+1], row[2*i+1:2*i+2]
			switch {
			case left == 0:
				symbol[0], value[0] = aborted, 0
			case q[i]+nu >= z:
				symbol[0], value[0] = above, q[i]+news[i]
				left--
			default:
				symbol[0], value[0] = below, 0
			}
		}
	}
}
