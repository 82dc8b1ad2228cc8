package pair

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/estimators/posterior"
)

// Continued is what earlier runs of the same settings came to: where a run until the
// claim is refuted goes on from. Outputs of all runs are independent, and what each
// bets is fixed by its past, to which earlier runs belong: so the wealth of an account
// multiplies, and its product over all runs is a test supermartingale if the mechanism
// kept its claim in each of them.
type Continued struct {
	Parts []Part `json:"parts"` // the earlier runs, the first one first
	// Accounts are the log wealth at the end of the last of them, and the largest that
	// it ever was, of each of the claims that are bet against, the claim itself first.
	Accounts [][2]float64 `json:"accounts"`
	Known    []Known      `json:"known,omitempty"` // the loudest pair first
}

// Part is an earlier run.
type Part struct {
	Report  string `json:"report"`           // SHA-256 of the report's bytes, hexadecimal
	Version string `json:"version"`          // of dpscope
	Commit  string `json:"commit,omitempty"` // as the plan had it
	Outputs int    `json:"outputs"`          // drawn, of all pairs and sides
	// Files are the SHA-256 of recorded outputs.
	Files []string `json:"files,omitempty"`
}

// Known is a pair with how it was bet on last.
type Known struct {
	Pair    audit.Pair      `json:"pair"`
	Learnt  int             `json:"learnt"` // outputs a side that the model learnt from
	Growth  float64         `json:"growth"` // of the claim's log wealth by one output a side
	Model   json.RawMessage `json:"model"`
	Bets    []Bet           `json:"bets"`    // candidates by their place in Learner
	Learner []string        `json:"learner"` // names of candidates
}

// Limits of what is gone on from.
const (
	mostParts  = 10_000
	mostCommit = 200 // bytes
)

// GoOn is the plan of a run that goes on from a report, whose bytes have this SHA-256.
// A plan that names no mechanism takes the settings of the report; else they must be the
// report's, but for Samples, how much is drawn now, and Commit.
func (p Plan) GoOn(cat audit.Catalogue, from Report, sum [32]byte) (Plan, error) {
	if p.Mechanism == "" {
		q := from.Plan
		if q.Commit = p.Commit; p.Samples != 0 {
			q.Samples = p.Samples
		}
		p = q
	}
	p.Continued = nil
	p.Mode = cmp.Or(p.Mode, UntilRefuted)
	bad := func(found, want, remedy string) error {
		return &audit.InputError{Field: "continue", Found: found, Want: want, Remedy: remedy}
	}
	if from.Plan.Mode != UntilRefuted || p.Mode != UntilRefuted {
		mode := from.Plan.Mode
		if mode == UntilRefuted {
			mode = p.Mode
		}
		return p, bad(fmt.Sprintf("an audit of mode %q", mode), fmt.Sprintf("mode %q, in the report and now", UntilRefuted), "the exact bound of other modes is for one run and its number of samples; -until-refuted makes reports that can be gone on from")
	}
	switch {
	case from.Sequential == nil:
		return p, bad("a report without outputs", "one of a run that came to bet", "")
	case from.Sequential.Refuted:
		return p, bad("a report that refutes the claim", "one that does not, yet", "the verdict stands, whatever comes; a mechanism that was mended since is another one and begins anew")
	case from.Termination.Reason == audit.Failed:
		return p, bad("a report of a run that failed", "one that completed or was stopped", "")
	}
	now, err := p.Resolve(cat)
	if err != nil {
		return p, err
	}
	past := from.Plan
	past.Samples = now.Plan.Samples // of which there may be fewer now that they are recorded
	before, err := past.Resolve(cat)
	if err != nil {
		return p, err
	}
	keys := settings.Without(Keys(), "samples", "commit")
	for i := range keys {
		keys[i].Always = false
	}
	if differ := append(settings.Written(keys, now.Plan, before.Plan), settings.Written(keys, before.Plan, now.Plan)...); len(differ) > 0 {
		return p, bad(fmt.Sprintf("another %s than in the report", differ[0].Name), "the settings of the report", "leave the settings out: the report has them; -samples says how much is drawn now")
	}
	if !audit.EqualJSON(now.Plan.Parameters, before.Plan.Parameters) {
		return p, bad("other parameters than in the report", "the settings of the report", "a mechanism with other parameters is another one and begins anew")
	}
	if was, is := from.Inputs.Brought, now.Spec.Brought; was != nil && is != nil && was.SHA256 != is.SHA256 {
		return p, bad(is.Name+" with another SHA-256 than in the report", "the mechanism of the report", "a mechanism that changed begins anew")
	}
	if was, is := from.Inputs.Labelled, now.Spec.Labelled; was != nil && is != nil && (was.File.SHA256 != is.File.SHA256 || !audit.EqualJSON(was.Reading, is.Reading)) {
		return p, bad(is.File.Name+" with another SHA-256, or read in another way, than in the report", "the table of the report", "a table that changed begins anew")
	}
	if p.Continued, err = before.continued(from, sum); err != nil {
		return p, err
	}
	return p, nil
}

// continued is what the run of a report came to.
func (a *Audit) continued(from Report, sum [32]byte) (*Continued, error) {
	c := new(Continued)
	past := Part{Report: hex.EncodeToString(sum[:]), Version: from.Generator.Version, Commit: from.Plan.Commit, Outputs: from.Sequential.outputs()}
	known := make([]Known, len(from.Sequential.Pairs))
	if before := from.Plan.Continued; before != nil {
		c.Parts = slices.Clone(before.Parts)
		copy(known, before.Known)
	}
	if s := from.Inputs.Samples; s != nil {
		for _, f := range s.Files {
			past.Files = append(past.Files, f.SHA256)
		}
	}
	c.Parts = append(c.Parts, past)
	accounts := a.accounts()
	drawn, grown := make([]int, len(known)), make([]float64, len(known))
	for i := range known {
		known[i].Pair = from.Sequential.Pairs[i]
	}
	for _, e := range from.Sequential.Epochs {
		k := &known[e.Pair]
		before := accounts[0].wealth
		if err := a.follow(accounts, from.Sequential.Pairs, e); err != nil {
			return nil, err
		}
		grown[e.Pair] += accounts[0].wealth - before
		if len(e.Bets) > 0 {
			k.Learnt = max(k.Learnt, drawn[e.Pair])
			k.Model, k.Bets, k.Learner = e.Witness, e.Bets, e.Candidates
		}
		drawn[e.Pair] += e.Outputs
	}
	for i := range known {
		if drawn[i] > 0 {
			known[i].Growth = grown[i] / float64(drawn[i])
		}
	}
	for _, x := range accounts {
		c.Accounts = append(c.Accounts, [2]float64{x.wealth, x.most})
	}
	known = slices.DeleteFunc(known, func(k Known) bool { return len(k.Bets) == 0 })
	slices.SortStableFunc(known, func(a, b Known) int { return cmp.Compare(b.Growth, a.Growth) })
	c.Known = known
	return c, nil
}

// ownWord is the note of a replay that has no report of the run before.
const ownWord = "what earlier runs came to is the report's own word; dpscope verify -from FILE holds it against the report that this one went on from"

// CheckContinued holds what a report says of the runs before it against the report of the
// last of them, whose bytes have this SHA-256.
func CheckContinued(cat audit.Catalogue, v *engine.Verification, r, from Report, sum [32]byte) error {
	if r.Plan.Continued == nil {
		return &audit.InputError{Field: "from", Found: "given for a report that goes on from none", Want: "absent"}
	}
	a, err := from.Plan.Resolve(cat)
	if err != nil {
		return err
	}
	if from.Sequential == nil {
		return &audit.InputError{Field: "from", Found: "a report without outputs", Want: "the one that this report went on from"}
	}
	want, err := a.continued(from, sum)
	if err != nil {
		return err
	}
	v.Notes = slices.DeleteFunc(v.Notes, func(note string) bool { return strings.Contains(note, ownWord) })
	v.Same(audit.EqualJSON(r.Plan.Continued, want), "plan.continued", "what it went on from is not what the report given comes to")
	return nil
}

// resolveContinued checks what the run goes on from.
func (a *Audit) resolveContinued() error {
	p := a.Plan
	bad := func(field, found, want string) error {
		return &audit.InputError{Field: "continued" + field, Found: found, Want: want}
	}
	if len(p.Commit) > mostCommit || phrase.Line(p.Commit) != p.Commit {
		return &audit.InputError{Field: "commit", Found: fmt.Sprintf("%.60q", p.Commit), Want: fmt.Sprintf("a line of at most %d bytes", mostCommit)}
	}
	c := p.Continued
	switch {
	case c == nil:
		return nil
	case p.Mode != UntilRefuted || p.first():
		return bad("", "given", fmt.Sprintf("absent but in plans of mode %q", UntilRefuted))
	case len(c.Parts) < 1 || len(c.Parts) > mostParts:
		return bad(".parts", fmt.Sprintf("%d of them", len(c.Parts)), fmt.Sprintf("1 to %d", mostParts))
	case len(c.Accounts) != len(strengths):
		return bad(".accounts", fmt.Sprintf("%d of them", len(c.Accounts)), fmt.Sprint(len(strengths)))
	case len(c.Known) > p.Trials:
		return bad(".known", fmt.Sprintf("%d pairs", len(c.Known)), fmt.Sprintf("at most trials = %d", p.Trials))
	}
	for i, x := range c.Parts {
		if sum, err := hex.DecodeString(x.Report); err != nil || len(sum) != 32 {
			return bad(fmt.Sprintf(".parts[%d].report", i), fmt.Sprintf("%.70q", x.Report), "a SHA-256, hexadecimal")
		}
		if x.Outputs < 0 || x.Outputs > 2*MaxSamples {
			return bad(fmt.Sprintf(".parts[%d].outputs", i), fmt.Sprint(x.Outputs), fmt.Sprintf("in [0, %d]", 2*MaxSamples))
		}
		if a.Spec.Recording == nil {
			continue
		}
		for _, f := range a.Spec.Recording.Files {
			if slices.Contains(x.Files, f.SHA256) {
				return &audit.InputError{Field: "continue", Found: fmt.Sprintf("%q, which was bet on before (run %d)", f.Name, i+1), Want: "outputs that are new", Remedy: "record more outputs, in a file of their own"}
			}
		}
	}
	for i, x := range c.Accounts {
		if !(x[0] <= x[1] && x[1] >= 0) || math.IsInf(x[0], 0) || math.IsInf(x[1], 0) {
			return bad(fmt.Sprintf(".accounts[%d]", i), fmt.Sprint(x), "a finite log wealth, and the largest that it was")
		}
	}
	accounts := a.accounts()
	for i, k := range c.Known {
		if _, err := k.arm(a, accounts, 1); err != nil {
			return audit.At(fmt.Sprintf("continued.known[%d]", i), err)
		}
	}
	return nil
}

// arm is the pair in a race, with how it was bet on before.
func (k Known) arm(a *Audit, accounts []account, rank int) (*arm, error) {
	steps, err := a.steps(k.Pair)
	if err != nil {
		return nil, audit.At("pair", err)
	}
	model, err := posterior.Decode(k.Model, a.Columns)
	if err != nil {
		return nil, err
	}
	list := make([]posterior.Candidate, len(k.Learner))
	for i, name := range k.Learner {
		for list[i] < posterior.Candidates && list[i].String() != name {
			list[i]++
		}
		if list[i] == posterior.Candidates || !model.Has(list[i]) {
			return nil, &audit.InputError{Field: "learner", Found: fmt.Sprintf("%q", name), Want: "a candidate that the model has"}
		}
	}
	out := &arm{pair: k.Pair, steps: steps, rank: rank, data: posterior.NewData(a.Columns), model: model, bets: make([][]Bet, len(accounts)), growth: float64(k.Growth * float64(k.Learnt)), past: k.Learnt}
	if k.Learnt < 1 || k.Learnt > MaxSamples || math.IsNaN(k.Growth) {
		return nil, &audit.InputError{Field: "learnt", Found: fmt.Sprint(k.Learnt), Want: fmt.Sprintf("in [1, %d]", MaxSamples)}
	}
	shares := make([]float64, len(accounts))
	for _, b := range k.Bets {
		if b.Account < 0 || b.Account >= len(accounts) || b.Candidate < 0 || b.Candidate >= len(list) || b.Stake < 0 || b.Stake >= accounts[b.Account].stakesOf(steps).Len() || !(b.Share > 0) {
			return nil, &audit.InputError{Field: "bets", Found: fmt.Sprintf("%+v", b), Want: "an account, a candidate and a stake that are there, and a share above 0"}
		}
		if shares[b.Account] += b.Share; shares[b.Account] > 1+1e-9 {
			return nil, &audit.InputError{Field: "bets", Found: audit.Number(shares[b.Account]) + " of an account's wealth in all", Want: "at most 1"}
		}
		b.Candidate = int(list[b.Candidate])
		out.bets[b.Account] = append(out.bets[b.Account], b)
	}
	return out, nil
}

// outputs are those of all earlier runs; 0 for nil.
func (c *Continued) outputs() int {
	n := 0
	if c != nil {
		for _, p := range c.Parts {
			n += p.Outputs
		}
	}
	return n
}

// words list the earlier runs, the last ones only where they are many.
func (c *Continued) words() string {
	words := fmt.Sprintf("from %s of %s outputs", phrase.Count(len(c.Parts), "earlier run"), phrase.Grouped(c.outputs()))
	const most = 5
	from := max(0, len(c.Parts)-most)
	for i, p := range c.Parts[from:] {
		between := ", "
		if i == 0 {
			between = ": "
			if from > 0 {
				between = fmt.Sprintf(", the last %d: ", most)
			}
		}
		words += between + cmp.Or(p.Commit, "report "+p.Report[:12])
	}
	return words
}
