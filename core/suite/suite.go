// Package suite is several audits in one run, from one file: a plan. All of them together err with
// probability beta at most.
//
// A plan of k audits gives each the share beta/k of the error. By the union bound (Boole) the
// probability that any of the k certified bounds is above the truth is beta at most, however the
// audits depend on each other. Holm's steps would reject more p-values, but a bound has to hold at
// a level fixed beforehand. Further rows of a report hold with the confidence that they state.
//
// Every audit has a seed that follows from the plan's and its name, so that it can be run alone.
package suite

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
)

// Version is the version of the plan's JSON form, SchemaName its schema in docs/.
const (
	Version    = 1
	SchemaName = "dpscope-plan-v1.schema.json"
)

const (
	MaxAudits   = 1000
	maxName     = 200
	DefaultSeed = 42 // of a plan that names none
)

// Plan is the file.
type Plan struct {
	Schema     string  `json:"$schema,omitempty"`
	Version    int     `json:"version"`
	Beta       float64 `json:"beta,omitempty"`       // allowed error of all audits together, in (0, 0.5]; default 0.05
	Confidence float64 `json:"confidence,omitempty"` // 1 - beta, instead of it
	Seed       *uint64 `json:"seed,omitempty"`       // default 42
	Audits     []Entry `json:"audits"`
}

// Entry is one audit: a [pair.Plan] but for what the whole plan decides. Zero values mean defaults.
type Entry struct {
	Name string `json:"name"` // distinct within the plan
	pair.Plan
	Recorded *pair.Recorded    `json:"recorded,omitempty"` // instead of a mechanism
	User     *pair.UserProgram `json:"brought,omitempty"`  // instead of a mechanism
	// An audit of another kind, instead of a mechanism and all that belongs to it.
	Canaries *canary.Plan `json:"canaries,omitempty"`
	Scores   *Scores      `json:"scores,omitempty"`
	Data     string       `json:"data,omitempty"`     // file of an audit with canaries, in the folder of the plan
	Location string       `json:"location,omitempty"` // FILE or FILE:LINE of the mechanism in the user's code
}

// Trains reports whether a program of the user's trains for the audit.
func (e Entry) Trains() bool { return e.Canaries != nil && e.Canaries.Trainer != nil }

// Scores is an audit of membership scores that another program made.
type Scores struct {
	Files []string `json:"files"` // as those of [pair.Recorded]: one with both classes, or those in and those out
	scores.Plan
}

// File is a plan that was read and checked.
type File struct {
	Plan
	SHA256 string // of the file's bytes, hexadecimal
	Lines  []int  // where each audit begins, from 1
}

// Parse reads a plan. what names it in errors, which are of type *audit.InputError.
func Parse(data []byte, what string) (*File, error) {
	sum := sha256.Sum256(data)
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // as some editors write
	f := &File{SHA256: hex.EncodeToString(sum[:])}
	top := object(data)
	var audits []json.RawMessage
	_ = json.Unmarshal(top["audits"], &audits) // what is no list is left to the decoder
	if err := checkFields(top, audits, what); err != nil {
		return nil, err
	}
	if err := audit.DecodeStrict(data, what, &f.Plan); err != nil {
		return nil, err
	}
	for i, e := range f.Audits { // which claims of other kinds name no delta
		if p := e.Canaries; p != nil {
			report.ReadDefaultDelta(object(audits[i])["canaries"], p.Claim, &p.DeltaDefaulted)
		}
		if p := e.Scores; p != nil {
			report.ReadDefaultDelta(object(audits[i])["scores"], p.Claim, &p.DeltaDefaulted)
		}
	}
	f.Lines = lines(data, top["audits"], audits)
	return f, f.check(what)
}

// wholePlan are fields of a single audit that the whole plan decides, and why.
var wholePlan = [][2]string{
	{"seed", "it follows from the plan's seed and the audit's name"},
	{"beta", "it is the plan's beta over the number of audits"},
	{"version", "it is the plan's"},
}

// parts are the objects of an audit, by their names; "" is the audit itself.
var parts = []struct {
	name string
	of   any
	plan bool // of a single audit
}{{"", Entry{}, true}, {"brought", pair.UserProgram{}, false}, {"claim", audit.Claim{}, false}, {"recorded", pair.Recorded{}, false}, {"canaries", canary.Plan{}, true}, {"scores", Scores{}, true}}

// place says where a field belongs that stands in another part; "": nowhere.
func place(name, in string) string {
	if in == "canaries" || in == "scores" { // all settings of theirs are within
		if slices.Contains(audit.FieldNames(audit.Claim{}), name) {
			return fmt.Sprintf(`it belongs within its claim: {%q: {"claim": {%q: ...}}}`, in, name)
		}
		return ""
	}
	for _, p := range parts {
		switch {
		case !slices.Contains(audit.FieldNames(p.of), name):
		case p.name == "":
			return fmt.Sprintf(`it belongs beside %s: {%q: {...}, %q: ...}`, in, in, name)
		case in == "":
			return fmt.Sprintf(`it belongs within %s: {%q: {%q: ...}}`, p.name, p.name, name)
		default:
			return fmt.Sprintf(`it belongs within %s: {%q: {...}, %q: {%q: ...}}`, p.name, in, p.name, name)
		}
	}
	return ""
}

// checkFields refuses unknown fields by name. What has another shape is left to the decoder.
func checkFields(top map[string]json.RawMessage, audits []json.RawMessage, what string) error {
	if err := known(slices.Sorted(maps.Keys(top)), what+": field", audit.FieldNames(Plan{})); err != nil {
		return err
	}
	for i, raw := range audits {
		entry := object(raw)
		at := fmt.Sprintf("%s: audits[%d]", what, i)
		for _, part := range parts {
			fields, within := entry, at
			if part.name != "" {
				fields, within = object(entry[part.name]), at+"."+part.name
			}
			for _, x := range wholePlan {
				if _, given := fields[x[0]]; given && part.plan {
					return &audit.InputError{Field: within + "." + x[0], Found: "given", Want: "absent", Remedy: x[1]}
				}
			}
			own, names := audit.FieldNames(part.of), slices.Sorted(maps.Keys(fields))
			for _, name := range names {
				if where := place(name, part.name); where != "" && !slices.Contains(own, name) {
					return &audit.InputError{Field: within + "." + name, Found: "given", Want: "absent", Remedy: where}
				}
			}
			if err := known(names, within+": field", own); err != nil {
				return err
			}
		}
	}
	return nil
}

func object(data []byte) (m map[string]json.RawMessage) {
	_ = json.Unmarshal(data, &m) // what is no object has no fields
	return m
}

func known(names []string, what string, all []string) error {
	for _, name := range names {
		if !slices.Contains(all, name) {
			return audit.UnknownName(what, name, all)
		}
	}
	return nil
}

// check refuses what no audit can be made of, and settles beta.
func (f *File) check(what string) error {
	need := func(holds bool, field string, found any, want string, args ...any) error {
		return audit.Require(holds, what+": "+field, found, want, args...)
	}
	err := audit.First(
		need(f.Version == Version, "version", audit.Pick(f.Version == 0, "absent", fmt.Sprint(f.Version)), "%d", Version),
		need(f.Beta == 0 || f.Confidence == 0, "confidence", "given beside beta", "one of the two"),
		need(f.Confidence == 0 || f.Confidence >= 0.5 && f.Confidence < 1, "confidence", f.Confidence, "in [0.5, 1)"),
	)
	if err != nil {
		return err
	}
	if f.Confidence != 0 {
		f.Beta = math.Round(float64((1-f.Confidence)*1e12)) / 1e12 // 0.05, not 0.050000000000000044
	}
	f.Beta = cmp.Or(f.Beta, 0.05)
	f.Seed = cmp.Or(f.Seed, new(uint64(DefaultSeed)))
	n := len(f.Audits)
	err = audit.First(
		need(f.Beta >= 1e-9 && f.Beta <= 0.5, "beta", f.Beta, "in [1e-9, 0.5]"),
		need(*f.Seed <= audit.MaxSeed, "seed", *f.Seed, "in [0, %d]", uint64(audit.MaxSeed)),
		need(n >= 1 && n <= MaxAudits, "audits", fmt.Sprintf("%d of them", n), "1 to %d", MaxAudits),
		audit.Remedy("each audit gets an equal share of it, 1e-9 or more", need(Share(f.Beta, n) >= 1e-9, "beta", f.Beta, "at least %g for %d audits", 1e-9*float64(n), n)),
	)
	if err != nil {
		return err
	}
	files := func(field string, names []string) error {
		n := len(names)
		return need(n >= 1 && n <= 2 && !slices.Contains(names, ""), field, fmt.Sprintf("%d names", n), "one name or two, none of them empty")
	}
	seen := map[string]int{}
	for i, e := range f.Audits {
		at := fmt.Sprintf("audits[%d]", i)
		wrong := checkName(e.Name)
		j, twice := seen[e.Name]
		err := audit.First(
			audit.Remedy("it names the audit in the output and is what -only takes", need(wrong == "", at+".name", wrong, "a text of 1 to %d characters in one line", maxName)),
			need(!twice, at+".name", fmt.Sprintf("%q as in audits[%d]", e.Name, j), "a unique name"),
		)
		if err != nil {
			return err
		}
		seen[e.Name] = i
		at += " (" + e.Name + ")"
		given := map[string]bool{"mechanism": e.Mechanism != "", "recorded": e.Recorded != nil, "brought": e.User != nil, "canaries": e.Canaries != nil, "scores": e.Scores != nil,
			"parameters": e.Parameters != nil, "relation": e.Relation != "", "pair": e.Pair != nil, "finder": e.Finder != "", "trials": e.Trials != 0}
		sources := slices.DeleteFunc([]string{"mechanism", "recorded", "brought", "canaries", "scores"}, func(name string) bool { return !given[name] })
		if len(sources) != 1 {
			return need(false, at, audit.Pick(len(sources) == 0, "without any of them", "with "+strings.Join(sources, " and ")), "with one of mechanism, recorded, brought, canaries and scores")
		}
		other := e.Canaries != nil || e.Scores != nil
		err = audit.First(
			need(!other || audit.EqualJSON(e.Plan, pair.Plan{}), at, "with settings beside "+sources[0], "with its settings within %s", sources[0]),
			audit.Remedy("it is the file of an audit with canaries", need(e.Data == "" || e.Canaries != nil, at+".data", "given", "absent with %s", sources[0])),
		)
		if err == nil && e.Scores != nil {
			err = files(at+".scores.files", e.Scores.Files)
		}
		if err != nil {
			return err
		}
		if e.Mechanism != "" || other {
			continue
		}
		alien, why := []string{"parameters"}, "your own mechanism has no parameters here"
		if e.Recorded != nil {
			alien, why = []string{"parameters", "relation", "pair", "finder", "trials"}, "recorded outputs are of one mechanism and one pair of datasets"
			err = files(at+".recorded.files", e.Recorded.Files)
		} else {
			err = need((e.User.Exec == "") != (e.User.Wasm == ""), at+".brought", audit.Pick(e.User.Exec == "", "without exec and wasm", "with both exec and wasm"), "with one of the two")
		}
		for _, field := range alien {
			err = audit.First(err, audit.Remedy(why, need(!given[field], at+"."+field, "given", "absent with %s", sources[0])))
		}
		c := e.Claim
		claims := need(c != nil && (c.Epsilon > 0 || c.Rho > 0 || c.Mu > 0), at+".claim", "absent", `the claimed epsilon (or rho, or mu), as {"epsilon": 1}`)
		if err = audit.First(err, audit.Remedy("enter what your mechanism claims; dpscope cannot know it", claims)); err != nil {
			return err
		}
	}
	return nil
}

func checkName(name string) string {
	switch {
	case name == "":
		return "absent"
	case len(name) > maxName:
		return fmt.Sprintf("%d bytes long", len(name))
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Sprintf("%q", name)
	}
	return ""
}

// lines are those in which the audits begin, each found by its own text.
func lines(data, all []byte, audits []json.RawMessage) []int {
	out, at := make([]int, len(audits)), bytes.Index(data, all)
	for i, text := range audits {
		at += bytes.Index(data[at:], text)
		out[i] = bytes.Count(data[:at], []byte{'\n'}) + 1
		at += len(text)
	}
	return out
}

// Share is what each of n audits gets of beta; n shares do not exceed it.
func Share(beta float64, n int) float64 {
	s := beta / float64(n)
	for float64(s*float64(n)) > beta {
		s = math.Nextafter(s, 0)
	}
	return s
}

// Seed is that of the audit of a name: the first 53 bits of SHA-256 over "dpscope/plan/v1", a byte
// 0, seed in 8 bytes, big-endian, and name.
func Seed(seed uint64, name string) uint64 {
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint64([]byte("dpscope/plan/v1\x00"), seed), name...))
	return binary.BigEndian.Uint64(sum[:8]) >> 11
}

// Audit is audit i as a plan of its own, of its kind's type.
func (f *File) Audit(i int) any {
	e := f.Audits[i]
	beta, seed := Share(f.Beta, len(f.Audits)), Seed(*f.Seed, e.Name)
	switch {
	case e.Canaries != nil:
		p := *e.Canaries
		p.Version, p.Beta, p.Seed = canary.PlanVersion, beta, seed
		return p
	case e.Scores != nil:
		p := e.Scores.Plan
		p.Version, p.Beta, p.Seed = scores.PlanVersion, beta, seed
		return p
	}
	p := e.Plan
	p.Version, p.Beta, p.Seed = pair.PlanVersion, beta, seed
	p.Mechanism = cmp.Or(e.External().Mechanism(), p.Mechanism)
	return p.ForVerdict()
}

// External is where the mechanism of the audit is, if it is from outside.
func (e Entry) External() pair.External {
	recorded, user := cmp.Or(e.Recorded, new(pair.Recorded)), cmp.Or(e.User, new(pair.UserProgram))
	return pair.External{Recorded: *recorded, User: *user}
}

// Names of all audits, in order.
func (f *File) Names() []string {
	return audit.Each(f.Audits, func(e Entry) string { return e.Name })
}

// Choose are the indices of the audits of those names, in the plan's order; of none, all.
func (f *File) Choose(only []string) ([]int, error) {
	var out []int
	names := f.Names()
	if err := known(only, "-only", names); err != nil {
		return nil, err
	}
	for i, name := range names {
		if len(only) == 0 || slices.Contains(only, name) {
			out = append(out, i)
		}
	}
	return out, nil
}
