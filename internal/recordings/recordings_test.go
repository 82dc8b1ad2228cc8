package recordings_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/recordings"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A file is read as package recorded reads it, progress ends at its size, and a pipe is
// read too.
func TestRead(t *testing.T) {
	text := "x,dataset\n" + strings.Repeat("1.5,0\n2.5,1\n", 50_000)
	path := written(t, "x.csv", text)
	var last recordings.Progress
	r := &recordings.Reader{Tell: func(p recordings.Progress) {
		if p.Bytes < last.Bytes || p.Name != "x.csv" {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}}
	file := must.Get(r.Read(path, recorded.Options{Name: path}))(t)
	want := must.Get(recorded.Read(strings.NewReader(text), recorded.Options{}))(t)
	if file.SHA256 != want.SHA256 || file.Tables[0].Rows() != 100_000 || last.Bytes != int64(len(text)) || last.Of != last.Bytes {
		t.Errorf("%+v, %+v", file, last)
	}
	in, out := io.Pipe()
	go func() {
		io.WriteString(out, text)
		out.Close()
	}()
	piped, err := (&recordings.Reader{}).Stream(in, recorded.Options{Name: "pipe"})
	if err != nil || piped.SHA256 != want.SHA256 {
		t.Errorf("%v %+v", err, piped)
	}
}

// A file that grows, or is written to, while it is read is refused, though what was read
// of it could be parsed.
func TestChanged(t *testing.T) {
	text := "x,dataset\n" + strings.Repeat("1.5,0\n2.5,1\n", 200_000)
	path := written(t, "x.csv", text)
	once := false
	r := &recordings.Reader{Tell: func(recordings.Progress) {
		if once {
			return
		}
		once = true
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		io.WriteString(f, "3,0\n")
	}}
	_, err := r.Read(path, recorded.Options{Name: path})
	if !audit.IsInput(err) || !strings.Contains(fmt.Sprint(err), "changed while it was read") {
		t.Error(err)
	}
}

// An NPY that was cut off is found.
func TestCutOff(t *testing.T) {
	head := "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000,), }"
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	data := "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), 0}) + head + strings.Repeat("\x00\x00\x00\x00\x00\x00\xf0\x3f", 950_000) + "abc"
	_, err := (&recordings.Reader{}).Read(written(t, "x.npy", data), recorded.Options{Name: "x.npy"})
	if want := "the end, after 950000 of 1000000 values, must be a file of 8000128 bytes"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
