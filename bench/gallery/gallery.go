// Command gallery audits published libraries at pinned commits, whose code it fetches.
package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// Beta is the error of one audit. By the union bound all of MaxEntries together accuse a sound
// mechanism with probability 0.1 % at most.
const (
	Beta       = 0.00001
	MaxEntries = 100
)

// Seed is that of every audit. Settings were chosen in runs with another one, so that nothing was
// chosen on what is certified: a change of settings takes a new one.
const Seed = 8128

// Kinds of entries.
const (
	Fault   = "fault"          // a fault that its users or authors reported
	Finding = "finding"        // a violation that the gallery found; described in bench/gallery/findings
	Planted = "planted"        // a mechanism that its authors publish as a broken example
	Mended  = "fault mended"   // the commit that mends a fault; it may have others
	Control = "control"        // the commit of a fault, used where the fault does not show
	Sound   = "no fault known" // nobody, as far as we know, reported one that shows in what the entry releases
)

// Adapter holds the programs that answer -exec with a library's code that is not compiled in.
//
//go:embed adapter
var Adapter embed.FS

//go:embed catalogue.json
var catalogueText []byte

// Library is the code of a library at one commit.
type Library struct {
	Repository string // owner/name on GitHub
	Commit     string
	Paths      []string // what of it is laid out
	Needs      string   // what must be installed for it
	With       []string // keys of libraries that it imports and that are laid out beside it
	Runs       string   // what runs it: R, Node or Compiled; Python if absent
	Packages   []string // name@version in npm's registry: these are laid out in place of Paths
}

// What runs a library other than Python.
const (
	R        = "r"
	Node     = "node"
	Compiled = "compiled" // it is part of dpscope
)

// Entry is one audit.
type Entry struct {
	Name     string
	Library  string // key of Catalogue.Libraries
	Case     string // of the adapter
	Kind     string
	Says     string // sentence that somebody wrote about it
	Place    string // where that stands: an address, or a file of the library
	Twin     string // the entry that is as it should be
	Relation string
	Rows     string
	Domain   string
	Integer  bool
	Columns  string // kind of a column, as -kind takes it
	Epsilon  float64
	Delta    float64
	Pair     string // the only pair, as -pair takes it; a search if absent
	Samples  int    // certification outputs a side; 20,000 if absent
}

// Broken reports whether an audit should refute the claim.
func (e Entry) Broken() bool { return e.Kind == Fault || e.Kind == Planted || e.Kind == Finding }

// Arguments are those of dpscope audit for the entry, where command runs the adapter.
// The first answer of a library that imports much may be long in coming.
func (e Entry) Arguments(command string) []string {
	args := []string{"-exec", command, "-epsilon", fmt.Sprint(e.Epsilon), "-relation", e.Relation, "-rows", e.Rows, "-domain=" + e.Domain,
		"-beta", fmt.Sprint(Beta), "-samples", fmt.Sprint(cmp.Or(e.Samples, 20_000)), "-exec-timeout", "10m", "-format", "json", "-seed", fmt.Sprint(Seed)}
	add := func(given bool, more ...string) {
		if given {
			args = append(args, more...)
		}
	}
	add(e.Delta != 0, "-delta", fmt.Sprint(e.Delta))
	add(e.Integer, "-integer")
	add(e.Columns != "", "-kind", e.Columns)
	add(e.Pair != "", "-pair", e.Pair)
	return args
}

func (e Entry) claim() string {
	return fmt.Sprint(e.Epsilon) + audit.Pick(e.Delta == 0, "", fmt.Sprintf(", %g", e.Delta))
}

// Contents is all that the gallery audits.
type Contents struct {
	Libraries map[string]Library
	Entries   []Entry
}

// Catalogue reads the catalogue that is built in.
func Catalogue() (c Contents, err error) {
	err = json.Unmarshal(catalogueText, &c)
	return c, err
}

// Result is the outcome of one audit.
type Result struct {
	Name    string  `json:"name"`
	Verdict string  `json:"verdict"`         // of the report, or error
	Bound   float64 `json:"bound"`           // lower bound on epsilon, rounded down; a violation of the claim itself is above it
	Outputs int     `json:"outputs"`         // drawn, both sides and all pairs
	Seconds float64 `json:"seconds"`         // on the clock
	Error   string  `json:"error,omitempty"` // why it could not be run

	Processor float64 `json:"processor"` // seconds of processors, which other work on the machine changes little
}

// Run is the results of a run of all entries.
type Run struct {
	Version string  // of dpscope
	Machine string  // operating system, architecture and workers
	Seconds float64 // of the last run of all entries, on the clock; 0: there was none
	Results []Result
}

// Merge puts new results in the place of kept ones, in the order of the catalogue.
func Merge(c Contents, kept, latest Run) Run {
	results := map[string]Result{}
	for _, r := range slices.Concat(kept.Results, latest.Results) {
		results[r.Name] = r
	}
	merged := Run{Version: latest.Version, Machine: latest.Machine, Seconds: cmp.Or(latest.Seconds, kept.Seconds)}
	for _, e := range c.Entries {
		if r, ok := results[e.Name]; ok {
			merged.Results = append(merged.Results, r)
		}
	}
	return merged
}

// relation is how epsilon stands to the bound: a bet refutes the claim without saying by how much.
func (r Result) relation(e Entry) string {
	return audit.Pick(r.Verdict == "violation" && r.Bound == e.Epsilon, "> ", ">=")
}

// Line is one row of the table in text.
func Line(e Entry, r Result) string {
	if r.Error != "" {
		return fmt.Sprintf("%-38s %-14s not run: %s", e.Name, e.Kind, r.Error)
	}
	return fmt.Sprintf("%-38s %-14s claim %-10s %-22s epsilon %s %-8.3f %9d outputs %6.1f s", e.Name, e.Kind, e.claim(), r.Verdict, r.relation(e), r.Bound, r.Outputs, r.Seconds)
}
