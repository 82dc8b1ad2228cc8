package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/report"
)

// numbersValue is a flag for whole numbers with commas between.
type numbersValue []int

func (v *numbersValue) String() string { return strings.Trim(fmt.Sprint([]int(*v)), "[]") }

func (v *numbersValue) Set(s string) error {
	*v = nil
	for _, part := range strings.Split(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return fmt.Errorf("must be whole numbers above 0 such as 200 or 100,200,400")
		}
		*v = append(*v, n)
	}
	return nil
}

// oneFlags are the flags that dpscope one-run and dpscope scores share.
type oneFlags struct {
	*cli.Flags

	claimed             claimFlags
	beta                float64
	guesses, gdpGuesses numbersValue
	sides               string
	seed                uint64
	format, relation    string
	strict              bool
}

func newOneFlags(name string, stderr io.Writer) *oneFlags {
	f := &oneFlags{Flags: cli.NewFlags("dpscope "+name, stderr)}
	s := f.Flags
	f.claimed.register(s, "", "0 is a claim of pure differential privacy")
	s.StringVar(&f.sides, "sides", "", "which canaries are guessed: chosen (one canary in eight is set aside to choose the sides and, without -guesses, the number), both (as many with large scores in as with small ones out), in, out; default both, of scores without -guesses chosen")
	s.Var(&f.guesses, "guesses", "how many canaries are guessed, in `numbers` with commas between: of several the best counts and they share -beta; default chosen, or by the number of canaries")
	s.Var(&f.gdpGuesses, "gdp-guesses", "the same `numbers` for the f-DP bound; default: those of -guesses, or by the number of canaries")
	s.Float64Var(&f.beta, "beta", 0.05, "allowed error of the bound; its confidence is 1 - beta")
	s.Seed(&f.seed, 42, "seed of all randomness")
	s.TextOrJSON(&f.format)
	s.BoolVar(&f.strict, "strict", false, "exit with 3 when the run is inconclusive")
	return f
}

// claim is the claim that the flags give, and whether its delta is the default. It
// checks the rest of the flags too.
func (f *oneFlags) claim() (audit.Claim, bool, error) {
	claim, defaulted, err := f.claimed.claim(f.Flags)
	if err == nil && f.Given("beta") && !(f.beta > 0) {
		err = &audit.InputError{Field: "-beta", Found: fmt.Sprint(f.beta), Want: "in [1e-9, 0.5]"}
	}
	return claim, defaulted, err
}

// oneRun is dpscope one-run.
func oneRun(args []string, stdout, stderr io.Writer) int {
	f := newOneFlags("one-run", stderr)
	s := f.Flags
	var names []string
	for _, x := range source.Sources() {
		if x.OneRun != nil {
			names = append(names, x.Name)
		}
	}
	sourceName := s.String("source", names[0], "what is audited: "+strings.Join(names, ", "))
	s.StringVar(&f.relation, "relation", "", "neighbouring relation of the claim: add-remove, the only one, since a coin decides whether a canary is there")
	design := s.String("design", "", "distribution of the canaries: orthogonal, sphere, random-gradients, data-poisoning; default: the source's first")
	var m int
	s.Count(&m, "m", 0, "canaries, each in by a fair coin; 0: the source's default")
	params := s.Params("source")
	var data dataFlags
	data.register(s, "CSV `file` of examples, for dp-sgd", "the file")
	if code, ok := s.Parse(args, 0); !ok {
		return code
	}
	claim, defaulted, err := f.claim()
	if err != nil {
		return fail(stderr, err)
	}
	plan := onerun.Plan{Version: canary.PlanVersion, Source: *sourceName, Parameters: params, Claim: &claim, DeltaDefaulted: defaulted, Relation: audit.Relation(f.relation), Design: source.Design(*design),
		Canaries: m, Sides: onerun.Sides(f.sides), Guesses: f.guesses, GDPGuesses: f.gdpGuesses, Beta: f.beta, Seed: f.seed}
	if err := atLeast(s, "m", float64(m), 1); err != nil {
		return fail(stderr, err)
	}
	if plan.CSV, err = data.csv(s); err != nil {
		return fail(stderr, err)
	}
	file, err := readData(data.data)
	if err != nil {
		return fail(stderr, err)
	}
	ctx, stop := untilSignal()
	defer stop()
	report, err := onerun.Run{Plan: plan, File: file, Sources: source.Sources(), Pool: core.LocalPool(catalogue, 1), Generator: cli.Generator(), Now: cli.Clock()}.Do(ctx)
	if err != nil && report.Schema == "" {
		return fail(stderr, err)
	}
	if err != nil {
		fail(stderr, err)
	}
	printed := cli.Print(stdout, f.format, report.Text, report)
	return told(stderr, report.Summary, verdictCode(report.Verdict, report.Ended.Reason, f.strict), nil, printed)
}

// scores is dpscope scores. Flags may stand before and behind the files.
func scoresCommand(args []string, stdout, stderr io.Writer) int {
	f := newOneFlags("scores", stderr)
	method := f.String("method", "", "whose bound the verdict is by: one-run (scores of one training), one-run-gdp, exact (each score of a training of its own), clopper-pearson, paired-betting, gaussian-dp; of a matrix an interval of dpscope canaries; default one-run, of a matrix paired-betting. The report has all")
	f.StringVar(&f.relation, "relation", "", "needed: neighbouring relation of the claim: add-remove (a record is there or not) or replace (a record is replaced by another)")
	files, code, ok := f.ParseNames(args)
	if !ok {
		return code
	}
	claim, defaulted, err := f.claim()
	if err != nil {
		return fail(stderr, err)
	}
	in, err := readScores(files)
	if err != nil {
		return fail(stderr, err)
	}
	plan := scores.Plan{Version: canary.PlanVersion, Claim: &claim, DeltaDefaulted: defaulted, Relation: audit.Relation(f.relation), Method: report.Method(*method), Sides: onerun.Sides(f.sides), Guesses: f.guesses, GDPGuesses: f.gdpGuesses, Beta: f.beta, Seed: f.seed}
	report, err := scores.Run(plan, *in, cli.Generator())
	if err != nil {
		return fail(stderr, err)
	}
	printed := cli.Print(stdout, f.format, report.Text, report)
	return told(stderr, report.Summary, verdictCode(report.Verdict, report.Ended.Reason, f.strict), nil, printed)
}

// readScores reads one or two files of scores.
func readScores(names []string) (*scores.Scores, error) {
	if len(names) < 1 || len(names) > 2 {
		return nil, &audit.InputError{Field: "files of scores", Found: strconv.Itoa(len(names)), Want: "one with both classes, or two: canaries that were in, and those that were out"}
	}
	var parsed []*recorded.File
	for _, name := range names {
		f, err := readIntake(name)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
	}
	return scores.ReadScores(parsed)
}

func readIntake(name string) (*recorded.File, error) {
	options := recorded.ScoreOptions(recorded.Options{Name: filepath.Base(name)})
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if err := recorded.CheckSize(name, info.Size(), options); err != nil {
			return nil, err
		}
	}
	return recorded.Read(f, options)
}

// verifySource is dpscope verify of a report of a source's audit, with canaries or in
// one run.
func verifySource[R interface{ Bounded() bool }](parse func([]byte) (R, error),
	replay func(context.Context, []source.Spec, *engine.Pool, R, []byte, bool) (engine.Verification, error),
	name string, data []byte, files []string, workers int, whole bool, stdout, stderr io.Writer) int {
	report, err := parse(data)
	if err != nil {
		return fail(stderr, fmt.Errorf("%s: %w", name, err))
	}
	given, err := readOneFile(files)
	if err != nil {
		return fail(stderr, err)
	}
	v, err := replay(context.Background(), source.Sources(), core.LocalPool(catalogue, workers), report, given, whole)
	if err != nil {
		return fail(stderr, fmt.Errorf("%s: %w", name, err))
	}
	return printReplay(stdout, v, report.Bounded())
}

// verifyScores is dpscope verify of a report of scores.
func verifyScores(name string, data []byte, files []string, whole bool, stdout, stderr io.Writer) int {
	report, err := scores.ParseReport(data)
	if err != nil {
		return fail(stderr, fmt.Errorf("%s: %w", name, err))
	}
	var given *scores.Scores
	switch {
	case whole && len(files) == 0 && len(report.Plan.Data) > 0:
		return fail(stderr, &audit.InputError{Field: "-data", Found: "absent", Want: "the file of scores, or both", Remedy: "-data FILE, twice for two files; -quick checks the bounds from the report's counts"})
	case whole:
		if given, err = readScores(files); err != nil {
			return fail(stderr, err)
		}
	}
	v, err := scores.Verify(report, given)
	if err != nil {
		return fail(stderr, fmt.Errorf("%s: %w", name, err))
	}
	return printReplay(stdout, v, true)
}

// readOneFile reads the one file that most audits take, nil for none.
func readOneFile(names []string) ([]byte, error) {
	switch len(names) {
	case 0:
		return nil, nil
	case 1:
		return readData(names[0])
	}
	return nil, &audit.InputError{Field: "-data", Found: fmt.Sprintf("given %d times", len(names)), Want: "given once"}
}
