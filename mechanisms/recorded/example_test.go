package recorded_test

import (
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// Outputs that another program recorded, in one file with a column that tells the
// dataset.
func ExamplePair() {
	var text strings.Builder
	text.WriteString("dataset,count\n")
	for i := range 400 {
		fmt.Fprintf(&text, "%s,%d\n", []string{"with", "without"}[i%2], i%7)
	}
	file, err := recorded.Read(strings.NewReader(text.String()), recorded.Options{Name: "outputs.csv"})
	if err != nil {
		fmt.Println(err)
		return
	}
	samples, err := recorded.Pair([]*recorded.File{file}, audit.Reading{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Format, samples.Rows(0), samples.Rows(1))
	for _, c := range samples.Columns {
		fmt.Println(c.Name, c.Kind)
	}
	// Output:
	// csv 200 200
	// count real
}
