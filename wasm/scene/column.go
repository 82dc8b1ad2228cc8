package scene

import (
	"fmt"
	"math"
)

// ColumnBin is a bar of a column of samples: of a name, or of a range of numbers.
type ColumnBin struct {
	Label  string // "" of a range
	Lower  float64
	Upper  float64
	Counts [2]int // on the first and the second dataset
}

// Column shows what a column of the user's samples holds on both datasets: its names
// as bars, its numbers as histograms over one another.
type Column struct {
	still
	name   string
	names  []Bin
	ranges []Bin
}

// NewColumn is nil where there is nothing to draw.
func NewColumn(name string, bins []ColumnBin) *Column {
	v := &Column{name: name}
	var of [2]int
	for _, b := range bins {
		of[0] += b.Counts[0]
		of[1] += b.Counts[1]
	}
	one := Bin{firstOf: of[0], secondOf: of[1]} // of numbers that are all the same
	for _, b := range bins {
		bin := Bin{Words: b.Label, First: b.Counts[0], Second: b.Counts[1], firstOf: of[0], secondOf: of[1]}
		switch {
		case b.Label != "":
			v.names = append(v.names, bin)
		case !(b.Upper-b.Lower < math.Inf(1)):
			return nil
		default:
			bin.Words, bin.From, bin.To = Short(b.Lower)+" to "+Short(b.Upper), b.Lower, b.Upper
			one.Words = Short(b.Lower)
			one.First += bin.First
			one.Second += bin.Second
			v.ranges = append(v.ranges, bin)
		}
	}
	if n := len(v.ranges); n > 0 && v.ranges[0].From == v.ranges[n-1].To {
		v.names, v.ranges = append(v.names, one), nil
	}
	if len(v.names)+len(v.ranges) == 0 || of[0]+of[1] == 0 {
		return nil
	}
	return v
}

func (v *Column) ID() string    { return "column" }
func (v *Column) Title() string { return v.name }
func (v *Column) Words() string { return "" }

func (v *Column) bin(i int) Bin {
	if i < len(v.names) {
		return v.names[i]
	}
	return v.ranges[i-len(v.names)]
}

func (v *Column) Reading(i int) string {
	b := v.bin(i)
	return fmt.Sprintf("%s: first dataset %s, second dataset %s", b.Words, Grouped(b.First), Grouped(b.Second))
}

func (v *Column) Facts(Figures) Table {
	t := Table{Title: v.name, Head: []string{"value", "first dataset", "second dataset"}}
	for i := range len(v.names) + len(v.ranges) {
		b := v.bin(i)
		t.Rows = append(t.Rows, []string{b.Words, fmt.Sprint(b.First), fmt.Sprint(b.Second)})
	}
	return t
}

func (v *Column) Layout(f Frame) *Scene {
	s := f.scene(0)
	y := 4.0
	if len(v.names) > 0 {
		y = v.bars(s, s.legend([]key{{words: "first dataset", paint: Ink(First), form: keyBox}, {words: "second dataset (hatched)", paint: Ink(Second), form: keyHatch}}, y))
	}
	if len(v.ranges) > 0 {
		y = v.histogram(s, s.legend([]key{{words: "first dataset", paint: Ink(First), form: keyLine}, {words: "second dataset (dashed)", paint: Ink(Second), form: keyDash}}, y))
	}
	s.Height = y
	return s
}

// bars draws the names from y on, and returns where they end.
func (v *Column) bars(s *Scene, y float64) float64 {
	const pitch, bar = 44.0, 10.0
	most := 0
	for _, b := range v.names {
		most = max(most, b.First, b.Second)
	}
	x := Scale{Lo: 0, Hi: float64(most), From: 2, To: s.Width - s.wide(Grouped(most)) - 10}
	for _, b := range v.names {
		row := Rect{0, y, s.Width, pitch}
		s.Items = append(s.Items, Item{Box: row, Mark: row})
		s.label(2, y+13, clipWords(s, b.Words, s.Width-8), Start, Text).Mono = true
		for side, n := range [2]int{b.First, b.Second} {
			at := y + 18 + float64(side)*(bar+1)
			r := Rect{x.From, at, x.At(float64(n)) - x.From, bar}
			if side == 0 {
				s.rect(r, Ink(First), Rect{})
			} else {
				s.rect(r, Ink(Second), Rect{})
				s.hatch(r, Ink(Panel).At(0.75), r)
			}
			s.label(r.Right()+5, at+bar-1, Grouped(n), Start, Muted).Size = 11
		}
		y += pitch
	}
	s.Plot = Rect{0, y - pitch, s.Width, pitch}
	return y + 4
}

// histogram draws the ranges from y on, and returns where it ends.
func (v *Column) histogram(s *Scene, y float64) float64 {
	const height = 170
	most := 0.0
	for _, b := range v.ranges {
		p, q := b.Shares()
		most = max(most, p, q)
	}
	up := Scale{Lo: 0, Hi: most * 1.06, From: y + 20 + height, To: y + 20}
	box := Rect{s.gutter(up, 4, Percent), y + 20, 0, height}
	box.W = s.Width - 10 - box.X
	s.Plot = box
	lo, hi := v.ranges[0].From, v.ranges[len(v.ranges)-1].To
	x := Scale{Lo: lo, Hi: hi, From: box.X, To: box.Right()}
	s.label(0, box.Y-9, "share of rows", Start, Muted)
	s.across(up, 4, box, Percent)
	s.steps(v.ranges, func(at, share float64) Point { return Point{x.At(at), up.At(share)} }, around(box, 1))
	s.under(x, box.Bottom(), Window{lo, hi})
	for _, b := range v.ranges {
		r := Rect{x.At(b.From), box.Y, x.At(b.To) - x.At(b.From), box.H}
		s.Items = append(s.Items, Item{Box: r, Mark: r})
	}
	return box.Bottom() + 26
}
