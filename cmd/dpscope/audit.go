package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/mechanisms/google"
)

type auditFlags struct {
	kindFlags[pair.Plan]
	curve string // file of a claim that is a curve
	suite planFlags
}

func newAuditFlags(s streams) *auditFlags {
	f := newSettingsFlags("audit", s)
	f.Gone("continue", "an audit of a pair cannot continue from a report, because nobody can check the outputs behind the report; raise -samples, or give -until-refuted and the largest -samples that you can spend")
	f.workers = f.Workers(0, "parallel workers; 0: one per processor. The result does not depend on this")
	f.suite.register(f.Flags)
	f.shards.Register(f.Flags)
	f.out.register(f.Flags)
	return f
}

func newSettingsFlags(command string, s streams) *auditFlags {
	f := &auditFlags{kindFlags: newKindFlags(command, pair.Keys(), s)}
	f.brought.register(f.Flags, pair.ExternalKeys())
	f.Gone("decimal", "numbers have a decimal point; write them so, for example with pandas.read_csv(FILE, sep=';', decimal=',').to_csv(NEW, index=False)")
	f.StringVar(&f.curve, "claim-file", "", "claim as a curve, from a `file`: JSON of dpscope account -profile, lists of epsilons and deltas, or an Opacus state_dict (docs/claims.md)")
	return f
}

func (f *auditFlags) plan() (pair.Plan, error) {
	p := pair.Plan{Version: pair.PlanVersion}
	err := audit.First(f.ask(), f.brought.check(f.Flags), f.asked.Read(&p))
	if err == nil && f.curve != "" {
		err = f.readCurve(&p)
	}
	name := f.Mechanism()
	switch {
	case err != nil:
		return p, err
	case name != "":
		p.Mechanism = name
		return p, checkOwnClaim(p.Claim)
	case p.Mechanism == "":
		return p, absent("-mechanism", "a mechanism's name", "dpscope list shows all; use -exec or -wasm for your own mechanism, -samples-file for outputs that another program recorded")
	case p.Samples == 0:
		p.Samples = google.Samples(p.Mechanism)
	}
	return p, nil
}

func (f *auditFlags) readCurve(p *pair.Plan) error {
	if p.Claim != nil && *p.Claim != (audit.Claim{Kind: audit.Profile}) && *p.Claim != (audit.Claim{}) {
		return audit.Fault("-claim-file", strconv.Quote(f.curve), "the only claim", "leave out -epsilon, -delta, -profile and the like, or the file")
	}
	data, err := os.ReadFile(f.curve)
	if err != nil {
		return audit.Fault("-claim-file", strconv.Quote(f.curve), "a file that can be read", err.Error())
	}
	curve, err := accounting.ReadProfile(filepath.Base(f.curve), data)
	if err != nil {
		return audit.At("claim-file", err)
	}
	p.Claim = &audit.Claim{Kind: audit.Profile, Profile: &curve}
	return nil
}

func strayArgument(args []string) error {
	remedy := "-mechanism NAME names a mechanism (dpscope list), -samples-file FILE outputs that were recorded, -plan FILE several audits"
	if _, err := catalogue.Mechanism(args[0]); err == nil {
		remedy = "the mechanism has a flag: dpscope audit -mechanism " + args[0]
	}
	return audit.Fault("dpscope audit", fmt.Sprintf("called with %q", args), "given no argument besides flags", remedy)
}

func auditCommand(s streams, args []string) error {
	f := newAuditFlags(s)
	stray, code, ok := f.ParseNames(args)
	if !ok {
		return exit(code)
	}
	if len(stray) > 0 {
		return strayArgument(stray)
	}
	if f.suite.file != "" || len(f.suite.only) > 0 {
		return f.auditPlan()
	}
	plan, err := f.plan()
	if err != nil {
		return err
	}
	if slices.Contains([]string{format.SARIF, format.JUnit, format.GitHub}, f.out.format) { // for a build
		plan = plan.ForVerdict()
	}
	if f.shards.Given() && (len(f.Recorded.Files) > 0 || f.Table.File != "") {
		return audit.Fault("-shards", "given with -samples-file or -table", "absent: a file of yours is read on one machine", "leave it out, and give more -workers")
	}
	return f.does(plan, nil)
}
