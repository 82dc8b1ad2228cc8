package format

import (
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit/phrase"
)

// github is one workflow command an audit, and a notice with the summary of several (GitHub Docs,
// "Workflow commands for GitHub Actions"; escapes: actions/toolkit, packages/core/src/command.ts).
func github(run Run) ([]byte, error) {
	var b strings.Builder
	for _, a := range run.Audits {
		b.WriteString("::" + run.graded(a, "error", "warning", "notice") + " ")
		if l := a.Location; l != nil {
			fmt.Fprintf(&b, "file=%s,", commandProperty(l.File))
			if l.Line > 0 {
				fmt.Fprintf(&b, "line=%d,", l.Line)
			}
		}
		fmt.Fprintf(&b, "title=%s::%s\n", commandProperty("dpscope: "+a.Name), commandData(details(a)))
	}
	for _, x := range run.Broken {
		fmt.Fprintf(&b, "::error title=%s::%s\n", commandProperty("dpscope: "+x.Name), commandData(x.Why))
	}
	if run.Summary != "" {
		fmt.Fprintf(&b, "::notice title=dpscope::%s\n", commandData(run.Summary))
	}
	return []byte(phrase.Visible(b.String())), nil
}

var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace
)
