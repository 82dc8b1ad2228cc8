package finders

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// Relations are those that pairs of records have.
var Relations = []audit.Relation{audit.AddRemove, audit.Replace, audit.LInfinity, audit.BoundedReplace}

// AnyDomain draws a domain of any shape, for any relation.
func AnyDomain(t *rapid.T) (audit.Relation, audit.Domain) {
	d := audit.Domain{
		Columns: rapid.IntRange(1, 20).Draw(t, "columns"),
		MinRows: rapid.IntRange(0, 5).Draw(t, "fewest"),
		Integer: rapid.Bool().Draw(t, "integer"),
		Reach:   rapid.SampledFrom([]float64{0.1, 1, 2.5, 1e-3, 1e9}).Draw(t, "reach"),
	}
	d.MaxRows = d.MinRows + rapid.IntRange(0, 40).Draw(t, "more")
	for range d.Columns {
		low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
		d.Lower = append(d.Lower, low)
		d.Upper = append(d.Upper, low+rapid.SampledFrom([]float64{0, 0.3, 1, 40, 1e7}).Draw(t, "width"))
	}
	return rapid.SampledFrom(Relations).Draw(t, "relation"), d
}

// Every point decodes to neighbours in the domain, the corners of the box too;
// only a pair of equal datasets is refused.
func TestEveryPointIsAPairOfNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, d := AnyDomain(t)
		s, err := newSpace(r, d)
		if err != nil {
			if !audit.IsInput(err) {
				t.Fatalf("%v is no input error", err)
			}
			t.Skip(err)
		}
		u := make([]float64, len(s.axes))
		for i := range u {
			u[i] = onLattice(rapid.OneOf(rapid.SampledFrom([]float64{0, 0.5, 1}), rapid.Float64Range(0, 1)).Draw(t, "u"))
		}
		p, ok := s.pair(u)
		if !ok && !same(p) {
			t.Fatalf("%v is refused: %v", u, r.Check(p, d))
		}
		must.Do(t, r.Check(p, d))
		for i, f := range s.features(u) {
			if !(f >= 0 && f <= 1) {
				t.Fatalf("feature %d is %v", i, f)
			}
		}
		for _, v := range s.openings() {
			if p, _ := s.pair(v); r.Check(p, d) != nil {
				t.Fatalf("opening: %v", r.Check(p, d))
			}
		}
	})
}

// Points of equal features stand for one pair: no search is misled by what a
// pair does not depend on.
func TestFeaturesTellThePair(t *testing.T) {
	r := stream.New(stream.Key{Seed: 1, Purpose: "test"})
	for _, relation := range Relations {
		s := must.Get(newSpace(relation, audit.Domain{Columns: 1, MaxRows: 6, Lower: []float64{0}, Upper: []float64{1}, Integer: relation != audit.LInfinity, Reach: 1}))(t)
		byFeatures := map[string]audit.Pair{}
		repeats := 0
		for range 20000 {
			u := s.anywhere(r)
			for i := range u {
				u[i] = onLattice(math.Round(u[i]*2) / 2) // coarse, so that pairs repeat
			}
			p, _ := s.pair(u)
			key := fmt.Sprint(s.features(u))
			if q, ok := byFeatures[key]; ok {
				repeats++
				if !reflect.DeepEqual(p, q) {
					t.Fatalf("%s: features %s stand for %v and %v", relation, key, p, q)
				}
			}
			byFeatures[key] = p
		}
		if repeats < 1000 {
			t.Errorf("%s: only %d repeats", relation, repeats)
		}
	}
}

// Known shapes are points of the space: one against the rest, halves against
// each other, one record added at the end, at every size.
func TestSpaceHoldsKnownShapes(t *testing.T) {
	s := must.Get(newSpace(audit.LInfinity, audit.Domain{Columns: 1, MinRows: 10, MaxRows: 10, Lower: []float64{-4.5}, Upper: []float64{5.5}, Reach: 1}))(t)
	u := slices.Repeat([]float64{0.5}, len(s.axes))
	u[s.runsAt], u[s.placeAt] = 1.5/4, 0
	u[s.rowAt(0)+1], u[s.rowAt(1)+1] = 0, 1
	p, ok := s.pair(u)
	want := audit.Pair{Label: "10 answers moved", First: audit.Records(1, 1, 1, 1, 1, 0, 0, 0, 0, 0), Second: audit.Records(0, 0, 0, 0, 0, 1, 1, 1, 1, 1)}
	if !ok || !reflect.DeepEqual(p, want) {
		t.Errorf("halves: %v", p)
	}
	u[s.runsAt], u[s.placeAt] = 0, 1
	u[s.changedAt+1] = 1
	want.First, want.Second = audit.Records(1, 1, 1, 1, 1, 1, 1, 1, 1, 0), audit.Records(0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
	if p, ok = s.pair(u); !ok || !reflect.DeepEqual(p, want) {
		t.Errorf("one against the rest: %v", p)
	}

	sizes := map[int]bool{}
	s = must.Get(newSpace(audit.AddRemove, audit.Domain{Columns: 1, MinRows: 1, MaxRows: 30, Lower: []float64{0}, Upper: []float64{1}}))(t)
	v := s.openings()[0]
	if p, _ := s.pair(v); !reflect.DeepEqual(p.Second, audit.Records(0, 1)) {
		t.Errorf("the first opening is %v", p)
	}
	for k := range 4097 {
		v[s.sizeAt] = float64(k) / 4096
		p, _ := s.pair(v)
		sizes[p.First.Len()] = true
	}
	if len(sizes) != 29 {
		t.Errorf("%d sizes, want 1 to 29", len(sizes))
	}
}

// opened are the pairs of a domain's openings, and an error where one is none.
func opened(t *testing.T, r audit.Relation, d audit.Domain) [][2][]float64 {
	t.Helper()
	s := must.Get(newSpace(r, d))(t)
	var pairs [][2][]float64
	for _, u := range s.openings() {
		p, ok := s.pair(u)
		if !ok {
			t.Errorf("%s: opening %v is no pair", r, u)
		}
		pairs = append(pairs, [2][]float64{p.First.Values, p.Second.Values})
	}
	return pairs
}

func TestOpenings(t *testing.T) {
	records := audit.Domain{Columns: 1, MaxRows: 20, Lower: []float64{-2}, Upper: []float64{2}, Reach: 1}
	change := func(f func(*audit.Domain)) audit.Domain { d := records; f(&d); return d }
	for _, c := range []struct {
		relation audit.Relation
		domain   audit.Domain
		want     [][2][]float64
	}{
		{audit.AddRemove, records, [][2][]float64{{{-2}, {-2, 2}}, {{2}, {2, -2}}, {{-1}, {-1, 2}}, {{1}, {1, -2}}}},
		{audit.AddRemove, change(func(d *audit.Domain) { d.MaxRows = 1 }), [][2][]float64{{{}, {2}}, {{}, {-2}}}},
		{audit.AddRemove, change(func(d *audit.Domain) { d.MaxRows = 2 }), [][2][]float64{{{-2}, {-2, 2}}, {{2}, {2, -2}}, {{-1}, {-1, 2}}, {{1}, {1, -2}}}},
		{audit.AddRemove, change(func(d *audit.Domain) { d.MinRows = 3 }), [][2][]float64{
			{{-2, -2, -2}, {-2, -2, -2, 2}}, {{2, 2, 2}, {2, 2, 2, -2}}, {{-1, -1, -1}, {-1, -1, -1, 2}}, {{1, 1, 1}, {1, 1, 1, -2}}}},
		{audit.AddRemove, audit.Domain{Columns: 2, MaxRows: 20, Lower: []float64{0, -1}, Upper: []float64{4, 1}}, [][2][]float64{
			{{0, -1}, {0, -1, 4, 1}}, {{4, 1}, {4, 1, 0, -1}}, {{1, -0.5}, {1, -0.5, 4, 1}}, {{3, 0.5}, {3, 0.5, 0, -1}}}},
		{audit.Replace, records, [][2][]float64{{{-2}, {2}}, {{2}, {-2}}, {{-1, -2}, {-1, 2}}, {{1, 2}, {1, -2}}}},
		{audit.Replace, change(func(d *audit.Domain) { d.MaxRows = 1 }), [][2][]float64{{{-2}, {2}}, {{2}, {-2}}}},
		{audit.BoundedReplace, records, [][2][]float64{{{-0.5}, {0.5}}, {{-2}, {-1}}, {{2}, {1}}}},
		{audit.BoundedReplace, change(func(d *audit.Domain) {
			d.MinRows, d.Columns, d.Lower, d.Upper = 2, 2, []float64{-2, 0}, []float64{2, 10}
		}), [][2][]float64{
			{{0, 5, -0.5, 4.5}, {0, 5, 0.5, 5.5}}, {{-2, 0, -2, 0}, {-2, 0, -1, 1}}, {{2, 10, 2, 10}, {2, 10, 1, 9}}}},
		{audit.LInfinity, change(func(d *audit.Domain) { d.MinRows = 4 }), [][2][]float64{{{-0.5, -0.5, -0.5, -0.5}, {0.5, 0.5, 0.5, 0.5}}}},
	} {
		if got := opened(t, c.relation, c.domain); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s, %d to %d rows: %v, want %v", c.relation, c.domain.MinRows, c.domain.MaxRows, got, c.want)
		}
	}
}
