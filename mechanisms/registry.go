// Package mechanisms holds the mechanisms to audit: textbook ones that keep
// what they claim, and others that were published or shipped broken. Each
// family has a file of its own; [All] names them.
//
// Every Sample draws its noise in blocks of [blockRows] outputs, in the order
// that the family's type documents, and adds and divides with plain IEEE
// arithmetic alone. So outputs have the same bits on every platform, and two
// calls that ask for n1 and n2 outputs give what one call for n1+n2 gives
// wherever n1 is a multiple of blockRows.
package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
)

// All is the registry: one line a mechanism.
func All() []audit.MechanismSpec {
	return []audit.MechanismSpec{
		randomisedResponseSpec,
		laplaceCountSpec,

		laplaceMean.spec(),
		laplaceMeanRawCount.spec(),
		laplaceMeanRawDenominator.spec(),
		gaussianMean.spec(),
		gaussianMeanRawCount.spec(),
		gaussianMeanRawDenominator.spec(),

		svt1.spec(),
		svt2.spec(),
		svt3.spec(),
		svt4.spec(),
		svt5.spec(),
		svt6.spec(),

		noisyMaxLaplace.spec(),
		noisyMaxExponential.spec(),
		noisyMaxValueLaplace.spec(),
		noisyMaxValueExponential.spec(),

		noisyHistogram.spec(),
		noisyHistogramWrongScale.spec(),

		exponentialMedianSpec,
		truncatedGeometricSpec,
		rapporOnce.spec(),
		rappor.spec(),
		numericSVT.spec(),
		svt34ParallelSpec(),
		prefixSumSpec,
		laplaceParallel.spec(),

		laplaceMeanClampedScale.spec(),
		gaussianMeanRenyi.spec(),
		gaussianMeanRawCountRenyi.spec(),
		gaussianMeanRawDenominatorRenyi.spec(),

		dpSGD.spec(),
		dpSGDScaledNoise.spec(),
		dpSGDMicrobatch.spec(),
		dpSGDReusedKey.spec(),
		dpSGDClipLate.spec(),

		laplaceFloat.spec(),
		laplaceSnapping.spec(),
		sumUnclippedSpec,
		sumNaNSpec,
		countReplaceAsAdd.spec(),
		budgetSpentTwice.spec(),
		domainFromData.spec(),
		sizeLeakSpec(),
	}
}

// blockRows is how many outputs a mechanism makes at a time. It is part of what
// a seed means: another value gives other outputs.
const blockRows = 1024

// eachBlock cuts out, rows of the given width, into blocks of blockRows rows
// (the last one may be shorter) and calls fill on each with its number of rows.
func eachBlock(out []float64, width int, fill func(block []float64, rows int)) {
	for len(out) > 0 {
		n := min(len(out), blockRows*width)
		fill(out[:n], n/width)
		out = out[n:]
	}
}

// epsilonParam is the parameter that every mechanism has. Its range keeps the
// noise of every mechanism finite.
func epsilonParam(byDefault float64) audit.ParamSpec {
	return audit.ParamSpec{Name: "epsilon", Doc: "privacy parameter that the noise is scaled for", Default: byDefault, Min: 1e-6, Max: 100, Noise: true}
}

// pureClaim is the claim of most mechanisms: (epsilon, 0).
func pureClaim(p audit.Params) audit.Claim { return audit.DPClaim(p.Num("epsilon"), 0) }

// epsilonTruth is the truth of a mechanism that keeps its pure claim.
func epsilonTruth(p audit.Params) string { return "epsilon = " + show(p.Num("epsilon")) }

// only is the Relations of a mechanism that defines these whatever its
// parameters.
func only(r ...audit.Relation) func(audit.Params) []audit.Relation {
	return func(audit.Params) []audit.Relation { return r }
}

// fewest is how few records a dataset has, of any number of them.
func fewest(r audit.Relation) int {
	if r == audit.Replace {
		return 1
	}
	return 0
}

// show prints a number for a description or a message.
func show(v float64) string { return fmt.Sprintf("%.10g", v) }

// vector is n times the same value.
func vector(n int, value float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = value
	}
	return v
}

// checkShape refuses a dataset that is not of one column with minRows to
// maxRows finite rows. The engine checks domains; this guards other callers.
func checkShape(d audit.Dataset, minRows, maxRows int) error {
	return checkTable(d, 1, minRows, maxRows)
}

// checkTable is checkShape for any number of columns.
func checkTable(d audit.Dataset, columns, minRows, maxRows int) error {
	if d.Columns != columns {
		return &audit.InputError{Field: "dataset.columns", Found: fmt.Sprint(d.Columns), Want: fmt.Sprint(columns)}
	}
	if n := d.Len(); n < minRows || n > maxRows {
		want := pick(minRows == maxRows, fmt.Sprintf("%d rows", minRows), fmt.Sprintf("at least %d rows", minRows))
		return &audit.InputError{Field: "dataset", Found: fmt.Sprintf("%d rows", n), Want: want}
	}
	for i, v := range d.Values {
		if v-v != 0 { // NaN or infinite
			return notIn(i, v, "a finite number")
		}
	}
	return nil
}

// checkWhole refuses a dataset of one column with numbers other than 0, 1, ...,
// most.
func checkWhole(d audit.Dataset, minRows, maxRows, most int) error {
	if err := checkShape(d, minRows, maxRows); err != nil {
		return err
	}
	for i, v := range d.Values {
		if v != math.Floor(v) || v < 0 || v > float64(most) {
			return notIn(i, v, fmt.Sprintf("a whole number in [0, %d]", most))
		}
	}
	return nil
}

func notIn(i int, v float64, want string) error {
	return &audit.InputError{Field: fmt.Sprintf("dataset.values[%d]", i), Found: show(v), Want: want}
}

// anyRows is the maxRows of a mechanism that takes datasets of every size.
const anyRows = math.MaxInt

// oneColumn is the only column of an output.
func oneColumn(kind audit.ColumnKind, name string) []audit.Column {
	return []audit.Column{{Name: name, Kind: kind}}
}

// columnsOf is n columns of one kind; their names are the format with 1, 2, ...
// put in.
func columnsOf(n int, kind audit.ColumnKind, format string) []audit.Column {
	columns := make([]audit.Column, n)
	for i := range columns {
		columns[i] = audit.Column{Name: fmt.Sprintf(format, i+1), Kind: kind}
	}
	return columns
}

// answersDomain is the domain of m answers in [-reach, reach], each of
// sensitivity 1.
func answersDomain(m int, reach float64) audit.Domain {
	return audit.Domain{Columns: 1, MinRows: m, MaxRows: m, Lower: []float64{-reach}, Upper: []float64{reach}, Reach: 1}
}
