package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/recordings"
	"github.com/dpscope/dpscope/internal/training"
	"github.com/dpscope/dpscope/mechanisms/learners"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/mechanisms/user/command"
	"github.com/dpscope/dpscope/mechanisms/user/module"
)

// brought is what the user brings besides a plan.
type brought struct {
	pair.External  // outputs, a program (one that trains too), a module or a table
	training.Flags // how the program is run
	files          []string
	parent         bool   // who started this answers for the program
	after          string // partial that says whether its trainings can be drawn again

	asked   cli.Asked[pair.External]
	streams // of the parent's answers and of requests to it, too
}

func (b *brought) register(s *cli.Flags, keys []settings.Key[pair.External]) {
	b.asked = cli.Settings(s, keys)
	s.DurationVar(&b.Timeout, "exec-timeout", command.DefaultTimeout, "how long -exec may take for one request, of up to 4096 outputs")
	b.registerParent(s)
}

func (b *brought) registerParent(s *cli.Flags) {
	s.BoolVar(&b.parent, "exec-parent", false, "the program that started dpscope answers for -exec: requests go to standard output and answers come from standard input, progress and errors go to standard error, and reports go to the files of -output. -exec is then only the name in the report")
}

// ask takes what the flags ask for. Without a name there is no file.
func (b *brought) ask() error {
	err := b.asked.Read(&b.External)
	files := &b.Recorded.Files
	for n := len(*files); n > 0 && (*files)[n-1] == ""; n-- {
		*files = (*files)[:n-1]
	}
	return err
}

// requests end at Close; the stream itself ends with this program.
type requests struct {
	io.Writer
	ended atomic.Bool
}

func (r *requests) Write(b []byte) (int, error) {
	if r.ended.Load() {
		return 0, io.ErrClosedPipe
	}
	return r.Writer.Write(b)
}

func (r *requests) Close() error {
	r.ended.Store(true)
	return nil
}

// answers is the program that started this one, where that answers.
func (b *brought) answers(frames bool) *command.Parent {
	if !b.parent {
		return nil
	}
	return &command.Parent{Requests: &requests{Writer: b.stdout}, Answers: b.stdin, Frames: frames}
}

var userKinds = map[audit.UserKind]string{audit.UserModule: "wasm", audit.UserCommand: "exec"}

func (b *brought) userKind() audit.UserKind {
	return audit.UserKind(pair.External{User: b.User}.Mechanism())
}

// namesWithin are the settings of one kind of mechanism from outside alone.
func namesWithin(part string) []string {
	own := settings.Without(pair.ExternalKeys(), pair.SharedKeys...)
	return settings.Names(slices.DeleteFunc(own, func(k settings.Key[pair.External]) bool {
		return !strings.HasPrefix(k.Field, part+"/")
	}))
}

// check refuses flags that belong to other mechanisms.
func (b *brought) check(s *cli.Flags) error {
	refuse := func(want, remedy string, names ...string) error {
		for _, name := range names {
			if s.Given(name) {
				return given("-"+name, want, remedy)
			}
		}
		return nil
	}
	if by := userKinds[b.userKind()]; by != "" {
		others := map[string][]string{"exec": {"wasm"}, "wasm": {"exec", "exec-parent"}}[by]
		names := slices.Concat([]string{"mechanism", "param"}, namesWithin("recorded"), namesWithin("table"), others)
		return refuse("absent with -"+by, "that audits your own mechanism", names...)
	}
	if b.Table.File == "" {
		if err := refuse("absent without -table", "name the file of labelled examples with -table FILE", namesWithin("table")...); err != nil {
			return err
		}
	}
	for _, name := range []string{"wasm", "exec"} {
		if s.Given(name) {
			return audit.Fault("-"+name, `""`, "the command or the module of your mechanism (docs/command.md, docs/abi.md)")
		}
	}
	if err := refuse("absent without a mechanism of your own", "name yours with -exec or -wasm (docs/command.md, docs/abi.md)", append([]string{"exec-timeout", "exec-parent"}, namesWithin("brought")...)...); err != nil {
		return err
	}
	switch files := b.Recorded.Files; {
	case len(files) == 0:
		return nil
	case files[0] == "":
		return absent("-samples-file", "the file of the first dataset", "-samples-file2 is the file of the second one only")
	}
	return refuse("absent with -samples-file", "recorded outputs are of one mechanism and one pair of datasets", append([]string{"mechanism", "param", "relation", "pair", "finder", "trials"}, namesWithin("table")...)...)
}

type userMechanism interface {
	audit.Mechanism
	UserMechanism() audit.UserMechanism
	Close()
}

type opening struct {
	pair.UserProgram
	space audit.Space
	pair  *audit.Pair
	// Of a replay, instead of kinds:
	columns []audit.Column
	sha256  string
}

func (j *job) start(ctx context.Context, p pair.Plan) error {
	space, err := j.User.Space(p.Relation)
	if err == nil && p.Pair != nil {
		err = space.Relation.Check(*p.Pair, space.Domain)
	}
	if err != nil {
		return err
	}
	m, err := j.openUser(ctx, opening{j.User, space, p.Pair, nil, ""})
	if err != nil {
		return err
	}
	if why := m.UserMechanism().Unseeded; why != "" {
		fmt.Fprintf(j.stderr, "dpscope: note: %s: a replay of the report recomputes everything from its counts but cannot draw them again\n", why)
	}
	j.env.Catalogue, j.end = catalogue.With(m.UserMechanism().Spec(m)), m.Close
	return nil
}

func (b *brought) openUser(ctx context.Context, o opening) (userMechanism, error) {
	if o.Wasm != "" {
		return openModule(ctx, o)
	}
	if b.Timeout <= 0 {
		return nil, audit.Fault("-exec-timeout", b.Timeout.String(), "above 0", "for example 90s")
	}
	return command.Open(ctx, command.Options{Parent: b.answers(true), Command: o.Exec, Space: o.space, Pair: o.pair, Kinds: o.Kinds, NonFinite: o.NonFinite, Columns: o.columns, Timeout: b.Timeout})
}

const moduleHost = "host-module"

func openModule(ctx context.Context, o opening) (userMechanism, error) {
	if o.NonFinite == "symbol" {
		return nil, audit.Fault("-nonfinite", "symbol", "refuse with -wasm", "make the module return another number instead of NaN and infinities")
	}
	data, err := readFile(o.Wasm, module.MostBytes)
	if err != nil {
		return nil, err
	}
	kinds := o.Kinds
	for _, c := range o.columns {
		if kinds == nil {
			kinds = map[string]audit.ColumnKind{}
		}
		kinds[c.Name] = c.Kind
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return module.Open(ctx, filepath.Base(o.Wasm), data, module.Options{Host: []string{self, moduleHost}, Space: o.space, Pair: o.pair, Kinds: kinds, SHA256: o.sha256})
}

func checkOwnClaim(c *audit.Claim) error {
	if c != nil && (c.Epsilon > 0 || c.Rho > 0 || c.Mu > 0) {
		return nil
	}
	return absent("-epsilon", "the claimed epsilon (or -rho, or -mu)", "enter what your mechanism claims, for example -epsilon 1; dpscope cannot know it")
}

func (j *job) readRecorded() error {
	files, err := j.readSamples(j.Recorded.Files, j.Recorded.Reading)
	if err != nil {
		return err
	}
	samples, err := recorded.Pair(files, j.Recorded.Reading)
	if err == nil {
		j.env.Catalogue = catalogue.With(samples.Spec())
	}
	return err
}

func (b *brought) reader() (r *recordings.Reader, show *meter) {
	r, show = &recordings.Reader{}, &meter{cli.NewMeter(b.stderr, false)}
	if show.W != nil {
		r.Tell = show.reading
	}
	return r, show
}

// readSamples reads files of outputs, named without their folders.
func (b *brought) readSamples(paths []string, reading audit.Reading) (files []*recorded.File, err error) {
	r, show := b.reader()
	defer show.Clear()
	for i, path := range paths {
		var file *recorded.File
		switch o := (recorded.Options{Name: path, Reading: reading}); {
		case path != "-" || b.stdin == nil:
			file, err = r.Read(path, o)
		case slices.Contains(paths[i+1:], "-"):
			err = audit.Fault("-samples-file2", "- like -samples-file", "another file", "standard input can be read once; save one of the two to a file")
		default:
			o.Name = "standard input"
			file, err = r.Stream(b.stdin, o)
		}
		if err != nil {
			return nil, err
		}
		file.Name = filepath.Base(path)
		files = append(files, file)
	}
	return files, nil
}

func (b *brought) readScores(names []string, columns recorded.ScoreColumns) (*scores.Scores, error) {
	if len(names) < 1 || len(names) > 2 {
		return nil, audit.Fault("files of scores", strconv.Itoa(len(names)), "one with both classes, or two: canaries that were in, and those that were out")
	}
	r, show := b.reader()
	defer show.Clear()
	var parsed []*recorded.File
	for _, name := range names {
		f, err := r.Read(name, recorded.Options{Name: filepath.Base(name), Scores: true})
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
	}
	show.Show("sorting the scores")
	return scores.ReadScores(parsed, columns)
}

// openTable adds the learners over a table, see [learners.In].
func (j *job) openTable(path string, reading audit.LabelledReading, was *audit.Labelled) (note string, err error) {
	text, err := readFile(path, learners.MostBytes)
	if err == nil {
		j.env.Catalogue, note, err = learners.In(catalogue, filepath.Base(path), text, reading, was)
	}
	return note, err
}

func (j *job) readTable(p pair.Plan) error {
	_, err := j.openTable(j.Table.File, j.Table.LabelledReading, nil)
	var names []string
	for _, m := range j.env.Catalogue.Mechanisms {
		if m.Labelled != nil {
			names = append(names, m.Name)
		}
	}
	if err == nil && p.Mechanism != "" && !slices.Contains(names, p.Mechanism) {
		err = audit.UnknownName("-mechanism with -table", p.Mechanism, names)
	}
	return err
}

func readOneFile(names []string) ([]byte, error) {
	switch {
	case len(names) == 0 || names[0] == "":
		return nil, nil
	case len(names) > 1:
		return nil, audit.Fault("-data", fmt.Sprintf("given %d times", len(names)), "given once")
	}
	return readFile(names[0], mostFile)
}

const mostFile = 64 << 20

func readFile(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, audit.Fault(name, "a folder", "a file")
	}
	return readAll(name, f, most)
}

func readAll(name string, in io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(data)) > most {
		return nil, audit.Fault(name, fmt.Sprintf("larger than %d bytes", most), "at most that large", "check that it is the right file; if it is a table, keep fewer rows")
	}
	return data, nil
}

// read reads a file, or standard input for -.
func (s streams) read(name string) ([]byte, error) {
	if name == "-" {
		return readAll(name, s.stdin, mostFile)
	}
	return readFile(name, mostFile)
}

// Nothing that a report names is run or read again: the user names it. note: something has another name now.

func (j *job) replayUser(ctx context.Context, r pair.Report) (note string, err error) {
	u := r.Inputs.User
	switch by := userKinds[j.userKind()]; {
	case u == nil:
		return "", given("-"+by, "absent: the report is of the mechanism "+r.Plan.Mechanism, "leave the flag out")
	case u.Kind.Scripted():
		return "", audit.Fault("inputs.brought.kind", string(u.Kind), "one that the command line can run", "open the report in the page and press Verify; on the command line audit your own program with -exec (docs/command.md)")
	case userKinds[u.Kind] == "":
		return "", audit.UnknownName("inputs.brought.kind", string(u.Kind), []string{string(audit.UserCommand), string(audit.UserModule)})
	case by != userKinds[u.Kind]:
		return "", absent("-"+userKinds[u.Kind], fmt.Sprintf("it again, if you trust it: this report names %q", u.Name), "a replay runs no program that only the report names")
	}
	if err := u.Datasets.Validate(); err != nil {
		return "", err
	}
	again := j.User
	again.Kinds, again.NonFinite = nil, u.NonFinite
	m, err := j.openUser(ctx, opening{again, u.Datasets, r.Plan.Pair, u.Columns, u.SHA256})
	if err != nil {
		return "", err
	}
	now := m.UserMechanism()
	if now.Name != u.Name { // it may have moved
		note = fmt.Sprintf("the report names %q; this replay ran %q", u.Name, now.Name)
		now.Name = u.Name
	}
	j.env.Catalogue, j.end = catalogue.With(now.Spec(m)), m.Close
	return note, nil
}

func (j *job) replayTable(r pair.Report) (note string, err error) {
	was := r.Inputs.Labelled
	switch {
	case was == nil:
		return "", given("-table", "absent: the report is not of a user's table", "leave the flag out")
	case j.Table.File == "":
		return "", absent("-table", "the table that the report is of: "+was.File.Name, "name it with -table FILE")
	}
	return j.openTable(j.Table.File, was.Reading, was)
}

func (j *job) replayRecorded(r pair.Report) (note string, err error) {
	rec, paths := r.Inputs.Samples, j.Recorded.Files
	switch {
	case rec == nil && len(paths) == 0:
		return "", nil
	case rec == nil:
		return "", given("-samples-file", "absent: the report is of the mechanism "+r.Plan.Mechanism, "leave the flag out")
	case len(rec.Files) == 0 || len(rec.Files) > 2:
		return "", audit.Fault("inputs.samples.files", fmt.Sprintf("of %d files", len(rec.Files)), "one or two")
	case len(paths) != len(rec.Files) || paths[0] == "":
		want := "the file that the report is of: " + rec.Files[0].Name
		if len(rec.Files) == 2 {
			want = fmt.Sprintf("the files that the report is of, -samples-file %s -samples-file2 %s", rec.Files[0].Name, rec.Files[1].Name)
		}
		return "", audit.Fault("-samples-file", "absent, or not as many files as the report has", want)
	}
	files, err := j.readSamples(paths, rec.Reading)
	if err != nil {
		return "", err
	}
	samples, err := recorded.Replay(rec, files)
	if err != nil {
		return "", err
	}
	for i, file := range files {
		if was := rec.Files[i].Name; file.Name != was { // it may have moved
			note += fmt.Sprintf("the report names %q; this replay read %q, which holds the same. ", was, file.Name)
		}
	}
	j.env.Catalogue = catalogue.With(samples.Spec())
	return strings.TrimSpace(note), nil
}
