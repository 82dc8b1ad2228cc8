package pair

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
)

// People names the two datasets of a pair by the person in whom they differ, called Ada. Under
// a relation that replaces a row somebody else, called Bob, stands in her place.
type People struct {
	// Question is what an audit of the pair asks.
	Question string `json:"question"`
	// Names say which dataset it is, as "with Ada"; Again says so after the other was named.
	Names [2]string `json:"names"`
	Again [2]string `json:"again"`
	// Words say who is in each dataset, and its rows, Ada's in brackets; empty where only the
	// names are known.
	Words [2]string `json:"words"`
}

// PeopleOf names the datasets of a pair, or of outputs that were recorded elsewhere, which has
// none, as recorded calls them.
func PeopleOf(p *audit.Pair, relation audit.Relation, recorded *audit.Recording) People {
	if recorded != nil {
		d := recorded.Datasets
		return People{Question: "Can the outputs tell the datasets apart?", Names: [2]string{"in " + d[0], "in " + d[1]}, Again: [2]string{"in " + d[0], "in " + d[1]}}
	}
	if p == nil || p.First.Len()+p.Second.Len() == 0 { // too large for the link that it came with
		return People{Question: "Can the answer tell A from B?", Names: [2]string{"on dataset A", "on dataset B"}, Again: [2]string{"on A", "on B"}}
	}
	n := [2]int{p.First.Len(), p.Second.Len()}
	rows := [2]string{DatasetWords(p.First), DatasetWords(p.Second)}
	if relation != audit.LInfinity { // there all answers may differ
		rows[0], rows[1] = PairWords(*p)
	}
	if relation != audit.LInfinity && n[0] == n[1] {
		others := " alone: "
		if n[0] > 1 {
			others = fmt.Sprintf(" and %s: ", people(n[0]-1))
		}
		return People{Question: "Can the answer tell Ada from Bob?", Names: [2]string{"with Ada", "with Bob"}, Again: [2]string{"with Ada in his place", "with Bob in her place"},
			Words: [2]string{"Ada" + others + rows[0], "Bob" + others + rows[1]}}
	}
	var s People
	s.Question = "Can the answer tell whether Ada is in?"
	in, out := 0, 1
	if n[1] > n[0] || n[0] == n[1] && sum(p.Second) > sum(p.First) {
		in, out = 1, 0
	}
	s.Names[in], s.Names[out], s.Again[in], s.Again[out] = "with Ada", "without Ada", "with her", "without her"
	switch {
	case relation == audit.LInfinity:
		s.Words[in], s.Words[out] = fmt.Sprintf("%d true answers with Ada: %s", n[in], rows[in]), fmt.Sprintf("%d true answers without Ada: %s", n[out], rows[out])
	case n[out] == 0:
		s.Words[in], s.Words[out] = "Ada alone: "+rows[in], "nobody"
	default:
		s.Words[in], s.Words[out] = fmt.Sprintf("Ada and %s: %s", people(n[out]), rows[in]), fmt.Sprintf("%s without Ada: %s", people(n[out]), rows[out])
	}
	return s
}

func people(n int) string {
	if n == 1 {
		return "1 other"
	}
	return fmt.Sprintf("%d others", n)
}

func sum(d audit.Dataset) (all float64) {
	for _, v := range d.Values {
		all += v
	}
	return all
}
