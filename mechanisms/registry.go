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

import "github.com/dpscope/dpscope/audit"

// All is the registry: one line a mechanism.
func All() []audit.MechanismSpec {
	list := []mechanism{
		randomisedResponse,
		laplaceCount,

		laplaceMean.complete(),
		laplaceMeanRawCount.complete(),
		laplaceMeanRawDenominator.complete(),
		gaussianMean.complete(),
		gaussianMeanRawCount.complete(),
		gaussianMeanRawDenominator.complete(),

		svt1.complete(),
		svt2.complete(),
		svt3.complete(),
		svt4.complete(),
		svt5.complete(),
		svt6.complete(),

		noisyMaxLaplace.complete(),
		noisyMaxExponential.complete(),
		noisyMaxValueLaplace.complete(),
		noisyMaxValueExponential.complete(),

		noisyHistogram,
		noisyHistogramWrongScale,

		exponentialMedian,
		geoSample,
		truncatedGeometric,
		rapporOnce.complete(),
		rappor.complete(),
		numericSVT.complete(),
		svtParallel,
		svt34Parallel,
		prefixSum,
		laplaceParallel,

		laplaceMeanClampedScale.complete(),
		gaussianMeanRenyi.complete(),
		gaussianMeanRawCountRenyi.complete(),
		gaussianMeanRawDenominatorRenyi.complete(),

		dpSGD.complete(),
		dpSGDScaledNoise.complete(),
		dpSGDMicrobatch.complete(),
		dpSGDReusedKey.complete(),
		dpSGDClipLate.complete(),

		laplaceFloat,
		laplaceSnapping,
		sumClipped,
		sumUnclipped,
		sumRatios,
		sumNaN,
		noisyHistogramReplace,
		countReplaceAsAdd,
		budgetSpentTwice,
		domainFromData,
		sizeLeak(),
	}
	return audit.Listed(len(list), func(i int) audit.MechanismSpec { return list[i].spec() })
}
