// Package cli is what the commands share.
package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
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

// Seeded is all that draws from the seed.
func Seeded() audit.Catalogue {
	return audit.Catalogue{Mechanisms: slices.Concat(mechanisms.All(), learners.All()), Learners: estimators.Registry(), Finders: finders.Registry()}
}

// Catalogue is all that is registered.
func Catalogue() audit.Catalogue {
	c := Seeded()
	c.Mechanisms = slices.Concat(c.Mechanisms, google.All())
	return c
}

// Fail prints an error and returns its exit code.
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

// Meter shows progress on one line.
type Meter struct {
	W      io.Writer // nil: nobody sees it
	Now    func() float64
	Lines  bool   // each is a line of its own, for the program that started this one
	Before string // stands before every line

	last float64 // when a line was shown
	wide int     // of that line
}

// MeterWidth is that of a usual terminal.
const MeterWidth = 79

// NewMeter is that of a terminal or, with lines, of the program that started this one.
func NewMeter(w io.Writer, lines bool) Meter {
	if !lines && !IsTerminal(w) {
		return Meter{}
	}
	return Meter{W: w, Now: Clock(), Lines: lines, last: math.Inf(-1)}
}

// Sometimes shows a line if the last has been there for a while.
func (m *Meter) Sometimes(line string) {
	if m.W != nil && m.Now()-m.last >= 0.1 {
		m.last = m.Now()
		m.Show(line)
	}
}

// Show puts a line in place of the last.
func (m *Meter) Show(line string) {
	if m.W == nil {
		return
	}
	line = m.Before + line
	if m.Lines {
		fmt.Fprintf(m.W, "\r%s\n", line)
		return
	}
	letters := []rune(line)
	letters = letters[:min(len(letters), MeterWidth)]
	fmt.Fprintf(m.W, "\r%s%s", string(letters), strings.Repeat(" ", max(0, m.wide-len(letters))))
	m.wide = len(letters)
}

// Clear clears the line.
func (m *Meter) Clear() {
	if m.W != nil && m.wide > 0 {
		fmt.Fprintf(m.W, "\r%s\r", strings.Repeat(" ", m.wide))
	}
}

// Unfinished begins the name of a file until [WriteWhole] has written all of it.
const Unfinished = ".dpscope-"

// WriteWhole writes a file whole or not at all, unless it is a pipe or a device.
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

// Flags are the flags of a command. Parse says what is wrong with a value.
type Flags struct {
	*flag.FlagSet
	stderr io.Writer
	checks []func() error
	gone   map[string]string
}

// NewFlags makes them; the command's name begins with the program's.
func NewFlags(name string, stderr io.Writer) *Flags {
	return &Flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), stderr: stderr, gone: map[string]string{}}
}

// Check adds a check of what was parsed.
func (f *Flags) Check(check func() error) { f.checks = append(f.checks, check) }

// Gone names a flag that the command had, and what to do instead.
func (f *Flags) Gone(name, instead string) {
	f.gone[name] = instead
}

// Given reports whether the user gave the flag.
func (f *Flags) Given(name string) bool {
	given := false
	f.Visit(func(x *flag.Flag) { given = given || x.Name == name })
	return given
}

// Parse reads flags and so many operands. code counts when ok is false.
func (f *Flags) Parse(args []string, operands int) (code int, ok bool) {
	if code, ok = f.parse(args); !ok {
		return code, false
	}
	if f.NArg() != operands {
		want := audit.Pick(operands > 0, fmt.Sprintf("%d argument", operands), "no argument besides flags")
		return f.fail(audit.Fault(f.Name(), fmt.Sprintf("called with %q", f.Args()), "given "+want)), false
	}
	return f.check()
}

// ParseNames reads flags and names in any order.
func (f *Flags) ParseNames(args []string) (names []string, code int, ok bool) {
	for {
		if code, ok = f.parse(args); !ok {
			return nil, code, false
		}
		if args = f.Args(); len(args) == 0 {
			code, ok = f.check()
			return names, code, ok
		}
		names, args = append(names, args[0]), args[1:]
	}
}

func (f *Flags) parse(args []string) (code int, ok bool) {
	f.Usage = func() {}
	f.SetOutput(io.Discard) // the package would print the error and every flag
	err := f.FlagSet.Parse(args)
	f.SetOutput(f.stderr)
	if err == flag.ErrHelp {
		fmt.Fprintf(f.stderr, "Usage of %s:\n", f.Name())
		f.PrintDefaults()
		return ExitOK, false
	}
	if err != nil {
		return f.fail(fmt.Errorf("%w; all flags: %s -h", f.known(args, err), f.Name())), false
	}
	return ExitOK, true
}

// known names the nearest flag where there is none of a name.
func (f *Flags) known(args []string, err error) error {
	at := len(args) - f.NArg() - 1 // the argument before what is left
	if at < 0 {
		return err
	}
	name, _, _ := strings.Cut(strings.TrimLeft(args[at], "-"), "=")
	if f.Lookup(name) != nil {
		return err
	}
	if instead := f.gone[name]; instead != "" {
		return fmt.Errorf("flag -%s was removed; %s", name, instead)
	}
	var names []string
	f.VisitAll(func(x *flag.Flag) { names = append(names, x.Name) })
	if near := audit.Nearest(name, names); near != "" {
		return fmt.Errorf("%w; did you mean -%s?", err, near)
	}
	return err
}

func (f *Flags) check() (code int, ok bool) {
	for _, check := range f.checks {
		if err := check(); err != nil {
			return f.fail(err), false
		}
	}
	return ExitOK, true
}

func (f *Flags) fail(err error) int {
	program, _, _ := strings.Cut(f.Name(), " ")
	return Fail(program, f.stderr, err)
}

// Several is a flag that may be given more than once.
func (f *Flags) Several(p *[]string, name, usage string) {
	f.Func(name, usage, func(v string) error {
		*p = append(*p, v)
		return nil
	})
}

// Format is a flag -format; the first is the default.
func (f *Flags) Format(p *string, usage string, formats ...string) {
	f.StringVar(p, "format", formats[0], usage)
	f.Check(func() error { return CheckFormat(*p, formats...) })
}

// TextOrJSON is a flag -format of two formats.
func (f *Flags) TextOrJSON(p *string) { f.Format(p, "text or json", "text", "json") }

// CheckFormat refuses another format.
func CheckFormat(name string, formats ...string) error {
	if slices.Contains(formats, name) {
		return nil
	}
	return audit.UnknownName("-format", name, formats)
}

// Workers is a flag -workers. After Parse it is above 0.
func (f *Flags) Workers(otherwise int, usage string) *int {
	n := f.Int("workers", otherwise, usage)
	f.Check(func() error {
		const most = 1024
		if *n < 0 || *n > most {
			return audit.Fault("-workers", fmt.Sprint(*n), fmt.Sprintf("in [0, %d]", most), "0 means one per processor")
		}
		*n = cmp.Or(*n, runtime.GOMAXPROCS(0))
		return nil
	})
	return n
}

// Count is a flag for a [CountValue].
func (f *Flags) Count(p *int, name string, value int, usage string) {
	*p = value
	f.Var((*CountValue)(p), name, usage+", a whole `number`")
}

// CountValue is a whole number that may be written as 1e6 or 1_000_000 too.
type CountValue int

func (v *CountValue) String() string { return strconv.Itoa(int(*v)) }

func (v *CountValue) Set(s string) error {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		*v = CountValue(n)
		return nil
	}
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case (err == nil || errors.Is(err, strconv.ErrRange)) && math.Abs(x) > audit.MaxSeed:
		return fmt.Errorf("must be at most %d", uint64(audit.MaxSeed))
	case err != nil || x != math.Trunc(x):
		return fmt.Errorf("must be a whole number such as 100000 or 1e5")
	}
	*v = CountValue(x)
	return nil
}

// Seed is a flag -seed.
func (f *Flags) Seed(p *uint64, value uint64, usage string) {
	*p = value
	f.Var((*seedValue)(p), "seed", usage+", a whole `number`")
}

type seedValue uint64

func (v *seedValue) String() string { return strconv.FormatUint(uint64(*v), 10) }

func (v *seedValue) Set(s string) error {
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil || n > audit.MaxSeed {
		return fmt.Errorf("must be a whole number in [0, %d]", uint64(audit.MaxSeed))
	}
	*v = seedValue(n)
	return nil
}

// Asked are settings that were given by flags.
type Asked[P any] struct {
	keys  []settings.Key[P]
	texts settings.Texts
}

// Settings are flags, one for each key.
func Settings[P any](f *Flags, keys []settings.Key[P]) Asked[P] {
	a := Asked[P]{keys, settings.Texts{}}
	for _, k := range keys {
		usage := k.Usage
		switch k.At.Type {
		case settings.ParamsType:
			f.Func(k.Name, usage, func(v string) error {
				name, value, err := audit.ParseParam(v)
				if err == nil {
					a.texts["p."+name] = value.String()
				}
				return err
			})
			continue
		case settings.WholeType:
			usage += ", a whole `number`"
		}
		shown := cmp.Or(k.Default, k.Preset)
		f.Var(&settingValue{a.texts, k.Name, shown, k.At.Type == settings.SwitchType, k.At.Type == settings.EachType}, k.Name, usage)
	}
	return a
}

// Read puts them into a plan. An error names the flag.
func (a Asked[P]) Read(p *P) error {
	err := settings.Read(a.keys, a.texts, p)
	var in *audit.InputError
	if errors.As(err, &in) && in.Field == in.Path && !strings.HasPrefix(in.Field, "p.") {
		in.Field = "-" + in.Field
	}
	return err
}

// Blame names the flag in an error about its field of a plan.
func (a Asked[P]) Blame(err error) error {
	var in *audit.InputError
	if errors.As(err, &in) {
		field, _, _ := strings.Cut(in.Field, "[")
		for _, k := range a.keys {
			if field == k.Field || field == k.Name {
				in.Field = "-" + k.Name + in.Field[len(field):]
			}
		}
	}
	return err
}

type settingValue struct {
	texts settings.Texts
	name  string
	shown string // where none is given
	alone bool   // it may stand without a value
	each  bool   // it may be given more than once
}

func (v *settingValue) String() string {
	if text, given := v.texts[v.name]; given {
		return text
	}
	return v.shown
}

func (v *settingValue) Set(text string) error {
	if before, given := v.texts[v.name]; given && v.each {
		text = before + settings.Between + text
	}
	v.texts[v.name] = text
	return nil
}

func (v *settingValue) IsBoolFlag() bool { return v.alone }
