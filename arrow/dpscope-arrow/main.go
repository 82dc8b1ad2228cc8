// Command dpscope-arrow reads Parquet, Arrow IPC files and streams, and Feather 2, and
// writes their rows as CSV to standard output:
//
//	dpscope-arrow FILE
//
// dpscope starts it for such files, where it is in the same folder or in PATH. It is a
// program of its own for the size of the library that it stands on.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// fault is what is wrong with a file.
type fault struct {
	Field  string `json:"field"`
	Found  string `json:"found"`
	Want   string `json:"want"`
	Remedy string `json:"remedy,omitempty"`
}

func (f *fault) Error() string {
	s := fmt.Sprintf("%s is %s, must be %s", f.Field, f.Found, f.Want)
	if f.Remedy != "" {
		s += "; " + f.Remedy
	}
	return s
}

// run is main without the process. With -head, which dpscope gives, a line of JSON comes
// before the CSV, and errors are JSON.
func run(args []string, stdout, stderr io.Writer) int {
	head := len(args) > 0 && args[0] == "-head"
	if head {
		args = args[1:]
	}
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		fmt.Fprintln(stderr, "Usage: dpscope-arrow FILE. It writes the rows of a Parquet, Arrow or Feather file as CSV.")
		return 2
	}
	err := convert(args[0], head, stdout)
	if err == nil {
		return 0
	}
	f, ok := err.(*fault)
	if !ok {
		f = &fault{Field: args[0], Found: "not to be read: " + err.Error(), Want: "a whole Parquet, Arrow or Feather file"}
	}
	if head {
		json.NewEncoder(stderr).Encode(f)
	} else {
		fmt.Fprintln(stderr, "dpscope-arrow:", f)
	}
	return 2
}
