// Package mechanisms holds the mechanisms to audit: textbook ones that keep
// what they claim, and others that were published or shipped broken. Each
// family has a file of its own.
//
// Sample draws its noise in blocks of [blockRows] outputs and uses plain IEEE
// arithmetic alone. So outputs have the same bits on every platform, and calls
// for n1 and n2 outputs give what one for n1+n2 gives where n1 is a multiple of
// blockRows.
package mechanisms

import "github.com/dpscope/dpscope/audit"

// Sources of several mechanisms.
const (
	dpSniper        = "Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, S&P 2021"
	dworkRoth       = "Dwork and Roth, The Algorithmic Foundations of Differential Privacy (2014)"
	shadowExecution = "Wang, Ding, Wang, Kifer and Zhang, Proving Differential Privacy with Shadow Execution, PLDI 2019"
	statDP          = "Ding, Wang, Wang, Zhang and Kifer, Detecting Violations of Differential Privacy, CCS 2018"
)

// All is the registry: one line a mechanism.
func All() []audit.MechanismSpec {
	list := []interface{ complete() mechanism }{
		randomisedResponse,
		laplaceCount,

		laplaceMean,
		laplaceMeanRawCount,
		laplaceMeanRawDenominator,
		gaussianMean,
		gaussianMeanRawCount,
		gaussianMeanRawDenominator,

		svt1,
		svt2,
		svt3,
		svt4,
		svt5,
		svt6,

		noisyMaxLaplace,
		noisyMaxExponential,
		noisyMaxValueLaplace,
		noisyMaxValueExponential,

		noisyHistogram,
		noisyHistogramWrongScale,

		exponentialMedian,
		geoSample,
		truncatedGeometric,
		rapporOnce,
		rappor,
		numericSVT,
		svtParallel,
		svt34Parallel,
		prefixSum,
		laplaceParallel,

		laplaceMeanClampedScale,
		gaussianMeanRenyi,
		gaussianMeanRawCountRenyi,
		gaussianMeanRawDenominatorRenyi,

		dpSGD,
		dpSGDScaledNoise,
		dpSGDMicrobatch,
		dpSGDReusedKey,
		dpSGDClipLate,

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
	return audit.Listed(len(list), func(i int) audit.MechanismSpec { return list[i].complete().spec() })
}
