package format

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/report"
)

// Size of a card, in px: one for all, so that a page can keep room for it.
const (
	CardWidth  = MiddleWidth + 2*cardMargin
	CardHeight = 592

	cardMargin  = 16
	cardTop     = 98 // of the picture
	cardBottom  = CardHeight - 34
	cardLetters = 76 // of a line of the verdict
	cardLines   = 2
)

var cardColours = sync.OnceValue(func() (of [2]string) {
	light, dark, _ := strings.Cut(Style, "(prefers-color-scheme: dark)")
	for i, style := range []string{light, dark} {
		for _, name := range []string{"panel", "text", "muted", "line", "field-line", "accent", "bad", "calm", "first", "second", "region", "hatch", "event", "lit", "lit-ink", "lit-soft", "forbid"} {
			_, after, found := strings.Cut(style, "--"+name+": ")
			if !found {
				panic("format: the style of pages has no colour " + name)
			}
			value, _, _ := strings.Cut(after, ";")
			of[i] += " --" + name + ": " + value + ";"
		}
	}
	return of
})

// svg is a card for each audit, one below the other. Of a single audit, its metadata is the
// fragment of the page's address that runs it again.
func svg(run Run) ([]byte, error) {
	var b strings.Builder
	title := run.Summary
	if title == "" && len(run.Audits) > 0 {
		h := run.Audits[0].Report.Head()
		title = h.Subject + ": " + h.Headline
	}
	height := CardHeight * max(1, len(run.Audits))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" font-family="system-ui, sans-serif" font-size="13" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d">`, CardWidth, height)
	b.WriteString("\n<title>" + xmlText(title) + "</title>\n")
	drawn := make([]Picture, len(run.Audits))
	var words []string
	for i, a := range run.Audits {
		all, err := run.pictures(a.Report)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 {
			drawn[i], words = all[0], append(words, all[0].Words)
		}
	}
	b.WriteString("<desc>" + xmlText(strings.Join(words, "\n")) + "</desc>\n")
	if len(run.Audits) == 1 {
		b.WriteString("<metadata>" + xmlText(run.Audits[0].Report.Head().Reproduce.URL) + "</metadata>\n")
	}
	colours := cardColours()
	b.WriteString("<style>svg { color-scheme: light dark;" + colours[0] + " }\n@media screen and (prefers-color-scheme: dark) { svg {" + colours[1] + " } }</style>\n")
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="var(--panel)"/>`+"\n")
	for i, a := range run.Audits {
		fmt.Fprintf(&b, `<g transform="translate(0 %d)">`+"\n", i*CardHeight)
		card(&b, a.Report, drawn[i])
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return []byte(phrase.Visible(b.String())), nil
}

func card(b *strings.Builder, r report.View, p Picture) {
	line := func(y int, look, words string) {
		fmt.Fprintf(b, `<text x="%d" y="%d" %s>%s</text>`+"\n", cardMargin, y, look, xmlText(words))
	}
	h := r.Head()
	line(26, `fill="var(--text)" font-size="15" font-weight="600"`, lines(h.Subject, 60, 1)[0])
	colour := map[audit.Verdict]string{audit.Violation: "bad", audit.NoViolation: "calm"}[h.Verdict]
	for i, words := range lines(h.Headline, cardLetters, cardLines) {
		line(50+18*i, `fill="var(--`+cmp.Or(colour, "text")+`)"`, words)
	}
	if p.Middle != "" && p.MiddleHeight > 0 {
		const room = cardBottom - cardTop
		scale := min(1, room/p.MiddleHeight)
		fmt.Fprintf(b, `<g transform="translate(%.1f %.1f) scale(%.4f)">%s</g>`+"\n", cardMargin+float64((1-scale)*MiddleWidth/2), cardTop+float64((room-float64(scale*p.MiddleHeight))/2), scale, p.Middle)
	}
	words := fmt.Sprintf("Recorded by %s %s", h.Generator.Name, h.Generator.Version)
	for _, f := range r.Facts() {
		if f.Name == "Seed" {
			words += ", seed " + f.Value
		}
	}
	line(CardHeight-14, `fill="var(--muted)" font-size="12"`, lines(words, 80, 1)[0])
}

// lines breaks words into at most so many lines and letters of each. An ellipsis stands for what does not fit.
func lines(words string, letters, most int) []string {
	out := []string{""}
	for word := range strings.FieldsSeq(words) {
		last := &out[len(out)-1]
		switch n := utf8.RuneCountInString(*last); {
		case n == 0:
			*last = word
		case n+1+utf8.RuneCountInString(word) <= letters:
			*last += " " + word
		default:
			out = append(out, word)
		}
	}
	cut := len(out) > most
	out = out[:min(len(out), most)]
	for i, l := range out {
		if runes := []rune(l); len(runes) > letters || cut && i == most-1 {
			out[i] = strings.TrimRight(string(runes[:min(len(runes), letters-1)]), " ,.") + "…"
		}
	}
	return out
}

// xmlText is text of an element; what XML does not allow, and nobody would see, is replaced.
func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(phrase.Visible(text))) // a builder takes everything
	return b.String()
}
