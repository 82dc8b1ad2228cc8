package pair

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/estimators/classifier"
)

// sequentialShare is the share of the error that an audit spends on the sequential
// verdict, where it certifies a bound as well.
const sequentialShare = 0.2

// isSequential reports whether the audit has a sequential stage.
func (p Plan) isSequential() bool { return p.Mode != Fixed }

// sequentialBeta is the error of the sequential stage.
func (p Plan) sequentialBeta() float64 {
	if p.Mode == UntilRefuted {
		return p.Beta
	}
	return float64(sequentialShare * p.Beta)
}

// boundBeta is the error of what the second stage certifies.
func (p Plan) boundBeta() float64 {
	if p.Mode == VerdictAndBound {
		return p.Beta - p.sequentialBeta()
	}
	return p.Beta
}

// sequentialErrorShare is the share of the error that the sequential stage has.
func (p Plan) sequentialErrorShare() float64 { return p.sequentialBeta() / p.Beta }

// belowShare is the share of the stage's error that limits below the claim have.
const belowShare = 0.05

// sequentialThreshold is the log wealth at which a claim is refuted. It leaves room for the
// rounding of sums.
func (a *Audit) sequentialThreshold() float64 {
	return -stream.Log(float64((1-belowShare)*a.Plan.sequentialBeta())) + 1e-9
}

// belowThreshold is that of limits below the claim.
func (a *Audit) belowThreshold() float64 {
	return -stream.Log(float64(belowShare*a.Plan.sequentialBeta())) + 1e-9
}

// sequentialBudget is how many outputs a side of all pairs the sequential stage draws at most.
func (a *Audit) sequentialBudget() int {
	if a.Spec.Recording != nil && a.Plan.Mode != UntilRefuted {
		return a.Plan.Explore
	}
	return a.Plan.Samples
}

// eProcess is the wealth of bets against a claim of one strength, over all pairs.
type eProcess struct {
	limit     float64 // what the claim would allow, in units of the goal
	stakes    *bounds.Stakes
	delta     float64                // of the claim
	groups    map[int]*bounds.Stakes // of pairs that differ by so many steps
	logEValue float64                // log
	most      float64                // the largest that it ever was
}

// add multiplies the wealth.
func (a *eProcess) add(log float64) {
	a.logEValue += log
	a.most = max(a.most, a.logEValue)
}

// strengths are the claims that are bet against, as shares of the claim's own limit,
// which comes first.
var strengths = [...]float64{1, 0.1, 0.25, 0.5, 0.75, 0.9, 1.25, 2}

// cellOdds are the log odds of the cells.
var cellOdds = func() []float64 {
	odds := make([]float64, classifier.Cells)
	for c := range odds {
		odds[c] = classifier.Logit(c)
	}
	return odds
}()

// strength is the limit that an account's claim has.
func (a *Audit) strength(number int) float64 { return float64(strengths[number] * a.Claim.Limit()) }

// accounts are the accounts of an audit: of its claim, and of weaker and stronger ones.
func (a *Audit) accounts() []eProcess {
	_, delta := a.dpLimits()
	list := make([]eProcess, len(strengths))
	for i, stakes := range a.allStakes() {
		list[i] = eProcess{limit: a.strength(i), delta: delta, stakes: stakes, groups: map[int]*bounds.Stakes{}}
	}
	return list
}

// remember has the audit make the stakes of its accounts once: it needs them to bet, to tell
// how it goes and to conclude, and making them takes longer than a quick verdict.
func (a *Audit) remember() {
	a.allStakes = sync.OnceValue(func() (all [len(strengths)]*bounds.Stakes) {
		for i := range all {
			all[i] = a.stakes(a.strength(i))
		}
		return all
	})
}

// betOrders are the orders that a claim on divergences is bet against at, beside its own.
var betOrders = []float64{1.25, 2, 4, 16}

// ClaimStakes are the bets against the claim.
func (a *Audit) ClaimStakes() *bounds.Stakes { return a.stakes(a.Claim.Limit()) }

// stakes are the bets against the claim, were its limit this.
func (a *Audit) stakes(limit float64) *bounds.Stakes {
	switch a.Plan.goal() {
	case report.Epsilon:
		_, delta := a.dpLimits()
		return bounds.NewStakes([]bounds.Point{{Epsilon: limit, Delta: delta}}, cellOdds)
	case report.Stretch:
		return bounds.NewStakes(a.stretched(limit), cellOdds)
	case report.Mu:
		var points []bounds.Point
		for _, times := range []float64{0, 0.5, 1, 2, 3} {
			e := float64(times * limit)
			points = append(points, bounds.Point{Epsilon: e, Delta: -phrase.Floor(-bounds.GaussianDelta(limit, e), 12)})
		}
		return bounds.NewStakes(points, cellOdds)
	}
	s := new(bounds.Stakes)
	for i, alpha := range a.Plan.orders() {
		if i > 0 && !slices.Contains(betOrders, alpha) {
			continue
		}
		switch a.Plan.goal() {
		case report.Rho:
			s.AddRenyi(alpha, float64(limit*alpha), cellOdds)
		case report.RenyiDivergence:
			s.AddRenyi(alpha, limit, cellOdds)
		default:
			if d, ok := audit.DPClaim(limit, 0).ImpliedRenyi(alpha); ok {
				s.AddRenyi(alpha, d, cellOdds)
			}
		}
	}
	return s
}

// betting is an epoch under way.
type betting struct {
	accounts []eProcess
	steps    int // by which the pair differs
	list     []classifier.Candidate
	model    *classifier.Model
	tables   []classifier.Table
	filled   []*sparse // of the tables as they are; none before they are asked for
	bets     []Bet     // candidates by their place in list
	cells    [][]uint16
}

// newBetting starts an epoch with what the arm learnt; without a model nothing is bet.
func newBetting(a *candidatePair, accounts []eProcess) *betting {
	b := &betting{accounts: accounts, steps: a.steps}
	for _, bets := range a.bets {
		for _, x := range bets {
			at := slices.Index(b.list, classifier.Candidate(x.Candidate))
			if at < 0 {
				at = len(b.list)
				b.list = append(b.list, classifier.Candidate(x.Candidate))
			}
			x.Candidate = at
			b.bets = append(b.bets, x)
		}
	}
	if len(b.list) > 0 {
		b.model = a.model
		b.tables = make([]classifier.Table, len(b.list))
		b.cells = make([][]uint16, len(b.list))
	}
	return b
}

// count adds outputs of one side.
func (b *betting) count(side int, rows []float64) {
	if b.model == nil {
		return
	}
	b.filled = nil
	n := len(rows) // at least the number of rows
	for k := range b.cells {
		if cap(b.cells[k]) < n {
			b.cells[k] = make([]uint16, n)
		}
		b.cells[k] = b.cells[k][:n]
	}
	n = b.model.Score(b.list, rows, b.cells)
	for k := range b.cells {
		t := &b.tables[k][side]
		for _, c := range b.cells[k][:n] {
			t[c]++
		}
	}
}

// log is the log of what the epoch made of 1 of an account.
func (b *betting) log(number int) float64 {
	if b.filled == nil {
		b.filled = make([]*sparse, len(b.tables))
	}
	return logEValueOf(b.accounts[number].stakesOf(b.steps), b.bets, number, b.tables, b.filled)
}

// logEValueOf is the log of what bets make of 1 of an account, by the tables of the
// candidates. It keeps in filled which cells of these are, for the next account.
func logEValueOf(stakes *bounds.Stakes, bets []Bet, number int, tables []classifier.Table, filled []*sparse) float64 {
	idle := 1.0
	var logs, shares []float64
	most := 0.0
	for _, x := range bets {
		if x.Account != number {
			continue
		}
		if filled[x.Candidate] == nil {
			filled[x.Candidate] = new(newSparse(&tables[x.Candidate]))
		}
		s := filled[x.Candidate]
		log := stakes.LogAt(x.Stake, x.Reversed, s.cells, s.first, s.second)
		logs, shares = append(logs, log), append(shares, x.Share)
		idle -= x.Share
		most = max(most, log)
	}
	if logs == nil {
		return 0
	}
	sum := float64(max(0, idle) * stream.Exp(-most))
	for i, log := range logs {
		sum += float64(shares[i] * stream.Exp(log-most))
	}
	return most + stream.Log(sum)
}

// epoch is what is kept of it.
func (b *betting) epoch(pair, outputs int) Epoch {
	e := Epoch{Pair: pair, Outputs: outputs}
	if b.model == nil {
		return e
	}
	e.Bets = b.bets
	data, err := json.Marshal(b.model.Only(b.list))
	if err != nil {
		panic("pair: a model that is no JSON: " + err.Error())
	}
	e.Witness = data
	for k, c := range b.list {
		e.Candidates = append(e.Candidates, c.String())
		e.Counts = append(e.Counts, packSparse(slices.Concat(b.tables[k][0][:], b.tables[k][1][:])))
	}
	return e
}

// unpack reads the tables of an epoch.
func (e Epoch) unpack() ([]classifier.Table, error) {
	tables := make([]classifier.Table, len(e.Counts))
	for k, packed := range e.Counts {
		n, err := unpackSparse(packed, 2*classifier.Cells)
		if err != nil {
			return nil, err
		}
		for side := range 2 {
			sum := 0
			for c := range classifier.Cells {
				v := n[side*classifier.Cells+c]
				tables[k][side][c] = v
				sum += v
			}
			if sum != e.Outputs {
				return nil, &audit.InputError{Field: "epoch.counts", Found: fmt.Sprintf("of %d outputs", sum), Want: fmt.Sprintf("%d, the epoch's outputs", e.Outputs)}
			}
		}
	}
	return tables, nil
}

// reachable reports whether any outcome of the whole budget refutes the claim.
func (a *Audit) reachable() bool {
	best := 0.0
	claim := &a.accounts()[0]
	for steps := range max(1, a.Plan.Group) {
		stakes := claim.stakesOf(steps + 1)
		for i := range stakes.Len() {
			best = max(best, stakes.Most(i))
		}
	}
	return float64(best*float64(a.sequentialBudget())) >= a.sequentialThreshold()
}

// follow multiplies the accounts by what an epoch made of them, which is of one of these
// pairs.
func (a *Audit) follow(accounts []eProcess, pairs []audit.Pair, e Epoch) error {
	steps, err := a.steps(pairs[e.Pair])
	if err != nil {
		return fmt.Errorf("the sequential stage's pairs: %w", err)
	}
	tables, err := e.unpack()
	if err != nil {
		return err
	}
	for _, b := range e.Bets {
		if n := accounts[b.Account].stakesOf(steps).Len(); b.Stake >= n {
			return &audit.InputError{Field: "report: sequential.epochs.bets.stake", Found: fmt.Sprint(b.Stake), Want: fmt.Sprintf("in [0, %d]", n-1)}
		}
	}
	filled := make([]*sparse, len(tables))
	for i := range accounts {
		accounts[i].add(logEValueOf(accounts[i].stakesOf(steps), e.Bets, i, tables, filled))
	}
	return nil
}

// rejected is the largest limit that is refuted, 0 where none is. Each limit is refuted
// only after one that it follows: those above the claim, in their order, the claim first;
// and those below it, in their order. So of all limits that hold, only the least on
// either way can be refuted by chance, and the error is shared by the two.
func (a *Audit) rejected(accounts []eProcess) float64 {
	order := make([]*eProcess, len(accounts))
	for i := range accounts {
		order[i] = &accounts[i]
	}
	slices.SortStableFunc(order, func(a, b *eProcess) int { return cmp.Compare(a.limit, b.limit) })
	claim := accounts[0].limit
	most, below := 0.0, true
	for _, x := range order {
		if x.limit < claim {
			if below = below && x.most >= a.belowThreshold(); below {
				most = x.limit
			}
			continue
		}
		if !(x.most >= a.sequentialThreshold()) {
			break
		}
		most = x.limit
	}
	return phrase.Floor(most, 6)
}

// outputs are all that the stage drew, of both sides.
func (r *SequentialResult) outputs() int {
	n := 0
	for _, e := range r.Epochs {
		n += 2 * e.Outputs
	}
	return n
}

// loudest is the pair that most outputs were drawn from: a race goes where it grows.
func (r *SequentialResult) loudest() int {
	drawn := make([]int, len(r.Pairs))
	best := 0
	for _, e := range r.Epochs {
		drawn[e.Pair] += e.Outputs
	}
	for i, n := range drawn {
		if n > drawn[best] {
			best = i
		}
	}
	return best
}

// MethodSequential is the bound of the sequential stage.
const MethodSequential bounds.Method = "sequential-betting"

// sequentialRow is what the sequential stage shows of the goal.
func (a *Audit) sequentialRow(r *SequentialResult) (report.Row, error) {
	f := a.goalRow()
	f.Method, f.Confidence, f.Valid = MethodSequential, 1-a.Plan.sequentialBeta(), true
	accounts := a.accounts()
	for _, e := range r.Epochs {
		if err := a.follow(accounts, r.Pairs, e); err != nil {
			return f, err
		}
	}
	for _, p := range r.Pairs {
		steps, err := a.steps(p)
		if err != nil {
			return f, fmt.Errorf("the sequential stage's pairs: %w", err)
		}
		if steps > max(1, f.Group) {
			f.Group = steps
			f.Note = fmt.Sprintf("pairs differ by up to %d rows; each is tested at the claim for groups of its size (lemma 3.4 of Lu et al. 2022)", steps)
		}
	}
	lower, p := a.rejected(accounts), min(1, math.Exp(-accounts[0].most+1e-9)/(1-belowShare))
	f.LowerBound, f.PValue = &lower, &p
	f.Strict = lower > 0
	return f, nil
}

// check refuses a sequential stage whose parts do not fit together.
func (r *SequentialResult) check(plan Plan) error {
	bad := func(i int, what, found, want string) error {
		return &audit.InputError{Field: fmt.Sprintf("report: sequential.epochs[%d].%s", i, what), Found: found, Want: want}
	}
	if !plan.isSequential() {
		return &audit.InputError{Field: "report: sequential", Found: "there", Want: fmt.Sprintf("absent in an audit of mode %q", plan.Mode)}
	}
	if most := plan.Trials + audit.MostScanned; len(r.Pairs) > most {
		return &audit.InputError{Field: "report: sequential.pairs", Found: fmt.Sprintf("%d of them", len(r.Pairs)), Want: fmt.Sprintf("at most %d, %d beyond plan.trials", most, audit.MostScanned)}
	}
	drawn := 0
	for i, e := range r.Epochs {
		if e.Outputs < 1 || e.Outputs > plan.Samples-drawn && e.Outputs > plan.Explore-drawn {
			return bad(i, "outputs", fmt.Sprint(e.Outputs), "at least 1, and no more than the plan's samples in all epochs")
		}
		drawn += e.Outputs
		if e.Pair < 0 || e.Pair >= len(r.Pairs) {
			return bad(i, "pair", fmt.Sprint(e.Pair), fmt.Sprintf("in [0, %d]", len(r.Pairs)-1))
		}
		if len(e.Counts) != len(e.Candidates) {
			return bad(i, "counts", fmt.Sprintf("%d of them", len(e.Counts)), fmt.Sprintf("%d, one of each candidate", len(e.Candidates)))
		}
		shares := make([]float64, len(strengths))
		for _, b := range e.Bets {
			switch {
			case b.Account < 0 || b.Account >= len(strengths):
				return bad(i, "bets.account", fmt.Sprint(b.Account), fmt.Sprintf("in [0, %d]", len(strengths)-1))
			case b.Candidate < 0 || b.Candidate >= len(e.Counts):
				return bad(i, "bets.candidate", fmt.Sprint(b.Candidate), "the place of one of the epoch's candidates")
			case b.Stake < 0:
				return bad(i, "bets.stake", fmt.Sprint(b.Stake), "at least 0")
			case !(b.Share > 0):
				return bad(i, "bets.share", audit.Number(b.Share), "above 0")
			}
			if shares[b.Account] += b.Share; shares[b.Account] > 1+1e-9 {
				return bad(i, "bets.share", audit.Number(shares[b.Account])+" of an account's wealth in all", "at most 1")
			}
		}
		if _, err := e.unpack(); err != nil {
			return err
		}
	}
	if r.Chart != nil {
		return r.Chart.check(r)
	}
	return nil
}
