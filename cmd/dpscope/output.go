package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/wasm/stills"
)

type formatFlags struct {
	format   string
	files    []formatFile
	location string
	strict   bool
	all      bool
}

type formatFile struct{ format, path string }

func (f *formatFlags) register(s *cli.Flags) {
	s.BoolVar(&f.strict, "strict", false, "exit with 3 when the run is inconclusive")
	s.BoolVar(&f.all, "all", false, "print all bounds, orders and settings, not only the verdict and its reasons")
	s.Format(&f.format, "format of standard output: "+strings.Join(format.Formats, ", "), format.Formats...)
	f.registerFiles(s)
	s.StringVar(&f.location, "location", "", "`FILE[:LINE]` of the mechanism in your code, for sarif and github; GitHub refuses SARIF without it. In a plan the default is the line of the audit")
}

func (f *formatFlags) registerFiles(s *cli.Flags) {
	s.Check(f.check)
	s.Func("output", "also write a `file`, as FORMAT=FILE or as FILE with an ending that names the format (.html, .sarif, .json, .xml, .md, .txt, .svg); may be given more than once", func(v string) error {
		out, err := parseOutput(v)
		if err == nil {
			f.files = append(f.files, out)
		}
		return err
	})
}

var endings = map[string]string{".html": format.HTML, ".sarif": format.SARIF, ".json": format.JSON, ".xml": format.JUnit, ".md": format.Markdown, ".txt": format.Text, ".svg": format.SVG}

func parseOutput(v string) (formatFile, error) {
	if name, path, ok := strings.Cut(v, "="); ok && path != "" && !strings.ContainsAny(name, `/\.`) {
		return formatFile{name, path}, cli.CheckFormat(name, format.Formats...)
	}
	name, ok := endings[strings.ToLower(filepath.Ext(v))]
	if !ok {
		return formatFile{}, audit.Fault("output", fmt.Sprintf("%q", v), "FORMAT=FILE, or a file that ends in .html, .sarif, .json, .xml, .md, .txt or .svg", "for example -output markdown="+v)
	}
	return formatFile{name, v}, nil
}

// check refuses, before anything runs, what could not be written.
func (f *formatFlags) check() error {
	if _, err := f.place(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, out := range f.files {
		if seen[out.path] {
			return audit.Fault("-output", fmt.Sprintf("%s twice", out.path), "a separate file for each format")
		}
		seen[out.path] = true
		info, err := os.Stat(out.path)
		switch {
		case err == nil && info.IsDir():
			return audit.Fault("-output", out.path+", a folder", "a file")
		case err == nil && !info.Mode().IsRegular():
			continue
		}
		probe, err := os.CreateTemp(filepath.Dir(out.path), ".dpscope-*")
		if err != nil {
			return audit.Fault("-output", fmt.Sprintf("%s, which cannot be written (%v)", out.path, err), "a file in a folder that exists")
		}
		probe.Close()
		os.Remove(probe.Name())
	}
	return nil
}

func (f *formatFlags) place() (*format.Location, error) {
	if f.location == "" {
		return nil, nil
	}
	l, err := format.ParseLocation(filepath.ToSlash(f.location))
	return &l, err
}

// write writes all forms, the files first: standard output may be closed early.
func (f *formatFlags) write(stdout io.Writer, run format.Run) (files, printed error) {
	run.Pictures = stills.Of
	for _, out := range f.files {
		var data bytes.Buffer
		err := format.Write(&data, out.format, run)
		if err == nil {
			err = cli.WriteWhole(out.path, data.Bytes())
		}
		if err != nil {
			files = errors.Join(files, fmt.Errorf("-output %s was not written: %w", out.path, err))
		}
	}
	if !f.all {
		run.Sentence, run.Columns = stills.Sentence, columns(stdout)
	}
	return files, format.Write(stdout, f.format, run)
}

// finish writes a single report in all forms, and why the run failed where its text does not say so.
func (f *formatFlags) finish(s streams, name string, r report.View, failed error) error {
	if failed != nil && (f.format != format.Text || s.stdout == io.Discard) {
		s.fail(failed)
	}
	place, _ := f.place() // it was checked
	files, printed := f.write(s.stdout, format.Run{Audits: []format.Audit{{Name: name, Report: r, Location: place}}, Strict: f.strict})
	h := r.Head()
	return s.told(h.Summary, cli.VerdictCode(h.Verdict, h.Termination.Reason, f.strict), files, printed)
}

// columns are those of a terminal, 0 where w is none.
func columns(w io.Writer) (n int) {
	if out, ok := w.(*outlet); ok {
		w = out.Writer
	}
	if f, ok := w.(*os.File); ok {
		n, _, _ = term.GetSize(int(f.Fd()))
	}
	return n
}

// told ends a command that has a verdict. Standard error gets a summary that standard output did not take.
func (s streams) told(summary string, code int, files, printed error) error {
	if printed != nil {
		fmt.Fprintln(s.stderr, phrase.Visible(summary))
	}
	if files != nil {
		code = s.lost(code, files)
	}
	return exit(code)
}

// lost names what could not be written. A violation keeps its exit code.
func (s streams) lost(code int, err error) int {
	s.fail(err)
	return audit.Pick(code == cli.ExitViolation, code, cli.ExitUsage)
}

type outlet struct {
	io.Writer
	err error
}

func (o *outlet) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	o.err = audit.First(o.err, err)
	return n, err
}

// untilSignal ends with the first SIGINT, SIGTERM or, but under nohup, SIGHUP: a run can tell what it has. The second
// ends the process, as the first does before this is called: all input is read before.
func untilSignal() (ctx context.Context, stop context.CancelFunc) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop = signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
