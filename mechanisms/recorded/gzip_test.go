package recorded_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// packed is data as gzip packs it.
func packed(data string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(data))
	z.Close()
	return b.String()
}

// What is in a gzip file is read as it is outside; name,
// size and digest are the file's.
func TestGzip(t *testing.T) {
	text := csv(300)
	for format, data := range map[string]string{
		"csv.gz":   text,
		"jsonl.gz": "{\"x\": 1, \"dataset\": 0}\n{\"x\": 2, \"dataset\": 1}\n",
		"json.gz":  "[[1, 2],\n[3, 4]]",
		"npy.gz":   npy(1, "<f8", false, []int{7, 3}, ramp(21, 1)),
		"tsv.gz":   "x\ty\n" + strings.Repeat("1\t2\n", 30_000),
	} {
		want := read(t, data, recorded.Options{})
		for _, file := range []string{packed(data), packed(data[:5]) + packed(data[5:])} {
			got := read(t, file, recorded.Options{})
			if got.Format != format || got.Bytes != int64(len(file)) || got.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte(file))) {
				t.Errorf("%s: %s, %d bytes, %s", format, got.Format, got.Bytes, got.SHA256)
			}
			got.Format, got.Bytes, got.SHA256 = want.Format, want.Bytes, want.SHA256
			if dump(got) != dump(want) {
				t.Errorf("%s:\n%s\nwant\n%s", format, dump(got), dump(want))
			}
		}
	}
	must.Get(scores(t, packed("in,out\n3,1\n4,2\n")))(t)
}

func TestBadGzip(t *testing.T) {
	whole := packed(csv(300))
	damaged := []byte(whole)
	damaged[len(damaged)-5] ^= 1 // of the checksum
	for name, x := range map[string]struct {
		data, want string
		o          recorded.Options
	}{
		"cut off":        {whole[:len(whole)-20], "a damaged gzip file (unexpected EOF)", recorded.Options{}},
		"damaged":        {string(damaged), "a damaged gzip file (invalid checksum)", recorded.Options{}},
		"more behind it": {whole + "abc", "a damaged gzip file", recorded.Options{}},
		"empty inside":   {packed(""), "is empty", recorded.Options{}},
		"twice":          {packed(whole), "packed twice", recorded.Options{}},
		"zip":            {packed(npz(true)), "packed twice", recorded.Options{}},
		"binary inside":  {packed("abc\x00"), "not text (byte 0x00 at offset 3)", recorded.Options{}},
		"fault inside":   {packed("x,dataset\n1,0\noops,1\n"), `line 3, column 1 (x) is "oops"`, recorded.Options{}},
		"commas inside":  {packed("x;dataset\n1,5;0\n1,5;1\n"), "decimal comma", recorded.Options{}},
		"a bomb":         {packed(strings.Repeat("1,0\n", 1<<20)), "beyond 1 MiB when it is unpacked", recorded.Options{MaxExpanded: 1 << 20}},
		"a bomb of rows": {packed(strings.Repeat("1,0\n", 1<<20)), "at most 1000 cells", recorded.Options{MaxCells: 1000}},
		"a bomb of one":  {packed(strings.Repeat("1", 3<<20)), "longer than 1 MiB", recorded.Options{}},
	} {
		x.o.Name = "f"
		must.Input(t, must.Err(recorded.Read(strings.NewReader(x.data), x.o)), x.want, name)
	}
}
