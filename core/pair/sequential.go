package pair

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/estimators/classifier"
)

// SequentialResult is what the sequential stage found: all that its wealth follows from.
type SequentialResult struct {
	Pairs  []audit.Pair `json:"pairs"` // in the order in which they were first drawn from
	Epochs []Epoch      `json:"epochs"`
	// Refuted says that the claim's wealth reached 1 over the stage's share of the error.
	Refuted bool `json:"refuted"`
	// Chart is that of the pair that most outputs were drawn from.
	Chart *SequentialChart `json:"chart,omitempty"`
}

// SequentialChart is a chart that a sequential stage counted, of outputs of one pair that came
// after its bins were chosen.
type SequentialChart struct {
	Pair int `json:"pair"` // place in the list of pairs
	// Share of the error that limits of its counts may have, so that those of the charts of
	// all pairs hold together.
	Share float64     `json:"share"`
	Chart chart.Chart `json:"chart"`
}

// Epoch is a number of outputs of one pair, of each side, that were bet on together.
type Epoch struct {
	Pair    int `json:"pair"`    // place in the list of pairs
	Outputs int `json:"outputs"` // a side
	// Witness is what gave the log odds, Candidates those of its learners that were bet
	// by; absent where nothing was bet.
	Witness    json.RawMessage `json:"witness,omitempty"`
	Candidates []string        `json:"candidates,omitempty"`
	Bets       []Bet           `json:"bets,omitempty"`
	// Counts are, for each candidate, the counts of the outputs by the cell of their log
	// odds, of the first side and then of the second, packed.
	Counts [][]byte `json:"counts,omitempty"`
}

// Bet is a share of an account's wealth that was staked in one way; what is left of an
// account's wealth was not staked.
//
// In JSON it is a text such as "0 1 r12 0.25": account, candidate, stake, with an r
// before it where it is reversed, and share.
type Bet struct {
	Account   int  // place in the list of strengths, the claim's own first
	Candidate int  // place in the epoch's list
	Reversed  bool // on the second dataset over the first
	Stake     int
	Share     float64 // of the wealth, in (0, 1]
}

// MarshalText implements [encoding.TextMarshaler].
func (b Bet) MarshalText() ([]byte, error) {
	turn := ""
	if b.Reversed {
		turn = "r"
	}
	return fmt.Appendf(nil, "%d %d %s%d %s", b.Account, b.Candidate, turn, b.Stake, audit.Exactly(b.Share)), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (b *Bet) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), " ")
	bad := &audit.InputError{Field: "bet", Found: strconv.Quote(string(text)), Want: `account, candidate, stake and share, such as "0 1 r12 0.25"`}
	if len(parts) != 4 {
		return bad
	}
	stake, reversed := strings.CutPrefix(parts[2], "r")
	var errs [4]error
	b.Reversed = reversed
	b.Account, errs[0] = strconv.Atoi(parts[0])
	b.Candidate, errs[1] = strconv.Atoi(parts[1])
	b.Stake, errs[2] = strconv.Atoi(stake)
	b.Share, errs[3] = strconv.ParseFloat(parts[3], 64)
	if errors.Join(errs[:]...) != nil {
		return bad
	}
	return nil
}

// Constants of the race. They weigh power only: whatever they are, the wealth is a test
// supermartingale.
const (
	sequentialFirst    = 48   // outputs a side of a pair's first epoch
	sequentialGrowth   = 3    // of what a pair has, one part in so many more makes its next epoch
	sequentialOptimism = 0.25 // nats that a pair is given for nothing, over its rank
	sequentialPenalty  = 3.0  // nats that a bet must have grown in the past to get half of the wealth
	sequentialChunks   = 6    // of an epoch, after each of which the wealth is looked at
	sequentialLeast    = 1e-3 // share of a bet, at least
	sequentialBehind   = 7.0  // nats behind the best, at which a bet gets nothing
	sequentialBets     = 24   // bets of the claim's account in an epoch, at most
	sequentialOthers   = 2    // of any other account
	purposeSequential  = "sequential"
)

// candidatePair is a pair in the race.
type candidatePair struct {
	pair   audit.Pair
	steps  int // by which it differs
	rank   int
	epochs int
	drawn  int // outputs a side
	data   *classifier.Data
	learn  classifier.Learner
	model  *classifier.Model
	bets   [][]Bet // of each account, candidates by their own number
	growth float64 // of the claim's best bet on past outputs that its model had not seen
	chart  *armChart
}

// sequentialRun is a race under way.
type sequentialRun struct {
	audit      *Audit
	accounts   []eProcess
	find       audit.Finder
	candidates []*candidatePair
	queue      []audit.Pair
	dry        bool // the finder has no more
	scanned    bool // so does its scan
	hook       engine.Hook
	used       int // outputs a side of all pairs
	result     SequentialResult
}

func (t SequentialTest) run(hook engine.Hook, tell func(part any)) (*SequentialResult, error) {
	a := t.audit
	find, err := a.finder()
	if err != nil {
		return nil, fmt.Errorf("finder %s: %w", a.Plan.Finder, err)
	}
	r := &sequentialRun{audit: a, find: find, hook: hook, accounts: a.accounts(), result: SequentialResult{Pairs: []audit.Pair{}, Epochs: []Epoch{}}}
	defer func() { r.result.Chart = r.chart() }()
	told := 0 // pairs
	for r.used < a.sequentialBudget() && !r.result.Refuted && (t.Epochs == 0 || len(r.result.Epochs) < t.Epochs) {
		at, err := r.next()
		if err != nil {
			return nil, err
		}
		n := len(r.result.Epochs)
		if err := r.epoch(at); err != nil {
			return nil, err
		}
		tell(&SequentialResult{Pairs: slices.Clone(r.result.Pairs[told:]), Epochs: slices.Clone(r.result.Epochs[n:]), Refuted: r.result.Refuted, Chart: r.chart()})
		told = len(r.result.Pairs)
	}
	return &r.result, nil
}

// next is the pair that promises most for its next outputs: by how much its bets would
// have grown, and, for optimism, by its place in the finder's order.
func (r *sequentialRun) next() (int, error) {
	best, most := -1, 0.0
	for i, a := range r.candidates {
		index := (max(a.growth, 0) + sequentialOptimism/float64(a.rank)) / float64(2*a.drawn+sequentialFirst)
		if best < 0 || index > most {
			best, most = i, index
		}
	}
	fresh := sequentialOptimism / float64(len(r.candidates)+1) / sequentialFirst
	if best >= 0 && fresh <= most {
		return best, nil
	}
	if r.dry = r.dry || len(r.candidates) >= r.audit.Plan.Trials; r.dry && !r.scanned {
		r.scanned = true
		if s, ok := r.find.(audit.Scanner); ok {
			r.queue = s.Scan()
		}
	}
	if best >= 0 && r.dry && len(r.queue) == 0 {
		return best, nil
	}
	for len(r.queue) == 0 {
		history := make([]audit.Trial, len(r.candidates))
		for i, a := range r.candidates {
			history[i] = audit.Trial{Index: i, Pair: a.pair, Value: a.growth / float64(2*a.drawn)}
		}
		proposed := r.find.Propose(history, r.audit.Plan.Trials-len(r.candidates))
		if len(proposed) == 0 {
			r.dry = true
			if best < 0 {
				return 0, fmt.Errorf("finder %s proposed no pair", r.audit.Plan.Finder)
			}
			return best, nil
		}
		for _, p := range proposed {
			if _, err := r.audit.steps(p); err != nil {
				return 0, fmt.Errorf("finder %s proposed: %w", r.audit.Plan.Finder, err)
			}
			r.queue = append(r.queue, p)
		}
	}
	steps, err := r.audit.steps(r.queue[0])
	if err != nil {
		return 0, err
	}
	r.candidates = append(r.candidates, &candidatePair{pair: r.queue[0], steps: steps, rank: len(r.candidates) + 1, data: classifier.NewData(r.audit.Columns)})
	r.result.Pairs, r.queue = append(r.result.Pairs, r.queue[0]), r.queue[1:]
	return len(r.candidates) - 1, nil
}

// epoch draws the next outputs of a pair, bets on them, and learns from them.
func (r *sequentialRun) epoch(at int) error {
	a, m := r.candidates[at], r.audit
	n := min(max(sequentialFirst, a.drawn/sequentialGrowth), m.sequentialBudget()-r.used)
	bets := newBetting(a, r.accounts)
	width := audit.Width(m.Columns)
	var streams [2]*stream.Stream
	var sources [2]source
	for side := range streams {
		sources[side] = newSource(m, a.pair, purposeSequential, at, side).alive(r.hook)
		streams[side] = sources[side].stream(a.epochs)
	}
	rows := make([]float64, min(BlockRows, n)*width)
	var kept [2][]float64
	done := 0
	chunk := min(BlockRows, max(1, (n+sequentialChunks-1)/sequentialChunks))
	for done < n && !r.result.Refuted {
		k := min(chunk, n-done)
		for side := range streams {
			out := rows[:k*width]
			if err := sources[side].block(streams[side], r.used+done, out); err != nil {
				return err
			}
			bets.count(side, out)
			a.chart.count(side, out, width)
			if !a.data.Full() { // else only bet on: an epoch may be larger than memory
				kept[side] = append(kept[side], out...)
			}
			if err := r.hook(k); err != nil {
				return err
			}
		}
		done += k
		r.result.Refuted = r.accounts[0].logEValue+bets.log(0) >= m.sequentialThreshold()
	}
	for i := range r.accounts {
		r.accounts[i].add(bets.log(i))
	}
	r.result.Epochs = append(r.result.Epochs, bets.epoch(at, done))
	a.epochs++
	a.drawn += done
	r.used += done
	if r.result.Refuted || a.data.Full() {
		return nil
	}
	a.charted(m.Columns, kept)
	for side, rows := range kept {
		a.data.Add(side, rows)
	}
	if err := r.hook(0); err != nil {
		return err
	}
	var tables [classifier.Candidates]*classifier.Table
	a.model, tables = a.learn.Learn(a.data)
	if err := r.hook(0); err != nil {
		return err
	}
	a.growth = math.Inf(-1)
	a.bets = make([][]Bet, len(r.accounts))
	var filled [classifier.Candidates]*sparse // once, for all accounts
	for c, t := range tables {
		if t != nil {
			filled[c] = new(newSparse(t))
		}
	}
	for i := range r.accounts {
		var most float64
		a.bets[i], most = r.accounts[i].weigh(i, a.steps, filled)
		if i == 0 { // the claim's
			a.growth = most
		}
		if err := r.hook(0); err != nil {
			return err
		}
	}
	return nil
}

// weigh chooses the bets of an account by what they would have made of past outputs, with
// odds learnt without these, and says how much the best would have grown.
func (a *eProcess) weigh(number, steps int, tables [classifier.Candidates]*sparse) ([]Bet, float64) {
	type grown struct {
		Bet
		growth float64
	}
	var list []grown
	keep := sequentialOthers
	if number == 0 {
		keep = sequentialBets
	}
	most := math.Inf(-1)
	stakes := a.stakesOf(steps)
	for c, sparse := range tables {
		if sparse == nil {
			continue
		}
		for stake := range stakes.Len() {
			for _, reversed := range []bool{false, true} {
				g := stakes.LogAt(stake, reversed, sparse.cells, sparse.first, sparse.second)
				most = max(most, g)
				// The best in their order, of equals the first.
				if at := sort.Search(len(list), func(i int) bool { return list[i].growth < g }); at < keep {
					list = slices.Insert(list[:min(len(list), keep-1)], at, grown{Bet{Account: number, Candidate: c, Reversed: reversed, Stake: stake}, g})
				}
			}
		}
	}
	whole := stream.Logistic(most - sequentialPenalty)
	// Each with its share of exp(growth).
	list = slices.DeleteFunc(list, func(g grown) bool { return !(g.growth > most-sequentialBehind) })
	sum := 0.0
	for i := range list {
		list[i].Share = stream.Exp(list[i].growth - most)
		sum += list[i].Share
	}
	var bets []Bet
	for _, g := range list {
		if g.Share = math.Floor(float64(float64(whole*g.Share)/sum*1e4)) / 1e4; g.Share >= sequentialLeast {
			bets = append(bets, g.Bet)
		}
	}
	return bets, most
}

// sparse are the cells of a table that are not empty, and what is in them.
type sparse struct {
	cells         []int
	first, second []float64
}

func newSparse(t *classifier.Table) sparse {
	var s sparse
	for c := range t[0] {
		if n, m := t[0][c], t[1][c]; n|m != 0 {
			s.cells, s.first, s.second = append(s.cells, c), append(s.first, float64(n)), append(s.second, float64(m))
		}
	}
	return s
}
