package format

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// object of SARIF 2.1.0 (OASIS Standard, section 3).
type object = map[string]any

// message is the text of one: braces are placeholders otherwise (section 3.11.5).
func message(s string) object {
	return object{"text": strings.NewReplacer("{", "{{", "}", "}}").Replace(s)}
}

var ruleWords = map[audit.ClaimKind]struct{ name, claim string }{
	audit.Pure:        {"PureDifferentialPrivacy", "(epsilon, 0)-differential privacy"},
	audit.Approximate: {"ApproximateDifferentialPrivacy", "(epsilon, delta)-differential privacy"},
	audit.Renyi:       {"RenyiDifferentialPrivacy", "(alpha, epsilon) Rényi differential privacy"},
	audit.ZCDP:        {"ZeroConcentratedDifferentialPrivacy", "rho-zero-concentrated differential privacy"},
	audit.GaussianDP:  {"GaussianDifferentialPrivacy", "mu-Gaussian differential privacy"},
}

const ruleHelp = "dpscope certified a lower bound on how well the mechanism's outputs on neighbouring datasets can be told apart. " +
	"An error means that the bound exceeds the claim: if the claim were true, this would happen with probability at most 1 minus the stated confidence. " +
	"A note means that the audit was inconclusive. The absence of results is not a proof of privacy. The command in the message repeats the audit with the same counts."

// sarif is one run. Code scanning shows every result as an alert: only what somebody should look at
// is one. All verdicts are properties of the run; an audit that failed is a notification.
func sarif(run Run) ([]byte, error) {
	var kinds []audit.ClaimKind
	verdicts, results, rules, notes := []object{}, []object{}, []object{}, []object{}
	failed := func(words string) { notes = append(notes, object{"level": "error", "message": message(words)}) }
	for _, b := range run.Broken {
		failed(b.Name + ": " + b.Why)
	}
	for _, a := range run.Audits {
		r := a.Report.Head()
		verdicts = append(verdicts, object{"name": a.Name, "verdict": r.Verdict, "summary": r.Summary})
		if kind := r.Claim.Kind; !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
			w := ruleWords[kind]
			rules = append(rules, object{"id": ruleID(kind), "name": w.name,
				"shortDescription": object{"text": "The mechanism does not keep its claim of " + w.claim},
				"fullDescription":  object{"text": "Two neighbouring datasets and a test tell the mechanism's outputs apart better than " + w.claim + " allows."},
				"help":             object{"text": ruleHelp},
				"properties":       object{"tags": []string{"privacy", "differential-privacy", "security"}, "precision": "very-high", "problem.severity": "error"}})
		}
		switch r.Verdict {
		case audit.NoViolation:
		case audit.Invalid:
			failed(details(a))
		default:
			results = append(results, result(run, a, slices.Index(kinds, r.Claim.Kind)))
		}
	}
	invocation, properties := object{"executionSuccessful": len(notes) == 0}, object{"audits": verdicts}
	if len(notes) > 0 {
		invocation["toolExecutionNotifications"] = notes
	}
	if run.Summary != "" {
		properties["summary"] = run.Summary
	}
	version := run.Audits[0].Report.Head().Generator.Version
	return audit.Canonical(object{"$schema": sarifSchema, "version": "2.1.0", "runs": []object{{
		"tool":        object{"driver": object{"name": "dpscope", "version": version, "semanticVersion": version, "rules": rules}},
		"invocations": []object{invocation}, "columnKind": "unicodeCodePoints", "results": results, "properties": properties}}})
}

func ruleID(k audit.ClaimKind) string { return "dpscope/" + string(k) }

func result(run Run, a Audit, rule int) object {
	r := a.Report.Head()
	_, seed := a.Report.Chance()
	level := audit.Pick(run.failed(a), "error", "note")
	properties := object{"audit": a.Name, "verdict": r.Verdict, "claim": r.Claim, "confidence": r.Confidence, "seed": seed, "samples": r.Termination.SamplesUsed}
	if r.LowerBound != nil {
		properties["lowerBound"], properties["quantity"] = *r.LowerBound, r.Quantity
		if row := r.Deciding(); row.Counts != nil {
			properties["counts"] = row.Counts
		}
	}
	out := object{"ruleId": ruleID(r.Claim.Kind), "ruleIndex": rule, "level": level, "message": message(details(a)),
		"partialFingerprints": object{"dpscopeAudit/v1": fingerprint(a)}, "properties": properties}
	if l := a.Location; l != nil {
		place := object{"artifactLocation": artifact(l.File)}
		if l.Line > 0 {
			place["region"] = object{"startLine": l.Line}
		}
		out["locations"] = []object{{"physicalLocation": place}}
	}
	return out
}

// fingerprint names the alert across runs of any seed and counts.
func fingerprint(a Audit) string {
	sum := sha256.Sum256([]byte(a.Name + "\x00" + a.Report.Head().Subject + "\x00" + string(a.Report.Head().Claim.Kind)))
	return hex.EncodeToString(sum[:16])
}

// artifact is the file's URI: relative to the root of the source, or absolute (section 3.4).
func artifact(file string) object {
	if path.IsAbs(file) {
		return object{"uri": (&url.URL{Scheme: "file", Path: path.Clean(file)}).String()}
	}
	return object{"uri": (&url.URL{Path: path.Clean(file)}).String(), "uriBaseId": "%SRCROOT%"}
}
