package pages

import (
	"regexp"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Formulas are written in plain characters, e^(alpha h), D_alpha, x <= 1.

var (
	tag    = regexp.MustCompile(`<[^>]*>`)
	script = regexp.MustCompile(`^-?[\p{L}\p{N}]+(?:[.,][\p{L}\p{N}]+)*`)
	index  = regexp.MustCompile(`(^|[^\p{L}\p{N}_])(\p{L}'?|RR|mu)_(\{[^}]*\}|\p{L}+|\p{N}+)`)
	word   = regexp.MustCompile(`[A-Za-z]+`)
	letter = map[string]string{
		"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "lambda": "λ",
		"mu": "μ", "nu": "ν", "rho": "ρ", "sigma": "σ", "Phi": "Φ",
	}
	signs = strings.NewReplacer("&lt;=", "≤", "&gt;=", "≥", "sqrt(", "√(", "sqrt ", "√", " - ", " − ")

	// Hyphens that are minus signs: between short terms in brackets, and before a number.
	difference = regexp.MustCompile(`\(((?:[\p{L}\p{N}]{1,2}|alpha)(?:/\p{N})?)-([\p{L}\p{N}]{1,2}(?:/\p{N})?(?:\+\p{N})?|eta\p{N}?|delta)\)`)
	negative   = regexp.MustCompile(`(^|[\s(\[{])-([\p{N}(]|\p{Greek}|[A-Z]\b)|(\()-(\p{L}\b)`)

	flagged = regexp.MustCompile(`(^|\s)(-[a-z]+(?:-[a-z]+)*)`)

	// Words beside a sign of arithmetic are letters in running text too.
	factor = regexp.MustCompile(`/(?:beta|delta|epsilon|mu)\b|\b(?:beta|delta|epsilon|mu)[/²]`)
)

// words are letters that are words in running text, but for scripts.
var words = map[string]bool{"beta": true, "delta": true, "epsilon": true, "mu": true, "nu": true, "rho": true}

func typesetText(html string) string {
	var b strings.Builder
	code, drawn := 0, 0
	put := func(text string) {
		switch {
		case drawn > 0:
		case code == 0:
			text = greek(scripts(factor.ReplaceAllStringFunc(minuses(signs.Replace(text)), func(f string) string { return greek(f, nil) })), words)
		default: // a flag's name is not parted from its hyphen
			text = flagged.ReplaceAllString(text, "$1<span>$2</span>")
		}
		b.WriteString(text)
	}
	for html != "" {
		at := tag.FindStringIndex(html)
		if at == nil {
			put(html)
			break
		}
		put(html[:at[0]])
		t := html[at[0]:at[1]]
		if name := strings.TrimPrefix(word.FindString(t), "/"); name == "code" || name == "pre" || name == "svg" {
			step := audit.Pick(strings.HasPrefix(t, "</"), -1, 1)
			if name == "svg" {
				drawn += step
			} else {
				code += step
			}
		}
		b.WriteString(t)
		html = html[at[1]:]
	}
	return b.String()
}

func typesetFormula(html string) string {
	return greek(scripts(minuses(signs.Replace(html))), nil)
}

func minuses(html string) string {
	return negative.ReplaceAllString(difference.ReplaceAllString(html, "($1−$2)"), "$1$3−$2$4")
}

func greek(html string, but map[string]bool) string {
	return word.ReplaceAllStringFunc(html, func(w string) string {
		if l, ok := letter[w]; ok && !but[w] {
			return l
		}
		return w
	})
}

// scripts puts ^(...), ^x, x_y and x_{...} as superscripts and subscripts.
func scripts(text string) string {
	text = index.ReplaceAllStringFunc(text, func(m string) string {
		before, after, _ := strings.Cut(m, "_")
		return greek(before, nil) + "<sub>" + greek(strings.Trim(after, "{}"), nil) + "</sub>"
	})
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '^')
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at])
		text = text[at+1:]
		inner, rest := script.FindString(text), ""
		if strings.HasPrefix(text, "(") {
			if end := closing(text); end > 0 {
				inner, rest = text[1:end], text[end+1:]
			}
		} else {
			rest = text[len(inner):]
		}
		if inner == "" {
			b.WriteByte('^')
			continue
		}
		inner = greek(scripts(inner), nil)
		b.WriteString("<sup>" + strings.ReplaceAll(inner, "-", "−") + "</sup>")
		text = rest
	}
}

// closing is where the bracket that text begins with is closed, or -1.
func closing(text string) int {
	depth := 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}
