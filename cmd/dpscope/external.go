package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

// externalFlags are the flags of a mechanism from outside.
type externalFlags struct {
	pair.External               // once it is read
	timeout       time.Duration // of -exec
	parent        bool          // who started this answers for -exec
	stdout        io.Writer     // requests of -exec-parent
	asked         cli.Asked[pair.External]
	stdin         io.Reader // what the file - of samples is
	stderr        io.Writer // where progress of reading is shown; nil: nowhere
}

func (f *externalFlags) register(s *cli.Flags, keys []settings.Key[pair.External]) {
	f.asked = cli.Settings(s, keys)
	s.DurationVar(&f.timeout, "exec-timeout", command.DefaultTimeout, "how long -exec may take for one request, of up to 4096 outputs")
	s.BoolVar(&f.parent, "exec-parent", false, "the program that started dpscope answers the requests: requests go to standard output, answers come from standard input, progress and errors go to standard error, and reports go to the files of -output. -exec is then only the name in the report")
}

// read takes what the flags ask for. Without a name there is no file.
func (f *externalFlags) read() error {
	err := f.asked.Read(&f.External)
	files := &f.Recorded.Files
	for n := len(*files); n > 0 && (*files)[n-1] == ""; n-- {
		*files = (*files)[:n-1]
	}
	return err
}

// requests is the stream of requests to the program that started this one.
type requests struct {
	io.Writer
	closed bool
}

// Close ends the requests; the stream itself ends with this program.
func (r *requests) Close() error { r.closed = true; return nil }

func (r *requests) Write(b []byte) (int, error) {
	if r.closed {
		return 0, io.ErrClosedPipe
	}
	return r.Writer.Write(b)
}

// parentOf is the program that started this one, where it answers; else nil.
func parentOf(answers bool, stdin io.Reader, stdout io.Writer, frames bool) *command.Parent {
	if !answers {
		return nil
	}
	return &command.Parent{Requests: &requests{stdout, false}, Answers: stdin, Frames: frames}
}

// externalMechanism is a mechanism from outside that runs.
type externalMechanism interface {
	audit.Mechanism
	UserMechanism() audit.UserMechanism
	Close()
}

// opening is what a mechanism is opened with.
type opening struct {
	pair.UserProgram
	space audit.Space
	pair  *audit.Pair
	// Of a report that is replayed, instead of kinds:
	columns []audit.Column
	sha256  string
}

// userKinds are the flags that bring a mechanism.
var userKinds = map[audit.UserKind]string{audit.UserModule: "wasm", audit.UserCommand: "exec"}

// given says whether a mechanism from outside is named.
func (f *externalFlags) given() bool { return f.Mechanism() != "" || f.Table.File != "" }

// userKind is the kind that is brought; "": none.
func (f *externalFlags) userKind() audit.UserKind {
	return audit.UserKind(pair.External{User: f.User}.Mechanism())
}

// namesWithin are the settings that only one kind of a mechanism from outside has.
func namesWithin(part string) (names []string) {
	for _, k := range settings.Without(pair.ExternalKeys(), pair.SharedKeys...) {
		if strings.HasPrefix(k.Field, part+"/") {
			names = append(names, k.Name)
		}
	}
	return names
}

// check refuses flags that belong to other mechanisms.
func (f *externalFlags) check(given map[string]bool) error {
	if by := userKinds[f.userKind()]; by != "" {
		others := slices.DeleteFunc([]string{"wasm", "exec"}, func(name string) bool { return name == by })
		return refuseFlags(given, "absent with -"+by, "that audits your own mechanism", slices.Concat([]string{"mechanism", "param"}, namesWithin("recorded"), namesWithin("table"), others, map[bool][]string{true: {"exec-parent"}}[by == "wasm"])...)
	}
	if f.Table.File == "" {
		if err := refuseFlags(given, "absent without -table", "name the file of labelled examples with -table FILE", namesWithin("table")...); err != nil {
			return err
		}
	}
	for _, name := range []string{"wasm", "exec"} {
		if given[name] {
			return &audit.InputError{Field: "-" + name, Found: `""`, Want: "the command or the module of your mechanism (docs/command.md, docs/abi.md)"}
		}
	}
	if err := refuseFlags(given, "absent without a mechanism of your own", "name yours with -exec or -wasm (docs/command.md, docs/abi.md)", append([]string{"exec-timeout", "exec-parent"}, namesWithin("brought")...)...); err != nil {
		return err
	}
	switch files := f.Recorded.Files; {
	case len(files) == 0:
		return nil
	case files[0] == "":
		return &audit.InputError{Field: "-samples-file", Found: audit.Absent, Want: "the file of the first dataset", Remedy: "-samples-file2 is the file of the second one only"}
	}
	return refuseFlags(given, "absent with -samples-file", "recorded outputs are of one mechanism and one pair of datasets", append([]string{"mechanism", "param", "relation", "pair", "finder", "trials"}, namesWithin("table")...)...)
}

// refuseFlags refuses the flags that are given of those that are named.
func refuseFlags(given map[string]bool, want, remedy string, names ...string) error {
	for _, name := range names {
		if given[name] {
			return &audit.InputError{Field: "-" + name, Found: "given", Want: want, Remedy: remedy}
		}
	}
	return nil
}

// catalogue is what is registered, and the mechanism, which runs until it is
// closed. What the user should know of it goes to notes.
func (f *externalFlags) catalogue(ctx context.Context, p pair.Plan, notes io.Writer) (audit.Catalogue, func(), error) {
	space, err := f.User.Space(p.Relation)
	if err != nil {
		return audit.Catalogue{}, nil, err
	}
	if p.Pair != nil {
		if err := space.Relation.Check(*p.Pair, space.Domain()); err != nil {
			return audit.Catalogue{}, nil, err
		}
	}
	cat, m, err := f.open(ctx, opening{f.User, space, p.Pair, nil, ""})
	if err != nil {
		return cat, nil, err
	}
	if why := m.UserMechanism().Unseeded; why != "" {
		fmt.Fprintf(notes, "dpscope: note: %s: a replay of the report recomputes everything from its counts but cannot draw them again\n", why)
	}
	return cat, m.Close, nil
}

func (f *externalFlags) open(ctx context.Context, o opening) (cat audit.Catalogue, m externalMechanism, err error) {
	switch {
	case o.Wasm != "":
		m, err = openModule(ctx, o)
	case f.timeout <= 0:
		err = &audit.InputError{Field: "-exec-timeout", Found: f.timeout.String(), Want: "above 0", Remedy: "for example 90s"}
	default:
		m, err = command.Open(ctx, command.Options{Parent: parentOf(f.parent, f.stdin, f.stdout, true), Command: o.Exec, Space: o.space, Pair: o.pair, Kinds: o.Kinds, NonFinite: o.NonFinite, Columns: o.columns, Timeout: f.timeout})
	}
	if err != nil {
		return cat, nil, err
	}
	return withUser(m.UserMechanism(), m), m, nil
}

func withUser(b audit.UserMechanism, m audit.Mechanism) audit.Catalogue {
	return cli.With(catalogue, b.Spec(m))
}

// replay is the catalogue to replay the report of such a mechanism with. Nothing
// that a report names is run: the user says again what to run.
func (f *externalFlags) replay(ctx context.Context, r pair.Report) (cat audit.Catalogue, end func(), note string, err error) {
	b := r.Inputs.User
	switch by := userKinds[f.userKind()]; {
	case b == nil:
		return cat, nil, "", &audit.InputError{Field: "-" + by, Found: "given", Want: "absent: the report is of the mechanism " + r.Plan.Mechanism, Remedy: "leave the flag out"}
	case b.Kind.Scripted():
		return cat, nil, "", &audit.InputError{Field: "inputs.brought.kind", Found: string(b.Kind), Want: "one that the command line can run", Remedy: "open the report in the page and press Verify; on the command line audit your own program with -exec (docs/command.md)"}
	case userKinds[b.Kind] == "":
		return cat, nil, "", audit.UnknownName("inputs.brought.kind", string(b.Kind), []string{string(audit.UserCommand), string(audit.UserModule)})
	case by != userKinds[b.Kind]:
		return cat, nil, "", &audit.InputError{Field: "-" + userKinds[b.Kind], Found: audit.Absent,
			Want: fmt.Sprintf("it again, if you trust it: this report names %q", b.Name), Remedy: "a replay runs no program that only the report names"}
	}
	if err := b.Datasets.Validate(); err != nil {
		return cat, nil, "", err
	}
	brought := f.User
	brought.Kinds, brought.NonFinite = nil, b.NonFinite
	cat, m, err := f.open(ctx, opening{brought, b.Datasets, r.Plan.Pair, b.Columns, b.SHA256})
	if err != nil {
		return cat, nil, "", err
	}
	now := m.UserMechanism()
	if now.Name != b.Name { // it may have moved
		note = fmt.Sprintf("the report names %q; this replay ran %q", b.Name, now.Name)
		now.Name = b.Name
		cat = withUser(now, m)
	}
	return cat, m.Close, note, nil
}
