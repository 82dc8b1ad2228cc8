// Package cli is what the commands dpscope and bench share: flags and their
// checks, exit codes, what is registered, and how errors are printed.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/mechanisms"
	"github.com/dpscope/dpscope/mechanisms/google"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// Exit codes of every command.
const (
	ExitOK           = 0 // no violation found
	ExitViolation    = 1
	ExitUsage        = 2 // wrong usage or input, a mechanism that fails among it
	ExitInconclusive = 3 // with -strict, and for a run that was stopped
)

// ErrStopped is the end of a command that had nothing to tell yet.
var ErrStopped = errors.New("stopped before the end; no result")

// Seeded is all that is registered and draws from the seed.
func Seeded() audit.Catalogue {
	return audit.Catalogue{Mechanisms: slices.Concat(mechanisms.All(), learners.All()), Learners: estimators.Registry(), Finders: finders.Registry()}
}

// Catalogue is all that is registered.
func Catalogue() audit.Catalogue {
	c := Seeded()
	c.Mechanisms = slices.Concat(c.Mechanisms, google.All())
	return c
}

// Fail prints an error under the program's name and returns the exit code that goes
// with it.
func Fail(program string, stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "%s: %s\n", program, phrase.Block(phrase.Short(err.Error())))
	return ExitUsage
}

// VerdictCode is the exit code of an audit.
func VerdictCode(v audit.Verdict, end audit.TerminationReason, strict bool) int {
	switch {
	case v == audit.Violation:
		return ExitViolation
	case v == audit.Invalid:
		return ExitUsage
	case end == audit.Stopped, strict && v != audit.NoViolation:
		return ExitInconclusive
	}
	return ExitOK
}

// Print writes a report as text or, in the format json, as JSON.
func Print(w io.Writer, format string, text func() string, report any) error {
	if format == "text" {
		_, err := io.WriteString(w, text())
		return err
	}
	data, err := audit.Canonical(report)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// Generator says what this program is, for reports.
func Generator() audit.Generator {
	g := audit.Generator{Name: "dpscope", Version: audit.Version, GoOS: runtime.GOOS, GoArch: runtime.GOARCH, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				g.Version += "+" + s.Value[:12]
			}
		}
	}
	return g
}

// Clock counts seconds from now on.
func Clock() func() float64 {
	start := time.Now()
	return func() float64 { return time.Since(start).Seconds() }
}

// IsTerminal reports whether somebody watches what is written.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Unfinished begins the name of a file until [WriteWhole] has written all of it.
const Unfinished = ".dpscope-"

// WriteWhole writes a file whole or not at all; what is no regular file (a pipe,
// a device) is written as it is.
func WriteWhole(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return os.WriteFile(path, data, 0o644)
		}
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), Unfinished+"*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	for _, step := range []func() error{tmp.Sync, func() error { return tmp.Chmod(mode) }, tmp.Close} {
		if e := step(); err == nil {
			err = e
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.Rename(tmp.Name(), path)
}
