package plot

import (
	"slices"
	"strings"
)

// Request asks for a picture of a view.
type Request struct {
	Choice string  `json:"choice"` // one of the view's; another means the first
	Width  float64 `json:"width"`  // px
	// Theme and Heading, what it is of, make the picture a file of its own.
	Theme   [][3]uint8 `json:"theme,omitempty"`
	Heading string     `json:"heading,omitempty"`
	// Exact asks for all digits in the table.
	Exact bool `json:"exact,omitempty"`
	// At is where a hand put the line, as a share of the upright axis.
	At *float64 `json:"at,omitempty"`
}

// Picture is a view at a width: what is drawn and said, and the same numbers.
type Picture struct {
	Title       string   `json:"title"`
	Words       string   `json:"words"`
	ChoiceLabel string   `json:"choiceLabel"`
	Choices     []Choice `json:"choices"`
	Chosen      string   `json:"chosen"` // "" where there is nothing to choose
	SVG         *Node    `json:"svg,omitempty"`
	Markup      string   `json:"markup,omitempty"` // of a file, instead
	Table       Table    `json:"table"`
	Handle      *Handle  `json:"handle,omitempty"`
	Said
}

// Draw draws a view.
func Draw(v *View, r Request) Picture {
	p := Picture{Title: v.Title, ChoiceLabel: v.ChoiceLabel, Choices: append([]Choice{}, v.Choices...)}
	called := p.Title
	if len(v.Choices) > 0 {
		chosen := v.Choices[max(0, slices.IndexFunc(v.Choices, func(c Choice) bool { return c.ID == r.Choice }))]
		p.Chosen = chosen.ID
		v.Choose(p.Chosen)
		called += ", " + v.ChoiceLabel + ": " + chosen.Words
	}
	s := v.Layout(Frame{Width: r.Width, Camera: Everything})
	if len(s.Keys) > 0 {
		called += ". Drawn: " + strings.Join(s.Keys, "; ")
	}
	if h := v.Handle; h != nil {
		h.Within, p.Handle = [4]float64{s.Plot.X, s.Plot.Y, s.Plot.W, s.Plot.H}, h
	}
	p.Words, p.Said, p.Table = v.Caption, v.Said, v.Table(If(r.Exact, Exact, Rounded))
	svg := s.svg(r.Theme, p.Title+" · "+r.Heading, called+". The table below holds the same numbers.", v.Tooltip)
	if r.Theme != nil {
		p.Markup = svg.Markup()
	} else {
		p.SVG = &svg
	}
	return p
}

// Handle is a level line that a hand moves.
type Handle struct {
	Label  string     `json:"label"`
	Words  string     `json:"words"`
	At     float64    `json:"at"`     // share of the upright axis
	Within [4]float64 `json:"within"` // left, top, width and height of the plot, px
}

// Said is what a picture shows in one plain sentence.
type Said struct {
	Sentence string `json:"sentence,omitempty"`
	Small    string `json:"small,omitempty"`
	Lit      bool   `json:"lit,omitempty"` // the claim is refuted
	// Question is what the picture answers, Who says who is in the two datasets.
	Question string    `json:"question,omitempty"`
	Who      [2]string `json:"who,omitzero"`
}
