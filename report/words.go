package report

import (
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// FactRows are facts in words, being gathered.
type FactRows []audit.FactRow

func (rows *FactRows) Add(name, format string, args ...any) {
	*rows = append(*rows, audit.FactRow{Name: name, Value: fmt.Sprintf(format, args...)})
}

// WriteFacts begins the text of a report: its summary and facts.
func WriteFacts(b *strings.Builder, summary string, rows []audit.FactRow) {
	b.WriteString(summary + "\n\n")
	w := 0
	for _, row := range rows {
		w = max(w, len(row.Name))
	}
	for _, row := range rows {
		fmt.Fprintf(b, "  %-*s  %s\n", w, row.Name, row.Value)
	}
}

// WriteEnd ends it: its warnings and the command that runs it again.
func WriteEnd(b *strings.Builder, warnings []string, again audit.Reproduce) {
	for _, warning := range warnings {
		fmt.Fprintf(b, "\nNote: %s\n", warning)
	}
	if again.CLI != "" {
		fmt.Fprintf(b, "\nRun it again: %s\n", again.CLI)
	}
	if again.Note != "" {
		fmt.Fprintf(b, "\n%s\n", again.Note)
	}
}
