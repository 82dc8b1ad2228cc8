package train

import (
	"fmt"
	"strconv"

	"github.com/dpscope/dpscope/audit"
)

// Limits of what is accepted: what fits into a browser's memory.
const (
	examplesMost = 100_000
	featuresMost = 1000
	classesMost  = 100
	cellsMost    = 1 << 24 // features of all examples
	unitsMost    = 1024
	stepsMost    = 100_000
	rateLeast    = 1e-9 // below, a step divides by next to nothing
	// CanariesMost is the largest number of canaries in one training.
	CanariesMost  = 8192
	canaryNumbers = 1 << 25 // weights times canaries: 256 MiB
)

func checkInt(field string, v, least, most int) error {
	if v < least || v > most {
		return &audit.InputError{Field: field, Found: strconv.Itoa(v), Want: fmt.Sprintf("a whole number in [%d, %d]", least, most)}
	}
	return nil
}

// checkNumber wants v in (above, most].
func checkNumber(field string, v, above, most float64) error {
	if !(v > above && v <= most) {
		return &audit.InputError{Field: field, Found: strconv.FormatFloat(v, 'g', -1, 64), Want: fmt.Sprintf("a number in (%g, %g]", above, most)}
	}
	return nil
}

func checkWord(field, v string, known ...string) error {
	for _, k := range known {
		if v == k {
			return nil
		}
	}
	return audit.UnknownName(field, v, known)
}

// numbered makes names: prefix1, prefix2, ...
func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i+1)
	}
	return names
}
