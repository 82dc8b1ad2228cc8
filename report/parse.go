package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

// Pair is the kind of audits of pairs of datasets, whose reports of schema version 1
// do not say it.
const Pair = "pair"

// KindOf is the kind of a report; empty for what is no object.
func KindOf(data []byte) string {
	var head struct {
		Kind *string `json:"kind"`
	}
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\uFEFF")), &head) != nil {
		return ""
	}
	if head.Kind == nil {
		return Pair
	}
	return *head.Kind
}

// Parse reads a report of this kind into r, which embeds [Report]; unknown fields are
// refused. upgrade makes the form of today of one of schema version 1.
func Parse(data []byte, kind string, r any, upgrade func(Old)) error {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	var whole json.RawMessage
	if err := audit.DecodeStrict(data, "report", &whole); err != nil {
		return err
	}
	var head struct {
		SchemaVersion *int `json:"schemaVersion"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return audit.JsonError(data, "report", err)
	}
	if found := KindOf(data); found != kind {
		return &audit.InputError{Field: "report: field kind", Found: fmt.Sprintf("%q", found), Want: fmt.Sprintf("%q", kind), Remedy: "is this a report of another command?"}
	}
	if head.SchemaVersion == nil {
		return &audit.InputError{Field: "report: field schemaVersion", Found: audit.Absent, Want: fmt.Sprint(SchemaVersion), Remedy: "is this a report of dpscope?"}
	}
	switch v := *head.SchemaVersion; {
	case v < 1 || v > SchemaVersion:
		return &audit.InputError{Field: "report: field schemaVersion", Found: fmt.Sprint(v), Want: fmt.Sprintf("in [1, %d]", SchemaVersion),
			Remedy: "use the version of dpscope that wrote it"}
	case v < SchemaVersion:
		old := Old{}
		if err := json.Unmarshal(Renamed(data), &old); err != nil {
			return audit.JsonError(data, "report", err)
		}
		old.head(kind)
		upgrade(old)
		upgraded, err := json.Marshal(old)
		if err != nil {
			return err
		}
		data = upgraded
	}
	if err := audit.DecodeStrict(data, "report", r); err != nil {
		return err
	}
	// What a report always has must be there: its absence would read as zero.
	back, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var given, full any
	if json.Unmarshal(data, &given) == nil && json.Unmarshal(back, &full) == nil {
		if path := absent(given, full); path != "" {
			return &audit.InputError{Field: "report: field " + strings.TrimPrefix(path, "."), Found: "absent or null", Want: "there, as in every report of this version", Remedy: "run the audit again"}
		}
	}
	return nil
}

// Check refuses a report whose parts do not fit together.
func (r Report) Check() error {
	verdicts := []string{string(audit.Violation), string(audit.NoViolation), string(audit.Inconclusive), string(audit.Invalid)}
	if !slices.Contains(verdicts, string(r.Verdict)) {
		return audit.UnknownName("report: field verdict", string(r.Verdict), verdicts)
	}
	if reasons := []string{string(audit.Completed), string(audit.Refuted), string(audit.Stopped), string(audit.Failed)}; !slices.Contains(reasons, string(r.Termination.Reason)) {
		return audit.UnknownName("report: termination.reason", string(r.Termination.Reason), reasons)
	}
	if err := r.Claim.Validate(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if r.Verdict == audit.Violation || r.Verdict == audit.NoViolation {
		if r.LowerBound == nil || r.above(r.Deciding(), r.Claim.Limit()) != (r.Verdict == audit.Violation) {
			return &audit.InputError{Field: "report: verdict", Found: fmt.Sprintf("%q, which its own bound contradicts", r.Verdict), Want: "what the bound says of the claim " + r.Claim.String()}
		}
	}
	if r.LowerBound != nil && r.Deciding() == nil {
		return &audit.InputError{Field: "report: tables", Found: "without a row that is chosen", Want: "one, as there is a lower bound"}
	}
	for _, t := range r.Tables {
		for i, x := range t.Rows {
			field := fmt.Sprintf("report: tables: %s[%d]", t.Name, i)
			for _, c := range []*bounds.Counts{x.Counts, x.Explored} {
				if c == nil {
					continue
				}
				if err := c.Validate(); err != nil {
					return fmt.Errorf("%s.counts: %w", field, err)
				}
			}
			if x.Direction != "" && x.Direction != FirstOverSecond && x.Direction != SecondOverFirst {
				return audit.UnknownName(field+".direction", x.Direction, []string{FirstOverSecond, SecondOverFirst})
			}
		}
	}
	return nil
}

// Old is a report of schema version 1, on its way to the form of today. Words that it
// does not have are empty in it, and filled in by the kind's ParseReport.
type Old map[string]json.RawMessage

// head makes what reports of all kinds have.
func (o Old) head(kind string) {
	var schema string
	former := map[string]string{Pair: "report"}[kind]
	if former == "" {
		former = kind
	}
	if json.Unmarshal(o["$schema"], &schema); schema == "dpscope-"+former+"-v1.schema.json" {
		o.Set("$schema", SchemaName(kind))
	}
	o.Set("kind", kind)
	o.Set("schemaVersion", SchemaVersion)
	o.Set("tables", []Table{})
	for _, name := range []string{"subject", "promise", "headline"} {
		o.Set(name, "")
	}
}

// Set gives a field its value.
func (o Old) Set(name string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic("report: " + err.Error())
	}
	o[name] = data
}

// Get reads a field; what is not of its type stays as it is.
func (o Old) Get(name string, into any) {
	if data, there := o[name]; there {
		json.Unmarshal(data, into)
	}
}

// Within is the object in a field, nil for anything else.
func (o Old) Within(name string) Old {
	var in Old
	if json.Unmarshal(o[name], &in) != nil {
		return nil
	}
	return in
}

// Rename moves fields, which are pairs of a former name and a new one.
func (o Old) Rename(names ...string) {
	for i := 0; i < len(names); i += 2 {
		if x, there := o[names[i]]; there {
			delete(o, names[i])
			o[names[i+1]] = x
		}
	}
}

// Table makes a table of the rows in a field, each of which change turns into a [Row].
// What is no list of objects stays where it is, to be refused.
func (o Old) Table(name, from string, change func(Old)) {
	var rows []Old
	if json.Unmarshal(o[from], &rows) != nil || o[from] == nil {
		return
	}
	delete(o, from)
	if len(rows) == 0 {
		return
	}
	for _, row := range rows {
		if row != nil {
			change(row)
		}
	}
	var tables []json.RawMessage
	json.Unmarshal(o["tables"], &tables)
	table := Old{}
	table.Set("name", name)
	table.Set("title", "")
	table.Set("rows", append([]Old{}, rows...))
	data, _ := json.Marshal(table)
	o.Set("tables", append(tables, data))
}

// ByMethod makes what reports of canaries and of scores have alike: the subject, the
// claim, and a table of the rows in a field, each a bound on epsilon by the method that
// stands under key. The row of method decides.
func (o Old) ByMethod(subject string, p Promise, rows, key, title string, method bounds.Method) {
	o.Set("subject", subject)
	o.Set("claim", p.Claim)
	o.Set("promise", p.String())
	o.Set("quantity", Epsilon)
	o.Table(Bounds, rows, func(row Old) {
		row.Rename(key, "method")
		row.Set("id", Epsilon)
		row.Set("claimed", p.Epsilon)
		if string(row["method"]) == strconv.Quote(string(method)) {
			row.Set("chosen", true)
		}
	})
	var tables []Old
	if json.Unmarshal(o["tables"], &tables); len(tables) == 1 {
		tables[0].Set("title", title)
		o.Set("tables", tables)
	}
}

// absent is the path of something that full has and given lacks, or has as null.
func absent(given, full any) string {
	switch full := full.(type) {
	case map[string]any:
		object, ok := given.(map[string]any)
		if !ok {
			return "." // decoding has refused it
		}
		for name, x := range full {
			y, there := object[name]
			if !there || y == nil { // what may be absent is left out, not null
				return "." + name
			}
			if path := absent(y, x); path != "" {
				return "." + name + path
			}
		}
	case []any:
		list, ok := given.([]any)
		for i, x := range full {
			if !ok || i >= len(list) || list[i] == nil && x != nil {
				return fmt.Sprintf("[%d]", i)
			}
			if path := absent(list[i], x); path != "" {
				return fmt.Sprintf("[%d]%s", i, path)
			}
		}
	}
	return ""
}
