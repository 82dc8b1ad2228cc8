// Package source holds what audits with canaries run: sums with Gaussian noise, which
// are the example of LiDP, and models trained by DP-SGD.
package source

import (
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// OneRunSource is a source that can be run once with canaries of which a fair coin of its own puts each
// into the dataset or leaves it out.
type OneRunSource interface {
	Source
	// OneRun fills in a score and the membership of each of len(scores) canaries.
	// Scores are computed without the membership; the larger the likelier the
	// canary was in. Where the output is no use all are -MaxFloat64 and diverged is
	// set.
	OneRun(st *stream.Stream, scores []float64, member []bool) (diverged bool, err error)
}

// Limits of a plan.
const (
	MaxRuns = 1 << 24
	// MaxCanaries is that of a bounds.CanaryTable.
	MaxCanaries = 1 << 16
	// MaxScores is how many exploration scores are held in memory (128 MiB).
	MaxScores = 1 << 24
	// OneRunCanaries is how many canaries one run has where a plan does not say.
	OneRunCanaries = 1000
)

// Note says what was audited, in words.
type Note struct {
	Title string          `json:"title"`
	Score string          `json:"score"`
	Facts []audit.FactRow `json:"facts"`
	Idle  []string        `json:"idle,omitempty"` // parameters that mean nothing beside the others
}

// Note says what is audited by a source that is made so.
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

// Useless makes scores that are not finite the worst, and reports whether there
// were any. It leaves the others alone: whether a canary is in the event may not
// depend on the other canaries that are scored.
func Useless(side []float64) bool {
	any := false
	for i, x := range side {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			side[i], any = -math.MaxFloat64, true
		}
	}
	return any
}

// Source draws the runs of an audit. It is used by one goroutine at a time.
type Source interface {
	// Run draws one run: with fresh canaries c_1 .. c_K and c'_1 .. c'_M it runs
	// the mechanism on the dataset with all K (and, under add-remove, on the
	// dataset with the first K-1 too), and fills in with the K scores of the
	// canaries that were inside and out with the M scores of the c'_j, which were
	// not. The score of a canary is one function of the canary and the output, the
	// larger the likelier the canary was inside.
	//
	// A side whose output is no use (a model that diverged) gets -MaxFloat64
	// throughout and diverged is set: the run counts, and none of the side's
	// canaries is in the event. A side may not be touched because the other one
	// diverged, nor a score because another is not finite: then its event would
	// depend on more than its canary and the output.
	Run(st *stream.Stream, in, out []float64) (diverged bool, err error)
}

// Design is the distribution of the canaries.
type Design string

const (
	Sphere          Design = "sphere"
	RandomGradients Design = "random-gradients" // LiDP appendix D.2
	// Orthogonal: the canaries are not independent, but any K-1 inside with one more,
	// inside or fresh, are exchangeable, which is all that the recipe uses.
	Orthogonal    Design = "orthogonal"
	TailSingular  Design = "tail-singular" // LiDP appendix D.1
	DataPoisoning Design = "data-poisoning"
	Vectors       Design = "vectors" // the rows of a file
)

// Designs are all of them, in words.
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
	// Relations it can be audited under, the first is the default. audit.AddRemove: K
	// canaries against the first K-1 of them (LiDP section 3.2). audit.Replace: K
	// canaries on both sides, one replaced by a fresh one, so that one run of the
	// mechanism gives both sides (LiDP appendix B.2).
	Relations []audit.Relation
	Designs   []Design // it knows, the first is the default
	TakesData bool     // a file of examples may be given
	// ShardRuns is how many runs one task draws. It is part of nothing but the
	// grain of work: every run has a stream of its own.
	ShardRuns int
	Runs      int // default n
	// Cheap: so many runs cost little that a fixed audit is the default.
	Cheap bool
	// Check refuses a setup that fits no source and fills in what it leaves open.
	Check func(s *Setup) error
	New   func(s Setup) (Source, error) // nil: it is only named, and draws nothing
	// OneRunDesigns are those in which it is audited in one run, by a [OneRunSource], the first
	// is the default; none: it is not.
	OneRunDesigns []Design
	// CheckOneRun is Check of one run, whose K is m; nil: all is right. given are the parameters
	// that the user set.
	CheckOneRun func(s *Setup, given audit.Params) error
	// Facts are what follows from the setup, such as the noise.
	Facts func(s Setup) []audit.FactRow
	// Idle are the parameters that mean nothing beside the others and the file.
	Idle func(s Setup) []string
}

// Setup is what a source is made of.
type Setup struct {
	Params   audit.Params // resolved
	Claim    audit.Claim
	Relation audit.Relation
	Design   Design
	K, M     int        // of one run K canaries, and M is 0
	Pool     Pool       // of the designs tail-singular and vectors
	CSV      *train.CSV // how a file of examples is read
	Data     []byte     // the user's file
	vectors  [][]float64
	Trainer  *Trainer // of the source of that name, else nil
	// Interrupt is asked now and then, by sources whose runs take long, whether to go on; nil:
	// nobody is.
	Interrupt func() error
}

// Pool says how canaries are made of given vectors.
type Pool struct {
	Tail  int   `json:"tail,omitempty"`  // tail-singular: how many vectors, those of the smallest singular values
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
