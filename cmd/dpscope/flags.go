package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strconv"

	"github.com/dpscope/dpscope/audit"
)

// countValue is a flag for a whole number that may be written as 1e6 or
// 1_000_000 too.
type countValue int

func countVar(set *flag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	set.Var((*countValue)(p), name, usage+", a whole `number`")
}

func (v *countValue) String() string { return strconv.Itoa(int(*v)) }

func (v *countValue) Set(s string) error {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		*v = countValue(n)
		return nil
	}
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case (err == nil || errors.Is(err, strconv.ErrRange)) && math.Abs(x) > audit.MaxSeed:
		return fmt.Errorf("must be at most %d", uint64(audit.MaxSeed))
	case err != nil || x != math.Trunc(x):
		return fmt.Errorf("must be a whole number such as 100000 or 1e5")
	}
	*v = countValue(x)
	return nil
}

// seedValue is a flag for a seed.
type seedValue uint64

func (v *seedValue) String() string { return strconv.FormatUint(uint64(*v), 10) }

func (v *seedValue) Set(s string) error {
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil || n > audit.MaxSeed {
		return fmt.Errorf("must be a whole number in [0, %d]", uint64(audit.MaxSeed))
	}
	*v = seedValue(n)
	return nil
}
