// Package receipt shows that an audit was fixed before it ran: a hash of its plan (with
// claim and seed) and of the user's code or files stands in an append-only log, whose signed head
// proves that it does. See docs/receipts.md for what that proves and what not.
//
// The log is a Merkle tree as in RFC 9162, its head a signed note with a checkpoint
// (c2sp.org/tlog-checkpoint).
package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/dpscope/dpscope/audit"
)

// Schema is the version of a receipt.
const Schema = "dpscope-receipt-v1"

// SaltBytes is how long a salt is.
const SaltBytes = 16

// Limits says what a receipt does not prove; it stands beside every one.
const Limits = "It proves that this plan, with its claim, its seed and the hash of its code, was fixed before that time, as the log's clock says it. It does not prove which code ran, that the audit ran only once, or that no other plan was registered as well."

// Subject is what is committed of one audit.
type Subject struct {
	Name string          `json:"name,omitempty"` // among several
	Kind string          `json:"kind"`           // of its report; reports up to 0.2.0 name none
	Plan json.RawMessage `json:"plan"`           // as its report holds it
	// Files are SHA-256, in hexadecimal, of the user's code, or of the files with recorded
	// outputs or a table.
	Files []string `json:"files,omitempty"`
}

// SubjectsOf reads the subjects of a report of any kind.
func SubjectsOf(reportText []byte) ([]Subject, error) {
	type file struct {
		SHA256 string `json:"sha256"`
	}
	type one struct {
		Kind   string          `json:"kind"`
		Plan   json.RawMessage `json:"plan"`
		Inputs struct {
			Brought *file `json:"brought"`
			Samples struct {
				Files []file `json:"files"`
			} `json:"samples"`
			Labelled struct {
				File *file `json:"file"`
			} `json:"labelled"`
		} `json:"inputs"`
	}
	var r struct {
		one
		Audits []struct {
			Name   string `json:"name"`
			Report one    `json:"report"`
		} `json:"audits"`
	}
	if err := json.Unmarshal(reportText, &r); err != nil {
		return nil, &audit.InputError{Field: "report", Found: err.Error(), Want: "JSON"}
	}
	subject := func(name string, o one) (Subject, error) {
		s := Subject{Name: name, Kind: o.Kind, Plan: o.Plan}
		for _, f := range append(o.Inputs.Samples.Files, deref(o.Inputs.Brought), deref(o.Inputs.Labelled.File)) {
			if f.SHA256 != "" {
				s.Files = append(s.Files, f.SHA256)
			}
		}
		if len(s.Plan) == 0 {
			return s, &audit.InputError{Field: "report", Found: "without a plan", Want: "a report of dpscope"}
		}
		return s, nil
	}
	if len(r.Audits) == 0 {
		s, err := subject("", r.one)
		return []Subject{s}, err
	}
	var out []Subject
	for _, a := range r.Audits {
		s, err := subject(a.Name, a.Report)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// canonical is JSON with sorted keys and no spaces; numbers keep their digits.
func canonical(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// Commit is the hash of subjects under a salt, which keeps whoever sees the hash from
// guessing them: SHA-256 of the schema's name, the salt and the canonical JSON of the
// subjects, in hexadecimal.
func Commit(subjects []Subject, salt []byte) (string, error) {
	if len(salt) != SaltBytes {
		return "", &audit.InputError{Field: "salt", Found: fmt.Sprintf("%d bytes", len(salt)), Want: fmt.Sprint(SaltBytes)}
	}
	text, err := json.Marshal(subjects)
	if err == nil {
		text, err = canonical(text)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(slices.Concat([]byte(Schema+"\n"), salt, text))
	return hex.EncodeToString(sum[:]), nil
}

// Entry is a commitment in a log.
type Entry struct {
	Time       string `json:"time"`       // by the log's clock, RFC 3339, UTC, whole seconds
	Commitment string `json:"commitment"` // see [Commit]
}

// RecordBytes is the length of every record of a log.
const RecordBytes = len(Schema) + 1 + len("2006-01-02T15:04:05Z") + 1 + 2*sha256.Size + 1

// record is the entry as a leaf of the tree.
func (e Entry) record() ([]byte, error) {
	at, err := time.Parse(time.RFC3339, e.Time)
	if err != nil || at.UTC().Format(time.RFC3339) != e.Time {
		return nil, &audit.InputError{Field: "time", Found: strconv.Quote(e.Time), Want: "such as 2026-01-31T12:00:00Z"}
	}
	if b, err := hex.DecodeString(e.Commitment); err != nil || len(b) != sha256.Size || strings.ToLower(e.Commitment) != e.Commitment {
		return nil, &audit.InputError{Field: "commitment", Found: strconv.Quote(e.Commitment), Want: "64 hexadecimal digits in lower case"}
	}
	return fmt.Appendf(nil, "%s\n%s\n%s\n", Schema, e.Time, e.Commitment), nil
}

func parseRecord(b []byte) (Entry, error) {
	lines := strings.Split(string(b), "\n")
	if len(lines) != 4 || lines[0] != Schema {
		return Entry{}, fmt.Errorf("a record of the log is %q", b)
	}
	e := Entry{lines[1], lines[2]}
	_, err := e.record()
	return e, err
}

// Proven is an entry with the proof that a log holds it.
type Proven struct {
	Entry Entry       `json:"entry"`
	Index int64       `json:"index"` // from 0
	Proof []tlog.Hash `json:"proof"` // of inclusion, in base64
	Head  string      `json:"head"`  // the signed checkpoint
}

// Receipt is what whoever commits keeps: with it and the report anybody checks, without
// the log, that the plan was registered.
type Receipt struct {
	Schema   string    `json:"schema"`
	Key      string    `json:"key"` // the log's verifier key, which its publisher makes known
	Salt     string    `json:"salt"`
	Subjects []Subject `json:"subjects"`
	Proven
}

// Head is the state of a log that it signed.
type Head struct {
	Origin string // the log's name
	Size   int64
	Root   tlog.Hash
	Signed string
}

// OpenHead checks a signed checkpoint against a verifier key.
func OpenHead(signed, key string) (Head, error) {
	h := Head{Signed: signed}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return h, &audit.InputError{Field: "key of the log", Found: strconv.Quote(key), Want: "a verifier key such as log.example+1a2b3c4d+..."}
	}
	n, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if err != nil {
		return h, &audit.InputError{Field: "head of the log", Found: "without a signature of " + verifier.Name() + " that holds", Want: "signed by the log", Remedy: err.Error()}
	}
	lines := strings.Split(n.Text, "\n")
	bad := &audit.InputError{Field: "head of the log", Found: strconv.Quote(n.Text), Want: "origin, size and root, a line each"}
	if len(lines) != 4 || lines[0] != verifier.Name() || lines[3] != "" {
		return h, bad
	}
	h.Origin = lines[0]
	if h.Size, err = strconv.ParseInt(lines[1], 10, 64); err != nil || h.Size < 0 || strconv.FormatInt(h.Size, 10) != lines[1] {
		return h, bad
	}
	if h.Root, err = tlog.ParseHash(lines[2]); err != nil {
		return h, bad
	}
	return h, nil
}

// Check holds an entry against its log.
func (p Proven) Check(key string) (Head, error) {
	record, err := p.Entry.record()
	if err != nil {
		return Head{}, err
	}
	h, err := OpenHead(p.Head, key)
	if err != nil {
		return h, err
	}
	if p.Index < 0 || p.Index >= h.Size || tlog.CheckRecord(p.Proof, h.Size, h.Root, p.Index, tlog.RecordHash(record)) != nil {
		return h, &audit.InputError{Field: "proof", Found: fmt.Sprintf("not one of entry %d in a log of %d", p.Index, h.Size), Want: "one that leads from the entry to the signed root", Remedy: "the receipt was changed, or is of another log"}
	}
	return h, nil
}

// Parse reads a receipt. It checks nothing but its form.
func Parse(text []byte) (Receipt, error) {
	var r Receipt
	if err := audit.DecodeStrict(text, "receipt", &r); err != nil {
		return r, err
	}
	if r.Schema != Schema {
		return r, &audit.InputError{Field: "schema", Path: "/schema", Found: strconv.Quote(r.Schema), Want: Schema, Remedy: "it is no receipt, or one of another version"}
	}
	return r, nil
}

// Check holds a receipt against the log's key and against a report: empty, it is the key
// that the receipt names, which proves the log's word only to those who know that key.
func (r Receipt) Check(reportText []byte, key string) (Head, error) {
	h, err := r.CheckAlone(key)
	if err != nil {
		return h, err
	}
	of, err := SubjectsOf(reportText)
	if err != nil {
		return h, err
	}
	return h, same(r.Subjects, of)
}

// CheckAlone is [Receipt.Check] before there is a report.
func (r Receipt) CheckAlone(key string) (Head, error) {
	switch key {
	case "", r.Key:
		key = r.Key
	default:
		return Head{}, &audit.InputError{Field: "key", Path: "/key", Found: strconv.Quote(r.Key), Want: key + ", the log’s key", Remedy: "the receipt is of another log, or was changed"}
	}
	h, err := r.Proven.Check(key)
	if err != nil {
		return h, err
	}
	salt, err := hex.DecodeString(r.Salt)
	if err != nil || hex.EncodeToString(salt) != r.Salt {
		return h, &audit.InputError{Field: "salt", Path: "/salt", Found: strconv.Quote(r.Salt), Want: "hexadecimal digits in lower case"}
	}
	sum, err := Commit(r.Subjects, salt)
	if err == nil && sum != r.Entry.Commitment {
		err = &audit.InputError{Field: "commitment", Path: "/entry/commitment", Found: r.Entry.Commitment, Want: sum + ", the hash of the receipt’s own plan", Remedy: "the receipt was changed"}
	}
	return h, err
}

// same reports the first difference of what was registered and what a report holds.
func same(was, is []Subject) error {
	if len(was) != len(is) {
		return &audit.InputError{Field: "report", Found: fmt.Sprintf("of %d audits", len(is)), Want: fmt.Sprintf("of the %d that were registered", len(was))}
	}
	for i, w := range was {
		s := is[i]
		where := ""
		if w.Name != "" {
			where = w.Name + ": "
		}
		differ := func(field, found, want string) error {
			return &audit.InputError{Field: where + field, Found: found, Want: want + ", as was registered", Remedy: "the receipt is for another plan"}
		}
		switch {
		case w.Name != s.Name:
			return differ("name of the audit", strconv.Quote(s.Name), strconv.Quote(w.Name))
		case w.Kind != s.Kind:
			return differ("kind of the report", s.Kind, w.Kind)
		case !slices.Equal(w.Files, s.Files):
			return differ("SHA-256 of code or files", listed(s.Files), listed(w.Files))
		}
		if field, found, want := difference(s.Plan, w.Plan); field != "" {
			return differ(field, found, want)
		}
	}
	return nil
}

func listed(sums []string) string {
	if len(sums) == 0 {
		return "absent"
	}
	return strings.Join(sums, " and ")
}

// difference is the first field, by name, in which two plans differ.
func difference(is, was json.RawMessage) (field, found, want string) {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(is, &a) != nil || json.Unmarshal(was, &b) != nil {
		return "plan", "not an object", "one"
	}
	var names []string
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		x, errX := canonical(a[name])
		y, errY := canonical(b[name])
		if (errX != nil) != (errY != nil) || !bytes.Equal(x, y) {
			return "plan’s " + name, short(x), short(y)
		}
	}
	return "", "", ""
}

func short(value []byte) string {
	const most = 80
	switch {
	case len(value) == 0:
		return "absent"
	case len(value) > most:
		return string(value[:most]) + "…"
	}
	return string(value)
}

// CheckGrowth holds a later head of a log against an earlier one: a log only grows.
func CheckGrowth(before, now Head, proof []tlog.Hash) error {
	back := func(found string) error {
		return &audit.InputError{Field: "log " + now.Origin, Found: found, Want: fmt.Sprintf("a log that goes on from the %d entries that were seen", before.Size), Remedy: "it may have been changed or put back: trust none of its receipts until its operator explains that"}
	}
	switch {
	case before.Origin != now.Origin:
		return &audit.InputError{Field: "log", Found: now.Origin, Want: before.Origin}
	case now.Size < before.Size:
		return back(fmt.Sprintf("a head of %d entries", now.Size))
	case before.Size == 0:
		return nil
	case now.Size == before.Size && now.Root == before.Root:
		return nil
	case now.Size == before.Size || tlog.CheckTree(proof, now.Size, now.Root, before.Size, before.Root) != nil:
		return back("other entries in their place")
	}
	return nil
}

// errLog is of a log that cannot go on.
var errLog = errors.New("the log cannot be written any more; start it again")
