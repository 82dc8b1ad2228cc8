package main

import (
	"errors"
	"flag"
	"io"
	"os"

	"github.com/dpscope/dpscope/audit"
)

// output says where the result of a bench goes.
type output struct{ format, save string }

// outputFlags defines the flags of an output.
func outputFlags(set *flag.FlagSet) *output {
	o := &output{}
	set.StringVar(&o.format, "format", "text", "text or json")
	set.StringVar(&o.save, "save", "", "write the JSON to this `file` too")
	return o
}

// check refuses a format that there is not.
func (o output) check() error { return checkFormat(o.format, "text", "json") }

// emit writes the result: to the file, if one is asked for, and in the format,
// whatever became of the file.
func (o output) emit(stdout io.Writer, result any, print func(io.Writer)) error {
	data, err := audit.Canonical(result)
	if err != nil {
		return err
	}
	if o.save != "" {
		err = os.WriteFile(o.save, data, 0o644)
	}
	if o.format == "json" {
		_, printed := stdout.Write(data)
		return errors.Join(err, printed)
	}
	print(stdout)
	return err
}
