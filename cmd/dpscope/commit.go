package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
)

// commitment is the scheme of a hash of plans: SHA-256 of this line, the salt's bytes and
// the canonical JSON of a list of [committed].
const commitment = "dpscope-commitment-v1\n"

const gone = "use dpscope commit instead: it prints a salted hash that any service can timestamp, and dpscope verify -commitment checks it"

// committed is what is hashed of one audit.
type committed struct {
	Name  string   `json:"name"` // in a file of audits
	Kind  string   `json:"kind"` // of its report
	Plan  any      `json:"plan"` // with every default filled in
	Files []string `json:"files"`
}

func commit(salt []byte, audits []committed) (string, error) {
	text, err := audit.Canonical(audits)
	sum := sha256.Sum256(slices.Concat([]byte(commitment), salt, text))
	return hex.EncodeToString(sum[:]), err
}

// commitCommand is dpscope commit: it prints a salted hash of an audit, or of a file of
// audits, before it runs. All is checked as it would be before a run.
func commitCommand(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f := newSettingsFlags("dpscope commit", stderr)
	for _, name := range []string{"host", "log-key", "receipt"} {
		f.Gone(name, gone)
	}
	names, code, ok := f.ParseNames(args)
	if !ok {
		return code
	}
	ctx, stop := untilSignal()
	defer stop()
	audits, err := f.committed(ctx, names, stdin, stderr)
	if err != nil {
		return fail(stderr, err)
	}
	salt := make([]byte, 16)
	rand.Read(salt)
	sum, err := commit(salt, audits)
	if err != nil {
		return fail(stderr, err)
	}
	fmt.Fprintf(stdout, "salt: %x\nsha256: %s\n", salt, sum)
	fmt.Fprintln(stderr, "Before the run, have a service that others trust timestamp the sha256. Keep the plan and these two lines. After the run: dpscope verify -commitment FILE REPORT")
	return cli.ExitOK
}

// committed is what the flags, or a file of audits, say is audited.
func (f *auditFlags) committed(ctx context.Context, names []string, stdin io.Reader, notes io.Writer) ([]committed, error) {
	if len(names) > 1 {
		return nil, &audit.InputError{Field: "dpscope commit", Found: fmt.Sprintf("called with %q", names), Want: "given one file of audits, or the flags of one audit"}
	}
	if len(names) == 0 {
		plan, err := f.plan()
		if err != nil {
			return nil, err
		}
		cat, err := f.files(plan, intake{stdin, notes})
		if err == nil && f.external.userKind() != "" {
			var end func()
			if cat, end, err = f.external.catalogue(ctx, plan, notes); err == nil {
				defer end()
			}
		}
		if err != nil {
			return nil, err
		}
		a, err := core.Resolve(plan, core.Env{Catalogue: cat})
		if err != nil {
			return nil, err
		}
		c, err := committedOf("", a, cat)
		return []committed{c}, err
	}
	file := planFlags{file: names[0]}
	plan, err := file.read(stdin)
	if err != nil {
		return nil, err
	}
	all := make([]int, len(plan.Audits))
	for i := range all {
		all[i] = i
	}
	_, todo, end, err := file.prepare(plan, all, false, notes)
	if err != nil {
		return nil, err
	}
	defer end()
	audits := make([]committed, len(todo))
	for i, p := range todo {
		if audits[i], err = committedOf(p.name, p.audit, p.given.Catalogue); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return audits, nil
}

func committedOf(name string, a core.Audit, cat audit.Catalogue) (c committed, err error) {
	c = committed{Name: name, Kind: core.KindOf(a.Plan()).Name, Plan: a.Plan()}
	if p, ok := c.Plan.(pair.Plan); ok {
		var spec audit.MechanismSpec
		spec, err = cat.Mechanism(p.Mechanism)
		c.Files = sums(spec.Recording, spec.User, spec.Labelled)
	}
	return c, err
}

// sums are the SHA-256 of the user's files and code.
func sums(r *audit.Recording, b *audit.UserMechanism, l *audit.Labelled) (all []string) {
	if r != nil {
		for _, f := range r.Files {
			all = append(all, f.SHA256)
		}
	}
	if b != nil && b.SHA256 != "" {
		all = append(all, b.SHA256)
	}
	if l != nil {
		all = append(all, l.File.SHA256)
	}
	return all
}

// committedIn is what a report says was audited.
func committedIn(text []byte) ([]committed, error) {
	if report.KindOf(text) != suite.ReportKind {
		r, err := core.ParseReport(text)
		if err != nil {
			return nil, err
		}
		return []committed{committedBy("", r)}, nil
	}
	all, err := suite.ParseReport(text)
	if err != nil {
		return nil, err
	}
	audits := make([]committed, len(all.Audits))
	for i, a := range all.Audits {
		audits[i] = committedBy(a.Name, a.Report)
	}
	return audits, nil
}

func committedBy(name string, r report.View) committed {
	c := committed{Name: name, Plan: core.PlanOf(r)}
	c.Kind = core.KindOf(c.Plan).Name
	if own, ok := r.(pair.Report); ok {
		c.Files = sums(own.Inputs.Samples, own.Inputs.User, own.Inputs.Labelled)
	}
	return c
}

var hexLines = regexp.MustCompile(`^\s*salt: ([0-9a-f]{32})\s+sha256: ([0-9a-f]{64})\s*$`)

// checkCommitment says on stdout whether a report's plan is the one that a commitment, a
// file or its text, is of.
func checkCommitment(given string, text []byte, stdin io.Reader, stdout io.Writer) (bool, error) {
	said := given
	if !strings.Contains(given, "sha256:") {
		data, err := readReport(given, stdin)
		if err != nil {
			return false, err
		}
		said = string(data)
	}
	m := hexLines.FindStringSubmatch(said)
	if m == nil {
		return false, &audit.InputError{Field: "-commitment", Found: "without a salt and a hash", Want: "the two lines that dpscope commit printed, salt: and sha256:, or a file with them"}
	}
	audits, err := committedIn(text)
	if err != nil {
		return false, err
	}
	salt, _ := hex.DecodeString(m[1])
	sum, err := commit(salt, audits)
	if err == nil && sum != m[2] {
		fmt.Fprintf(stdout, "The commitment does not hold: with this salt, the hash of the report’s plan is %s, not %s. Another plan, claim, seed or file was committed: compare the plan that was kept with the report’s.\n", sum, m[2])
		return false, nil
	}
	if err == nil {
		fmt.Fprintf(stdout, "The commitment holds: %s is the hash of the report’s plan. Its timestamp shows when it was made. Nothing shows whether other plans were committed too.\n", sum)
	}
	return err == nil, err
}
