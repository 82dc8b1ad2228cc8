// Package source is what audits with canaries run: sums with Gaussian noise, as in LiDP,
// and trainings.
package source

import (
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// OneRunSource is a source that can be run once, with a fair coin for each canary.
type OneRunSource interface {
	Source
	// OneRun fills in a score of each canary, computed without the membership, and the
	// membership. Where the output is no use, all scores are -MaxFloat64 and diverged is set.
	OneRun(st *stream.Stream, scores []float64, member []bool) (diverged bool, err error)
}

// Limits of a plan.
const (
	MaxRuns = 1 << 24
	// MaxCanaries is that of a bounds.CanaryTable.
	MaxCanaries = 1 << 16
	// MaxScores is how many exploration scores are held in memory (128 MiB).
	MaxScores = 1 << 24
	// OneRunCanaries is the default of one run.
	OneRunCanaries = 1000
)

// Note says what was audited, in words.
type Note struct {
	Title string          `json:"title"`
	Score string          `json:"score"`
	Facts []audit.FactRow `json:"facts"`
	Idle  []string        `json:"idle,omitempty"` // parameters that mean nothing beside the others
}

// Note says what is audited with a setup.
func (s Spec) Note(setup Setup) Note {
	n := Note{Title: s.Title, Score: s.Score, Facts: []audit.FactRow{}}
	if s.Facts != nil {
		n.Facts = s.Facts(setup)
	}
	if s.Idle != nil {
		n.Idle = s.Idle(setup)
	}
	return n
}

// Useless makes scores that are not finite the worst, and reports whether there were any.
// Others stay: whether a canary is in the event may not depend on other canaries' scores.
func Useless(side []float64) bool {
	any := false
	for i, x := range side {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			side[i], any = -math.MaxFloat64, true
		}
	}
	return any
}

// flip throws a fair coin for each canary.
func flip(st *stream.Stream, member []bool) (coins []float64) {
	coins = make([]float64, len(member))
	st.Bernoulli(coins, 0.5)
	for i, c := range coins {
		member[i] = c != 0
	}
	return coins
}

// Source draws the runs of an audit. It is used by one goroutine at a time.
type Source interface {
	// Run draws fresh canaries c_1 .. c_K and c'_1 .. c'_M and runs the mechanism on the
	// dataset with all K and, under add-remove, with the first K-1. It fills in with the K
	// scores of those inside, and out with the M of the c'_j. A score is one function of
	// canary and output, the larger the likelier the canary was inside.
	//
	// A side whose output is no use gets -MaxFloat64 throughout and diverged is set: the run
	// counts, and none of its canaries is in the event. No side may change because the other
	// diverged, and no score because another is not finite: its event would depend on more
	// than its canary and the output.
	Run(st *stream.Stream, in, out []float64) (diverged bool, err error)
}

// Design is the distribution of the canaries.
type Design string

const (
	Sphere          Design = "sphere"
	RandomGradients Design = "random-gradients" // LiDP appendix D.2
	// Orthogonal canaries are dependent, but any K-1 inside with one more, inside or fresh, are
	// exchangeable, which is all that the recipe uses.
	Orthogonal    Design = "orthogonal"
	TailSingular  Design = "tail-singular" // LiDP appendix D.1
	DataPoisoning Design = "data-poisoning"
	Vectors       Design = "vectors" // the rows of a file
)

// Designs are all, in words.
func Designs() []audit.NamedListing {
	return []audit.NamedListing{
		{Name: string(Sphere), Title: "uniform on the unit sphere"},
		{Name: string(Orthogonal), Title: "a random orthonormal frame"},
		{Name: string(RandomGradients), Title: "for a sum: uniform in the unit ball; for a model: a random direction that is the gradient of a canary", Source: "LiDP, appendix D.2"},
		{Name: string(TailSingular), Title: "uniform over the last right singular vectors of a model's examples, each with the label that fits least (ClipBKD, lifted)", Source: "LiDP, appendix D.1"},
		{Name: string(Vectors), Title: "for a sum: uniform over the rows of a file"},
		{Name: string(DataPoisoning), Title: "for a model: a random corner of the domain with a random label"},
	}
}

// Spec describes a kind of source.
type Spec struct {
	Name   string
	Title  string
	Score  string // what the score is, in words
	Params []audit.ParamSpec
	// Relations, the default first. audit.AddRemove: K canaries against the first K-1 of them
	// (LiDP section 3.2). audit.Replace: K canaries on both sides, one replaced by a fresh
	// one, so that one run gives both sides (LiDP appendix B.2).
	Relations []audit.Relation
	Designs   []Design // the default first
	TakesData bool     // a file of examples may be given
	ShardRuns int      // that one task draws; any number gives the same runs
	Runs      int      // default n
	Cheap     bool     // a fixed audit is the default
	// Check refuses a setup that fits no source and fills in what it leaves open.
	Check func(s *Setup) error
	New   func(s Setup) (Source, error) // nil: it is only named, and draws nothing
	// OneRunDesigns are those of a [OneRunSource], the default first; none: it is not audited in one run.
	OneRunDesigns []Design
	// CheckOneRun is Check of one run, whose K is m; may be nil. given are the user's parameters.
	CheckOneRun func(s *Setup, given audit.Params) error
	Facts       func(s Setup) []audit.FactRow // such as the noise
	Idle        func(s Setup) []string        // parameters that mean nothing beside the others
}

// Setup is what a source is made of.
type Setup struct {
	Params   audit.Params // resolved
	Claim    audit.Claim
	Relation audit.Relation
	Design   Design
	K, M     int        // M is 0 of one run
	Pool     Pool       // of the designs tail-singular and vectors
	CSV      *train.CSV // how a file of examples is read
	Data     []byte     // the user's file
	vectors  [][]float64
	Trainer  *Trainer // of the source of that name, else nil
	// Interrupt is asked now and then whether to go on, where runs take long; may be nil.
	Interrupt func() error
}

// Pool says how canaries are made of given vectors.
type Pool struct {
	Tail  int   `json:"tail,omitempty"`  // tail-singular: how many vectors, of the smallest singular values
	Scale Scale `json:"scale,omitempty"` // default unit
}

// Scale says how long the canaries of a pool are.
type Scale string

const (
	UnitNorm   Scale = "unit"   // all of norm 1
	MedianNorm Scale = "median" // all of the median norm of the file's rows
)

// Sources are those of this package.
func Sources() []Spec { return []Spec{GaussianSum(), DPSGD()} }
