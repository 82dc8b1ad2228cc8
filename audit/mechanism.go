package audit

import (
	"github.com/dpscope/dpscope/audit/stream"
)

// Mechanism is a randomised algorithm under audit, with its parameters fixed.
type Mechanism interface {
	// Columns describes one output, the same in every call and on every dataset.
	Columns() []Column
	// Sample fills out with independent outputs on d, of Width(Columns()) finite numbers each. All
	// randomness comes from s. It must not keep s or out.
	Sample(d Dataset, s *stream.Stream, out []float64) error
}

// Summariser is a mechanism whose outputs are summaries that are chosen with the pair in view. What
// For returns has the columns of the receiver, and applies the same function to the released model
// on both datasets: privacy is closed under post-processing.
type Summariser interface {
	For(pair Pair) Mechanism
}

// MechanismSpec is one line of the registry of mechanisms.
type MechanismSpec struct {
	Name   string
	Title  string
	Source string // where the definition comes from
	Fault  string // what is wrong with it; empty where it keeps its claim
	Mended string // name of the mechanism that is this one without its fault, on the same datasets
	Params []ParamSpec
	// Relations that the mechanism defines; the first is the default.
	Relations func(Params) []Relation
	// Claim is what the mechanism promises at these parameters.
	Claim func(Params) Claim
	// Truth says in words what it really satisfies.
	Truth func(Params) string
	// Domain is where its datasets live.
	Domain func(Params, Relation) Domain
	// Pairs are neighbouring pairs known to tell much, the best and default one first.
	Pairs func(Params, Relation) []Pair
	// Table is what an attack knows of a learner, read only; nil where nothing is trained.
	Table func(Params) *Table
	// Block is the most outputs that are asked for in one call, where one takes long: a worker
	// shows a sign of life after each. It is part of what a seed means. nil: [BlockRows].
	Block func(Params) int
	// New fixes the parameters, which were checked against Params.
	New func(Params) (Mechanism, error)
	// Custom: the caller's own; no command line knows its name.
	Custom bool
	// Recording is there where New makes a [Recorded] mechanism, User and Labelled where the user
	// brought the mechanism or its table.
	Recording *Recording
	User      *UserMechanism
	Labelled  *Labelled
	// Tight is nil where it is unknown.
	Tight *Tight
	// Unseeded says why outputs do not come from Sample's stream, so that no report replays.
	Unseeded string
}

// Tight is a setting of a mechanism in which its claim is met with equality: there chance refutes
// it most often.
type Tight struct {
	Params Params // other than defaults
	Pair   int    // number, from 1, of the pair that meets the claim; 0: none is known
	Why    string // how that pair meets it, or what is known
	// Exact is the epsilon that holds on the first pair, up to rounding, where no pair meets the
	// mechanism's own claim; 0: the own claim.
	Exact float64
	// Floats: it adds its noise in floating point; a learner of bits rightly refutes it.
	Floats bool
}

// Build fixes the mechanism's parameters: those given, and defaults for the rest.
func (s MechanismSpec) Build(given Params) (Mechanism, error) {
	params, err := ResolveParams(s.Params, given, Claim{})
	if err != nil {
		return nil, err
	}
	return s.New(params)
}
