package bounds

import "math"

// Exact returns an exact lower confidence bound on epsilon: for every p1, p0,
// n1, n0 it exceeds log((p1-delta)/p0) with probability at most beta. Rounded
// down to six decimals; may be negative, and is -Inf where nothing can be said
// (X/N1 not clearly above delta).
//
// Construction (Buehler 1957 with the score limit as ordering, and the nuisance
// parameters confined as in Berger and Boos 1994):
//
//  1. Let S(x, y) be the [Score] limit. R = {(x', y'): S(x', y') >= S(x, y)}
//     depends on the counts only through S, and the R of different counts are
//     nested. T falls with th (proof at nullFit), so R is {T(.; th0) >= z} with
//     th0 = e^S(x, y); T grows with x, so R is {x' >= cut(y')}.
//  2. Let B be the box of the two-sided Clopper-Pearson intervals of p1 from x
//     and p0 from y, each at level gamma/2, gamma = beta/250. For th > 0 let
//     p(th) = gamma + sup { P(R; p1, p0) : (p0, p1) in B, p1 <= th p0 + delta }.
//  3. The bound is the largest th with p(th) <= beta.
//
// Proof. The null sets in 2 grow with th and R does not depend on th, so p(th)
// is non-decreasing, and the bound exceeds the true th* only if p(th*) <= beta.
// That needs (p0, p1) outside B, which has probability at most gamma, or
// P(R; p1, p0) <= beta - gamma at the true point; the R being nested, their
// probability at the true point is stochastically at least uniform, so this has
// probability at most beta - gamma. No monotonicity of a p-value has to be
// assumed: the region is not chosen anew for each epsilon. R being an upper set
// in x, the supremum over p1 lies on p1 = th p0 + delta, or on the upper side of
// the box, where the probability falls with p0 and is largest at the corner.
//
// Computation. th starts at a value above the bound, and p0 sweeps over the box
// in cells. Each cell is shown to stay below beta - gamma by one of two upper
// bounds (see sweep.show), split, or th is lowered until its midpoint does; a cell
// shown for one th holds for every smaller th. So the th that remains is
// certified, and lies below the exact solution only by what a quarter of a per
// cent of beta costs, about .002 standard deviations. Tail cuts and rounding are
// added to every probability.
//
// Cost: 20 to 200 sums over the likely counts, O(sqrt n) each: 0.1 ms at
// n = 1000, some milliseconds at 10^6. Needs no exploration.
func Exact(c Counts, delta, beta float64) float64 {
	mustBeSound(c, delta, beta)
	eps, _ := exactSweep(c, delta, beta)
	return eps
}

// exactSweep also returns the number of probabilities that were summed.
func exactSweep(c Counts, delta, beta float64) (eps float64, evals int) {
	z := scoreCut(beta)
	th0 := newNullFit(c, delta).limit(z)
	if th0 == 0 {
		return math.Inf(-1), 0
	}
	gamma := beta * nuisanceShare
	around := nuisance(c, gamma)
	r := newRegion(c, delta, th0, z, around.low0, around.high0, tailWidth(beta))
	s := sweep{region: r, box: around, delta: delta, goal: beta - gamma, slack: beta / 400}
	s.run()
	return RoundDown(math.Log(s.th)), r.evals
}

// nuisanceShare is the part of beta spent on confining p1 and p0. Mean bounds
// are flat between .002 and .01.
const nuisanceShare = 0.004

// nuisance returns a box that misses (p0, p1) with probability at most gamma.
func nuisance(c Counts, gamma float64) box {
	return box{
		low0: LowerProportion(c.Y, c.N0, gamma/4), high0: UpperProportion(c.Y, c.N0, gamma/4),
		low1: LowerProportion(c.X, c.N1, gamma/4), high1: UpperProportion(c.X, c.N1, gamma/4),
	}
}

// tailWidth makes the neglected tails 10^-8 of beta.
func tailWidth(beta float64) float64 { return math.Log(1/beta) + 20 }
