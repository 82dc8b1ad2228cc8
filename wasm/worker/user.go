package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/mechanisms/learners"
	"github.com/dpscope/dpscope/mechanisms/train"
	"github.com/dpscope/dpscope/mechanisms/user"
	"github.com/dpscope/dpscope/mechanisms/user/module"
)

// A user's mechanism runs in a sandbox, which the page opens, with a port to each worker. The core
// gives a dataset, a count and a seed and waits; it never runs the user's code itself.

// Patience with the sandbox.
const (
	startPatience = 60 * time.Second // until the interpreter of a language can run
	tryPatience   = 2 * time.Second  // then for a few hundred outputs
	callPatience  = 10 * time.Second
)

type userRequest struct {
	Kind     audit.UserKind   `json:"kind"`
	Name     string           `json:"name"`
	Code     string           `json:"code,omitempty"`   // of a function
	Module   []byte           `json:"module,omitempty"` // a WebAssembly module
	Relation audit.Relation   `json:"relation,omitempty"`
	Output   audit.ColumnKind `json:"output,omitempty"` // kind of all columns; default real
	Settings settings.Texts   `json:"settings"`         // of the space of datasets
	// Of a report that is replayed:
	SHA256 string                      `json:"sha256,omitempty"`
	Kinds  map[string]audit.ColumnKind `json:"kinds,omitempty"`
}

func (r userRequest) space() (audit.Space, error) {
	o, err := read(settings.Only(pair.ExternalKeys(), "domain", "rows", "integer", "reach"), r.Settings, pair.External{})
	if err != nil {
		return audit.Space{}, err
	}
	return o.User.Space(r.Relation)
}

// question is for n outputs. The first one brings the module, if there is one.
type question struct {
	module  []byte
	dataset audit.Dataset
	n       int
	seed    uint64
}

// answered is n outputs of width numbers, a fault of the code and its line, or of a module what it
// imports or why else it is refused.
type answered struct {
	width   int
	rows    []float64
	fault   string
	line    int
	imports []string
	invalid string
}

// sandbox asks the user's code. What it says is not trusted.
type sandbox struct {
	// ask is false if there are no outputs within that time.
	ask func(q question, within time.Duration) (answered, bool)
	// started waits until the interpreter of a language can run, which it names. A fault that keeps it from
	// starting is the first answer's.
	started func(within time.Duration) (runtime string, ok bool)
}

// addUser adds the mechanism of a request. Where it fails its trial, the error comes when it is used.
// tried: it is tried elsewhere.
func addUser(cat audit.Catalogue, request string, s sandbox, tried bool) audit.Catalogue {
	var r userRequest
	err := audit.DecodeStrict([]byte(request), "your mechanism", &r)
	var spec audit.MechanismSpec
	if err == nil {
		spec, err = userSpec(r, s, tried)
	}
	if err != nil {
		b := audit.UserMechanism{Kind: r.Kind}
		b.Datasets, _ = audit.ParseSpace("", "", "", false, 0)
		spec = b.Spec(nil)
		spec.New = func(audit.Params) (audit.Mechanism, error) { return nil, err }
	}
	return cat.With(spec)
}

func userSpec(r userRequest, s sandbox, tried bool) (audit.MechanismSpec, error) {
	space, err := r.space()
	if err != nil {
		var in *audit.InputError
		if errors.As(err, &in) {
			err = audit.At(in.Field, err) // a field of the request, and not the plan's mechanism
		}
		return audit.MechanismSpec{}, err
	}
	source := []byte(r.Code)
	switch r.Kind {
	case audit.UserModule:
		source = r.Module
		if err := module.Check(r.Name, source); err != nil {
			return audit.MechanismSpec{}, err
		}
	case audit.UserScript, audit.UserPython:
	default:
		return audit.MechanismSpec{}, audit.UnknownName("kind", string(r.Kind), []string{string(audit.UserModule), string(audit.UserScript), string(audit.UserPython)})
	}
	b := audit.UserMechanism{Kind: r.Kind, Name: r.Name, SHA256: fmt.Sprintf("%x", sha256.Sum256(source)), Code: r.Code, Datasets: space}
	if r.SHA256 != "" && r.SHA256 != b.SHA256 {
		return audit.MechanismSpec{}, &audit.InputError{Field: r.Name, Found: "another one, with SHA-256 " + b.SHA256, Want: "the one with SHA-256 " + r.SHA256 + ", as the report says"}
	}
	if r.Kind == audit.UserPython {
		runtime, ok := s.started(startPatience)
		if !ok {
			return audit.MechanismSpec{}, &audit.InputError{Field: r.Name, Found: fmt.Sprintf("without Python after %v", startPatience), Want: "started sooner", Remedy: "reload the page, or close others that keep this computer busy"}
		}
		b.Runtime = runtime
	}
	c := &caller{name: r.Name, kind: r.Kind, ask: s.ask, patience: tryPatience, module: r.Module}
	trial := space.Trial()
	first, err := c.answer(trial.First, 1, 0)
	c.module = nil
	if in, is := errors.AsType[*audit.InputError](err); is && errors.As(err, new(*user.Failed)) && trial.First.Len() == 0 {
		if _, other := c.answer(trial.Second, 1, 0); other == nil {
			in.Remedy = `return a number there too, or let "Rows in a dataset" begin with 1, as 1:5`
			in.Said += "; " + in.Remedy
		}
	}
	if err != nil {
		return audit.MechanismSpec{}, err
	}
	c.width = first.width
	if b.Columns, err = user.Columns(c.width, r.Output, r.Kinds); err != nil {
		return audit.MechanismSpec{}, fmt.Errorf("%s: %w", r.Name, err)
	}
	if !tried {
		if b.Unseeded, err = user.Try(c.call, c.width, space, nil); err != nil {
			return audit.MechanismSpec{}, err
		}
	}
	c.patience = callPatience
	return b.Spec(user.New(b.Columns, c.call)), nil
}

// unseen is a mechanism as a link says. It cannot run.
func (r userRequest) unseen(width int) (audit.MechanismSpec, error) {
	space, err := r.space()
	if err != nil {
		return audit.MechanismSpec{}, err
	}
	columns, err := user.Columns(width, r.Output, r.Kinds)
	if err != nil {
		return audit.MechanismSpec{}, err
	}
	b := audit.UserMechanism{Kind: r.Kind, Name: r.Name, Code: r.Code, Datasets: space, Columns: columns}
	return b.Spec(user.New(columns, func(audit.Dataset, uint64, []float64) error {
		return &audit.InputError{Field: r.Name, Found: "not run here yet", Want: "run before anything is asked of it"}
	})), nil
}

type caller struct {
	name     string
	kind     audit.UserKind
	ask      func(question, time.Duration) (answered, bool)
	patience time.Duration
	width    int
	module   []byte // for the next question

	mu sync.Mutex
}

// answer refuses what the sandbox must not say.
func (c *caller) answer(d audit.Dataset, n int, seed uint64) (answered, error) {
	c.mu.Lock()
	a, ok := c.ask(question{c.module, d, n, seed}, c.patience)
	c.mu.Unlock()
	switch {
	case !ok:
		return a, &audit.InputError{Field: c.name, Found: fmt.Sprintf("still running after %v, asked for %d outputs; it was ended", c.patience, n), Want: "done sooner", Remedy: "is there an endless loop?", Late: true, Said: fmt.Sprintf("No output after %.0f s.", c.patience.Seconds())}
	case c.kind == audit.UserModule && len(a.imports) > 0:
		return a, module.Imports(c.name, a.imports)
	case a.invalid != "":
		return a, &audit.InputError{Field: c.name, Found: "refused: " + a.invalid, Want: "a module as docs/abi.md describes it"}
	case a.fault != "":
		in := &audit.InputError{Field: c.name, Line: a.line, Said: a.fault + faultOn(a.fault, d)}
		in.Found = "stopped: " + in.Said
		if a.line > 0 {
			in.Found = fmt.Sprintf("stopped at line %d: %s", a.line, in.Said)
		}
		if c.kind == audit.UserModule {
			in.Remedy = "docs/abi.md describes what a module has to do"
		}
		return a, &user.Failed{Err: in}
	case a.width < 1 || len(a.rows) != n*a.width || c.width != 0 && a.width != c.width:
		return a, &audit.InputError{Field: c.name, Found: fmt.Sprintf("giving %d outputs of %d numbers, %d in all", n, a.width, len(a.rows)), Want: fmt.Sprintf("%d outputs of as many numbers each, always", n)}
	}
	return a, nil
}

func faultOn(fault string, d audit.Dataset) string {
	switch {
	case strings.Contains(fault, "SyntaxError") || strings.HasPrefix(fault, "it defines no function"):
		return ""
	case d.Len() == 0:
		return ", on the dataset with no rows"
	}
	return ", on the dataset " + d.Words()
}

func (c *caller) call(d audit.Dataset, seed uint64, out []float64) error {
	a, err := c.answer(d, len(out)/c.width, seed)
	if err == nil {
		copy(out, a.rows)
	}
	return err
}

// tableRequest says how a table is read. Its text comes beside it.
type tableRequest struct {
	Name    string                `json:"name"`
	Reading audit.LabelledReading `json:"reading"`
	Was     *audit.Labelled       `json:"was,omitempty"` // of a report that is replayed
}

// addTable has the learners over a table, which fail where it cannot be read.
func addTable(cat audit.Catalogue, request string, text []byte) audit.Catalogue {
	var r tableRequest
	err := audit.DecodeStrict([]byte(request), "your table", &r)
	if err == nil {
		var with audit.Catalogue
		if with, _, err = learners.In(cat, r.Name, text, r.Reading, r.Was); err == nil {
			return with
		}
	}
	return learners.Refusing(cat, err)
}

// lookRequest is the beginning of a table, whole lines.
type lookRequest struct {
	Text  string `json:"text"`
	Label string `json:"label,omitempty"` // as in audit.LabelledReading
}

// headOfTable is how many examples a preview reads.
const headOfTable = 200

func (c *coordinator) look(_ context.Context, r request[lookRequest]) (train.Preview, error) {
	p, err := train.Look([]byte(r.asked.Text), r.asked.Label, headOfTable)
	if err != nil {
		return p, err
	}
	p.Labels = append([]string{}, p.Labels...)
	p.Head = append([][]string{}, p.Head[:min(headRows, len(p.Head))]...)
	return p, nil
}
