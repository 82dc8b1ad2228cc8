package scene

import (
	"slices"
	"strings"
)

// Request asks for a picture of a view.
type Request struct {
	Choice string  `json:"choice"` // one of the view's; another means the first
	Width  float64 `json:"width"`  // px
	// Theme and Heading, what it is of, make the picture a file of its own; see [Look].
	Theme   [][3]uint8 `json:"theme,omitempty"`
	Heading string     `json:"heading,omitempty"`
	// Exact asks for the table with all digits.
	Exact bool `json:"exact,omitempty"`
}

// Picture is a view at a width: what is drawn, what it says, and the numbers that
// are drawn.
type Picture struct {
	Title       string   `json:"title"`
	Words       string   `json:"words"`
	ChoiceLabel string   `json:"choiceLabel"`
	Choices     []Choice `json:"choices"`
	Chosen      string   `json:"chosen"` // "" where there is nothing to choose
	SVG         *Node    `json:"svg,omitempty"`
	Markup      string   `json:"markup,omitempty"` // of a file, instead
	Table       Table    `json:"table"`
}

// Draw draws a view.
func Draw(v View, r Request) Picture {
	label, choices := v.Choices()
	p := Picture{Title: v.Title(), ChoiceLabel: label, Choices: append([]Choice{}, choices...)}
	called := p.Title
	if len(choices) > 0 {
		p.Chosen = choices[0].ID
		if slices.ContainsFunc(choices, func(c Choice) bool { return c.ID == r.Choice }) {
			p.Chosen = r.Choice
		}
		v.Choose(p.Chosen)
		for _, c := range choices {
			if c.ID == p.Chosen {
				called += ", " + label + ": " + c.Words
			}
		}
	}
	s := v.Layout(Frame{Width: r.Width, Camera: Everything})
	if len(s.Keys) > 0 {
		called += ". Drawn: " + strings.Join(s.Keys, "; ")
	}
	p.Words, p.Table = v.Words(), v.Facts(Rounded)
	if r.Exact {
		p.Table = v.Facts(Exact)
	}
	svg := s.SVG(Look{r.Theme, p.Title + " · " + r.Heading}, called+". The table below holds the same numbers.", v.Reading)
	if r.Theme != nil {
		p.Markup = svg.Markup()
	} else {
		p.SVG = &svg
	}
	return p
}
