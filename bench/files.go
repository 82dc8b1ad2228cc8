package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// fileRow is one command on one file.
type fileRow struct {
	File    string  `json:"file"`
	Bytes   int64   `json:"bytes"`
	Command string  `json:"command"`
	Seconds float64 `json:"seconds"` // on the clock
	CPU     float64 `json:"cpu"`     // seconds of all processors
	Peak    int64   `json:"peak"`    // bytes of memory at most, 0 where the system does not say
}

type fileResult struct {
	Rows  int       `json:"rows"`
	Table []fileRow `json:"table"`
}

// benchFiles writes a CSV and an NPY of recorded outputs, and one of each of scores, and
// measures time and memory of the command on them, beside a count of their lines.
func benchFiles(c *call) (int, error) {
	rows := c.Int("rows", 1_000_000, "rows of each file; 100000000 takes 8 GB on the disk")
	dir := c.String("dir", os.TempDir(), "folder on the disk that is measured; the files are removed")
	program := c.String("command", "dpscope", "`command` to measure")
	seed := c.Uint64("seed", 1, "seed of the files")
	c.outputFlags()
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if err := within("-rows", *rows, 1000, 1_000_000_000, ""); err != nil {
		return 0, err
	}
	path, err := exec.LookPath(*program)
	if err != nil {
		return 0, &audit.InputError{Field: "-command", Found: *program, Want: "a program: " + err.Error(), Remedy: "go build -o bin/ ./cmd/dpscope, and give -command bin/dpscope"}
	}
	folder, err := os.MkdirTemp(*dir, "dpscope-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	res := fileResult{Rows: *rows}
	for _, f := range []struct {
		name, columns string
		args          []string
	}{
		{"outputs.csv", "x,dataset", []string{"audit", "-epsilon", "1", "-seed", "1", "-samples-file"}},
		{"outputs.npy", "", []string{"audit", "-epsilon", "1", "-seed", "1", "-dataset", "c2", "-samples-file"}},
		{"scores.csv", "score,member", []string{"scores", "-epsilon", "1", "-delta", "1e-5", "-relation", "replace", "-method", "exact"}},
	} {
		file := filepath.Join(folder, f.name)
		c.say("writing %s", f.name)
		size, err := writeRows(file, f.columns, *rows, *seed)
		if err != nil {
			return 0, err
		}
		for _, cmd := range [][]string{{"wc", "-l"}, append([]string{path}, f.args...)} {
			c.say("%s %s", filepath.Base(cmd[0]), strings.Join(cmd[1:], " "))
			row, err := measured(c.ctx, append(cmd, file))
			if err != nil {
				return 0, err
			}
			row.File, row.Bytes = f.name, size
			row.Command = strings.Join(append([]string{filepath.Base(cmd[0])}, cmd[1:]...), " ")
			res.Table = append(res.Table, row)
		}
		if err := os.Remove(file); err != nil {
			return 0, err
		}
	}
	return 0, c.emit(res, res.print)
}

func (r fileResult) print(w io.Writer) {
	fmt.Fprintf(w, "Files of %d rows of two columns\n\n", r.Rows)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "file\tMB\tcommand\tseconds\tCPU s\tMB/s\tpeak MB")
	for _, x := range r.Table {
		mb := float64(x.Bytes) / 1e6
		fmt.Fprintf(t, "%s\t%.0f\t%s\t%.1f\t%.1f\t%.0f\t%.0f\n", x.File, mb, x.Command, x.Seconds, x.CPU, mb/x.Seconds, float64(x.Peak)/1e6)
	}
	t.Flush()
	fmt.Fprintf(w, "\nA command that needs less memory than the bench that starts it shows the bench's.\n")
}

// measured runs a command to its end. One that finds a violation ended well.
func measured(ctx context.Context, args []string) (row fileRow, err error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var said strings.Builder
	cmd.Stderr = &said
	begun := time.Now()
	err = cmd.Run()
	row.Seconds = time.Since(begun).Seconds()
	if exit := cmd.ProcessState; err != nil && (exit == nil || exit.ExitCode() != 1 && exit.ExitCode() != 3) {
		return row, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	row.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	row.Peak = peakMemory(cmd.ProcessState)
	return row, nil
}

// writeRows writes Laplace noise beside 0 or 1, to which it is added, and returns the size
// of the file: a CSV with the columns' names, or an NPY.
func writeRows(name, columns string, rows int, seed uint64) (int64, error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if columns != "" {
		fmt.Fprintln(w, columns)
	} else {
		head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 2), }", rows)
		head += strings.Repeat(" ", 117-len(head)) + "\n"
		w.WriteString("\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), 0}) + head)
	}
	st := stream.New(stream.Key{Seed: seed, Purpose: "bench files"})
	var b []byte
	for range rows {
		side := st.Intn(2)
		u := st.Float64() - 0.5
		x := float64(side) - math.Copysign(math.Log(1-2*math.Abs(u)), u)
		if columns != "" {
			b = append(strconv.AppendFloat(b[:0], x, 'g', -1, 64), ',', byte('0'+side), '\n')
		} else {
			b = binary.LittleEndian.AppendUint64(b[:0], math.Float64bits(x))
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(side)))
		}
		if _, err := w.Write(b); err != nil {
			return 0, err
		}
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
