package engine

import "github.com/dpscope/dpscope/audit"

// sections are the parts of reports that were added after version 0.1.0, as paths,
// each with the first version whose reports have it. A report of an earlier version
// verifies without it; one of that version or a later does not. What every report
// of a schema version has had from its start is not listed. docs/compatibility.md
// shows this table and says how a field is added.
var sections = map[string]string{
	"surrogate":            "0.2.0",
	"evidence.chart.plane": "0.2.0",
}

// Older reports whether a section that a report lacks may be absent because the
// version that wrote the report, g, wrote none, and notes it.
func (v *Verification) Older(g audit.Generator, absent bool, section string) bool {
	since, ok := sections[section]
	if !ok {
		panic("engine: " + section + " is no section that was added")
	}
	if !absent || !g.Before(since) {
		return false
	}
	v.Skip("version "+g.Release()+" wrote none", section)
	return true
}
