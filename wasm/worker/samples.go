package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// sampleStore is of the role of samples: a coordinator that audits the user's samples by itself, as a crew
// would gain little, and each of its workers would hold or parse the file once more.
type sampleStore struct {
	c     *coordinator
	pause func()
	held  atomic.Pointer[heldFiles]
}

type heldFiles struct {
	given []userFile
	files []*recorded.File // nil until they are read, and after a failure
	asked inspectRequest   // that they were read with
	spec  *audit.MechanismSpec
}

// inspectRequest is how files are taken. What is empty is guessed.
type inspectRequest struct {
	As      recorded.Kind `json:"as,omitempty"`
	First   int           `json:"first,omitempty"` // of two files, 1 or 2: which has the first dataset, or the members
	Reading audit.Reading `json:"reading"`
	Score   string        `json:"score,omitempty"`
	Member  string        `json:"member,omitempty"`
	Sign    string        `json:"sign,omitempty"` // whether a lower or a higher score means in
}

const (
	headRows    = 6
	headColumns = 64
	mostNamed   = 4 // columns in a sentence
)

type inspected struct {
	Files     []fileFacts   `json:"files"` // empty where they could not be read
	Columns   []columnFacts `json:"columns"`
	Head      [][]string    `json:"head"` // the first rows of the first columns
	As        recorded.Kind `json:"as,omitempty"`
	Sentences [][]part      `json:"sentences"` // say what the files are taken for
	Reading   [][]part      `json:"reading"`   // says how the bytes are read
	Notes     []string      `json:"notes"`     // on how outputs were read
	Problem   *refusal      `json:"problem,omitempty"`
	// Offer is absent where there is a problem, or the user has to choose.
	Offer *offer `json:"offer,omitempty"`
}

type fileFacts struct {
	audit.RecordedFile
	Rows int `json:"rows"` // of its longest table
}

// columnFacts are what a column holds, and of outputs what it is.
type columnFacts struct {
	Name string `json:"name"`
	Kind part   `json:"kind"`
	Role part   `json:"role"`
}

type readProgress struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // of all files
}

// inspect says what is in files, given or there before.
func (c *coordinator) inspect(ctx context.Context, r request[inspectRequest]) (inspected, error) {
	d, ask := c.own, r.asked
	if d == nil {
		return inspected{}, errors.New("no such request: samples are read by a coordinator of their own")
	}
	held := d.held.Load()
	given, files := held.given, held.files
	if !sameBytesRead(ask.Reading, held.asked.Reading) {
		files = nil
	}
	if len(r.files) > 0 {
		given, files = r.files, nil
	}
	// Nothing else is held while files are read anew.
	d.held.Store(&heldFiles{given: given})
	out := inspected{As: ask.As, Files: []fileFacts{}, Columns: []columnFacts{}, Head: [][]string{}, Sentences: [][]part{}, Reading: [][]part{}, Notes: []string{}} // the page relies on them
	var err error
	if files == nil {
		var columns []*recorded.Column
		options := recorded.Options{Reading: ask.Reading, Scores: ask.As == recorded.OfScores}
		files, columns, err = d.read(ctx, r.id, given, options)
		out.Columns = audit.Each(columns, ask.facts)
		names := audit.Each(columns, func(c *recorded.Column) string { return c.Name })
		if err != nil && ask.As == "" && recorded.NamesOfScores(names) {
			out.As, out.Columns = recorded.OfScores, []columnFacts{}
			options.Scores = true
			files, _, err = d.read(ctx, r.id, given, options)
		}
	}
	if ctx.Err() != nil {
		return inspected{}, errStopped
	}
	var spec *audit.MechanismSpec
	if err == nil {
		out.describe(files, ask)
		out.As = cmp.Or(out.As, recorded.Guess(files))
	}
	out.ask(given, files, ask)
	if ask.As = out.As; err == nil {
		switch files := inOrder(files, ask); ask.As {
		case recorded.OfScores:
			err = out.scores(files, ask)
		case recorded.Labelled:
			out.say(words("A private learner is trained on it, and on the same table with one row changed."))
		default:
			spec, err = out.outputs(files, ask)
		}
	}
	if err != nil && out.As != recorded.Labelled { // which is read elsewhere
		out.Problem = new(refusalOf(err))
	}
	d.held.Store(&heldFiles{given, files, ask, spec})
	return out, nil
}

func inOrder(files []*recorded.File, q inspectRequest) []*recorded.File {
	if len(files) == 2 && (q.First == 2 || q.First == 0 && q.As == recorded.OfScores && recorded.Others(files[0].Name) && !recorded.Others(files[1].Name)) {
		return []*recorded.File{files[1], files[0]}
	}
	return files
}

var errStopped = errors.New("stopped before the end")

// sameBytesRead reports whether readings differ at most in which columns are what.
func sameBytesRead(a, b audit.Reading) bool {
	return a.Header == b.Header && a.NonFinite == b.NonFinite && maps.Equal(a.Kinds, b.Kinds)
}

func (out *inspected) describe(files []*recorded.File, q inspectRequest) {
	for _, f := range files {
		out.Files = append(out.Files, fileFacts{f.RecordedFile, slices.Max(append(audit.Each(f.Tables, (*recorded.Table).Rows), 0))})
	}
	columns := files[0].Columns()
	columns = columns[:min(len(columns), headColumns)]
	out.Columns = audit.Each(columns, q.facts)
	rows := slices.Max(append(audit.Each(columns, (*recorded.Column).Len), 0))
	for i := range min(headRows, rows) {
		out.Head = append(out.Head, audit.Each(columns, func(c *recorded.Column) string {
			if i < c.Len() {
				return c.Text(i)
			}
			return ""
		}))
	}
}

// read says after an error what columns the file has, if that is known.
func (d *sampleStore) read(ctx context.Context, id int, given []userFile, o recorded.Options) ([]*recorded.File, []*recorded.Column, error) {
	if len(given) == 0 {
		return nil, nil, &audit.InputError{Field: "samples", Found: audit.Absent, Want: "a file, or one for each dataset"}
	}
	total, before := int64(0), int64(0)
	for _, f := range given {
		if err := recorded.CheckSize(f.name, f.size, o); err != nil {
			return nil, nil, err
		}
		total += f.size
	}
	var files []*recorded.File
	told, last := newThrottle(d.c.now, progressEvery), time.Now()
	for _, f := range given {
		o.Name, o.Size = f.name, f.size
		o.Progress = func(at int64) error {
			if time.Since(last) < sliceTime {
				return nil
			}
			if told.passes(false) {
				d.c.tell(id, readProgress{f.name, float64(before+at) / float64(max(1, total))})
			}
			d.pause()
			last = time.Now()
			return ctx.Err()
		}
		file, err := recorded.Read(&userReader{f, 0}, o)
		if err != nil {
			if file == nil {
				return nil, nil, err
			}
			return nil, file.Tables[0].Columns, err
		}
		files = append(files, file)
		before += f.size
	}
	return files, nil, nil
}

// userReader tells of a file that ends too soon, as io.SectionReader does not.
type userReader struct {
	userFile
	at int64
}

func (r *userReader) Read(b []byte) (int, error) {
	if r.at == r.size {
		return 0, io.EOF
	}
	n, err := r.ReadAt(b[:min(int64(len(b)), r.size-r.at)], r.at)
	if r.at += int64(n); err == nil || errors.Is(err, io.EOF) && n > 0 {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it ends before its size")
	}
	return n, &audit.InputError{Field: r.name, Found: "unreadable: " + err.Error(), Want: "a file that this browser may read", Remedy: "choose it again"}
}

func (d *sampleStore) catalogue() audit.Catalogue {
	if spec := d.held.Load().spec; spec != nil {
		return d.c.cat.With(*spec)
	}
	return d.c.cat
}

// replay is the catalogue to replay a report with: the files here, read as it says.
func (d *sampleStore) replay(ctx context.Context, id int, r pair.Report) (audit.Catalogue, error) {
	rec := r.Inputs.Samples
	if rec == nil {
		return d.c.cat, nil
	}
	held := d.held.Load()
	files := held.files
	if files == nil || !sameBytesRead(held.asked.Reading, rec.Reading) {
		var err error
		if files, _, err = d.read(ctx, id, held.given, recorded.Options{Reading: rec.Reading}); err != nil {
			return audit.Catalogue{}, err
		}
	}
	samples, err := recorded.Replay(rec, files)
	if err != nil {
		return audit.Catalogue{}, err
	}
	return d.c.cat.With(samples.Spec()), nil
}

func (d *sampleStore) scores(columns recorded.ScoreColumns) (*scores.Scores, error) {
	held := d.held.Load()
	return scores.ReadScores(inOrder(held.files, held.asked), columns)
}

// part of a sentence is a text, or a choice.
type part struct {
	Text    string   `json:"text,omitempty"`
	Label   string   `json:"label,omitempty"` // of a choice, for who does not see the sentence
	Options []option `json:"options,omitempty"`
}

// option asks for another reading; that which holds for none.
type option struct {
	Text string          `json:"text"`
	Asks *inspectRequest `json:"asks,omitempty"`
}

// offer is an audit of files, but for the claim.
type offer struct {
	Listing  audit.MechanismListing `json:"listing"`
	Kind     string                 `json:"kind"`
	Settings settings.Texts         `json:"settings"` // that the files give
	Methods  []report.Method        `json:"methods"`  // of scores, the default first
}

func words(format string, args ...any) part { return part{Text: fmt.Sprintf(format, args...)} }

func (out *inspected) say(parts ...part) { out.Sentences = append(out.Sentences, parts) }

// choice offers names, of which now holds; empty: the user has to choose.
func (q inspectRequest) choice(label, now string, names []string, set func(*inspectRequest, int)) part {
	if now != "" && len(names) < 2 {
		return words("%s", now)
	}
	return q.nth(label, slices.Index(names, now), names, set)
}

// nth is choice by the place of the name that holds.
func (q inspectRequest) nth(label string, now int, names []string, set func(*inspectRequest, int)) part {
	p := part{Label: label}
	if now < 0 {
		p.Options = append(p.Options, option{Text: "choose"})
	}
	for i, name := range names {
		o := option{Text: name}
		if i != now {
			o.Asks = new(q)
			set(o.Asks, i)
		}
		p.Options = append(p.Options, o)
	}
	return p
}

var kindWords = []string{"outputs on two datasets", "scores of members and others", "a table with labels"}

func (out *inspected) ask(given []userFile, files []*recorded.File, q inspectRequest) {
	kinds, name := []recorded.Kind{recorded.Outputs, recorded.OfScores, recorded.Labelled}, given[0].name
	if len(given) > 1 {
		name += " and " + given[1].name
	}
	if len(given) > 1 || files != nil && files[0].Format != recorded.CSV {
		kinds = kinds[:2]
	}
	if files != nil {
		name += ", " + phrase.Count(out.Files[0].Rows, "row")
	}
	bytes := audit.Reading{Header: q.Reading.Header, Kinds: q.Reading.Kinds, NonFinite: q.Reading.NonFinite}
	out.say(words("%s: ", name), q.choice("What it is", kindWords[max(0, slices.Index(kinds, out.As))], kindWords[:len(kinds)], func(to *inspectRequest, i int) { *to = inspectRequest{As: kinds[i], Reading: bytes} }))
	line, nonFinite := []string{"", recorded.HeaderYes, recorded.HeaderNo}, []string{"", recorded.AsSymbol}
	out.Reading = [][]part{
		{words("The first line "), q.nth("First line", slices.Index(line, q.Reading.Header), []string{"is known by its content", "names the columns", "is a row"}, func(to *inspectRequest, i int) { to.Reading.Header = line[i] })},
		{words("NaN and infinities are "), q.nth("NaN and infinities", slices.Index(nonFinite, q.Reading.NonFinite), []string{"refused", "symbols"}, func(to *inspectRequest, i int) { to.Reading.NonFinite = nonFinite[i] })},
	}
}

func (q inspectRequest) facts(c *recorded.Column) columnFacts {
	kinds, names := []audit.ColumnKind{audit.Real, audit.Symbol, audit.Mixed, ""}, []string{"numbers", "names", "numbers and names"}
	names = append(names, names[max(0, slices.Index(kinds, c.Kind))]+" (by content)")
	kind := q.nth(c.Name+": kind", slices.Index(kinds, q.Reading.Kinds[c.Name]), names, func(to *inspectRequest, i int) {
		to.Reading.Kinds = map[string]audit.ColumnKind{}
		maps.Copy(to.Reading.Kinds, q.Reading.Kinds)
		if to.Reading.Kinds[c.Name] = kinds[i]; kinds[i] == "" {
			delete(to.Reading.Kinds, c.Name)
		}
	})
	return columnFacts{c.Name, kind, part{}}
}

var roleWords = []string{"output", "tells the dataset", "left out"}

func (out *inspected) roles(s *recorded.Samples, q inspectRequest) {
	is := func(name string) int {
		switch {
		case s == nil:
			return -1
		case name == s.By:
			return 1
		case slices.ContainsFunc(s.Columns, func(o audit.Column) bool { return o.Name == name }):
			return 0
		}
		return 2
	}
	for i, c := range out.Columns {
		out.Columns[i].Role = q.nth(c.Name+": role", is(c.Name), roleWords, func(to *inspectRequest, role int) {
			if to.Reading.Outputs = nil; role == 1 {
				to.Reading.Dataset = c.Name
				return
			}
			if is(c.Name) == 1 {
				to.Reading.Dataset = ""
			}
			for _, other := range out.Columns {
				if other.Name == c.Name && role == 0 || other.Name != c.Name && is(other.Name) == 0 {
					to.Reading.Outputs = append(to.Reading.Outputs, other.Name)
				}
			}
		})
	}
}

func (q inspectRequest) first(files []*recorded.File, given []fileFacts) part {
	names := []string{given[0].Name, given[1].Name}
	return q.choice("The first file", files[0].Name, names, func(to *inspectRequest, i int) { to.First = 1 + i })
}

func (out *inspected) outputs(files []*recorded.File, q inspectRequest) (*audit.MechanismSpec, error) {
	r := q.Reading
	var apart part
	if len(files) == 1 && len(files[0].Tables) == 1 {
		out.roles(nil, q)
	}
	if likely, two := recorded.DatasetsIn(files[0]); len(files) == 1 && len(two) > 0 {
		if r.Dataset == "" && !slices.Contains(r.Outputs, likely) {
			r.Dataset = likely
		}
		apart = q.choice("Column that tells the datasets apart", r.Dataset, two, func(to *inspectRequest, i int) { to.Reading.Dataset, to.Reading.Outputs = two[i], nil })
		if r.Dataset == "" {
			out.say(apart, words(" tells the datasets apart. Which column does?"))
			return nil, nil
		}
		if strings.EqualFold(r.Dataset, "dataset") {
			r.Dataset = "" // the default
		}
	}
	s, err := recorded.Pair(files, r)
	if err != nil {
		return nil, err
	}
	first, second := phrase.Grouped(s.Rows(0)), phrase.Grouped(s.Rows(1))
	switch {
	case len(files) > 1:
		out.say(q.first(files, out.Files), words(" has %s outputs on the first dataset, %s has %s on the second.", first, files[1].Name, second))
	case s.By != "":
		out.roles(s, q)
		out.say(apart, words(" tells the datasets apart: the first has %s %s, the second %s %s.", first, s.Datasets[0], second, s.Datasets[1]))
	default:
		out.say(words("%s has %s outputs on the first dataset, %s has %s on the second.", s.Datasets[0], first, s.Datasets[1], second))
	}
	names, n := audit.Each(s.Columns, func(c audit.Column) string { return c.Name }), len(s.Columns)
	if n > mostNamed {
		names = append(names[:mostNamed], fmt.Sprintf("%d more", n-mostNamed))
	}
	out.say(words("The output is in %s: %s.", phrase.Count(n, "column"), strings.Join(names, ", ")))
	spec := s.Spec()
	out.Notes = append(out.Notes, s.Notes...)
	out.Offer = &offer{audit.Catalogue{Mechanisms: []audit.MechanismSpec{spec}}.Listing().Mechanisms[0], report.Pair, settings.Texts{}, []report.Method{}}
	return &spec, nil
}

func (out *inspected) scores(files []*recorded.File, q inspectRequest) error {
	var columns recorded.ScoreColumns
	sign, signs := q.Sign, []string{"lower", "higher"}
	means := func() part {
		return q.choice("A lower or a higher score means in", sign, signs, func(to *inspectRequest, i int) { to.Sign = signs[i] })
	}
	if in := recorded.MembersIn(files); in != "" {
		sign = cmp.Or(sign, recorded.Sign(in), "higher") // as the form has it, unless a name says otherwise
		which := words("%s", in)
		if len(files) > 1 {
			which = q.first(files, out.Files)
		}
		out.say(which, words(" has the scores of members; a "), means(), words(" one means in."))
	} else {
		score, member, scores, members := recorded.ScoresIn(files[0])
		columns.Score, columns.Member = cmp.Or(q.Score, score), cmp.Or(q.Member, member)
		sign = cmp.Or(sign, recorded.Sign(columns.Score))
		if columns.Score == "" && len(scores) == 0 || columns.Member == "" && len(members) == 0 {
			_, err := recorded.ReadScores(files, columns)
			return err
		}
		by := audit.Pick(sign != "" && q.Sign == "", ", as its name says", "")
		out.say(q.choice("Column of the scores", columns.Score, scores, func(to *inspectRequest, i int) { to.Score, to.Sign = scores[i], "" }), words(" is the score; a "), means(), words(" one means in%s.", by))
		out.say(q.choice("Column that says who was in", columns.Member, members, func(to *inspectRequest, i int) { to.Member = members[i] }), words(" says who was in: 1 for in."))
		switch {
		case columns.Score == "" || columns.Member == "":
			return nil
		case sign == "":
			out.say(words("The name of the score does not tell which. Say it by what the score is: a choice by what these scores show would void the confidence."))
			return nil
		case recorded.NamesOfScores([]string{columns.Score, columns.Member}):
			columns = recorded.ScoreColumns{} // by default
		}
	}
	columns.Lower = sign == "lower"
	s, err := recorded.ReadScores(files, columns)
	if err != nil {
		return err
	}
	what, methods := "", scores.FlatMethods()
	if m := s.Matrix; m != nil {
		what, methods = fmt.Sprintf(", in %s", phrase.Count(m.Runs, "run")), scores.MatrixMethods()
	}
	out.say(words("%s of members, %s of others%s.", phrase.Count(len(s.Sorted[recorded.In]), "score"), phrase.Grouped(len(s.Sorted[recorded.Out])), what))
	out.Offer = &offer{audit.MechanismListing{Name: "scores", Title: "Scores of members and others", Params: []audit.ParamSpec{}, Relations: []string{string(audit.AddRemove), string(audit.Replace)}}, scores.Kind,
		settings.Texts{"score": columns.Score, "member": columns.Member, "lower": map[bool]string{true: "true"}[columns.Lower]}, methods}
	return nil
}
