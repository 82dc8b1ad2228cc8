package pair

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/estimators/classifier"
)

func (p Plan) isSequential() bool { return p.Mode != Fixed }

// sequentialThreshold is the log wealth that refutes a limit, with room for rounding of sums.
func (a *Audit) sequentialThreshold() float64 { return -stream.Log(a.Plan.Beta) + 1e-9 }

// bets is how many outputs a side of all pairs the sequential stage draws, at most.
func (p Plan) bets() int { return audit.Pick(p.Mode == Fixed, 0, p.Samples) }

// certifies is how many outputs a side the second stage counts.
func (p Plan) certifies() int { return audit.Pick(p.Mode == Fixed, p.Samples, p.Explore) }

// Limits are those of a grid: the claim's own at place 0, gridDouble places double it.
const (
	gridDouble = 64
	gridLeast  = -8 * gridDouble
	gridMost   = 16 * gridDouble
)

func (a *Audit) limit(place int) float64 {
	if place == 0 {
		return a.Claim.Limit()
	}
	return float64(a.Claim.Limit() * stream.Exp(float64(float64(place)*math.Ln2)/gridDouble))
}

type eProcess struct {
	place           int
	logEValue, most float64 // now, and at most ever
}

func (x *eProcess) add(log float64) {
	x.logEValue += log
	x.most = max(x.most, x.logEValue)
}

// accounts are the wealths of bets against all limits of the grid.
//
// What keeps a limit keeps all above it. So a bet against a limit is one against each below it too: a limit
// without bets in an epoch gets those of the least above that has some. Each limit's wealth is then a test
// supermartingale where the limit holds, as each epoch chose its limits on the past. A limit is refuted once
// its wealth and that of every limit below have reached 1 over the error: of the limits that hold, the least is
// then refuted by chance with no more than that error (Ville), and none above it is before.
type accounts struct {
	audit  *Audit
	list   []eProcess                // ascending; a place that is absent has the wealth of the next one
	stakes map[[2]int]*bounds.Stakes // by place, and by how many steps the pair differs
}

func (a *Audit) accounts() *accounts {
	return &accounts{a, []eProcess{{}}, map[[2]int]*bounds.Stakes{}}
}

func (c *accounts) find(place int) (int, bool) {
	return slices.BinarySearchFunc(c.list, place, func(x eProcess, place int) int { return cmp.Compare(x.place, place) })
}

func (c *accounts) claim() *eProcess {
	i, _ := c.find(0)
	return &c.list[i]
}

// open lists places, with the wealth that they had: that of the next one.
func (c *accounts) open(places []int) {
	for _, place := range places {
		if i, ok := c.find(place); !ok {
			var x eProcess
			if i < len(c.list) {
				x = c.list[i]
			}
			x.place = place
			c.list = slices.Insert(c.list, i, x)
		}
	}
}

// add multiplies the wealths by what an epoch made of 1 at places, ascending and listed.
func (c *accounts) add(places []int, logs []float64) {
	j := 0
	for i := range c.list {
		for j < len(places) && places[j] < c.list[i].place {
			j++
		}
		if j < len(places) {
			c.list[i].add(logs[j])
		}
	}
}

// edge is the place of the largest limit that is refuted.
func (c *accounts) edge() (place int, ok bool) {
	limit := c.audit.sequentialThreshold()
	for _, x := range c.list {
		if !(x.most >= limit) {
			break
		}
		place, ok = x.place, true
	}
	return place, ok
}

// next is the place of the claim or, once it is refuted, the least that is not.
func (c *accounts) next() int {
	if place, ok := c.edge(); ok && place >= 0 {
		return place + 1
	}
	return 0
}

// bound is the largest limit that is refuted, 0 where none is.
func (c *accounts) bound() float64 {
	place, ok := c.edge()
	switch {
	case !ok:
		return 0
	case place == 0:
		return c.audit.limit(0) // exactly: rounded down it would not refute a claim of more decimals
	}
	return phrase.Floor(c.audit.limit(place), 6)
}

// refutes reports whether the claim is refuted, were the wealths multiplied by that.
func (c *accounts) refutes(places []int, log func(int) float64) bool {
	limit := c.audit.sequentialThreshold()
	for i, _ := c.find(0); i >= 0; i-- { // the claim is refuted last
		x := c.list[i]
		if j, _ := slices.BinarySearch(places, x.place); j < len(places) {
			x.add(log(j))
		}
		if !(x.most >= limit) {
			return false
		}
	}
	return true
}

func (c *accounts) stakesOf(place, steps int) *bounds.Stakes {
	key := [2]int{place, max(1, steps)}
	s, ok := c.stakes[key]
	if !ok {
		s = c.audit.stakesOf(c.audit.limit(place), key[1])
		c.stakes[key] = s
	}
	return s
}

// cellOdds are the cells' log odds; the first and the last are far out: bets reach beyond the cells.
var cellOdds = func() []float64 {
	odds := audit.Listed(classifier.Cells, classifier.Logit)
	odds[0], odds[len(odds)-1] = -40, 40
	return odds
}()

// betOrders are those of bets against a claim on divergences, beside its own.
var betOrders = []float64{1.25, 2, 4, 16}

// ClaimStakes are the bets against the claim.
func (a *Audit) ClaimStakes() *bounds.Stakes { return a.stakesOf(a.Claim.Limit(), 1) }

// stakesOf are the bets against the claim, were its limit this, of pairs of so many steps.
func (a *Audit) stakesOf(limit float64, steps int) *bounds.Stakes {
	switch a.Plan.goal() {
	case report.Epsilon:
		_, delta := a.dpLimits()
		c := audit.DPClaim(limit, delta).Group(steps) // claims of other goals have no groups
		if steps > 1 && !(c.Epsilon < 700) {          // e^epsilon is not finite
			return new(bounds.Stakes)
		}
		return bounds.NewStakes([]bounds.Point{{Epsilon: c.Epsilon, Delta: c.Delta}}, cellOdds)
	case report.Stretch:
		return bounds.NewStakes(a.stretched(limit), cellOdds)
	case report.Mu:
		return bounds.NewStakes(gaussianPoints(limit), cellOdds)
	}
	s := new(bounds.Stakes)
	for i, alpha := range a.Plan.orders() {
		if i > 0 && !slices.Contains(betOrders, alpha) {
			continue
		}
		d, ok := limit, true
		switch a.Plan.goal() {
		case report.Rho:
			d = float64(limit * alpha)
		case report.RenyiEpsilon:
			d, ok = audit.DPClaim(limit, 0).ImpliedRenyi(alpha)
		}
		if ok {
			s.AddRenyi(alpha, d, cellOdds)
		}
	}
	return s
}

// gaussianPoints are claims that mu-GDP implies, delta rounded up.
func gaussianPoints(mu float64) []bounds.Point {
	return audit.Each([]float64{0, 0.5, 1, 2, 3}, func(times float64) bounds.Point {
		e := float64(times * mu)
		return bounds.Point{Epsilon: e, Delta: -phrase.Floor(-bounds.GaussianDelta(mu, e), 12)}
	})
}

type betting struct {
	accounts *accounts
	steps    int   // by which the pair differs
	limits   []int // that are bet against, by their places
	list     []classifier.Candidate
	model    *classifier.Model
	tables   []classifier.Table
	filled   []*sparse // of the tables as they are, once asked for
	bets     []Bet     // candidates by their place in list
	cells    [][]uint16
}

// newBetting bets by what the pair's outputs taught; without a model nothing is bet.
func newBetting(a *candidatePair, accounts *accounts) *betting {
	accounts.open(a.limits)
	b := &betting{accounts: accounts, steps: a.steps, limits: a.limits}
	for _, x := range a.bets {
		at := slices.Index(b.list, classifier.Candidate(x.Candidate))
		if at < 0 {
			at = len(b.list)
			b.list = append(b.list, classifier.Candidate(x.Candidate))
		}
		x.Candidate = at
		b.bets = append(b.bets, x)
	}
	if len(b.list) > 0 {
		b.model = a.model
		b.tables = make([]classifier.Table, len(b.list))
		b.cells = make([][]uint16, len(b.list))
	}
	return b
}

func (b *betting) count(side int, rows []float64) {
	if b.model == nil {
		return
	}
	b.filled = make([]*sparse, len(b.tables))
	for k, cells := range b.cells {
		b.cells[k] = slices.Grow(cells[:0], len(rows))[:len(rows)]
	}
	n := b.model.Score(b.list, rows, b.cells)
	for k := range b.cells {
		t := &b.tables[k][side]
		for _, c := range b.cells[k][:n] {
			t[c]++
		}
	}
}

func (b *betting) log(number int) float64 {
	return logEValueOf(b.accounts.stakesOf(b.limits[number], b.steps), b.bets, number, b.tables, b.filled)
}

// logEValueOf is the log of what bets make of 1 of an account. filled keeps cells for the next account.
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

func (b *betting) epoch(pair, outputs int) Epoch {
	e := Epoch{Pair: pair, Outputs: outputs}
	if b.model == nil {
		return e
	}
	e.Limits, e.Bets = b.limits, b.bets
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

func (e Epoch) unpack() ([]classifier.Table, error) {
	tables := make([]classifier.Table, len(e.Counts))
	for k, packed := range e.Counts {
		n, err := unpackSparse(packed, 2*classifier.Cells)
		if err != nil {
			return nil, err
		}
		for side := range 2 {
			counts := tables[k][side][:]
			copy(counts, n[side*classifier.Cells:])
			if sum := audit.Total(counts); sum != e.Outputs {
				return nil, audit.Fault("epoch.counts", fmt.Sprintf("of %d outputs", sum), fmt.Sprintf("%d, the epoch's outputs", e.Outputs))
			}
		}
	}
	return tables, nil
}

// leastBet is how many outputs a side some outcome needs to refute the claim, at least.
func (a *Audit) leastBet() int {
	best := 1e-12
	for steps := range max(1, a.Plan.Group) {
		stakes := a.stakesOf(a.Claim.Limit(), steps+1)
		for i := range stakes.Len() {
			best = max(best, stakes.Most(i))
		}
	}
	n := math.Ceil(a.sequentialThreshold() / best)
	return audit.Pick(n <= MaxSamples, int(n), math.MaxInt)
}

// follow multiplies the wealths by what an epoch of one of the pairs made of them.
func (c *accounts) follow(pairs []audit.Pair, e Epoch) error {
	steps, err := c.audit.steps(pairs[e.Pair])
	if err != nil {
		return fmt.Errorf("the sequential stage's pairs: %w", err)
	}
	tables, err := e.unpack()
	if err != nil {
		return err
	}
	for _, b := range e.Bets {
		most := c.stakesOf(e.Limits[b.Account], steps).Len() - 1
		if err := audit.Within("report: sequential.epochs.bets.stake", b.Stake, 0, most); err != nil {
			return err
		}
	}
	filled := make([]*sparse, len(tables))
	c.open(e.Limits)
	c.add(e.Limits, audit.Listed(len(e.Limits), func(i int) float64 {
		return logEValueOf(c.stakesOf(e.Limits[i], steps), e.Bets, i, tables, filled)
	}))
	return nil
}

func (r *SequentialResult) outputs() int {
	return 2 * audit.Total(audit.Listed(len(r.Epochs), func(i int) int { return r.Epochs[i].Outputs }))
}

// loudest is the pair that most outputs were drawn from: a race goes where it grows.
func (r *SequentialResult) loudest() int {
	drawn := r.drawn()
	return slices.Index(drawn, slices.Max(drawn))
}

// pairsUntil is how many pairs had been drawn from after so many outputs of both sides.
func (r *SequentialResult) pairsUntil(outputs int) (pairs int) {
	for _, e := range r.Epochs {
		if outputs <= 0 {
			break
		}
		outputs -= 2 * e.Outputs
		pairs = max(pairs, e.Pair+1)
	}
	return pairs
}

func (r *SequentialResult) drawn() []int {
	drawn := make([]int, len(r.Pairs))
	for _, e := range r.Epochs {
		drawn[e.Pair] += e.Outputs
	}
	return drawn
}

// second is the audit of the second stage, with what the first came to. One that climbs has its
// verdict by then: it shows an event of the pair that was drawn from most.
func (a *Audit) second(r *SequentialResult) *Audit {
	if a.Plan.Mode != Climbing || r == nil || len(r.Pairs) == 0 {
		return a
	}
	b := *a
	p := &b.Plan
	p.Mode, p.Trials, p.Samples = Fixed, 1, a.Plan.certifies()
	if a.Spec.Recording == nil {
		p.Pair = &r.Pairs[r.loudest()]
	}
	return &b
}

// MethodSequential is the bound of the sequential stage.
const MethodSequential bounds.Method = "sequential-betting"

func (a *Audit) sequentialRow(r *SequentialResult) (report.Row, error) {
	f, accounts := a.goalRow(), a.accounts()
	f.Method, f.Confidence, f.Valid = MethodSequential, 1-a.Plan.Beta, true
	for _, e := range r.Epochs {
		if err := accounts.follow(r.Pairs, e); err != nil {
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
	lower := accounts.bound()
	f.LowerBound, f.Strict, f.PValue = &lower, lower > 0, new(min(1, math.Exp(-accounts.claim().most+1e-9)))
	return f, nil
}

func (r *SequentialResult) check(plan Plan) error {
	most := plan.Trials + audit.MostScanned
	err := audit.First(
		audit.Require(plan.isSequential(), "report: sequential", "there", "absent in an audit of mode %q", plan.Mode),
		audit.Require(len(r.Pairs) <= most, "report: sequential.pairs", fmt.Sprintf("%d of them", len(r.Pairs)), "at most %d, %d beyond plan.trials", most, audit.MostScanned),
	)
	if err != nil {
		return err
	}
	drawn := 0
	for i, e := range r.Epochs {
		at := fmt.Sprintf("report: sequential.epochs[%d].", i)
		err := audit.First(
			audit.Require(e.Outputs >= 1 && e.Outputs <= plan.Samples-drawn, at+"outputs", e.Outputs, "at least 1, and no more than the plan's samples in all epochs"),
			audit.Within(at+"pair", e.Pair, 0, len(r.Pairs)-1),
			audit.Require(len(e.Counts) == len(e.Candidates), at+"counts", fmt.Sprintf("%d of them", len(e.Counts)), "%d, one of each candidate", len(e.Candidates)),
		)
		drawn += e.Outputs
		for j, place := range e.Limits {
			ok := place >= gridLeast && place <= gridMost && (j == 0 || place > e.Limits[j-1])
			err = audit.First(err, audit.Require(ok, at+"limits", place, "in [%d, %d], and above the one before it", gridLeast, gridMost))
		}
		if err != nil {
			return err
		}
		shares := make([]float64, len(e.Limits))
		for _, b := range e.Bets {
			known := b.Account >= 0 && b.Account < len(e.Limits)
			if known {
				shares[b.Account] += b.Share
			}
			err = audit.First(err,
				audit.Require(known, at+"bets.account", b.Account, "the place of one of the epoch's limits"),
				audit.Require(b.Candidate >= 0 && b.Candidate < len(e.Counts), at+"bets.candidate", b.Candidate,
					"the place of one of the epoch's candidates"),
				audit.Require(b.Stake >= 0, at+"bets.stake", b.Stake, "at least 0"),
				audit.Require(b.Share > 0, at+"bets.share", b.Share, "above 0"))
		}
		for _, sum := range shares {
			err = audit.First(err, audit.Require(!(sum > 1+1e-9), at+"bets.share",
				audit.Number(sum)+" of an account's wealth in all", "at most 1"))
		}
		if err == nil {
			_, err = e.unpack()
		}
		if err != nil {
			return err
		}
	}
	if r.Chart != nil {
		return r.Chart.check(r)
	}
	return nil
}
