package recorded

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Formats, as reports name them; a file in gzip has ".gz" behind.
const (
	CSV       = "csv" // commas or semicolons
	TSV       = "tsv"
	JSONLines = "jsonl" // an object, an array or a value a line
	JSON      = "json"  // one array of rows, or one object of arrays
	NPY       = "npy"
	NPZ       = "npz"
)

// Answers to Options.Header.
const (
	HeaderYes = "yes"
	HeaderNo  = "no"
)

// Answers to Options.NonFinite.
const (
	Refuse   = "refuse"
	AsSymbol = "symbol"
)

// Limits of what is read, where Options do not say otherwise.
const (
	DefaultMaxBytes    = 1 << 30 // 1 GiB
	DefaultMaxExpanded = 1 << 30
	DefaultMaxCells    = 1 << 26 // 512 MiB of numbers
	DefaultMaxSymbols  = 4096
	// MaxColumns is how many columns a table may have.
	MaxColumns = 4096
	// MaxLine is about how long a row of text may be, in bytes.
	MaxLine = 1 << 20
)

// Options say how a file is read. The zero value tells everything by content.
type Options struct {
	Name string // of the file, for messages
	// Reading: by default the first line of a CSV or TSV names the columns if none of its cells
	// is a number, kinds are told by the first rows, and NaN and infinities are refused;
	// "symbol" makes them symbols beside numbers. Dataset and Outputs are of [Pair].
	audit.Reading
	// Scores: the file holds scores. Columns of a CSV or TSV may end with empty cells.
	Scores bool

	Size        int64 // of the file in bytes; 0: not known
	MaxBytes    int64 // of the file
	MaxExpanded int64 // of all arrays of an NPZ, or of a file in gzip, uncompressed
	MaxCells    int   // of all tables
	MaxSymbols  int   // of one column

	// Progress is called with how many bytes were read; its error ends the reading. It may be nil.
	Progress func(bytes int64) error
}

func (o Options) filled() (Options, error) {
	o.Name, o.NonFinite = cmp.Or(o.Name, "file"), cmp.Or(o.NonFinite, Refuse)
	o.MaxBytes, o.MaxExpanded = cmp.Or(o.MaxBytes, DefaultMaxBytes), cmp.Or(o.MaxExpanded, DefaultMaxExpanded)
	o.MaxCells, o.MaxSymbols = cmp.Or(o.MaxCells, DefaultMaxCells), cmp.Or(o.MaxSymbols, DefaultMaxSymbols)
	if o.Progress == nil {
		o.Progress = func(int64) error { return nil }
	}
	return o, CheckReading(o.Reading)
}

func (o *Options) kind(column string) audit.ColumnKind {
	for name, kind := range o.Kinds {
		if strings.EqualFold(name, column) {
			return kind
		}
	}
	return ""
}

// CheckReading refuses words that are unknown.
func CheckReading(r audit.Reading) error {
	if r.Header != "" && r.Header != HeaderYes && r.Header != HeaderNo {
		return audit.UnknownName("header", r.Header, []string{HeaderYes, HeaderNo})
	}
	if r.NonFinite != "" && r.NonFinite != Refuse && r.NonFinite != AsSymbol {
		return audit.UnknownName("nonfinite", r.NonFinite, []string{Refuse, AsSymbol})
	}
	for name, k := range r.Kinds {
		if k != audit.Real && k != audit.Symbol && k != audit.Mixed {
			return audit.UnknownName("kind of column "+name, string(k), []string{string(audit.Real), string(audit.Symbol), string(audit.Mixed)})
		}
	}
	return nil
}

// CheckSize refuses a file that is too large.
func CheckSize(name string, size int64, o Options) error {
	o, err := o.filled()
	if err != nil {
		return err
	}
	if size > o.MaxBytes {
		return audit.Fault(name, sizeWords(size), "at most "+sizeWords(o.MaxBytes),
			"take a random sample of the rows, or use the command dpscope, which reads larger files")
	}
	return nil
}

func sizeWords(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.4g GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// quoted shortens what was found in a file for a message.
func quoted[T []byte | string](b T) string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%q...", string(b[:most]))
	}
	return fmt.Sprintf("%q", string(b))
}

const again = "copy or save it again"

func onLine(what string, line int) string { return fmt.Sprintf("%s, line %d", what, line) }
