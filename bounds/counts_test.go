package bounds

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

func TestCountsValidate(t *testing.T) {
	must.Do(t, (Counts{0, 1, 1, 1}).Validate())
	for _, k := range []struct {
		c    Counts
		says string
	}{
		{Counts{0, 0, 0, 1}, "N1 is 0"},
		{Counts{0, 1, 0, 0}, "N0 is 0"},
		{Counts{0, 1, 0, -4}, "N0 is -4"},
		{Counts{-1, 1, 0, 1}, "X is -1"},
		{Counts{2, 1, 0, 1}, "X is 2, must be 0 to N1 = 1"},
		{Counts{1, 1, 7, 6}, "Y is 7, must be 0 to N0 = 6"},
		{Counts{1, 1 << 41, 7, 6}, "N1 is"},
	} {
		must.Refuse(t, k.c.Validate(), k.says, k.c)
	}
}

func TestCountsAdd(t *testing.T) {
	if got, want := (Counts{1, 2, 3, 4}).Add(Counts{10, 20, 30, 40}), (Counts{11, 22, 33, 44}); got != want {
		t.Errorf("sum %+v, want %+v", got, want)
	}
}

func TestCheckRanges(t *testing.T) {
	for _, v := range []float64{-1e-9, 1, 2, math.NaN(), math.Inf(1)} {
		if CheckDelta(v) == nil {
			t.Errorf("delta %v accepted", v)
		}
	}
	for _, v := range []float64{0, -1, 1, 1e-200, math.NaN()} {
		if CheckBeta(v) == nil {
			t.Errorf("beta %v accepted", v)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if CheckEpsilon(v) == nil {
			t.Errorf("epsilon %v accepted", v)
		}
	}
	if CheckDelta(0) != nil || CheckDelta(0.999) != nil || CheckBeta(1e-9) != nil || CheckBeta(0.99) != nil || CheckEpsilon(-3) != nil {
		t.Error("a value in range was refused")
	}
}
