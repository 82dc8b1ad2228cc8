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

// sarifSchema is the address of the schema of SARIF 2.1.0 with errata 01.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// The objects of SARIF 2.1.0 that a run needs (OASIS Standard, section 3).
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	ColumnKind  string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
	Properties  map[string]any    `json:"properties"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name            string      `json:"name"`
	Version         string      `json:"version"`
	SemanticVersion string      `json:"semanticVersion"`
	Rules           []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string         `json:"id"`
	Name             string         `json:"name"`
	ShortDescription sarifMessage   `json:"shortDescription"`
	FullDescription  sarifMessage   `json:"fullDescription"`
	Help             sarifMessage   `json:"help"`
	Properties       map[string]any `json:"properties"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifInvocation struct {
	ExecutionSuccessful bool                `json:"executionSuccessful"`
	Notifications       []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string       `json:"level"`
	Message sarifMessage `json:"message"`
}

type sarifResult struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           int               `json:"ruleIndex"`
	Level               string            `json:"level"`
	Message             sarifMessage      `json:"message"`
	Locations           []sarifLocation   `json:"locations,omitempty"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
	Properties          map[string]any    `json:"properties"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

// ruleWords say what the rule of a kind of claim is.
var ruleWords = map[audit.ClaimKind]struct{ name, claim string }{
	audit.Pure:        {"PureDifferentialPrivacy", "(epsilon, 0)-differential privacy"},
	audit.Approximate: {"ApproximateDifferentialPrivacy", "(epsilon, delta)-differential privacy"},
	audit.Renyi:       {"RenyiDifferentialPrivacy", "(alpha, epsilon) Rényi differential privacy"},
	audit.ZCDP:        {"ZeroConcentratedDifferentialPrivacy", "rho-zero-concentrated differential privacy"},
	audit.GaussianDP:  {"GaussianDifferentialPrivacy", "mu-Gaussian differential privacy"},
}

// ruleHelp is what a reader of an alert needs to know.
const ruleHelp = "dpscope certified a lower bound on how well the mechanism's outputs on neighbouring datasets can be told apart. " +
	"An error means that the bound exceeds the claim: if the claim were true, this would happen with probability at most 1 minus the stated confidence. " +
	"A note means that the audit was inconclusive. The absence of results is not a proof of privacy. The command in the message repeats the audit with the same counts."

// sarif is one run. Only what somebody should look at is a result: code scanning
// shows every result as an alert, whatever its kind. The verdicts of all audits
// are properties of the run; an audit that failed is a notification.
func sarif(run Run) sarifLog {
	out := sarifRun{ColumnKind: "unicodeCodePoints", Invocations: []sarifInvocation{{ExecutionSuccessful: true}}, Results: []sarifResult{}}
	var kinds []audit.ClaimKind
	verdicts := []map[string]any{}
	failed := func(words string) {
		inv := &out.Invocations[0]
		inv.ExecutionSuccessful = false
		inv.Notifications = append(inv.Notifications, sarifNotification{"error", sarifMessage{message(words)}})
	}
	for _, b := range run.Broken {
		failed(b.Name + ": " + b.Why)
	}
	for _, a := range run.Audits {
		r := a.Report.Head()
		verdicts = append(verdicts, map[string]any{"name": a.Name, "verdict": r.Verdict, "summary": r.Summary})
		if !slices.Contains(kinds, r.Claim.Kind) {
			kinds = append(kinds, r.Claim.Kind)
		}
		switch r.Verdict {
		case audit.NoViolation:
			continue
		case audit.Invalid:
			failed(details(a))
			continue
		}
		out.Results = append(out.Results, result(run, a, slices.Index(kinds, r.Claim.Kind)))
	}
	out.Properties = map[string]any{"audits": verdicts}
	if run.Summary != "" {
		out.Properties["summary"] = run.Summary
	}
	generator := run.Audits[0].Report.Head().Generator
	out.Tool.Driver = sarifDriver{Name: "dpscope", Version: generator.Version, SemanticVersion: generator.Version, Rules: []sarifRule{}}
	for _, k := range kinds {
		w := ruleWords[k]
		out.Tool.Driver.Rules = append(out.Tool.Driver.Rules, sarifRule{ID: ruleID(k), Name: w.name,
			ShortDescription: sarifMessage{"The mechanism does not keep its claim of " + w.claim},
			FullDescription:  sarifMessage{"Two neighbouring datasets and a test tell the mechanism's outputs apart better than " + w.claim + " allows."},
			Help:             sarifMessage{ruleHelp},
			Properties:       map[string]any{"tags": []string{"privacy", "differential-privacy", "security"}, "precision": "very-high", "problem.severity": "error"}})
	}
	return sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{out}}
}

func ruleID(k audit.ClaimKind) string { return "dpscope/" + string(k) }

// result is one alert.
func result(run Run, a Audit, rule int) sarifResult {
	r := a.Report.Head()
	_, seed := a.Report.Chance()
	level := "note"
	if run.failed(a) {
		level = "error"
	}
	out := sarifResult{RuleID: ruleID(r.Claim.Kind), RuleIndex: rule, Level: level, Message: sarifMessage{message(details(a))},
		PartialFingerprints: map[string]string{"dpscopeAudit/v1": fingerprint(a)},
		Properties:          map[string]any{"audit": a.Name, "verdict": r.Verdict, "claim": r.Claim, "confidence": r.Confidence, "seed": seed, "samples": r.Termination.SamplesUsed}}
	if r.LowerBound != nil {
		out.Properties["lowerBound"], out.Properties["quantity"] = *r.LowerBound, r.Quantity
		if row := r.Deciding(); row.Counts != nil {
			out.Properties["counts"] = row.Counts
		}
	}
	if l := a.Location; l != nil {
		p := sarifPhysical{Artifact: artifact(l.File)}
		if l.Line > 0 {
			p.Region = &sarifRegion{l.Line}
		}
		out.Locations = []sarifLocation{{p}}
	}
	return out
}

// fingerprint names the alert across runs: the same audit of the same kind of
// claim, whatever the seed and the counts.
func fingerprint(a Audit) string {
	sum := sha256.Sum256([]byte(a.Name + "\x00" + a.Report.Head().Subject + "\x00" + string(a.Report.Head().Claim.Kind)))
	return hex.EncodeToString(sum[:16])
}

// message doubles braces, which are placeholders otherwise (section 3.11.5).
func message(s string) string { return strings.NewReplacer("{", "{{", "}", "}}").Replace(s) }

// artifact is the file's URI: relative to the root of the source, or absolute
// (section 3.4).
func artifact(file string) sarifArtifact {
	if path.IsAbs(file) {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: path.Clean(file)}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: path.Clean(file)}).String(), Base: "%SRCROOT%"}
}
