package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Flags are the flags of a command. What is wrong with a value is said by Parse.
type Flags struct {
	*flag.FlagSet
	stderr io.Writer
	checks []func() error
	gone   map[string]string
}

// NewFlags are the flags of a command, whose name begins with the program's.
func NewFlags(name string, stderr io.Writer) *Flags {
	return &Flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), stderr: stderr}
}

// Check adds a check of what was parsed. Checks run in the order in which they were
// added.
func (f *Flags) Check(check func() error) { f.checks = append(f.checks, check) }

// Gone names a flag that the command had, and what to do instead.
func (f *Flags) Gone(name, instead string) {
	if f.gone == nil {
		f.gone = map[string]string{}
	}
	f.gone[name] = instead
}

// Given reports whether the user gave the flag.
func (f *Flags) Given(name string) bool {
	given := false
	f.Visit(func(x *flag.Flag) { given = given || x.Name == name })
	return given
}

// Parse reads the arguments: flags, and so many operands. The exit code counts when
// ok is false.
func (f *Flags) Parse(args []string, operands int) (code int, ok bool) {
	if code, ok = f.parse(args); !ok {
		return code, false
	}
	if f.NArg() != operands {
		want := "no argument besides flags"
		if operands > 0 {
			want = fmt.Sprintf("%d argument", operands)
		}
		return f.fail(&audit.InputError{Field: f.Name(), Found: fmt.Sprintf("called with %q", f.Args()), Want: "given " + want}), false
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

// known is the error of parsing arguments, with the nearest flag where there is none
// of the name that was given.
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

// Format is a flag -format: one of the formats, the first by default.
func (f *Flags) Format(p *string, usage string, formats ...string) {
	f.StringVar(p, "format", formats[0], usage)
	f.Check(func() error { return CheckFormat(*p, formats...) })
}

// TextOrJSON is a flag -format of two formats.
func (f *Flags) TextOrJSON(p *string) { f.Format(p, "text or json", "text", "json") }

// CheckFormat refuses a format that is not one of them.
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
			return &audit.InputError{Field: "-workers", Found: fmt.Sprint(*n), Want: fmt.Sprintf("in [0, %d]", most), Remedy: "0 means one per processor"}
		}
		if *n == 0 {
			*n = runtime.GOMAXPROCS(0)
		}
		return nil
	})
	return n
}

// Count is a flag for a whole number that may be written as 1e6 or 1_000_000 too.
func (f *Flags) Count(p *int, name string, value int, usage string) {
	*p = value
	f.Var((*CountValue)(p), name, usage+", a whole `number`")
}

// CountValue is a whole number that may be written as 1e6 or 1_000_000 too.
type CountValue int

func (v *CountValue) String() string { return strconv.Itoa(int(*v)) }

// Set reads the number.
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
