package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
)

// Quantity names what a row bounds from below.
type Quantity string

const (
	Epsilon         Quantity = "epsilon"          // epsilon at a delta
	Delta           Quantity = "delta"            // delta at an epsilon
	RenyiDivergence Quantity = "renyi"            // D_alpha, of an order alpha
	Rho             Quantity = "rho"              // of zCDP
	Mu              Quantity = "mu"               // of Gaussian DP
	RenyiEpsilon    Quantity = "renyi-epsilon"    // epsilon of pure DP, through D_alpha
	GaussianEpsilon Quantity = "gaussian-epsilon" // epsilon at a delta, if the trade-off is Gaussian
	Stretch         Quantity = "stretch"          // what the epsilons of a claimed curve would have to be multiplied by
	AUROC           Quantity = "auroc"            // area under the ROC curve of membership scores
	TPR             Quantity = "tpr"              // true positive rate of such scores, at a false positive rate
)

// quantity is told by its symbol in a headline, by its letter in little room, by its words in a row.
type quantity struct {
	id                    Quantity
	letter, symbol, words string
	of                    func(Row) string
}

var quantities = []quantity{
	{Epsilon, "ε", "epsilon", "epsilon", atDelta},
	{Delta, "δ", "delta", "delta", func(x Row) string { return " at epsilon = " + audit.Number(x.Epsilon) }},
	{RenyiDivergence, "", "the Rényi divergence", "Rényi divergence", func(x Row) string { return " at alpha = " + audit.Number(x.Alpha) }},
	{Rho, "ρ", "rho", "rho of zCDP", byAlpha},
	{Mu, "µ", "mu", "mu of Gaussian DP", ofItself},
	{RenyiEpsilon, "ε", "epsilon", "epsilon of pure DP, through Rényi", byAlpha},
	{GaussianEpsilon, "ε", "epsilon", "epsilon of a Gaussian trade-off", atDelta},
	{Stretch, "", "the curve's stretch", "factor on the epsilons of the claimed curve", ofItself},
	{AUROC, "", "AUROC", "AUROC", ofItself},
	{TPR, "", "TPR", "true positive rate", func(x Row) string { return " at FPR = " + audit.Number(x.FPR) }},
}

func ofItself(Row) string { return "" }

func atDelta(x Row) string { return " at delta = " + audit.Number(x.Delta) }

func byAlpha(x Row) string {
	return audit.Pick(x.Alpha == 0, "", " (alpha = "+audit.Number(x.Alpha)+")")
}

// Quantities are all that a row can bound.
func Quantities() []Quantity {
	return audit.Each(quantities, func(q quantity) Quantity { return q.id })
}

// known is what is known of a quantity; of one in a stranger's report its name.
func (q Quantity) known() quantity {
	if i := slices.Index(Quantities(), q); i >= 0 {
		return quantities[i]
	}
	return quantity{q, "", string(q), string(q), ofItself}
}

// Symbol stands for the quantity in a sentence.
func (q Quantity) Symbol() string { return q.known().symbol }

// Letter is ε, or words where the quantity has none.
func (q Quantity) Letter() string {
	return cmp.Or(q.known().letter, strings.TrimPrefix(q.Symbol(), "the "))
}

// QuantityWords name the quantity of the row with what it belongs to.
func (x Row) QuantityWords() string {
	q := x.ID.known()
	return q.words + q.of(x)
}

// Names of tables. The first table of a report is Bounds, if it has any.
const (
	Bounds     = "bounds"     // what was certified
	Renyi      = "renyi"      // divergences of all orders, which hold together
	Published  = "published"  // published forms on the same counts; none decides anything
	Membership = "membership" // what membership inference makes of scores; it decides nothing
)

// Table is a list of bounds.
type Table struct {
	Name  string `json:"name"`
	Title string `json:"title" same:"words"`
	Rows  []Row  `json:"rows"`
}

// Row is one quantity by one method. Each holds with its own confidence under its own assumption,
// unless its table says that they hold together; the largest of them does not.
type Row struct {
	ID       Quantity      `json:"id"`
	Quantity string        `json:"quantity,omitempty" same:"words"` // in words, where the table does not say it
	Method   bounds.Method `json:"method,omitempty"`                // absent where nothing was certified
	Title    string        `json:"title,omitempty" same:"words"`    // the method in words
	Epsilon  float64       `json:"epsilon,omitempty"`               // of delta: the epsilon that it belongs to
	Delta    float64       `json:"delta,omitempty"`                 // of epsilon: the delta that it belongs to
	Alpha    float64       `json:"alpha,omitempty"`                 // of a divergence, and of what follows from one
	FPR      float64       `json:"fpr,omitempty"`                   // of a true positive rate: the false positive rate that it belongs to
	Estimate *float64      `json:"estimate,omitempty" same:"ratio"` // without any guarantee
	// LowerBound is certified, rounded down. It is absent where nothing is known, and in a run that
	// was stopped: for a fixed sample size it does not hold at a time chosen while looking.
	LowerBound *float64 `json:"lowerBound,omitempty" same:"near"`
	UpperBound *float64 `json:"upperBound,omitempty" same:"near"` // of an interval; both ends hold together
	Strict     bool     `json:"strict,omitempty"`                 // the quantity is above the bound
	Value      *float64 `json:"value,omitempty" same:"near"`      // of a form that certifies nothing, or not what decides
	Claimed    *float64 `json:"claimed,omitempty" same:"near"`    // what the claim allows the quantity to be; absent where it says nothing
	Largest    *float64 `json:"largest,omitempty" same:"near"`    // bound that any outcome of this size can give
	PValue     *float64 `json:"pValue,omitempty" same:"pvalue"`
	Confidence float64  `json:"confidence,omitempty" same:"near"`
	Beta       float64  `json:"beta,omitempty" same:"near"` // its share of the error, of rows that hold together
	// Group is by how many steps, if more than one, the datasets differ: the bound was divided back.
	Group      int       `json:"group,omitempty"`
	Mu         *float64  `json:"mu,omitempty" same:"near"`  // bound on mu that the row follows from
	In         *float64  `json:"in,omitempty" same:"near"`  // of an interval: lower limit of the rate inside
	Out        *float64  `json:"out,omitempty" same:"near"` // of an interval: upper limit of the rate of fresh canaries
	Chosen     bool      `json:"chosen,omitempty"`          // it decides the verdict
	Valid      bool      `json:"valid"`                     // for any mechanism at this size; else asymptotically, or assuming more
	Trainings  Trainings `json:"trainings,omitempty"`
	Assumption string    `json:"assumption,omitempty" same:"words"` // beyond independent runs of the mechanism
	Note       string    `json:"note,omitempty" same:"words"`       // why there is no bound, or what is wrong with the form

	Direction string         `json:"direction,omitempty"` // which dataset the event, or the first distribution of a divergence, belongs to
	Event     *Event         `json:"event,omitempty"`
	Counts    *bounds.Counts `json:"counts,omitempty"`         // certification counts of the event, the likelier side first
	Explored  *bounds.Counts `json:"exploredCounts,omitempty"` // its exploration counts, which tuned the bound
}

// Event is a set of outputs: those whose score lies above the edge, or, if not Above, all others.
type Event struct {
	Edge  int    `json:"edge"` // index into the evidence's edges
	Above bool   `json:"above"`
	Words string `json:"words" same:"words"`
	Where *Where `json:"where,omitempty"` // absent where the event has no place in the chart
}

// Where says where an event lies in the chart of the outputs.
type Where struct {
	Words     string     `json:"words" same:"words"`               // after "where": "the output is below 2.8"
	Outcomes  []int      `json:"outcomes,omitempty"`               // places in the chart's list
	Intervals []Interval `json:"intervals,omitempty" same:"ratio"` // of the chart's axis, ascending
}

// Interval of an axis; an end that is absent lies beyond all outputs.
type Interval struct {
	From *float64 `json:"from,omitempty"`
	To   *float64 `json:"to,omitempty"`
}

// Directions of a row.
const (
	FirstOverSecond = "first-over-second"
	SecondOverFirst = "second-over-first"
)

// Rows are those of the table of that name.
func (r Report) Rows(name string) []Row {
	for _, t := range r.Tables {
		if t.Name == name {
			return t.Rows
		}
	}
	return nil
}

// Pictured is the row whose event a picture shows: epsilon's, else the one that decides; nil: none.
func (r Report) Pictured() *Row {
	rows := r.Rows(Bounds)
	if i := slices.IndexFunc(rows, func(x Row) bool { return x.ID == Epsilon && x.Event != nil }); i >= 0 {
		return &rows[i]
	}
	if row := r.Deciding(); row != nil && row.Event != nil {
		return row
	}
	return nil
}

// Deciding is the row that the verdict rests on; nil where there is none.
func (r Report) Deciding() *Row {
	for _, t := range r.Tables {
		if i := slices.IndexFunc(t.Rows, func(x Row) bool { return x.Chosen }); i >= 0 {
			return &t.Rows[i]
		}
	}
	return nil
}

// Choose takes the bound from the row of that method, the verdict from it. What is not valid refutes nothing.
func (r *Report) Choose(m bounds.Method) {
	var row *Row
	if rows := r.Rows(Bounds); len(rows) > 0 {
		row = &rows[slices.IndexFunc(rows, func(x Row) bool { return x.Method == m })]
		row.Chosen = true
	}
	if row != nil && row.LowerBound != nil {
		r.LowerBound = new(max(0, *row.LowerBound))
	}
	switch limit := r.Claim.Limit(); {
	case r.Termination.Reason == audit.Failed:
		r.Verdict = audit.Invalid
	case r.LowerBound == nil:
		r.Verdict = audit.Inconclusive
	case r.above(row, limit) && row.Valid:
		r.Verdict = audit.Violation
	case r.above(row, limit), r.Termination.Reason == audit.Stopped, r.Power != nil && r.Power.Largest <= limit:
		r.Verdict = audit.Inconclusive
	default:
		r.Verdict = audit.NoViolation
	}
}

func (r Report) above(row *Row, limit float64) bool {
	return *r.LowerBound > limit || row != nil && row.Strict && *r.LowerBound == limit
}

// TableWords is a table as it is shown.
type TableWords struct {
	Name    string      `json:"name"`
	Title   string      `json:"title"`
	Columns []Column    `json:"columns"`
	Lines   []TableLine `json:"lines"`
}

// Column is one of a shown table.
type Column struct {
	Key   string `json:"key"`
	Title string `json:"title"`
}

// TableLine is one row of it, with a cell for every column.
type TableLine struct {
	Cells   []string `json:"cells"`
	Chosen  bool     `json:"chosen"`  // it decides the verdict
	Exceeds bool     `json:"exceeds"` // its bound is above what the claim allows
}

// columns are all that a table can have. It shows those in which a row has something to say.
var columns = []struct {
	Column
	cell func(Row) string
}{
	{Column{"chosen", ""}, func(x Row) string { return audit.Pick(x.Chosen, "*", "") }},
	{Column{"quantity", "quantity"}, func(x Row) string { return x.Quantity }},
	{Column{"method", "method"}, Row.MethodWords},
	{Column{"bound", "at least"}, Row.boundWords},
	{Column{"confidence", "confidence"}, func(x Row) string { // 0 where the title of the table says it
		return audit.Pick(x.Confidence == 0, "", phrase.Percent(x.Confidence))
	}},
	{Column{"upper", "at most"}, func(x Row) string {
		if x.UpperBound == nil {
			return ""
		}
		decimals := audit.Pick(*x.UpperBound < 0.1, 5, 3)
		return fmt.Sprintf("%.*f", decimals, -phrase.Floor(-*x.UpperBound, decimals))
	}},
	{Column{"claimed", "claim allows"}, func(x Row) string {
		if x.Claimed == nil || x.Quantity == "" {
			return "" // one quantity in all rows: the claim stands above the table
		}
		return fmt.Sprintf("%.6g", *x.Claimed)
	}},
	{Column{"value", "value"}, func(x Row) string { return bounded(x.Value, math.Inf(1)) }},
	{Column{"largest", "at most possible"}, func(x Row) string { return bounded(x.Largest, math.Inf(1)) }},
	{Column{"valid", "valid"}, Row.validWords},
	{Column{"trainings", "trainings"}, func(x Row) string { return string(x.Trainings) }},
	{Column{"assumption", "assumes"}, func(x Row) string { return x.Assumption }},
	{Column{"note", "note"}, func(x Row) string { return x.Note }},
}

// Exceeds says whether the bound is above what the claim allows.
func (x Row) Exceeds() bool {
	return x.LowerBound != nil && x.Claimed != nil && (*x.LowerBound > *x.Claimed || x.Strict && *x.LowerBound == *x.Claimed)
}

func bounded(v *float64, claim float64) string {
	if v == nil {
		return ""
	}
	return phrase.Bound(*v, claim)
}

var methodTitles = map[bounds.Method]string{
	bounds.MethodExact:                  "exact test of two shares",
	bounds.MethodRenyiBetting:           "betting on a Rényi divergence",
	bounds.Method("sequential-betting"): "betting on outputs as they come",
}

// MethodWords is the method as people call it.
func (x Row) MethodWords() string {
	return cmp.Or(x.Title, methodTitles[x.Method], string(x.Method))
}

func (x Row) boundWords() string {
	text := bounded(x.LowerBound, *cmp.Or(x.Claimed, new(math.Inf(1))))
	return text + audit.Pick(text != "" && x.Mu != nil, " (mu >= "+bounded(x.Mu, math.Inf(1))+")", "")
}

func (x Row) validWords() string {
	switch {
	case x.Value != nil && !x.Valid, x.LowerBound == nil && x.Note != "" && x.Value == nil:
		return "" // nothing is certified
	case x.Valid:
		return "yes"
	case x.Method == MethodGaussian || x.Method == MethodOneRunGDP:
		return "if Gaussian"
	}
	return "asymptotically"
}

// Words are the table as it is shown.
func (t Table) Words() TableWords {
	w := TableWords{Name: t.Name, Title: t.Title, Columns: []Column{}, Lines: audit.Each(t.Rows, func(x Row) TableLine {
		return TableLine{Cells: []string{}, Chosen: x.Chosen, Exceeds: x.Exceeds()}
	})}
	for _, c := range columns {
		cells := audit.Each(t.Rows, c.cell)
		said, differ := false, false
		for _, cell := range cells {
			said = said || cell != ""
			differ = differ || cell != cells[0] || c.Key == "valid" && cell != "yes"
		}
		if !said || (c.Key == "valid" || c.Key == "confidence") && !differ {
			continue
		}
		w.Columns = append(w.Columns, c.Column)
		for i, cell := range cells {
			if cell == "" && (c.Key == "bound" || c.Key == "largest" || c.Key == "upper") {
				cell = "-"
			}
			w.Lines[i].Cells = append(w.Lines[i].Cells, cell)
		}
	}
	return w
}

// Marked are the cells of a line with a word where its bound exceeds the claim.
func (t TableWords) Marked(line TableLine) []string {
	cells := slices.Clone(line.Cells)
	for i, c := range t.Columns {
		if line.Exceeds && c.Key == "bound" {
			cells[i] += " (above the claim)"
		}
	}
	return cells
}

// Words are all tables that have rows, as they are shown.
func (r Report) Words() []TableWords {
	out := []TableWords{}
	for _, t := range r.Tables {
		if len(t.Rows) > 0 {
			out = append(out, t.Words())
		}
	}
	return out
}
