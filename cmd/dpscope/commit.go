package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/receipt"
	"github.com/dpscope/dpscope/receipt/host"
)

// commitCommand is dpscope commit: it registers the hash of an audit, or of a file of
// audits, with a host before it runs, and writes the receipt.
func commitCommand(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f := newSettingsFlags("dpscope commit", stderr)
	base := f.String("host", "", "`address` of the host that has the log")
	key := f.String("log-key", "", "the log's `key`, as its operator publishes it; without it the host's own word is taken for it")
	name := f.String("receipt", "dpscope.receipt.json", "`file` that gets the receipt; one that is there is kept")
	names, code, ok := f.ParseNames(args)
	if !ok {
		return code
	}
	if _, err := os.Stat(*name); err == nil {
		return fail(stderr, &audit.InputError{Field: "-receipt", Found: *name + ", which is there", Want: "a new file", Remedy: "an earlier receipt cannot be had again: name another file"})
	}
	ctx, stop := untilSignal()
	defer stop()
	subjects, err := f.subjects(ctx, names, stdin, stderr)
	if err != nil {
		return fail(stderr, err)
	}
	salt := make([]byte, receipt.SaltBytes)
	rand.Read(salt)
	sum, err := receipt.Commit(subjects, salt)
	if err != nil {
		return fail(stderr, err)
	}
	r := receipt.Receipt{Schema: receipt.Schema, Salt: hex.EncodeToString(salt), Subjects: subjects}
	ask, end := context.WithTimeout(ctx, time.Minute)
	defer end()
	client := host.Client{Base: *base, Key: *key, Seen: headSeen, Keep: keepHead}
	if r.Proven, r.Key, err = client.Register(ask, sum); err != nil {
		return fail(stderr, err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = cli.WriteWhole(*name, append(text, '\n'))
	}
	if err != nil {
		return fail(stderr, err)
	}
	h, err := receipt.OpenHead(r.Head, r.Key)
	if err != nil {
		return fail(stderr, err)
	}
	fmt.Fprintf(stdout, "Registered as entry %d of %s at %s: %s\n%s\nAfter the run: dpscope verify -receipt %[5]s REPORT\n%[6]s\n", r.Index, h.Origin, r.Entry.Time, r.Entry.Commitment, *name, receipt.Limits)
	return cli.ExitOK
}

// subjects are what the flags, or a file of audits, ask to be registered. All is checked as
// it would be before a run.
func (f *auditFlags) subjects(ctx context.Context, names []string, stdin io.Reader, notes io.Writer) ([]receipt.Subject, error) {
	if len(names) > 1 {
		return nil, &audit.InputError{Field: "dpscope commit", Found: fmt.Sprintf("called with %q", names), Want: "given one file of audits, or the flags of one audit"}
	}
	if len(names) == 0 {
		plan, err := f.plan()
		if err != nil {
			return nil, err
		}
		cat, err := f.files(plan, intake{stdin, notes})
		if err == nil && f.outside.brought() != "" {
			var end func()
			if cat, end, err = f.outside.catalogue(ctx, plan, notes); err == nil {
				defer end()
			}
		}
		if err != nil {
			return nil, err
		}
		s, err := subjectOf("", plan, core.Given{Catalogue: cat})
		return []receipt.Subject{s}, err
	}
	suite := planFlags{file: names[0]}
	file, err := suite.read(stdin)
	if err != nil {
		return nil, err
	}
	all := make([]int, len(file.Audits))
	for i := range all {
		all[i] = i
	}
	_, todo, end, err := suite.prepare(file, all, false, notes)
	if err != nil {
		return nil, err
	}
	defer end()
	subjects := make([]receipt.Subject, len(todo))
	for i, p := range todo {
		if subjects[i], err = subjectOf(p.name, p.plan, p.given); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return subjects, nil
}

// subjectOf is what the report of a plan will say of it.
func subjectOf(name string, plan any, g core.Given) (receipt.Subject, error) {
	kind, resolved, files, err := core.Registered(plan, g)
	return receipt.Subject{Name: name, Kind: kind, Plan: resolved, Files: files}, err
}

// receiptFlags are the flags of dpscope verify about a receipt.
type receiptFlags struct{ file, key string }

func (f *receiptFlags) register(s *cli.Flags) {
	s.StringVar(&f.file, "receipt", "", "`file` that dpscope commit wrote: the report must be of what was registered")
	s.StringVar(&f.key, "log-key", "", "the `key` of the receipt's log, as its operator publishes it; without it the receipt's own word is taken for it")
}

// check holds the receipt, if one is given, against a report. It prints what that shows,
// and returns whether it holds.
func (f *receiptFlags) check(reportText []byte, stdin io.Reader, stdout io.Writer) (bool, error) {
	if f.file == "" {
		if f.key != "" {
			return false, &audit.InputError{Field: "-log-key", Found: "given", Want: "absent without -receipt"}
		}
		return true, nil
	}
	text, err := readReport(f.file, stdin)
	if err != nil {
		return false, err
	}
	r, err := receipt.Parse(text)
	if err != nil {
		return false, fmt.Errorf("%s: %w", f.file, err)
	}
	h, err := r.Check(reportText, f.key)
	if err != nil {
		fmt.Fprintf(stdout, "The receipt does not hold: %v\n", err)
		return false, nil
	}
	known := ""
	if f.key == "" {
		known = " The key of the log is the receipt’s own word: compare " + r.Key + " with what its operator publishes."
	}
	fmt.Fprintf(stdout, "The receipt holds: %s has the report’s plan as entry %d of %d, since %s.%s\n%s\n", h.Origin, r.Index, h.Size, r.Entry.Time, known, receipt.Limits)
	return true, nil
}

// headsFile is where the last heads of logs are kept, by key.
func headsFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "dpscope", "logs.json"), err
}

func readHeads() (map[string]string, error) {
	heads := map[string]string{}
	name, err := headsFile()
	if err != nil {
		return heads, err
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return heads, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &heads)
	}
	return heads, err
}

// headSeen is the last head of a log that was seen on this machine.
func headSeen(key string) (string, error) {
	heads, err := readHeads()
	return heads[key], err
}

func keepHead(key, head string) error {
	heads, err := readHeads()
	if err != nil {
		return err
	}
	heads[key] = head
	name, err := headsFile()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(heads, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return cli.WriteWhole(name, text)
}
