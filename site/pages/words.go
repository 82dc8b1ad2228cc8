package pages

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"text/tabwriter"
)

// notByHand is code, rows of tables, quotations, comments, and where links lead.
var notByHand = regexp.MustCompile("(?ms)^```.*?^```$|^ {4}.*?$|^[|>].*?$|<!--.*?-->|\\]\\([^)]*\\)")

// counted is what is not a mark alone, such as the = of a formula.
var counted = regexp.MustCompile(`\S*[\pL\d]\S*`)

// Words prints how many words of each page and folder of docs are written by hand.
func Words(docs fs.FS, to io.Writer) error {
	sources, err := markdown(docs)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	folders, all := map[string]int{}, 0
	for i, f := range sources {
		n, dir := len(counted.FindAll(notByHand.ReplaceAll(f.Data, []byte(" ")), -1)), path.Dir(f.Name)
		fmt.Fprintf(table, "%d\t %s\n", n, f.Name)
		folders[dir] += n
		all += n
		if dir != "." && (i+1 == len(sources) || path.Dir(sources[i+1].Name) != dir) {
			fmt.Fprintf(table, "%d\t %s/\n", folders[dir], dir)
		}
	}
	fmt.Fprintf(table, "%d\t in all\n", all)
	return table.Flush()
}
