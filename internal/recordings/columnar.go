package recordings

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// Program is what reads Parquet and Arrow files: a module of its own, arrow/, for the size
// of the library that it stands on.
const Program = "dpscope-arrow"

// columnar reports whether a file is one for [Program], by its beginning: Parquet, an Arrow
// file or Feather 2, or an Arrow stream.
func columnar(f io.ReaderAt) bool {
	head := make([]byte, 6)
	n, _ := f.ReadAt(head, 0)
	for _, magic := range []string{"PAR1", "ARROW1", "FEA1", "\xff\xff\xff\xff"} {
		if bytes.HasPrefix(head[:n], []byte(magic)) {
			return true
		}
	}
	return false
}

// find is where [Program] is: beside this one, or in PATH.
func find() (string, error) {
	if own, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(own), Program)); err == nil {
			return path, nil
		}
	}
	return exec.LookPath(Program)
}

// columns is the first line of what [Program] writes. CSV follows.
type columns struct {
	Format  string `json:"format"`
	Columns []struct {
		Name  string `json:"name"`
		Words bool   `json:"words"`
	} `json:"columns"`
}

// columnar reads a file with [Program]. Size and digest are those of the file as it is.
func (r *Reader) columnar(f *os.File, size int64, o recorded.Options) (*recorded.File, error) {
	program, err := find()
	if err != nil {
		return nil, &audit.InputError{Field: o.Name, Found: "a Parquet or Arrow file, and the program " + Program + " that reads such is neither beside dpscope nor in PATH", Want: "CSV, TSV, JSON lines, JSON, NPY or NPZ, or that program",
			Remedy: "go install github.com/dpscope/dpscope/arrow/" + Program + "@latest, or save the file as CSV: DataFrame.to_csv(..., index=False)"}
	}
	sum := sha256.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, &counting{in: f, begun: r.begin(o.Name, size)}, make([]byte, 1<<18)); err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "-head", f.Name())
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	file, err := r.converted(out, o)
	if err != nil {
		cmd.Process.Kill()
	}
	if ended := cmd.Wait(); ended != nil && said.Len() > 0 { // why there is no more to read
		return nil, refusal(o.Name, f.Name(), said.Bytes())
	} else if err == nil {
		err = ended
	}
	if err != nil {
		return nil, err
	}
	file.Bytes, file.SHA256 = size, hex.EncodeToString(sum.Sum(nil))
	return file, nil
}

// converted reads what [Program] writes.
func (r *Reader) converted(from io.Reader, o recorded.Options) (*recorded.File, error) {
	in := bufio.NewReaderSize(&counting{in: from, begun: r.begin(o.Name+", as CSV", 0)}, 1<<18)
	var head columns
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &head)
	}
	if err != nil {
		return nil, &audit.InputError{Field: Program, Found: "without an answer", Want: "the columns of " + o.Name, Remedy: "install the version of this dpscope"}
	}
	kinds := map[string]audit.ColumnKind{}
	for _, c := range head.Columns {
		if kinds[c.Name] = audit.Real; c.Words {
			kinds[c.Name] = audit.Symbol
		}
	}
	for name, kind := range o.Kinds { // in another case, perhaps
		maps.DeleteFunc(kinds, func(n string, _ audit.ColumnKind) bool { return strings.EqualFold(n, name) })
		kinds[name] = kind
	}
	o.Kinds, o.Header, o.Decimal = kinds, recorded.HeaderYes, recorded.DecimalPoint
	file, err := recorded.Read(in, o)
	if err != nil {
		return nil, err
	}
	file.Format, file.Notes = recorded.Format(head.Format), nil
	return file, nil
}

// refusal is what [Program] said.
func refusal(name, path string, said []byte) error {
	var f struct{ Field, Found, Want, Remedy string }
	if err := json.Unmarshal(said, &f); err != nil || f.Field == "" {
		return &audit.InputError{Field: Program, Found: "at its end: " + strings.TrimSpace(string(said[:min(len(said), 300)])), Want: "the rows of " + name}
	}
	if rest, ok := strings.CutPrefix(f.Field, path); ok {
		f.Field = name + rest
	}
	return &audit.InputError{Field: f.Field, Found: f.Found, Want: f.Want, Remedy: f.Remedy}
}
