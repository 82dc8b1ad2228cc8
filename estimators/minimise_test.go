package estimators

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/optimize/functions"

	"github.com/dpscope/dpscope/internal/must"
)

// surface is a function of gonum's collection.
type surface interface {
	Func(x []float64) float64
	Grad(grad, x []float64)
}

// of is such a function that asks check.
func of(f surface, check func() error) func(gradient, x []float64) float64 {
	return func(gradient, x []float64) float64 {
		f.Grad(gradient, x)
		stopOn(check())
		return f.Func(x)
	}
}

// endOf is the error that ends a piece of work.
func endOf(do func()) (err error) {
	defer stopped(&err)
	do()
	return nil
}

func always() error { return nil }

// minimise finds known minima.
func TestMinimiseFindsMinima(t *testing.T) {
	for _, c := range []struct {
		name        string
		f           surface
		start, want []float64
	}{
		{"Rosenbrock", functions.ExtendedRosenbrock{}, []float64{-1.2, 1, -1.2, 1}, []float64{1, 1, 1, 1}},
		{"Beale", functions.Beale{}, []float64{1, 1}, []float64{3, 0.5}},
	} {
		got := minimise(of(c.f, always), slices.Clone(c.start), 1e-9, 500)
		for i, x := range got {
			if math.Abs(x-c.want[i]) > 1e-7 {
				t.Errorf("%s: minimum at %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// An error of check ends the work at once, at every call.
func TestMinimiseStops(t *testing.T) {
	stop := errors.New("stop")
	for after := 1; ; after++ {
		calls := 0
		check := func() error {
			if calls++; calls == after {
				return stop
			}
			return nil
		}
		err := endOf(func() { minimise(of(functions.Beale{}, check), []float64{1, 1}, 1e-8, 100) })
		if calls > after {
			t.Fatalf("went on after the %dth check said stop", after)
		}
		if calls < after { // that was one more than it takes
			if err != nil || after < 15 {
				t.Errorf("%d checks, %v", calls, err)
			}
			return
		}
		if err != stop {
			t.Errorf("stopped at check %d: %v", after, err)
		}
	}
}

func TestMinimiseRefusesABrokenStart(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, start := range []struct{ loss, slope float64 }{{1, v}, {v, 1}} {
			f := func(g, x []float64) float64 {
				g[0], g[1] = start.slope, 1
				return start.loss
			}
			must.Refuse(t, endOf(func() { minimise(f, []float64{0, 0}, 1e-3, 10) }), "at its start", start)
		}
	}
}
