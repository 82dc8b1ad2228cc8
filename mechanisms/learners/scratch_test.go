package learners

import (
	"fmt"
	"math"
	"testing"
	"github.com/dpscope/dpscope/audit"
)

func TestScratch(t *testing.T) {
	for _, n := range []int{50, 100, 150, 1000} {
		for _, lambda := range []float64{.3, .1, .05, .02, .01, .005, .002, .001} {
			best, ba := 0.0, 0.0
			for a := 0.0; a < 1; a += .02 {
				b := math.Sqrt(1 - a*a)
				tab := BuiltIn()[1]
				var w [2][]float64
				for k := range 2 {
					d := repeated(n, 1, 0, 1)
					d.Row(n - 1)[0] = -a
					d.Row(n - 1)[1] = b
					if k == 1 {
						d.Row(n - 1)[1] = -b
					}
					e, _ := tab.examples(d, 1)
					w[k] = make([]float64, 2)
					newRidge(e, lambda).minimise(nil, w[k])
				}
				g := math.Hypot(w[0][0]-w[1][0], w[0][1]-w[1][1]) * float64(n) * lambda
				if g > best {
					best, ba = g, a
				}
			}
			fmt.Println(n, lambda, best, ba)
		}
	}
	_ = audit.Replace
}
