package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
	"github.com/dpscope/dpscope/mechanisms/google"
)

// auditFlags are the flags of dpscope audit.
type auditFlags struct {
	*cli.Flags

	asked    cli.Asked[pair.Plan]
	workers  *int
	external externalFlags
	curve    string // file of a claim that is a curve

	out   formatFlags
	suite planFlags

	shards shares.Flags
}

func newAuditFlags(stderr io.Writer) *auditFlags {
	f := newSettingsFlags("dpscope audit", stderr)
	s := f.Flags
	s.Gone("continue", "an audit of a pair cannot continue from a report, because nobody can check which outputs the report rests on; raise -samples, or give -until-refuted and the largest -samples that you can spend")
	f.workers = s.Workers(0, "parallel workers; 0: one per processor. The result does not depend on this")
	f.suite.register(s)
	f.shards.Register(s)
	f.out.register(s)
	return f
}

// newSettingsFlags are those of the flags that say what is audited and how.
func newSettingsFlags(command string, stderr io.Writer) *auditFlags {
	f := &auditFlags{Flags: cli.NewFlags(command, stderr)}
	s := f.Flags
	f.asked = cli.Settings(s, pair.Keys())
	f.external.register(s, pair.ExternalKeys())
	s.Gone("decimal", "numbers have a decimal point; write them so, for example with pandas.read_csv(FILE, sep=';', decimal=',').to_csv(NEW, index=False)")
	s.StringVar(&f.curve, "claim-file", "", "claim as a curve, from a `file`: JSON of dpscope account -profile, lists of epsilons and deltas, an Opacus state_dict, or CSV (docs/claims.md)")
	return f
}

// plan makes the plan that the flags ask for.
func (f *auditFlags) plan() (pair.Plan, error) {
	given := map[string]bool{}
	f.Visit(func(x *flag.Flag) { given[x.Name] = true })
	p := pair.Plan{Version: pair.PlanVersion}
	if err := f.external.read(); err != nil {
		return p, err
	}
	if err := f.external.check(given); err != nil {
		return p, err
	}
	if err := f.asked.Read(&p); err != nil {
		return p, err
	}
	if f.curve != "" {
		if err := f.readCurve(&p); err != nil {
			return p, err
		}
	}
	name := f.external.Mechanism()
	switch {
	case name != "":
		p.Mechanism = name
		return p, checkOwnClaim(p.Claim)
	case p.Mechanism == "":
		return p, &audit.InputError{Field: "-mechanism", Found: audit.Absent, Want: "a mechanism's name", Remedy: "dpscope list shows all; use -exec or -wasm for your own mechanism, -samples-file for outputs that another program recorded"}
	case p.Samples == 0:
		p.Samples = google.Samples(p.Mechanism)
	}
	return p, nil
}

// readCurve puts the claim of a file into the plan.
func (f *auditFlags) readCurve(p *pair.Plan) error {
	if p.Claim != nil && *p.Claim != (audit.Claim{Kind: audit.Profile}) && *p.Claim != (audit.Claim{}) {
		return &audit.InputError{Field: "-claim-file", Found: strconv.Quote(f.curve), Want: "the only claim", Remedy: "leave out -epsilon, -delta, -profile and the like, or the file"}
	}
	data, err := os.ReadFile(f.curve)
	if err != nil {
		return &audit.InputError{Field: "-claim-file", Found: strconv.Quote(f.curve), Want: "a file that can be read", Remedy: err.Error()}
	}
	curve, err := accounting.ReadProfile(filepath.Base(f.curve), data)
	if err != nil {
		return audit.At("claim-file", err)
	}
	p.Claim = &audit.Claim{Kind: audit.Profile, Profile: &curve}
	return nil
}

// strayArgument says which flag an argument without one may want.
func strayArgument(args []string) error {
	remedy := "-mechanism NAME names a mechanism (dpscope list), -samples-file FILE outputs that were recorded, -plan FILE several audits"
	if _, err := catalogue.Mechanism(args[0]); err == nil {
		remedy = "the mechanism has a flag: dpscope audit -mechanism " + args[0]
	}
	return &audit.InputError{Field: "dpscope audit", Found: fmt.Sprintf("called with %q", args), Want: "given no argument besides flags", Remedy: remedy}
}

// files reads the files that the audit is of, and returns what can be audited with them.
func (f *auditFlags) files(plan pair.Plan, in intake) (audit.Catalogue, error) {
	switch r := f.external.Recorded; {
	case f.external.Table.File != "":
		return f.external.labelled(plan)
	case len(r.Files) > 0:
		return recordedCatalogue(r, in)
	}
	return catalogue, nil
}

// auditCommand is dpscope audit.
func auditCommand(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f := newAuditFlags(stderr)
	stray, code, ok := f.ParseNames(args)
	if !ok {
		return code
	}
	if len(stray) > 0 {
		return fail(stderr, strayArgument(stray))
	}
	if f.suite.given() {
		return auditPlan(f, stdin, stdout, stderr)
	}
	plan, err := f.plan()
	if err != nil {
		return fail(stderr, err)
	}
	if f.out.forBuilds() {
		plan = plan.ForVerdict()
	}
	if o := f.external; f.shards.Given() && (len(o.Recorded.Files) > 0 || o.Table.File != "") {
		return fail(stderr, &audit.InputError{Field: "-shards", Found: "given with -samples-file or -table", Want: "absent: a file of yours is read on one machine", Remedy: "leave it out, and give more -workers"})
	}
	cat, err := f.files(plan, intake{stdin, stderr})
	if err != nil {
		return fail(stderr, err)
	}
	if f.external.stdin, f.external.stdout = stdin, stdout; f.external.parent {
		stdout = io.Discard
	}
	ctx, stop := untilSignal()
	defer stop()
	end := func() {}
	if f.external.userKind() != "" {
		cat, end, err = f.external.catalogue(ctx, plan, stderr)
	}
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(stderr, "dpscope: stopped before the first pair of datasets")
		return cli.ExitInconclusive
	}
	if err != nil {
		return fail(stderr, err)
	}
	defer end()
	brought, err := userData(cat, plan.Mechanism)
	if err != nil {
		return fail(stderr, err)
	}
	return one{plan, given(cat, *f.workers), brought, f.shards, &f.out}.do(ctx, newMeter(stderr, f.external.parent), stdout, stderr)
}

// userData is what the parts of an audit say of a mechanism of the user's, nil of one that
// dpscope has.
func userData(cat audit.Catalogue, mechanism string) ([]byte, error) {
	spec, err := cat.Mechanism(mechanism)
	if err != nil || spec.User == nil {
		return nil, nil // the audit says what is wrong with its name
	}
	return json.Marshal(spec.User)
}
