package recorded_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/memdisk"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/stream/spill"
)

// manyRows is a CSV of numbers of all widths, of names, of both, of whole numbers beyond
// 2^53 and of a row number, with a dataset in words.
func manyRows(n int) string {
	var b strings.Builder
	b.WriteString("row,byte,single,double,name,mixed,whole,dataset\n")
	for i := range n {
		x := i * 7919 % 10007
		mixed := fmt.Sprint(x)
		if x%5 == 0 {
			mixed = "none"
		}
		whole := uint64(x)
		if i > n/2 {
			whole += 1 << 60
		}
		fmt.Fprintf(&b, "%d,%d,%v,%v,name %d,%s,%d,%s\n", i, x%256, float32(x)/8, float64(x)/7, x%300, mixed, whole, []string{"with", "without"}[x%3/2])
	}
	return b.String()
}

// What is read with a scratch is what is read without: columns, notes, and the outputs in
// the order of a seed, from wherever they are asked for. This holds for all formats that
// hold more rows than a block.
func TestScratchChangesNothing(t *testing.T) {
	if !spill.Possible {
		t.Skip("no file to spill to")
	}
	const rows = 69_000
	var values []float64
	for i := range rows {
		values = append(values, float64(i*7919%rows)/7, float64(i%2))
	}
	two := func(shift float64) string {
		var b strings.Builder
		b.WriteString("x,word\n")
		for i := range rows {
			fmt.Fprintf(&b, "%v,w%d\n", float64(i*31%rows)/3+shift, (i+int(shift))%200)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		files []string
		read  audit.Reading
	}{
		"csv":        {[]string{manyRows(rows)}, audit.Reading{Kinds: map[string]audit.ColumnKind{"mixed": audit.Mixed}}},
		"npy":        {[]string{npy(1, "<f8", false, []int{rows, 2}, values)}, audit.Reading{Dataset: "c2"}},
		"fortran":    {[]string{npy(1, ">f8", true, []int{rows, 2}, values)}, audit.Reading{Dataset: "c2"}},
		"two files":  {[]string{two(0), two(1)}, audit.Reading{}},
		"one file":   {[]string{"x,dataset\n" + strings.Repeat("1.5,0\n2.5,1\n0.1,1\n", rows/3)}, audit.Reading{}},
		"npz arrays": {[]string{npz(true, entry{"d0.npy", npy(1, "<f8", false, []int{2 * rows}, values)}, entry{"d1.npy", npy(1, "<f4", false, []int{2 * rows}, values)})}, audit.Reading{}},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(s *spill.Scratch) *recorded.Samples {
				var files []*recorded.File
				for _, text := range c.files {
					f, err := recorded.Read(strings.NewReader(text), recorded.Options{Reading: c.read, Scratch: s})
					if err != nil {
						t.Fatal(err)
					}
					files = append(files, f)
				}
				samples, err := recorded.Pair(files, c.read)
				if err != nil {
					t.Fatal(err)
				}
				return samples
			}
			d := &memdisk.Disk{}
			memory, aside := read(nil), read(spill.New(d, 1<<10))
			if d.Len() == 0 {
				t.Fatal("nothing was put aside")
			}
			if !slices.Equal(memory.Notes, aside.Notes) || fmt.Sprint(memory.Columns) != fmt.Sprint(aside.Columns) || memory.Files[0].SHA256 != aside.Files[0].SHA256 {
				t.Fatalf("%v %v, in memory %v %v", aside.Notes, aside.Columns, memory.Notes, memory.Columns)
			}
			if err := aside.Arrange(11, func(share float64) error {
				if share < 0 || share > 1 {
					t.Errorf("share %v", share)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			width := audit.Width(memory.Columns)
			a, b := outputs(t, memory), outputs(t, aside)
			for side := range 2 {
				n := memory.Rows(side)
				if n != aside.Rows(side) {
					t.Fatalf("%d rows, in memory %d", aside.Rows(side), n)
				}
				for _, seed := range []uint64{11, 12} {
					for _, part := range [][2]int{{0, n}, {n - 1, n}, {1000, 1003}, {n / 2, n/2 + 5000}, {0, 1}} {
						x, y := make([]float64, (part[1]-part[0])*width), make([]float64, (part[1]-part[0])*width)
						if err := errors.Join(a.Recorded(seed, side, part[0], x), b.Recorded(seed, side, part[0], y)); err != nil {
							t.Fatal(err)
						}
						if !slices.Equal(x, y) {
							t.Fatalf("seed %d, side %d, outputs %v differ", seed, side, part)
						}
					}
				}
			}
		})
	}
}

func outputs(t *testing.T, s *recorded.Samples) audit.Recorded {
	t.Helper()
	m, err := s.Spec().New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return m.(audit.Recorded)
}

// A scratch that cannot be written to, or read, is an error of whoever reads the file or
// asks for outputs.
func TestScratchFails(t *testing.T) {
	if !spill.Possible {
		t.Skip("no file to spill to")
	}
	text := manyRows(40_000)
	reading := audit.Reading{Kinds: map[string]audit.ColumnKind{"mixed": audit.Mixed}}
	for _, most := range []int{1, 1 << 20} {
		_, err := recorded.Read(strings.NewReader(text), recorded.Options{Reading: reading, Scratch: spill.New(&memdisk.Disk{Most: most}, 0)})
		if !errors.Is(err, memdisk.ErrFull) {
			t.Errorf("%v", err)
		}
	}
	d := &memdisk.Disk{}
	f, err := recorded.Read(strings.NewReader(text), recorded.Options{Reading: reading, Scratch: spill.New(d, 0)})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := recorded.Pair([]*recorded.File{f}, reading)
	if err != nil {
		t.Fatal(err)
	}
	d.Most = d.Len()
	out := make([]float64, audit.Width(samples.Columns))
	if err := outputs(t, samples).Recorded(1, 0, 0, out); !errors.Is(err, memdisk.ErrFull) {
		t.Errorf("%v", err)
	}
}

// An NPZ that can be read again is not held, and a file in gzip is unpacked on the way:
// both give what they give otherwise.
func TestReadOnTheWay(t *testing.T) {
	z := npz(true, entry{"d0.npy", npy(1, "<f8", false, []int{300}, counting(300))}, entry{"d1.npy", npy(1, "<f8", false, []int{300}, counting(300))})
	for name, text := range map[string]string{"npz": z, "csv": packed("x,dataset\n" + strings.Repeat("1,0\n2,1\n", 300))} {
		held, err := recorded.Read(struct{ io.Reader }{strings.NewReader(text)}, recorded.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		p, err := recorded.NewParser(recorded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.Write([]byte(text))
		written, err := p.Close()
		if err != nil {
			t.Fatal(name, err)
		}
		again, err := recorded.Read(strings.NewReader(text), recorded.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		for _, f := range []*recorded.File{written, again} {
			if f.SHA256 != held.SHA256 || f.Bytes != held.Bytes || f.Format != held.Format || len(f.Tables) != len(held.Tables) || f.Tables[0].Rows() != held.Tables[0].Rows() {
				t.Errorf("%s: %+v, otherwise %+v", name, f, held)
			}
		}
	}
}

func counting(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}
