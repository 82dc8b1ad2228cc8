package pages

import "testing"

func TestTypeset(t *testing.T) {
	for _, c := range [][2]string{
		{"e^(kε/2)", "e<sup>kε/2</sup>"},
		{"e^((alpha-1)h) and", "e<sup>(α−1)h</sup> and"},
		{"2^-53, 10^8.", "2<sup>−53</sup>, 10<sup>8</sup>."},
		{"D_alpha(P||Q) &lt;= k", "D<sub>α</sub>(P||Q) ≤ k"},
		{"order alpha at epsilon = 1", "order α at epsilon = 1"},
		{"RR_alpha(epsilon)", "RR<sub>α</sub>(epsilon)"},
		{"R^h,n &gt;= sqrt(n), sqrt 2", "R<sup>h,n</sup> ≥ √(n), √2"},
		{"(1-p)^(1-alpha) x", "(1−p)<sup>1−α</sup> x"},
		{"e^(-e0/k) B^(1/k)", "e<sup>−e0/k</sup> B<sup>1/k</sup>"},
		{"c_1, ..., c_{K-1}, |mu_4 - mu_2^2|", "c<sub>1</sub>, ..., c<sub>K-1</sub>, |μ<sub>4</sub> − μ<sub>2</sub><sup>2</sup>|"},
		{"k/(alpha-1), z in [-2, 2], from -G to 1 - p, the k-th, add-remove, {-1, 1}, exp(-n x)", "k/(α−1), z in [−2, 2], from −G to 1 − p, the k-th, add-remove, {−1, 1}, exp(−n x)"},
		{"alpha epsilon²/2 at beta/2, log(1/delta), but epsilon and bounds", "α ε²/2 at β/2, log(1/δ), but epsilon and bounds"},
		{"c'_1 of (X-l+1), χ_{d-1}^2", "c'<sub>1</sub> of (X−l+1), χ<sub>d-1</sub><sup>2</sup>"},
		{"jax_privacy and a_", "jax_privacy and a_"},
		{"a ^ b, e^(open", "a ^ b, e^(open"},
		{"<code>dpscope audit -samples-file</code>", "<code>dpscope audit <span>-samples-file</span></code>"},
		{"<code>x^2 D_alpha</code> x^2", "<code>x^2 D_alpha</code> x<sup>2</sup>"},
		{`<pre><code>a &lt;= b_1</code></pre><a href="x_y^2">z^2</a>`, `<pre><code>a &lt;= b_1</code></pre><a href="x_y^2">z<sup>2</sup></a>`},
	} {
		if got := typesetText(c[0]); got != c[1] {
			t.Errorf("%s is\n%s, want\n%s", c[0], got, c[1])
		}
	}
	for _, c := range [][2]string{
		{"alpha · 1.5²/(2σ²) = 0.5625 at alpha = 2", "α · 1.5²/(2σ²) = 0.5625 at α = 2"},
		{"D_alpha  &gt;=  R^h,n - k log(1+eta1)", "D<sub>α</sub>  ≥  R<sup>h,n</sup> − k log(1+η1)"},
		{"eta = sqrt( log(2/beta) / n )", "η = √( log(2/β) / n )"},
		{"E_Q e^(alpha h)", "E<sub>Q</sub> e<sup>α h</sup>"},
	} {
		if got := typesetFormula(c[0]); got != c[1] {
			t.Errorf("%s is\n%s, want\n%s", c[0], got, c[1])
		}
	}
}
