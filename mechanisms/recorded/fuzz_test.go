package recorded_test

import (
	"bytes"
	"compress/gzip"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// Whatever the bytes: no panic; an error is an input error; reading it
// byte by byte changes nothing, and so does packing it; what comes out has columns of
// the same length, codes that have words and numbers that are finite. size
// chooses the options.
func fuzz(f *testing.F) {
	z := gzip.NewWriter(nil) // a new one for each input would take most of the time
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		o := recorded.Options{Name: "fuzz", MaxCells: 1 << 16, MaxExpanded: 1 << 20, MaxBytes: 1 << 20, Scores: size%8 == 7}
		if size%3 == 2 {
			o.NonFinite = recorded.AsSymbol
		}
		whole, err := recorded.Read(bytes.NewReader(data), o)
		parts, perr := recorded.Read(iotest.OneByteReader(bytes.NewReader(data)), o)
		if err != nil && !audit.IsInput(err) {
			t.Fatalf("error %v is no input error", err)
		}
		if (err == nil) != (perr == nil) || err != nil && err.Error() != perr.Error() {
			t.Fatalf("read at once: %v; by bytes: %v", err, perr)
		}
		if err != nil {
			return
		}
		if a, b := dump(whole), dump(parts); a != b {
			t.Fatalf("read at once:\n%s\nby bytes:\n%s", a, b)
		}
		for _, table := range whole.Tables {
			for _, c := range table.Columns {
				if c.Len() != table.Rows() && !o.Scores || table.Rows() == 0 && !o.Scores {
					t.Fatalf("column %q has %d of %d rows", c.Name, c.Len(), table.Rows())
				}
				for i := range c.Len() {
					if c.Kind != audit.Symbol && math.IsNaN(c.Real(i)-c.Real(i)) {
						t.Fatalf("column %q: %v", c.Name, c.Real(i))
					}
					_ = c.Text(i) // which panics where the symbol is none of the column's
				}
			}
		}
		if size%16 == 0 && whole.Format != recorded.NPZ && !strings.HasSuffix(string(whole.Format), ".gz") {
			var packed bytes.Buffer
			z.Reset(&packed)
			z.Write(data)
			z.Close()
			unpacked, err := recorded.Read(&packed, o)
			if err != nil {
				t.Fatalf("in gzip: %v", err)
			}
			unpacked.Format, unpacked.Bytes, unpacked.SHA256 = whole.Format, whole.Bytes, whole.SHA256
			if a, b := dump(whole), dump(unpacked); a != b {
				t.Fatalf("as it is:\n%s\nin gzip:\n%s", a, b)
			}
		}
		files := []*recorded.File{whole}
		if _, err := recorded.Pair(files, audit.Reading{}); err != nil && !audit.IsInput(err) {
			t.Fatalf("error %v is no input error", err)
		}
		if _, err := recorded.Pair([]*recorded.File{whole, parts}, audit.Reading{Dataset: "c1"}); err != nil && !audit.IsInput(err) {
			t.Fatalf("error %v is no input error", err)
		}
		if _, err := recorded.ReadScores([]*recorded.File{parts}, recorded.ScoreColumns{}); err != nil && !audit.IsInput(err) {
			t.Fatalf("error %v is no input error", err)
		}
	})
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"x,dataset\n1,0\n2,1\n", "a\tb\r\n\"q\"\"\nr\"\tNaN\r\n", "\uFEFF1;2\n3;4", "\"", "in,out\n1,\n", ",,\n", "score,member\n1,1\n0,0\n", "run,score,member\n1,1,1\n1,1,0\n", "run,score,member\n,,\n", "1e999\n", "\"a\"\r", csv(250), "1,5;2\n3;4,5\n", "x\ty\n-9007199254740993\t81129638414606681695789005144064\n", "1." + strings.Repeat("9", 320), packed(csv(3)), csv(502) + "\"3\",yes,1\n4,no,0\n", csv(501) + "NaN,yes,1\n,no,0\n1,new,0\n"} {
		f.Add([]byte(s), uint8(3))
		if len(s) > 1000 {
			continue
		}
		f.Add([]byte(s), uint8(7))  // as scores
		f.Add([]byte(s), uint8(32)) // as outputs, in gzip too
	}
	fuzz(f)
}

func FuzzJSONLines(f *testing.F) {
	for _, s := range []string{"{\"a\":1,\"b\":\"x\"}\n{\"b\":\"\\u00e9\",\"a\":-2.5e3}\n", "[1,2]\n[3,4]\n\n", "[[1],[2]]", "{\"d0\":[1,2],\"d1\":[[3]]}", "[true,NaN,-Infinity]", "[\n{\"a\":1},\n{\"a\":2}]", "{", "[", "{\"a\":", "[\"\\", "{\"in\":[[1],[2]],\"out\":[[1],[2]]}"} {
		f.Add([]byte(s), uint8(2))
	}
	fuzz(f)
}

func FuzzNPY(f *testing.F) {
	for _, s := range []string{npy(1, "<f8", false, []int{3}, ramp(3, 0)), npy(2, ">i2", true, []int{2, 2}, ramp(4, 0)), npy(3, "|b1", false, []int{5, 1}, ramp(5, 0)), npy(1, "|O", false, []int{1}, nil), npy(1, "<f4", false, []int{1 << 50, 1 << 50}, nil), "\x93NUMPY", "\x93NUMPY\x01\x00\x02\x00{}"} {
		f.Add([]byte(s), uint8(9))
	}
	fuzz(f)
}

func FuzzNPZ(f *testing.F) {
	a := npy(1, "<f8", false, []int{4}, ramp(4, 0))
	for _, s := range []string{npz(false, entry{"d0.npy", a}, entry{"d1.npy", a}), npz(true, entry{"in.npy", a}, entry{"out.npy", a}), npz(true, entry{"x.npy", a}, entry{"dataset.npy", npy(1, "|b1", false, []int{4}, []float64{0, 1, 0, 1})}), npz(false), "PK\x03\x04", npz(false, entry{"a.txt", "b"})} {
		f.Add([]byte(s), uint8(40))
	}
	fuzz(f)
}
