package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
)

// commitment: the hash is SHA-256 of this, the salt's bytes and the canonical JSON of a list of [committed].
const commitment = "dpscope-commitment-v1\n"

const gone = "use dpscope commit instead: it prints a salted hash that any service can timestamp, and dpscope verify -commitment checks it"

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

// commitCommand prints a salted hash of audits, checked as before a run.
func commitCommand(s streams, args []string) error {
	f := newSettingsFlags("commit", s)
	for _, name := range []string{"host", "log-key", "receipt"} {
		f.Gone(name, gone)
	}
	names, code, ok := f.ParseNames(args)
	if !ok {
		return exit(code)
	}
	ctx, stop := untilSignal()
	defer stop()
	audits, err := f.committed(ctx, names)
	if err != nil {
		return err
	}
	salt := make([]byte, 16)
	rand.Read(salt)
	sum, err := commit(salt, audits)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "salt: %x\nsha256: %s\n", salt, sum)
	fmt.Fprintln(s.stderr, "Before the run, have a service that others trust timestamp the sha256. Keep the plan and these two lines. After the run: dpscope verify -commitment FILE REPORT")
	return nil
}

func (f *auditFlags) committed(ctx context.Context, names []string) (out []committed, err error) {
	var jobs []job
	if len(names) > 1 {
		return nil, audit.Fault("dpscope commit", fmt.Sprintf("called with %q", names), "given one file of audits, or the flags of one audit")
	} else if len(names) == 1 {
		file := planFlags{file: names[0]}
		if err := file.read(f.streams); err != nil {
			return nil, err
		}
		all, _ := file.plan.Choose(nil)
		var end func()
		_, jobs, end, err = file.jobs(f.streams, all, 1, false)
		defer end()
		if err != nil {
			return nil, err
		}
	} else {
		plan, err := f.plan()
		j := newJob(&f.brought, plan, 1)
		defer j.close()
		if err == nil {
			err = j.read()
		}
		if err == nil {
			err = j.open(ctx, &meter{})
		}
		if err == nil {
			j.audit, err = core.Resolve(plan, j.env)
		}
		if err != nil {
			return nil, err
		}
		jobs = []job{j}
	}
	for _, j := range jobs {
		c := committed{Name: j.name, Kind: core.KindOf(j.plan).Name, Plan: j.audit.Plan()}
		if p, ok := c.Plan.(pair.Plan); ok {
			spec, err := j.env.Catalogue.Mechanism(p.Mechanism)
			if err != nil {
				return nil, err
			}
			c.Files = sums(spec.Recording, spec.User, spec.Labelled)
		}
		out = append(out, c)
	}
	return out, nil
}

func sums(r *audit.Recording, b *audit.UserMechanism, l *audit.Labelled) (all []string) {
	if r != nil {
		all = audit.Each(r.Files, func(f audit.RecordedFile) string { return f.SHA256 })
	}
	if b != nil && b.SHA256 != "" {
		all = append(all, b.SHA256)
	}
	if l != nil {
		all = append(all, l.File.SHA256)
	}
	return all
}

func committedIn(text []byte) (out []committed, err error) {
	all, _, err := suite.AuditsIn(text)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		c := committed{Name: a.Name, Plan: core.PlanOf(a.Report)}
		c.Kind = core.KindOf(c.Plan).Name
		if own, ok := a.Report.(pair.Report); ok {
			c.Files = sums(own.Inputs.Samples, own.Inputs.User, own.Inputs.Labelled)
		}
		out = append(out, c)
	}
	return out, nil
}

var hexLines = regexp.MustCompile(`^\s*salt: ([0-9a-f]{32})\s+sha256: ([0-9a-f]{64})\s*$`)

// checkCommitment says whether a commitment, a file or its text, is of a report's plan.
func (s streams) checkCommitment(given string, text []byte) error {
	said := given
	if !strings.Contains(given, "sha256:") {
		data, err := s.read(given)
		if err != nil {
			return err
		}
		said = string(data)
	}
	m := hexLines.FindStringSubmatch(said)
	if m == nil {
		return audit.Fault("-commitment", "without a salt and a hash", "the two lines that dpscope commit printed, salt: and sha256:, or a file with them")
	}
	audits, err := committedIn(text)
	if err != nil {
		return err
	}
	salt, _ := hex.DecodeString(m[1])
	sum, err := commit(salt, audits)
	if err == nil && sum != m[2] {
		fmt.Fprintf(s.stdout, "The commitment does not hold: with this salt, the hash of the report’s plan is %s, not %s. Another plan, claim, seed or file was committed: compare the plan that was kept with the report’s.\n", sum, m[2])
		return exit(cli.ExitViolation)
	}
	if err == nil {
		fmt.Fprintf(s.stdout, "The commitment holds: %s is the hash of the report’s plan. Its timestamp shows when it was made. Nothing shows whether other plans were committed too.\n", sum)
	}
	return err
}
