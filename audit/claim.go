package audit

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpscope/dpscope/audit/stream"
)

// ClaimKind names the kind of guarantee that a mechanism promises.
type ClaimKind string

const (
	Pure        ClaimKind = "pure"        // (epsilon, 0)-DP
	Approximate ClaimKind = "approximate" // (epsilon, delta)-DP
	Renyi       ClaimKind = "renyi"       // (alpha, epsilon)-RDP (Mironov 2017)
	ZCDP        ClaimKind = "zcdp"        // rho-zCDP (Bun and Steinke 2016)
	GaussianDP  ClaimKind = "gaussian-dp" // mu-GDP (Dong, Roth and Su 2019)
	Profile     ClaimKind = "profile"     // a curve of (epsilon, delta): [PrivacyProfile]
)

// claimKinds are all: their numbers, and how a claim is written.
var claimKinds = []struct {
	kind   ClaimKind
	fields []string
	words  string
}{
	{Pure, []string{"epsilon"}, "epsilon = %s"},
	{Approximate, []string{"epsilon", "delta"}, "epsilon = %s at delta = %s"},
	{Renyi, []string{"epsilon", "alpha"}, "Rényi epsilon = %s at alpha = %s"},
	{ZCDP, []string{"rho"}, "rho = %s (zCDP)"},
	{GaussianDP, []string{"mu"}, "mu = %s (Gaussian DP)"},
	{Profile, nil, "profile"},
}

// Claim is the guarantee under audit. Which fields count depends on Kind; the others are zero. In a
// plan, Kind may be absent: then epsilon and delta mean an (epsilon, delta) claim, and one that is
// zero is the mechanism's own.
type Claim struct {
	Kind    ClaimKind `json:"kind,omitempty"`
	Epsilon float64   `json:"epsilon,omitempty"` // pure, approximate, renyi; > 0
	Delta   float64   `json:"delta,omitempty"`   // approximate; in [0, 1)
	Alpha   float64   `json:"alpha,omitempty"`   // renyi; > 1
	Mu      float64   `json:"mu,omitempty"`      // gaussian-dp; > 0
	Rho     float64   `json:"rho,omitempty"`     // zcdp; > 0

	Profile *PrivacyProfile `json:"profile,omitempty"`
}

// DPClaim is the pure claim at epsilon where delta is 0, else the approximate one.
func DPClaim(epsilon, delta float64) Claim {
	return Claim{Kind: Pick(delta == 0, Pure, Approximate), Epsilon: epsilon, Delta: delta}
}

// claimTop is the largest epsilon, rho and mu of a claim, far below where e^epsilon overflows.
const claimTop = 500.0

func (c Claim) numbers() map[string]float64 {
	return map[string]float64{"alpha": c.Alpha, "epsilon": c.Epsilon, "delta": c.Delta, "mu": c.Mu, "rho": c.Rho}
}

// Validate checks that the fields of the claim's kind are in range, and no other is set.
func (c Claim) Validate() error {
	names := Listed(len(claimKinds), func(i int) string { return string(claimKinds[i].kind) })
	at := slices.Index(names, string(c.Kind))
	switch {
	case at < 0:
		return At("/claim/kind", UnknownName("claim.kind", string(c.Kind), names))
	case c.Kind == Profile && c.Profile == nil:
		return At("/claim/profile", Fault("profile", Absent, `a curve in a claim of kind "profile"`, "-claim-file reads one"))
	case c.Kind == Profile:
		if err := c.Profile.Validate(); err != nil {
			return err
		}
	case c.Profile != nil:
		return At("/claim/profile", Fault("profile", "there", fmt.Sprintf("absent in a claim of kind %q", c.Kind)))
	}
	numbers := c.numbers()
	for _, name := range []string{"alpha", "epsilon", "delta", "mu", "rho"} {
		v := numbers[name]
		if !slices.Contains(claimKinds[at].fields, name) {
			if v != 0 {
				return Fault(name, Number(v), fmt.Sprintf("absent in a claim of kind %q", c.Kind))
			}
			continue
		}
		var want string
		ok := true
		switch name {
		case "delta":
			ok, want = v >= 0 && v < 1, "in [0, 1)"
		case "alpha":
			ok, want = v > 1 && !math.IsInf(v, 1), "a finite number above 1"
		default:
			ok, want = v > 0 && v <= claimTop, fmt.Sprintf("a finite number above 0, at most %v", claimTop)
			if v <= claimTop || math.IsInf(v, 1) {
				want = "a finite number above 0"
			}
		}
		switch {
		case ok:
		case v != 0 || name == "delta":
			return Fault(name, Number(v), want)
		case name == "alpha":
			return Fault(name, Absent, want, "a Rényi claim names its order, for example alpha = 2")
		default:
			return Fault(name, Absent, want, fmt.Sprintf("a claim of kind %q needs %s above 0, unless the mechanism's own claim implies it", c.Kind, name))
		}
	}
	return Remedy(`use kind "pure"`, Require(c.Kind != Approximate || c.Delta != 0, "delta", 0, "above 0 in an approximate claim"))
}

// Complete fills in what a claim leaves open by the mechanism's own: all of it where nothing is
// claimed, else what that implies for this kind.
func (c Claim) Complete(own Claim) Claim {
	switch {
	case c == Claim{}:
		return own
	case c == Claim{Profile: c.Profile}:
		c.Kind = Profile
		return c
	}
	switch c.Kind {
	case "", Pure, Approximate:
		if c.Epsilon == 0 && own.IsDP() {
			c.Epsilon = own.Epsilon
		}
		if c.Kind != Pure && c.Delta == 0 {
			c.Delta = own.Delta
		}
		if c.Kind == "" { // fields of other kinds stay, and Validate refuses them
			c.Kind = DPClaim(c.Epsilon, c.Delta).Kind
		}
	case Renyi:
		if c.Epsilon == 0 {
			c.Epsilon, _ = own.ImpliedRenyi(c.Alpha)
		}
	case ZCDP:
		if c.Rho == 0 {
			c.Rho, _ = own.ImpliedRho()
		}
	case GaussianDP:
		if c.Mu == 0 {
			c.Mu, _ = own.ImpliedMu()
		}
	}
	return c
}

// IsDP reports an (epsilon, delta) claim.
func (c Claim) IsDP() bool { return c.Kind == Pure || c.Kind == Approximate || c.Kind == "" }

// Group is what a claim of (epsilon, delta) says of datasets that differ by so many steps: (k
// epsilon, delta (e^(k epsilon)-1)/(e^epsilon-1)), delta rounded up and at most 1 (Lu et al. 2022,
// lemma 3.4; Dwork and Roth 2014, theorem 2.2).
func (c Claim) Group(steps int) Claim {
	if steps <= 1 {
		return c
	}
	sum, term, grow := 0.0, 1.0, stream.Exp(c.Epsilon)
	for range steps {
		sum += term
		term *= grow
	}
	delta := 0.0
	if c.Delta > 0 {
		delta = min(1, float64(c.Delta*sum)*(1+1e-12))
	}
	return DPClaim(float64(float64(steps)*c.Epsilon), delta)
}

// ImpliedRenyi is the largest Rényi divergence of order alpha that the claim allows; false where it
// allows any. A Rényi claim bounds the lower orders too.
func (c Claim) ImpliedRenyi(alpha float64) (float64, bool) {
	if !(alpha > 1) || math.IsInf(alpha, 1) {
		return 0, false // orders come from strangers' files too
	}
	switch c.Kind {
	case Pure:
		return RandomisedResponseRenyi(c.Epsilon, alpha), true
	case Renyi:
		return c.Epsilon, alpha <= c.Alpha
	case ZCDP:
		return c.Rho * alpha, true
	case GaussianDP:
		return c.Mu * c.Mu * alpha / 2, true
	}
	return 0, false
}

// ImpliedRho is the rho of zCDP that the claim implies (Bun and Steinke 2016, proposition 3.3).
func (c Claim) ImpliedRho() (float64, bool) {
	switch c.Kind {
	case Pure:
		return c.Epsilon * c.Epsilon / 2, true
	case ZCDP:
		return c.Rho, true
	case GaussianDP:
		return c.Mu * c.Mu / 2, true
	}
	return 0, false
}

// ImpliedMu is the mu of Gaussian DP that the claim implies; see [GaussianMuOfPure].
func (c Claim) ImpliedMu() (float64, bool) {
	switch c.Kind {
	case Pure:
		return GaussianMuOfPure(c.Epsilon), true
	case GaussianDP:
		return c.Mu, true
	}
	return 0, false
}

// String gives the claim in the field's notation.
func (c Claim) String() string {
	if c.Kind == Profile && c.Profile != nil {
		return fmt.Sprintf("a curve of %d points", len(c.Profile.Points))
	}
	numbers := c.numbers()
	for _, k := range claimKinds {
		if k.kind == c.Kind {
			return fmt.Sprintf(k.words, Each(k.fields, func(name string) any { return Number(numbers[name]) })...)
		}
	}
	return string(c.Kind)
}

// Limit is what the claim allows its quantity to be: epsilon, a Rényi divergence, rho or mu.
func (c Claim) Limit() float64 {
	switch c.Kind {
	case ZCDP:
		return c.Rho
	case GaussianDP:
		return c.Mu
	case Profile:
		return 1 // times the epsilons of the curve
	}
	return c.Epsilon
}

// RandomisedResponseRenyi is the largest D_alpha(P||Q), in nats, over all pairs with log ratio at
// most eps, that of randomised response, eps >= 0 and alpha > 1 both finite:
//
//	log(p^alpha (1-p)^(1-alpha) + (1-p)^alpha p^(1-alpha))/(alpha-1)
//
// with p = e^eps/(1+e^eps); every such pair is a post-processing of that one (Kairouz, Oh and
// Viswanath 2017). Evaluated without cancellation.
func RandomisedResponseRenyi(eps, alpha float64) float64 {
	if !(eps >= 0 && alpha > 1) || math.IsInf(eps, 1) || math.IsInf(alpha, 1) {
		panic("audit: RandomisedResponseRenyi needs a finite epsilon of at least 0 and a finite alpha above 1")
	}
	up := (alpha - 1) * eps
	rest := -math.Expm1(-alpha*eps) / (1 + math.Exp(-eps))
	if up > 500 {
		return eps + math.Log(rest)/(alpha-1)
	}
	return math.Log1p(math.Expm1(up)*rest) / (alpha - 1)
}

// GaussianMuOfPure is the smallest mu such that every eps-DP mechanism is mu-GDP, 2 Phi^-1(1/(1 +
// e^-eps)): the trade-off curve of randomised response has its corner where both errors are 1/(1 +
// e^eps), and the Gaussian curve through it, being convex, lies below.
func GaussianMuOfPure(eps float64) float64 {
	if !(eps >= 0) || math.IsInf(eps, 1) {
		panic("audit: GaussianMuOfPure needs a finite epsilon of at least 0")
	}
	// By the small probability, which keeps its digits at large eps.
	return -2 * mathext.NormalQuantile(1/(1+math.Exp(eps)))
}

// curveSteps is about how many points a claimed curve has.
const curveSteps = 160

// Tradeoff is the claim as a trade-off function, a polyline: for (epsilon, delta), proposition 2.4
// of Dong, Roth and Su 2022 (Wasserman and Zhou 2010); empty where it is none.
func (c Claim) Tradeoff() [][2]float64 {
	points := [][2]float64{}
	switch c.Kind {
	case Pure, Approximate:
		corner := (1 - c.Delta) / (1 + math.Exp(c.Epsilon))
		points = append(points, [2]float64{0, 1 - c.Delta}, [2]float64{corner, corner}, [2]float64{1 - c.Delta, 0})
		if c.Delta > 0 {
			points = append(points, [2]float64{1, 0})
		}
	case GaussianDP:
		points = gaussianTradeoff(c.Mu)
	}
	return points
}

// gaussianTradeoff is a polyline of tangents of the curve of mu-GDP, nowhere above it.
func gaussianTradeoff(mu float64) [][2]float64 {
	points := [][2]float64{{0, 1}}
	var x0, y0, s0 float64
	for i := range curveSteps + 1 {
		z := -6 - mu + float64((12+mu)*float64(i))/curveSteps
		x, y, s := normalCDF(z), normalCDF(-z-mu), -math.Exp(-float64(mu*z)-float64(mu*mu/2))
		if i > 0 && s > s0 {
			// Where the tangents at both points meet.
			meet := (y - y0 + float64(s0*x0) - float64(s*x)) / (s0 - s)
			if at := y + float64(s*(meet-x)); meet >= x0 && meet <= x && at >= 0 && at <= 1 {
				points = append(points, [2]float64{meet, at})
			}
		}
		x0, y0, s0 = x, y, s
	}
	return append(points, [2]float64{1, 0})
}

func normalCDF(x float64) float64 { return float64(math.Erfc(-x/math.Sqrt2) / 2) }

// RenyiCurve is the Rényi divergence that the claim allows at orders from lo to hi: a polyline.
func (c Claim) RenyiCurve(lo, hi float64) [][2]float64 {
	points := [][2]float64{}
	for i := range curveSteps + 1 {
		alpha := lo * math.Pow(hi/lo, float64(i)/curveSteps)
		if v, ok := c.ImpliedRenyi(alpha); ok {
			points = append(points, [2]float64{alpha, v})
		}
	}
	if c.Kind == Renyi && c.Alpha <= hi && c.Alpha >= lo {
		points = append(points, [2]float64{c.Alpha, c.Epsilon})
	}
	return points
}
