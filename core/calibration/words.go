package calibration

import (
	"fmt"
	"math"
	"strconv"
)

// Sentence says what came out; beta is what is allowed.
func (c Count) Sentence(beta float64) string {
	if c.Of == 0 {
		return "No audit has ended."
	}
	audits := "audits of mechanisms that keep their claim raised"
	if c.Of == 1 {
		audits = "audit of a mechanism that keeps its claim raised"
	}
	count := fmt.Sprintf("%d of %d %s a false alarm", c.Alarms, c.Of, audits)
	if c.Alarms == 0 {
		count = fmt.Sprintf("%d %s no false alarm", c.Of, audits)
	}
	return fmt.Sprintf("%s: %s (99\u00a0%% interval: %s), allowed %s.", count, c.RateWords(), c.IntervalWords(), Percent(beta))
}

// RateWords is the rate in percent; "–" without any run.
func (c Count) RateWords() string {
	if c.Of == 0 {
		return "–"
	}
	return rounded(c.Rate, math.Round) + "\u00a0%"
}

// IntervalWords is the 99 % interval of the rate in percent, rounded outwards.
func (c Count) IntervalWords() string {
	if c.Of == 0 {
		return "–"
	}
	return rounded(c.Lower, math.Floor) + " to " + rounded(c.Upper, math.Ceil) + "\u00a0%"
}

// Percent is a share that is no estimate.
func Percent(share float64) string {
	return strconv.FormatFloat(100*share, 'g', 10, 64) + "\u00a0%"
}

// rounded is a share in percent: a decimal, two below one percent.
func rounded(share float64, to func(float64) float64) string {
	decimals, unit := 1, 10.0
	if share < 0.01 {
		decimals, unit = 2, 100
	}
	switch v := to(100*share*unit) / unit; v {
	case 0, 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
}
