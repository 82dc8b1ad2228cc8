package pair

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/estimators/classifier"
)

// SequentialResult is all that the wealth of a sequential stage follows from.
type SequentialResult struct {
	Pairs  []audit.Pair `json:"pairs"` // in the order in which they were first drawn from
	Epochs []Epoch      `json:"epochs"`
	// Refuted, above 0, is after how many outputs of both sides the claim was refuted.
	Refuted int              `json:"refuted,omitempty"`
	Chart   *SequentialChart `json:"chart,omitempty"` // that of the pair that most outputs were drawn from
}

// SequentialChart counts outputs of one pair that came after its bins were chosen.
type SequentialChart struct {
	Pair  int         `json:"pair"`  // place in the list of pairs
	Share float64     `json:"share"` // of the error, for limits of its counts: those of all pairs' charts hold together
	Chart chart.Chart `json:"chart"`
}

// Epoch is outputs of one pair that were bet on together.
type Epoch struct {
	Pair    int `json:"pair"`    // place in the list of pairs
	Outputs int `json:"outputs"` // a side
	// Limits that are bet against, ascending: 64 k + j is 2^(k + j/64) times the claim's.
	Limits []int `json:"limits,omitempty"`
	// Witness gave the log odds, Candidates are its learners that were bet by; absent without bets.
	Witness    json.RawMessage `json:"witness,omitempty"`
	Candidates []string        `json:"candidates,omitempty"`
	Bets       []Bet           `json:"bets,omitempty"`
	// Counts are packed, of each candidate: outputs by the cell of their log odds, first side first.
	Counts [][]byte `json:"counts,omitempty"`
}

// Bet is a share of an account's wealth that was staked in one way. In JSON it is a text: account,
// candidate, stake, with an r before it if reversed, and share, as in "0 1 r12 0.25".
type Bet struct {
	Account   int  // place in the epoch's list of limits
	Candidate int  // place in the epoch's list
	Reversed  bool // on the second dataset over the first
	Stake     int
	Share     float64 // of the wealth, in (0, 1]
}

// MarshalText implements [encoding.TextMarshaler].
func (b Bet) MarshalText() ([]byte, error) {
	turn := audit.Pick(b.Reversed, "r", "")
	return fmt.Appendf(nil, "%d %d %s%d %s", b.Account, b.Candidate, turn, b.Stake, audit.Exactly(b.Share)), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (b *Bet) UnmarshalText(text []byte) error {
	plain := strings.Replace(string(text), " r", " ", 1)
	b.Reversed = plain != string(text)
	fields := [...]any{&b.Account, &b.Candidate, &b.Stake, &b.Share}
	err := json.Unmarshal([]byte("["+strings.ReplaceAll(plain, " ", ",")+"]"), &fields) // fmt.Sscan would bring the scanner of fmt into the core
	if again, _ := b.MarshalText(); err != nil || string(again) != string(text) {
		return &audit.InputError{Field: "bet", Found: strconv.Quote(string(text)), Want: `account, candidate, stake and share, such as "0 1 r12 0.25"`}
	}
	return nil
}

// Constants of the race. They weigh power only.
const (
	sequentialFirst    = 48   // outputs a side of a pair's first epoch
	sequentialLarge    = 2048 // what a pair has, from where its next epoch is as large: learning takes most of the time
	sequentialOptimism = 0.25 // nats that a pair is given for nothing, over its place
	sequentialChunks   = 6    // of an epoch, after each of which the wealth is looked at
	sequentialLeast    = 1e-3 // share of a bet, at least
	sequentialBehind   = 7.0  // nats behind the best, at which a bet gets nothing
	sequentialBets     = 24   // bets of the claim's account in an epoch, at most
	sequentialAfter    = 4    // times the outputs of the verdict that a bound climbs for, at least
	sequentialLeastEnd = 8192 // outputs a side that it climbs for, at least
	sequentialClimb    = 0.08 // that it is then to gain in the last three quarters of the outputs, times how often it is the claim
	sequentialLimits   = 24   // limits that an epoch bets against, beside the claim's, at most
	sequentialOthers   = 12   // bets against each of these, at most
	sequentialGrowth   = 2    // of what a pair has, one part in so many more makes its next epoch
	sequentialPenalty  = 3.0  // nats that a bet against the claim must have grown in the past to get half of the wealth
	sequentialLess     = 1.0  // one against another limit
	sequentialGrows    = 1.0  // nats that a bet against a limit must have grown for one to look above it
	sequentialFull     = 16   // one place in so many may have all bets tried against it
	purposeSequential  = "sequential"
)

type candidatePair struct {
	pair    audit.Pair
	steps   int // by which it differs
	epochs  int
	drawn   int // outputs a side
	data    *classifier.Data
	learn   classifier.Learner
	model   *classifier.Model
	top     int       // a place about where its bets no longer grow
	limits  []int     // places that it bets against, ascending
	bets    []Bet     // against these, candidates by their own number
	growths []float64 // of the best bet against each, on past outputs that its model had not seen
	chart   armChart
}

// growth is of the best bet against a limit, or the next that was tried, in nats.
func (a *candidatePair) growth(place int) float64 {
	if i, _ := slices.BinarySearch(a.limits, place); i < len(a.limits) {
		return a.growths[i]
	}
	return 0
}

type sequentialRun struct {
	audit      *Audit
	accounts   *accounts
	find       audit.Finder
	candidates []*candidatePair
	queue      []audit.Pair
	dry        bool // the finder has no more
	scanned    bool // so does its scan
	hook       engine.Hook
	used       int // outputs a side of all pairs
	climbed    []climb
	result     SequentialResult
}

type climb struct {
	used  int
	bound float64
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
	for r.used < a.Plan.Samples && !r.ended() && (t.Epochs == 0 || len(r.result.Epochs) < t.Epochs) {
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

// ended is when the claim is refuted or, where the bound climbs on, once it is above the claim and has
// gained little in the last three quarters of the outputs: it is valid at any time.
func (r *sequentialRun) ended() bool {
	if r.result.Refuted == 0 || r.audit.Plan.Mode == UntilRefuted {
		return r.result.Refuted > 0
	}
	if place, _ := r.accounts.edge(); place <= 0 || r.used < max(sequentialAfter*r.result.Refuted/2, sequentialLeastEnd) {
		return false
	}
	quarter := 0
	for quarter+1 < len(r.climbed) && 4*r.climbed[quarter+1].used <= r.used {
		quarter++
	}
	bound := r.accounts.bound()
	least := float64(sequentialClimb*bound) / r.audit.Claim.Limit()
	return bound <= float64((1+least)*r.climbed[quarter].bound)
}

// next promises most: by how its bets would have grown, and by the finder's order.
func (r *sequentialRun) next() (int, error) {
	best, most := -1, 0.0
	place := r.accounts.next()
	for i, a := range r.candidates {
		index := (max(a.growth(place), 0) + sequentialOptimism/float64(i+1)) / float64(2*a.drawn+sequentialFirst)
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
	if len(r.queue) == 0 {
		history := make([]audit.Trial, len(r.candidates))
		for i, a := range r.candidates {
			history[i] = audit.Trial{Index: i, Pair: a.pair, Value: a.growth(place) / float64(2*a.drawn)}
		}
		if r.queue = r.find.Propose(history, r.audit.Plan.Trials-len(r.candidates)); len(r.queue) == 0 {
			r.dry = true
			if best < 0 {
				return 0, fmt.Errorf("finder %s proposed no pair", r.audit.Plan.Finder)
			}
			return best, nil
		}
	}
	steps, err := r.audit.steps(r.queue[0])
	if err != nil {
		return 0, fmt.Errorf("finder %s proposed: %w", r.audit.Plan.Finder, err)
	}
	r.candidates = append(r.candidates, &candidatePair{pair: r.queue[0], steps: steps, top: gridDouble, data: classifier.NewData(r.audit.Columns)})
	r.result.Pairs, r.queue = append(r.result.Pairs, r.queue[0]), r.queue[1:]
	return len(r.candidates) - 1, nil
}

func (r *sequentialRun) epoch(at int) error {
	a, m := r.candidates[at], r.audit
	n := audit.Pick(a.drawn >= sequentialLarge, a.drawn, a.drawn/sequentialGrowth)
	n = min(max(sequentialFirst, n), m.Plan.Samples-r.used)
	bets := newBetting(a, r.accounts)
	width := audit.Width(m.Columns)
	var streams [2]*stream.Stream
	var sources [2]source
	for side := range streams {
		sources[side] = newSource(m, a.pair, purposeSequential, at, side, r.hook)
		streams[side] = sources[side].stream(a.epochs)
	}
	rows := make([]float64, min(BlockRows, n)*width)
	var kept [2][]float64 // where the data are full outputs are only bet on: an epoch may be larger than memory
	done := 0
	chunk := min(BlockRows, max(1, (n+sequentialChunks-1)/sequentialChunks))
	before, refuted := r.result.Refuted > 0, false
	for done < n && !refuted {
		k := min(chunk, n-done)
		for side := range streams {
			out := rows[:k*width]
			if err := sources[side].block(streams[side], r.used+done, out); err != nil {
				return err
			}
			bets.count(side, out)
			if c := a.chart.binner; c != nil {
				c.Count(side, out, nil, nil, nil)
			}
			if !a.data.Full() {
				kept[side] = append(kept[side], out...)
			}
			if err := r.hook(k); err != nil {
				return err
			}
		}
		done += k
		refuted = !before && len(bets.bets) > 0 && r.accounts.refutes(bets.limits, bets.log)
	}
	if len(bets.bets) > 0 {
		r.accounts.add(bets.limits, audit.Listed(len(bets.limits), bets.log))
	}
	r.result.Epochs = append(r.result.Epochs, bets.epoch(at, done))
	a.epochs++
	a.drawn += done
	r.used += done
	if refuted {
		r.result.Refuted = 2 * r.used
	}
	r.climbed = append(r.climbed, climb{r.used, r.accounts.bound()})
	if a.data.Full() || r.used == m.Plan.Samples || r.ended() {
		return nil
	}
	a.chart.choose(m.Columns, kept)
	for side, rows := range kept {
		a.data.Add(side, rows)
	}
	if err := r.hook(0); err != nil {
		return err
	}
	model, tables := a.learn.Learn(a.data)
	if err := r.hook(0); err != nil {
		return err
	}
	a.model = model
	w := &weigher{accounts: r.accounts, steps: a.steps}
	for c, t := range tables { // once, for all limits
		if t != nil {
			w.tables[c] = new(newSparse(t))
		}
	}
	return w.weigh(a, r.hook)
}

// weigher weighs bets by what they would have made of past outputs, with odds learnt without these.
type weigher struct {
	accounts *accounts
	steps    int
	tables   [classifier.Candidates]*sparse
	best     []Bet // of the places at which all were tried: the others choose from them
}

type grown struct {
	Bet
	growth float64
}

func (w *weigher) weigh(a *candidatePair, hook engine.Hook) error {
	edge, found := w.accounts.edge()
	claim := !found || edge < 0 // is not refuted
	low := audit.Pick(found, edge, max(gridLeast, min(a.top, 0)-4*gridDouble))
	first := audit.Pick(claim, 0, ceiling(edge+1, sequentialFull))
	for _, place := range []int{first, ceiling(max(a.top, low+1), sequentialFull)} {
		for _, g := range w.all(place) {
			if !slices.Contains(w.best, g.Bet) {
				w.best = append(w.best, g.Bet)
			}
		}
		if err := hook(0); err != nil {
			return err
		}
	}
	grows := func(place int) bool {
		list := w.among(place, 1)
		return len(list) > 0 && list[0].growth > sequentialGrows
	}
	top := max(a.top, low+1)
	if grows(top) {
		for top < gridMost && grows(top) {
			top = min(gridMost, top+max(1, top-low))
		}
	} else {
		for top-low > sequentialLimits {
			mid := low + (top-low)/2
			if grows(mid) {
				break
			}
			top = mid
		}
	}
	a.top, a.limits, a.bets = top, nil, nil
	unit := 1 // a power of two: places that come again need not be worked out again
	for top-low > sequentialLimits*unit {
		unit *= 2
	}
	for place := ceiling(low+1, unit); place <= top; place += unit {
		a.limits = append(a.limits, place)
	}
	if claim {
		a.limits = append(a.limits, 0)
	}
	slices.Sort(a.limits)
	a.limits = slices.Compact(a.limits)
	a.growths = slices.Repeat([]float64{math.Inf(-1)}, len(a.limits))
	for i, place := range a.limits {
		list := w.among(place, audit.Pick(place == 0, sequentialBets, sequentialOthers))
		if len(list) == 0 {
			continue
		}
		a.growths[i] = list[0].growth
		a.bets = append(a.bets, shared(list, i, audit.Pick(place <= 0, sequentialPenalty, sequentialLess))...)
	}
	return hook(0)
}

// ceiling is the least multiple of unit that is no less than n.
func ceiling(n, unit int) int { return n + ((-n)%unit+unit)%unit }

func (w *weigher) all(place int) []grown {
	stakes := w.accounts.stakesOf(place, w.steps)
	var list []grown
	for c, sparse := range w.tables {
		if sparse == nil {
			continue
		}
		for stake := range stakes.Len() {
			for _, reversed := range []bool{false, true} {
				list = ranked(list, Bet{Candidate: c, Reversed: reversed, Stake: stake}, stakes, sparse, sequentialBets)
			}
		}
	}
	return list
}

func (w *weigher) among(place, keep int) []grown {
	stakes := w.accounts.stakesOf(place, w.steps)
	var list []grown
	for _, b := range w.best {
		if b.Stake < stakes.Len() {
			list = ranked(list, b, stakes, w.tables[b.Candidate], keep)
		}
	}
	return list
}

// ranked takes a bet into a list of those that would have grown most, in order, of equals the first.
func ranked(list []grown, b Bet, stakes *bounds.Stakes, s *sparse, keep int) []grown {
	g := stakes.LogAt(b.Stake, b.Reversed, s.cells, s.first, s.second)
	if at := sort.Search(len(list), func(i int) bool { return list[i].growth < g }); at < keep {
		list = slices.Insert(list[:min(len(list), keep-1)], at, grown{b, g})
	}
	return list
}

// shared are bets with their shares of an account's wealth, by exp(growth).
func shared(list []grown, account int, penalty float64) []Bet {
	most := list[0].growth
	whole := stream.Logistic(most - penalty)
	list = slices.DeleteFunc(list, func(g grown) bool { return !(g.growth > most-sequentialBehind) })
	sum := 0.0
	for i := range list {
		list[i].Share = stream.Exp(list[i].growth - most)
		sum += list[i].Share
	}
	var bets []Bet
	for _, g := range list {
		g.Account = account
		if g.Share = math.Floor(float64(float64(whole*g.Share)/sum*1e4)) / 1e4; g.Share >= sequentialLeast {
			bets = append(bets, g.Bet)
		}
	}
	return bets
}

// sparse are the cells of a table that are not empty.
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
